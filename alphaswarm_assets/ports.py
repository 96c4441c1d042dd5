"""What the inside asks of the outside, as protocols; the adapters live in ``alphaswarm_resources``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.ledger import Ledger
from alphaswarm_assets.records.manifest import Artifact, Content

__all__ = ["Ledger"]

HALT_ALL = "all"
"""The halt key that stops every session; no spec key can be this word, since a key ends in its hash."""

Columns: TypeAlias = Mapping[str, AnyArray]
"""A table as equally long one-dimensional arrays: float64, int64, bool or str (``<U``), by column name."""


@runtime_checkable
class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """Return the instant, in UTC, timezone-aware."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that never go back."""
        ...


@runtime_checkable
class BarSource(Protocol):
    """A place daily bars come from."""

    @property
    def name(self) -> str:
        """Name a spec uses in ``dataset.source``."""
        ...

    @property
    def licence(self) -> str:
        """Terms of the data, one line."""
        ...

    def fingerprint(self) -> str:
        """Return the SHA-256 of the bytes the bars would be read from now."""
        ...

    def read(self) -> Columns:
        """Return raw bars: symbol, session (days since 1970-01-01), open, high, low, close, volume, adj_close.

        Rows are as the source has them: nothing is repaired, dropped or sorted.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class TablePin:
    """One snapshot of one table, with the digest of the rows it must hold."""

    table: str
    snapshot_id: int
    content_digest: str
    """SHA-256 over the sorted rows; equal rows give an equal digest in any lake."""
    n_rows: int

    def to_json(self) -> JsonObject:
        """Return the pin as JSON."""
        return {
            "table": self.table,
            "snapshot_id": str(self.snapshot_id),
            "content_digest": self.content_digest,
            "n_rows": self.n_rows,
        }


@runtime_checkable
class Lake(Protocol):
    """Tables with snapshots."""

    def replace(
        self, table: str, *, source: str, rows: Columns, sort_by: Sequence[str]
    ) -> TablePin:
        """Make *rows* the only rows of *source* in *table* and return the pin of the result.

        Writing what is there already adds no snapshot. *rows* needs a ``source`` column no more than the table does:
        the adapter adds it.
        """
        ...

    def read(self, pin: TablePin, *, source: str) -> Columns:
        """Return the rows of *source* at *pin*, sorted as they were written, verified against its digest."""
        ...

    def protect(self, pin: TablePin, *, tag: str) -> None:
        """Keep the snapshot of *pin* from expiry under the name *tag*; the same tag never moves to another snapshot."""
        ...


@runtime_checkable
class Artifacts(Protocol):
    """Content-addressed artifacts, written whole or not at all."""

    def put(self, artifact: Artifact) -> str:
        """Store *artifact* durably and return its content digest; storing it twice keeps the first copy."""
        ...

    def get(self, digest: str) -> Artifact:
        """Return the artifact with *digest* after verifying its manifest and every file."""
        ...

    def manifest(self, digest: str) -> Content:
        """Return the verified content manifest alone, without reading the files."""
        ...

    def holds(self, digest: str) -> bool:
        """Return whether the artifact is there and every byte of it verifies."""
        ...

    def envelopes(self, digest: str) -> list[JsonObject]:
        """Return the envelope of every copy that was ever stored, in no particular order."""
        ...

    def remember(self, memo_key: str, digest: str) -> None:
        """Note that *memo_key* was answered by the artifact *digest*."""
        ...

    def recall(self, memo_key: str) -> str | None:
        """Return the digest noted for *memo_key* if that artifact still verifies."""
        ...

    def keep_draft(self, key: str, data: bytes) -> None:
        """Write *data* atomically as the draft *key*: a snapshot a killed step resumes from."""
        ...

    def draft(self, key: str) -> bytes | None:
        """Return the draft *key*, or None if there is none or it does not verify."""
        ...

    def drop_draft(self, key: str) -> None:
        """Forget the draft *key*."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelVersion:
    """A registered policy."""

    name: str
    version: str
    run_id: str
    alias: str
    created: bool
    """False if an equal version was registered before."""


