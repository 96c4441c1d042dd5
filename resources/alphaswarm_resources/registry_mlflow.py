"""Experiments and registered models in MLflow, each identity once."""

from __future__ import annotations

import logging
import string
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from alphaswarm_assets.errors import AlphaSwarmError, InvalidInputError, StoreError
from alphaswarm_assets.ports import ModelVersion, Registry
from alphaswarm_resources.durable import make_folder, what_to_do
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.object_folder import check_name

EXPERIMENT = "alphaswarm"
"""The one experiment all runs stand in."""

_IDENTITY, _KIND, _ALIAS, _STRAY = (
    f"alphaswarm.{name}" for name in ("identity", "kind", "alias", "stray")
)
_LETTERS = frozenset(string.ascii_letters + string.digits + "-_.|")
_SQLITE = "sqlite:///"
_METRICS_A_BATCH = 1000


def environment() -> dict[str, str]:
    """Return the environment variables that must stand before MLflow is imported: no telemetry, no chatter."""
    return {
        "DO_NOT_TRACK": "true",
        "GIT_PYTHON_REFRESH": "quiet",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_LOGGING_LEVEL": "WARNING",
    }


class MlflowRegistry(Registry):
    """Own files under a run, a model version on them, and learning curves, in one MLflow store.

    A version counts from the moment it exists, with its files and tags; a run that was begun and never got there is
    marked as a stray and failed by the next try.
    """

    def __init__(self, tracking_uri: str, artifact_root: Path) -> None:
        """Use the store at *tracking_uri*, made by `create`; files go under *artifact_root*."""
        self._uri = tracking_uri
        self._root = artifact_root.resolve()
        self._locks = FileLocks(self._root / "locks")

    def create(self) -> None:
        """Make the database and the experiment where they are missing; one process at a time, which the caller sees to.

        Raises
        ------
        StoreError
            If they cannot be made.
        """
        with self._storing():
            make_folder(self._root)
            client = self._open()
            if client.get_experiment_by_name(EXPERIMENT) is None:
                # A server keeps files where it was told to; without one they stand in this home.
                own = None if self._uri.startswith(("http:", "https:")) else self._root.as_uri()
                client.create_experiment(EXPERIMENT, artifact_location=own)

    def register(
        self,
        name: str,
        *,
        files: Mapping[str, bytes],
        tags: Mapping[str, str],
        identity: str,
        alias: str,
    ) -> ModelVersion:
        """Register *files* as a version of *name* tagged with *tags*, and point *alias* at it.

        The same *identity* is registered once: a second call returns the first version. Either way the alias points at
        it afterwards: what is registered last is what challenges.

        Raises
        ------
        InvalidInputError
            If *name* or *identity* is not made of letters, digits and ``-_.|``, or a file cannot have its name.
        StoreError
            If the store cannot be written.
        """
        _check("the name of a model", name)
        for file in files:
            check_name(file)
        with self._only_one(identity), self._storing():
            held = self._version_of(name, identity)
            created = held is None
            if held is None:
                self._fail_strays(identity, "model")
                held = self._new_version(name, files, {**tags, _IDENTITY: identity})
            self._complete(held, alias)
            return ModelVersion(
                name=name,
                version=str(held.version),
                run_id=str(held.run_id),
                alias=alias,
                created=created,
            )

    def holds(self, name: str, *, identity: str) -> bool:
        """Return whether a version of *name* with *identity* is there; one that cannot be asked holds nothing."""
        _check("the name of a model", name)
        _check("an identity", identity)
        try:
            with self._storing():
                return self._version_of(name, identity) is not None
        except StoreError:
            return False

    def log_curves(
        self,
        *,
        run_name: str,
        identity: str,
        curves: Mapping[str, Sequence[tuple[int, float]]],
        tags: Mapping[str, str],
    ) -> str:
        """Log learning curves as one run and return its id; the same *identity* is logged once.

        Raises
        ------
        InvalidInputError
            If *identity* is not made of letters, digits and ``-_.|``.
        StoreError
            If the store cannot be written.
        """
        with self._only_one(identity), self._storing():
            held = self._runs_of(identity, "curves", "attributes.status = 'FINISHED'")
            if held:
                return str(held[0].info.run_id)
            self._fail_strays(identity, "curves")
            run = self._new_run(run_name, identity, "curves", tags)
            self._log(run, curves)
            self._client.set_terminated(run.info.run_id, "FINISHED")
            return str(run.info.run_id)

    @cached_property
    def _client(self) -> Any:
        # MLflow would make a missing database on the way, and two processes at once would break it.
        if self._uri.startswith(_SQLITE) and not Path(self._uri.removeprefix(_SQLITE)).is_file():
            raise StoreError(f"there is no registry at {self._shown}. Run: alphaswarm init")
        return self._open()

    @cached_property
    def _experiment_id(self) -> str:
        experiment = self._client.get_experiment_by_name(EXPERIMENT)
        if experiment is None:
            raise StoreError(
                f"there is no experiment {EXPERIMENT!r} at {self._shown}. Run: alphaswarm init"
            )
        return str(experiment.experiment_id)

    @property
    def _shown(self) -> str:
        return redacted(self._uri, self._uri)

    def _open(self) -> Any:
        from mlflow.tracking import MlflowClient

        for chatty in ("mlflow", "alembic"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        return MlflowClient(tracking_uri=self._uri, registry_uri=self._uri)

    def _version_of(self, name: str, identity: str) -> Any:
        found = self._client.search_model_versions(
            f"name = '{name}' and tags.`{_IDENTITY}` = '{identity}'"
        )
        return min(found, key=lambda version: int(version.version), default=None)

    def _new_version(self, name: str, files: Mapping[str, bytes], tags: Mapping[str, str]) -> Any:
        self._ensure_model(name)
        run = self._new_run(name, tags[_IDENTITY], "model", tags)
        with TemporaryDirectory() as folder:
            for file, data in files.items():
                path = Path(folder, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            self._client.log_artifacts(run.info.run_id, folder, "model")
        source = f"{run.info.artifact_uri}/model"
        return self._client.create_model_version(
            name, source=source, run_id=run.info.run_id, tags=dict(tags)
        )

    def _complete(self, version: Any, alias: str) -> None:
        self._client.set_registered_model_alias(version.name, alias, version.version)
        if version.tags.get(_ALIAS) != alias:
            self._client.set_model_version_tag(version.name, version.version, _ALIAS, alias)
        if self._client.get_run(version.run_id).info.status == "RUNNING":
            self._client.set_terminated(version.run_id, "FINISHED")

    def _ensure_model(self, name: str) -> None:
        from mlflow.exceptions import MlflowException

        try:
            self._client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise

    def _new_run(self, name: str, identity: str, kind: str, tags: Mapping[str, str]) -> Any:
        marked = {**tags, _IDENTITY: identity, _KIND: kind}
        return self._client.create_run(self._experiment_id, run_name=name, tags=marked)

    def _runs_of(self, identity: str, kind: str, condition: str) -> list[Any]:
        wanted = f"tags.`{_IDENTITY}` = '{identity}' and tags.`{_KIND}` = '{kind}' and {condition}"
        return list(self._client.search_runs([self._experiment_id], wanted))

    def _fail_strays(self, identity: str, kind: str) -> None:
        for run in self._runs_of(identity, kind, "attributes.status = 'RUNNING'"):
            self._client.set_tag(run.info.run_id, _STRAY, "true")
            self._client.set_terminated(run.info.run_id, "FAILED")

    def _log(self, run: Any, curves: Mapping[str, Sequence[tuple[int, float]]]) -> None:
        from mlflow.entities import Metric

        at_ms = run.info.start_time
        metrics = [
            Metric(name, float(value), at_ms, step)
            for name, points in curves.items()
            for step, value in dict(points).items()
        ]
        for start in range(0, len(metrics), _METRICS_A_BATCH):
            self._client.log_batch(
                run.info.run_id, metrics=metrics[start : start + _METRICS_A_BATCH]
            )

    @contextmanager
    def _only_one(self, identity: str) -> Generator[None]:
        _check("an identity", identity)
        with self._locks.hold(identity, wait_s=60.0):
            yield

    @contextmanager
    def _storing(self) -> Generator[None]:
        from mlflow.exceptions import MlflowException

        try:
            yield
        except AlphaSwarmError:
            raise
        except (OSError, MlflowException) as error:
            message = what_to_do("model registry", self._root, error)
            raise StoreError(redacted(message, self._uri)) from None


def _check(what: str, text: str) -> None:
    # It stands in a search expression between quotes.
    if not text or not set(text) <= _LETTERS:
        raise InvalidInputError(f"{what} must be made of letters, digits and -_.|, was {text!r}")


def redacted(text: str, uri: str) -> str:
    """Return *text* with the user name, password and query of *uri* taken out wherever they stand in it."""
    parts = urlsplit(uri)
    place = parts.hostname or ""
    if parts.port is not None:
        place += f":{parts.port}"
    if parts.username is not None or parts.query:
        text = text.replace(uri, urlunsplit(parts._replace(netloc=place, query="")))
    for secret in (parts.password, parts.query):
        if secret:
            text = text.replace(secret, "***").replace(unquote(secret), "***")
    return text
