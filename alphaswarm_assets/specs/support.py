"""Valid fields whose engine this version does not have: running a spec that uses one fails at once, by name."""

from __future__ import annotations

from collections.abc import Iterator

from alphaswarm_assets.errors import Fault, NotYetSupportedError
from alphaswarm_assets.specs.components import ADVANTAGES, SUPPORTED_ADVANTAGES, refusal
from alphaswarm_assets.specs.research import ResearchSpec


def require_supported(spec: ResearchSpec) -> None:
    """Return quietly if this version can run *spec*.

    Raises
    ------
    NotYetSupportedError
        Naming every field that asks for an engine this version does not have.
    """
    faults = list(unsupported(spec))
    if faults:
        raise NotYetSupportedError(spec.key, faults)


def unsupported(spec: ResearchSpec) -> Iterator[Fault]:
    """Yield a fault for each field of *spec* that this version can read and not run.

    Yields
    ------
    Fault
        Path of the field, and what this version would take there.
    """
    yield from _environment(spec)
    yield from _training(spec)
    yield from _promotion(spec)
    yield from _paper(spec)


def _environment(spec: ResearchSpec) -> Iterator[Fault]:
    environment = spec.environment
    if environment.engine != "portfolio":
        yield Fault(
            path="environment.engine",
            problem=f"must be 'portfolio' in this version, was {environment.engine!r}",
        )
    if environment.slippage is not None:
        yield Fault(
            path="environment.slippage",
            problem="slippage models are not in this version; leave it out",
        )
    if environment.pipeline is not None:
        yield Fault(
            path="environment.pipeline",
            problem="weight pipelines are not in this version; leave it out",
        )


def _training(spec: ResearchSpec) -> Iterator[Fault]:
    training = spec.training
    if training.algorithm != "ppo":
        yield Fault(
            path="training.algorithm",
            problem=f"must be 'ppo' in this version, was {training.algorithm!r}",
        )
    if training.backbone != "mlp":
        yield Fault(
            path="training.backbone",
            problem=f"must be 'mlp' in this version, was {training.backbone!r}",
        )
    if training.stop_properly_penalty_coef is not None:
        yield Fault(
            path="training.stop_properly_penalty_coef",
            problem="truncating terminations are not in this version; leave it out",
        )
    if training.advantage is not None:
        why = refusal("training.advantage", training.advantage, ADVANTAGES)
        if why is None and training.advantage.class_name not in SUPPORTED_ADVANTAGES:
            supported = sorted(SUPPORTED_ADVANTAGES)
            why = (
                f"must be one of {supported} in this version, was {training.advantage.class_name!r}"
            )
        if why is None and training.advantage.kwargs:
            why = "kwargs must be empty; gamma and gae_lambda stand in training"
        if why is not None:
            yield Fault(path="training.advantage", problem=why)


def _promotion(spec: ResearchSpec) -> Iterator[Fault]:
    promotion = spec.promotion
    if promotion is None:
        return
    if promotion.profile == "ledger":
        yield Fault(
            path="promotion.profile", problem="must be 'seed' in this version, was 'ledger'"
        )
    if promotion.pbo_scope == "configs":
        yield Fault(
            path="promotion.pbo_scope", problem="must be 'seeds' in this version, was 'configs'"
        )
    if promotion.dsr_scope == "ledger":
        yield Fault(
            path="promotion.dsr_scope", problem="must be 'battery' in this version, was 'ledger'"
        )
    if promotion.allow_lossless is not None:
        yield Fault(
            path="promotion.allow_lossless",
            problem="the profit-factor gate is not in this version; leave it out",
        )


def _paper(spec: ResearchSpec) -> Iterator[Fault]:
    for name in ("max_hard_breaches", "max_reject_rate"):
        if spec.paper is not None and getattr(spec.paper, name) is not None:
            problem = "no order gateway that counts is in this version, so it could only reject; leave it out"
            yield Fault(path=f"paper.{name}", problem=problem)