@runtime_checkable
class Registry(Protocol):
    """Experiments and registered models."""

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

        The same *identity* is registered once: a second call returns the first version.
        """
        ...

    def holds(self, name: str, *, identity: str) -> bool:
        """Return whether a version of *name* with *identity* is there; one that cannot be asked holds nothing."""
        ...

    def log_curves(
        self,
        *,
        run_name: str,
        identity: str,
        curves: Mapping[str, Sequence[tuple[int, float]]],
        tags: Mapping[str, str],
    ) -> str:
        """Log learning curves as one run and return its id; the same *identity* is logged once."""
        ...


@runtime_checkable
class HaltSwitch(Protocol):
    """The brake. A probe that fails means stop."""

    def reason(self, key: str) -> str | None:
        """Return why *key* is halted, or None if it may run; an unreachable switch reads as halted, with the cause."""
        ...

    def engage(self, key: str, reason: str) -> bool:
        """Halt *key* for *reason*; return False, and change nothing, if it is halted already."""
        ...

    def release(self, key: str) -> str | None:
        """Let *key* run again and return the reason it was halted for, None if it was not."""
        ...

    def engaged(self) -> Mapping[str, str]:
        """Return every halted key with its reason."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """One materialisation, exactly."""

    asset: str
    partition: str | None
    storage_id: int
    run_id: str
    data_version: str
    code_version: str | None
    memo_key: str | None

    @property
    def digest(self) -> str:
        """Content digest of the artifact behind it."""
        return self.data_version.removeprefix("sha256:")

    def to_json(self) -> JsonObject:
        """Return the pin as JSON; the storage id as text, since it is an id and no quantity."""
        return {
            "asset": self.asset,
            "partition": self.partition,
            "storage_id": str(self.storage_id),
            "run_id": self.run_id,
            "data_version": self.data_version,
            "code_version": self.code_version,
            "memo_key": self.memo_key,
        }


@runtime_checkable
class EventLog(Protocol):
    """What was materialised, as the orchestrator remembers it."""

    def latest(self, asset: str, partition: str | None) -> Pin | None:
        """Return the latest materialisation of (*asset*, *partition*)."""
        ...

    def attempts(self, memo_key: str) -> int:
        """Return how many runs were started for *memo_key* and did not succeed."""
        ...

    def running(self, memo_key: str) -> bool:
        """Return whether a run for *memo_key* is queued or under way."""
        ...


CellStatus: TypeAlias = Literal["made", "failed", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CellResult:
    """How the making of one cell ended."""

    status: CellStatus
    run_id: str
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchRequest:
    """One cell to be made now."""

    asset: str
    partition: str | None
    memo_key: str
    parallel: bool = False


@runtime_checkable
class Launcher(Protocol):
    """Makes one cell through the orchestrator, in this process or in step processes."""

    def reconcile(self) -> Sequence[str]:
        """Report as failed every run whose process is gone, free its pool slots, and return the ids of those runs."""
        ...

    def register_partition(self, axis: str, key: str) -> None:
        """Add *key* to the dynamic partitions *axis*; adding it twice is no change."""
        ...

    def make(self, request: LaunchRequest) -> CellResult:
        """Materialise one cell and return how it ended; a failed step is a result, an interrupt is too."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far one long step is."""

    label: str
    """``f0 · seed 7``."""
    step: int
    total: int
    at: str = ""
    """ISO instant of the report."""
    values: Mapping[str, float] = field(default_factory=dict[str, float])


@runtime_checkable
class ProgressBoard(Protocol):
    """Where long steps write how far they are, for other processes to read."""

    def post(self, topic: str, progress: Progress) -> None:
        """Replace the progress of *topic*."""
        ...

    def read(self, prefix: str) -> Mapping[str, Progress]:
        """Return the progress of every topic that starts with *prefix*."""
        ...

    def clear(self, prefix: str) -> None:
        """Forget every topic that starts with *prefix*."""
        ...


@runtime_checkable
class Locks(Protocol):
    """Advisory locks between processes; a lock dies with its holder."""

    def hold(self, name: str, *, wait_s: float = 0.0) -> AbstractContextManager[None]:
        """Hold the lock *name*, waiting at most *wait_s* seconds for it.

        Raises `BusyError` naming the holder's process when it is still taken then.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceInfo:
    """What computes."""

    kind: Literal["cpu", "cuda"]
    name: str
    n_parallel: int
    """Steps that may use it at the same time."""
    memory_bytes: int


@runtime_checkable
class Device(Protocol):
    """Where kernels and learners run."""

    def info(self) -> DeviceInfo:
        """Return what the device is."""
        ...

    def lease(self) -> AbstractContextManager[DeviceInfo]:
        """Hold the device for one step, with its thread counts set."""
        ...
