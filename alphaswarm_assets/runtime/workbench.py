"""What the executor works with, and how it records what it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.ports import (
    Artifacts,
    Clock,
    Device,
    HaltSwitch,
    Ledger,
    ProgressBoard,
    Registry,
)
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.specs.research import ResearchSpec

Target: TypeAlias = Literal[
    "train", "evaluate", "summarise", "judge", "register", "paper", "replay", "walk_forward"
]
RunStatus: TypeAlias = Literal[
    "running", "completed", "error", "timeout", "halted", "cancelled", "rolled_back"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Workbench:
    """The ports the executor uses."""

    artifacts: Artifacts
    runs: Ledger
    """One row a finished run: target, status, result summary."""
    promotions: Ledger
    """One row a verdict or registration: the evidence that outlives the orchestrator's event log."""
    halts: HaltSwitch
    registry: Registry
    progress: ProgressBoard
    device: Device
    clock: Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class RunContext:
    """Who asks for a run, and under which code."""

    run_id: str
    asset: str
    """What is made."""
    code_version: str
    """Digest of the sources that decide the result, when the run began; enters memo keys."""
    source_version: str
    """Commit or package version the process runs; provenance, in the envelope."""
    code_version_now: Callable[[str], str]
    """The same digest of an asset's sources as they are at this moment."""

    def envelope(self, bench: Workbench) -> JsonObject:
        """Return the provenance that stands beside every content: never part of its digest.

        Raises
        ------
        StaleArtifactError
            If a source was edited since the run began: which version of it made the content cannot be told.
        """
        if self.code_version_now(self.asset) != self.code_version:
            raise StaleArtifactError(
                f"the sources of {self.asset} were edited while it was being made; nothing was kept. Run it again."
            )
        device = bench.device.info()
        return {
            "run_id": self.run_id,
            "code_version": self.code_version,
            "source_version": self.source_version,
            "device": {"kind": device.kind, "name": device.name},
            "libraries": library_versions(),
            "made_at": bench.clock.now().isoformat(),
        }


def library_versions() -> JsonObject:
    """Return the versions of the libraries that compute."""
    from importlib import metadata

    names = ("numpy", "torch", "pyarrow", "pyiceberg", "safetensors", "dagster", "mlflow")
    return {name: metadata.version(name) for name in names}


def record_run(
    bench: Workbench,
    context: RunContext,
    spec: ResearchSpec,
    *,
    target: Target,
    status: RunStatus,
    result_summary: JsonObject,
    fold: str | None = None,
) -> None:
    """Append the outcome of a run to the ledger of runs."""
    bench.runs.append(
        {
            "run_id": context.run_id,
            "target": target,
            "spec_key": spec.key,
            "spec_hash": spec.snapshot_hash(),
            "fold": fold,
            "status": status,
            "result_summary": result_summary,
            "at": bench.clock.now().isoformat(),
        }
    )
