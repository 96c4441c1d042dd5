import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alphaswarm_assets.errors import InvalidInputError, StoreError
from alphaswarm_assets.ports import ModelVersion, Registry
from alphaswarm_resources.registry_mlflow import EXPERIMENT, MlflowRegistry, environment
from tests.ports.children import Start

pytest.importorskip("mlflow")

FILES = {"policy.safetensors": b"\x00weights", "config/net.json": b"{}"}
CURVES = {"loss": [(0, 1.0), (10, 0.5), (20, float("nan"))], "entropy": [(0, 2.0), (10, 1.5)]}

CREATE = """
import os, sys
from pathlib import Path
from alphaswarm_resources.registry_mlflow import MlflowRegistry, environment
os.environ.update(environment())
MlflowRegistry("sqlite:///" + sys.argv[1] + "/mlflow.db", Path(sys.argv[1], "artifacts")).create()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store made in another process, as it is in use; making it says nothing on the terminal."""
    folder = tmp_path_factory.mktemp("mlflow")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", CREATE, folder], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture
def registry(home: Path, monkeypatch: pytest.MonkeyPatch) -> MlflowRegistry:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    return MlflowRegistry(f"sqlite:///{home}/mlflow.db", home / "artifacts")


def register(
    registry: MlflowRegistry, name: str, identity: str, alias: str = "candidate", **tags: str
) -> ModelVersion:
    return registry.register(name, files=FILES, tags=tags, identity=identity, alias=alias)


def client(registry: MlflowRegistry) -> Any:
    return registry._client


def runs(registry: MlflowRegistry, identity: str) -> dict[str, int]:
    found = client(registry).search_runs(
        [registry._experiment_id], f"tags.`alphaswarm.identity` = '{identity}'"
    )
    statuses = [run.info.status for run in found]
    return {status: statuses.count(status) for status in set(statuses)}


def test_mlflow_is_a_registry(registry: MlflowRegistry) -> None:
    assert isinstance(registry, Registry)


def test_a_version_has_its_files_tags_and_alias(registry: MlflowRegistry) -> None:
    made = register(registry, "ppo", "a" * 64, spec_hash="b" * 64, decision="PASS")
    assert made.created
    assert (made.name, made.version, made.alias) == ("ppo", "1", "candidate")
    held = client(registry).get_model_version_by_alias("ppo", "candidate")
    assert held.run_id == made.run_id
    assert held.status == "READY"
    assert {"spec_hash": "b" * 64, "decision": "PASS"}.items() <= held.tags.items()
    folder = Path(client(registry).download_artifacts(made.run_id, "model"))
    kept = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert kept == FILES
    assert held.source == f"{client(registry).get_run(made.run_id).info.artifact_uri}/model"
    assert runs(registry, "a" * 64) == {"FINISHED": 1}


def test_the_same_identity_is_registered_once_and_the_alias_follows_the_last_call(
    registry: MlflowRegistry,
) -> None:
    first = register(registry, "once", "c" * 64)
    second = register(registry, "once", "d" * 64)
    again = register(registry, "once", "c" * 64)
    assert (first.created, second.created, again.created) == (True, True, False)
    assert (again.version, again.run_id) == (first.version, first.run_id)
    assert (
        str(client(registry).get_model_version_by_alias("once", "candidate").version)
        == first.version
    )
    assert registry.holds("once", identity="d" * 64)
    assert not registry.holds("once", identity="f" * 64)
    assert len(client(registry).search_model_versions("name = 'once'")) == 2


def test_the_same_identity_under_another_name_is_another_model(registry: MlflowRegistry) -> None:
    one, two = register(registry, "one", "e" * 64), register(registry, "two", "e" * 64)
    assert one.created
    assert two.created
    assert one.run_id != two.run_id


class StoppedError(Exception):
    pass


