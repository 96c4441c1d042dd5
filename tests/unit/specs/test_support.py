from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from alphaswarm_assets.errors import NotYetSupportedError
from alphaswarm_assets.specs import components
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported, unsupported


def _spec(**sections: Any) -> ResearchSpec:
    training = {"seed": 7, "total_timesteps": 1000} | sections.pop("training", {})
    return validate_spec({"name": "study", "training": training, **sections}, source="test")


GAE = {"class": "GAEAdvantage"}
CASES = [
    ("environment.engine", {"environment": {"engine": "lob"}}),
    ("environment.slippage", {"environment": {"slippage": {"class": "LinearSlippage"}}}),
    ("environment.pipeline", {"environment": {"pipeline": []}}),
    ("training.algorithm", {"training": {"algorithm": "dqn"}}),
    ("training.backbone", {"training": {"backbone": "patchtst"}}),
    ("training.stop_properly_penalty_coef", {"training": {"stop_properly_penalty_coef": 0.0}}),
    ("training.advantage", {"training": {"advantage": {"class": "GRPOAdvantage"}}}),
    ("training.advantage", {"training": {"advantage": {"class": "os.system"}}}),
    ("training.advantage", {"training": {"advantage": GAE | {"module_path": "os"}}}),
    ("training.advantage", {"training": {"advantage": GAE | {"kwargs": {"gamma": 0.9}}}}),
    ("promotion.profile", {"promotion": {"profile": "ledger"}}),
    ("promotion.pbo_scope", {"promotion": {"pbo_scope": "configs"}}),
    ("promotion.dsr_scope", {"promotion": {"dsr_scope": "ledger"}}),
    ("promotion.allow_lossless", {"promotion": {"allow_lossless": False}}),
]


@pytest.mark.parametrize(("path", "sections"), CASES, ids=[f"{p}={s}" for p, s in CASES])
def test_a_field_whose_engine_is_not_there_is_valid_and_named_when_run(
    path: str, sections: dict[str, Any]
) -> None:
    spec = _spec(**sections)
    assert [fault.path for fault in unsupported(spec)] == [path]
    with pytest.raises(
        NotYetSupportedError, match=f"{spec.key} is valid but cannot be run.*\n  - {path}: "
    ):
        require_supported(spec)


def test_every_field_without_an_engine_is_named_at_once() -> None:
    spec = _spec(
        environment={"engine": "event", "slippage": {"class": "A"}},
        training={"algorithm": "dqn"},
        promotion={"profile": "ledger"},
    )
    with pytest.raises(NotYetSupportedError) as caught:
        require_supported(spec)
    assert [fault.path for fault in caught.value.faults] == [
        "environment.engine",
        "environment.slippage",
        "training.algorithm",
        "promotion.profile",
    ]


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"training": {"advantage": GAE}},
        {"training": {"advantage": GAE | {"module_path": "alphaswarm.rl.advantage.gae"}}},
        {"promotion": {"profile": "seed", "pbo_scope": "seeds", "dsr_scope": "battery"}},
        {"promotion": {}, "paper": {}, "mlflow": {"register_model_as": "m"}},
        {"evaluation": {"compute_dsr": False}, "training": {"post_train_battery": True}},
    ],
    ids=str,
)
def test_what_this_version_can_run_passes(sections: dict[str, Any]) -> None:
    require_supported(_spec(**sections))


def test_a_component_of_an_installed_package_is_known_by_its_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = _spec(training={"advantage": {"class": "TheirAdvantage"}})
    advantage = spec.training.advantage
    assert advantage is not None
    why = components.refusal("training.advantage", advantage, components.ADVANTAGES)
    assert why is not None
    assert "must name a known component (GAEAdvantage, GRPOAdvantage, " in why
    entry = EntryPoint(
        "training.advantage:TheirAdvantage", "theirs:Adv", components.ENTRY_POINT_GROUP
    )
    monkeypatch.setattr(components, "entry_points", lambda **_: [entry])
    assert components.refusal("training.advantage", advantage, components.ADVANTAGES) is None
    assert [fault.path for fault in unsupported(spec)] == ["training.advantage"]