def stop_at(registry: MlflowRegistry, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def stop(*args: object, **kwargs: object) -> None:
        raise StoppedError

    monkeypatch.setattr(client(registry), method, stop)


@pytest.mark.faults
@pytest.mark.parametrize("method", ["log_artifacts", "create_model_version"])
def test_what_stopped_before_there_was_a_version_does_not_count(
    registry: MlflowRegistry, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    name, identity = f"early-{method}", method + "1"
    with monkeypatch.context() as patch:
        stop_at(registry, patch, method)
        with pytest.raises(StoppedError):
            register(registry, name, identity)
    assert client(registry).search_model_versions(f"name = '{name}'") == []
    made = register(registry, name, identity)
    assert made.created
    assert made.version == "1"
    assert runs(registry, identity) == {"FINISHED": 1, "FAILED": 1}
    assert not register(registry, name, identity).created


@pytest.mark.faults
@pytest.mark.parametrize(
    "method", ["set_registered_model_alias", "set_model_version_tag", "set_terminated"]
)
def test_what_stopped_after_there_was_a_version_is_completed(
    registry: MlflowRegistry, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    name, identity = f"late-{method}", method + "2"
    with monkeypatch.context() as patch:
        stop_at(registry, patch, method)
        with pytest.raises(StoppedError):
            register(registry, name, identity)
    again = register(registry, name, identity)
    assert not again.created
    assert again.version == "1"
    assert str(client(registry).get_model_version_by_alias(name, "candidate").version) == "1"
    assert runs(registry, identity) == {"FINISHED": 1}


def test_curves_are_logged_once_with_every_point(registry: MlflowRegistry) -> None:
    many = {"loss": [(step, float(step)) for step in range(2500)]}
    first = registry.log_curves(
        run_name="f0 · seed 7", identity="g" * 64, curves={**CURVES, **many}, tags={"fold": "f0"}
    )
    assert registry.log_curves(run_name="f0", identity="g" * 64, curves={}, tags={}) == first
    history = client(registry).get_metric_history(first, "loss")
    assert [(point.step, point.value) for point in history] == many["loss"]
    assert [
        (p.step, p.value) for p in client(registry).get_metric_history(first, "entropy")
    ] == CURVES["entropy"]
    run = client(registry).get_run(first)
    assert (run.info.status, run.info.run_name, run.data.tags["fold"]) == (
        "FINISHED",
        "f0 · seed 7",
        "f0",
    )


def test_curves_and_a_model_may_share_an_identity(registry: MlflowRegistry) -> None:
    run_id = registry.log_curves(run_name="c", identity="h" * 64, curves=CURVES, tags={})
    assert register(registry, "shared", "h" * 64).run_id != run_id
    assert runs(registry, "h" * 64) == {"FINISHED": 2}


@pytest.mark.faults
def test_curves_that_were_cut_short_are_logged_anew(
    registry: MlflowRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_at(registry, patch, "set_terminated")
        with pytest.raises(StoppedError):
            registry.log_curves(run_name="c", identity="i" * 64, curves=CURVES, tags={})
    registry.log_curves(run_name="c", identity="i" * 64, curves=CURVES, tags={})
    assert runs(registry, "i" * 64) == {"FINISHED": 1, "FAILED": 1}


@pytest.mark.parametrize("text", ["", "it's", "a`b", "a b", "x' or 1 = 1"])
def test_a_name_or_identity_that_would_change_a_search_is_refused(
    registry: MlflowRegistry, text: str
) -> None:
    with pytest.raises(InvalidInputError, match="letters, digits"):
        register(registry, text, "a" * 64)
    with pytest.raises(InvalidInputError, match="letters, digits"):
        register(registry, "ppo", text)
    with pytest.raises(InvalidInputError, match="letters, digits"):
        registry.log_curves(run_name="c", identity=text, curves={}, tags={})


@pytest.mark.parametrize("name", ["../../evil", "/etc/passwd", ".hidden"])
def test_a_file_cannot_have_a_name_that_leads_elsewhere(
    registry: MlflowRegistry, name: str
) -> None:
    with pytest.raises(InvalidInputError, match="the name of a stored file"):
        registry.register("evil", files={name: b""}, tags={}, identity="a" * 64, alias="candidate")
    assert client(registry).search_model_versions("name = 'evil'") == []


def test_a_registry_that_was_not_made_says_what_to_do_and_makes_nothing(tmp_path: Path) -> None:
    registry = MlflowRegistry(f"sqlite:///{tmp_path}/none/mlflow.db", tmp_path / "artifacts")
    with pytest.raises(StoreError, match=r"there is no registry at .* Run: alphaswarm init"):
        register(registry, "ppo", "a" * 64)
    assert not (tmp_path / "none").exists()


def test_making_a_registry_twice_keeps_what_is_in_it(registry: MlflowRegistry) -> None:
    made = register(registry, "kept", "j" * 64)
    registry.create()
    assert register(registry, "kept", "j" * 64).version == made.version
    assert (
        client(registry).get_experiment_by_name(EXPERIMENT).experiment_id == registry._experiment_id
    )


REGISTER = """
import os, sys
from pathlib import Path
from alphaswarm_resources.registry_mlflow import MlflowRegistry, environment
os.environ.update(environment())
registry = MlflowRegistry("sqlite:///" + sys.argv[1] + "/mlflow.db", Path(sys.argv[1], "artifacts"))
for n in range(5):
    made = registry.register("both", files={"a": bytes([n])}, tags={}, identity=f"both{n}", alias="candidate")
    print(made.version, made.created)
"""


@pytest.mark.slow
def test_two_processes_register_each_identity_once_and_say_nothing_else(
    registry: MlflowRegistry, home: Path, start: Start
) -> None:
    children = [start(REGISTER, home) for _ in range(2)]
    told = [child.communicate(timeout=120) for child in children]
    assert [err for _, err in told] == ["", ""]
    lines = [out.splitlines() for out, _ in told]
    assert [[line.split()[0] for line in side] for side in lines] == [["1", "2", "3", "4", "5"]] * 2
    assert sum(line.endswith("True") for side in lines for line in side) == 5
