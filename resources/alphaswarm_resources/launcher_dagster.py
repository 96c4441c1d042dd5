"""Making one cell through Dagster, so that a failed, interrupted or killed run is told apart and holds nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableJob, ReconstructableRepository
from dagster._core.execution.execute_in_process import merge_run_tags
from dagster._serdes import ConfigurableClassData
from sqlalchemy.exc import IntegrityError

from alphaswarm_assets.ports import CellResult, Launcher, LaunchRequest
from alphaswarm_resources.durable import is_out_of_space, what_to_do
from alphaswarm_resources.eventlog_dagster import MEMO_KEY_TAG, STORAGE, UNFINISHED, using_storage
from alphaswarm_resources.interrupts import noticing_interrupts
from alphaswarm_resources.processes import ProcessIdentity, host_name, this_process
from alphaswarm_resources.run_errors import first_error
from alphaswarm_resources.served_runs import HOST_TAG, abandoned

PID_TAG, START_TAG = "alphaswarm/pid", "alphaswarm/process_start"
"""Run tags that say which process of its host makes the run, and when that process started."""

LAUNCH_TAG = "alphaswarm/launch"
"""Run tag that tells this launch from every other."""

_QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_NO_CAPTURE = ConfigurableClassData(
    "dagster._core.storage.noop_compute_log_manager", "NoOpComputeLogManager", "{}\n"
)
_INTERRUPTS = (KeyboardInterrupt, dg.DagsterExecutionInterruptedError)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a step process finds the definitions."""

    module: str
    attribute: str


class DagsterLauncher(Launcher):
    """Cells as runs of the location's own asset job, in the process that asks or in step processes below it.

    Call `make` from the main thread: only there can an interrupt reach the step, so that it writes its checkpoint.
    """

    def __init__(
        self,
        instance: dg.DagsterInstance,
        job: Callable[[], dg.JobDefinition],
        location: Location,
        *,
        n_parallel: int = 2,
    ) -> None:
        """Launch on *instance*.

        *job* gives the asset job for this process and is asked once; *location* is where the step processes of a
        parallel run, at most *n_parallel* at once, load it from.
        """
        self._instance = instance
        self._folder = Path(instance.root_directory)
        self._give_job = job
        self._location = location
        self._n_parallel = n_parallel

    def reconcile(self) -> Sequence[str]:
        """Report as failed every run whose process is gone, free its pool slots, and return the ids of those runs.

        Runs of another host are left to whoever watches them there.

        Raises
        ------
        StoreError
            If Dagster's own storage cannot be written.
        """
        with using_storage(self._folder):
            of_this_host = dg.RunsFilter(tags={HOST_TAG: host_name()}, statuses=list(UNFINISHED))
            lost = [run for run in self._instance.get_runs(of_this_host) if _is_lost(run)]
            for run in lost:
                self._instance.report_run_failed(
                    run, f"Process {run.tags[PID_TAG]}, which made this run, is gone."
                )
            for run in abandoned(self._instance):
                self._instance.report_run_failed(
                    run, "The code server that made this run for the daemon is gone."
                )
                lost.append(run)
            storage = self._instance.event_log_storage
            for run_id in sorted(storage.get_concurrency_run_ids()):
                run = self._instance.get_run_by_id(run_id)
                if run is None or run.is_finished:
                    storage.free_concurrency_slots_for_run(run_id)
            return [run.run_id for run in lost]

    def register_partition(self, axis: str, key: str) -> None:
        """Add *key* to the dynamic partitions *axis*; adding it twice is no change.

        Raises
        ------
        StoreError
            If Dagster's own storage cannot be written.
        """
        # Dagster looks first and writes then; another process may write the same key in between.
        with using_storage(self._folder), suppress(IntegrityError):
            self._instance.add_dynamic_partitions(axis, [key])

    def make(self, request: LaunchRequest) -> CellResult:
        """Materialise one cell and return how it ended; a failed step is a result, an interrupt is too.

        Raises
        ------
        StoreError
            If Dagster's own storage cannot be written.
        """
        launch = uuid.uuid4().hex
        tags = {MEMO_KEY_TAG: request.memo_key, LAUNCH_TAG: launch, **_owner_tags()}
        interrupted, refusal = False, None
        with using_storage(self._folder):
            try:
                with noticing_interrupts() as came:
                    (self._make_in_steps if request.parallel else self._make_here)(request, tags)
                    interrupted = came()
            except _INTERRUPTS:
                interrupted = True
            except dg.DagsterError as error:
                refusal = f"{type(error).__name__}: {error}"
            runs = self._instance.get_runs(dg.RunsFilter(tags={LAUNCH_TAG: launch}), limit=1)
            return self._ended(runs[0] if runs else None, interrupted=interrupted, refusal=refusal)

    def _make_here(self, request: LaunchRequest, tags: Mapping[str, str]) -> None:
        self._job.execute_in_process(
            run_config=_QUIET,
            instance=self._quiet,
            partition_key=request.partition,
            asset_selection=[dg.AssetKey.from_user_string(request.asset)],
            tags=tags,
            raise_on_error=False,
        )

    def _make_in_steps(self, request: LaunchRequest, tags: Mapping[str, str]) -> None:
        selection = [dg.AssetKey.from_user_string(request.asset)]
        definition = self._steps.get_definition()
        steps = {"execution": {"config": {"multiprocess": {"max_concurrent": self._n_parallel}}}}
        dg.execute_job(
            self._steps,
            self._quiet,
            run_config={**_QUIET, **steps},
            tags=merge_run_tags(definition, request.partition, tags, selection, self._instance, {}),
            raise_on_error=False,
            asset_selection=selection,
        )

    @cached_property
    def _job(self) -> dg.JobDefinition:
        return self._give_job()

    @cached_property
    def _steps(self) -> ReconstructableJob:
        module, attribute = self._location.module, self._location.attribute
        repository = ReconstructableRepository.for_module(module, attribute, _folder_of(module))
        return repository.get_reconstructable_job(self._job.name)

    @cached_property
    def _quiet(self) -> dg.DagsterInstance:
        """The same instance, with nothing between a step and the terminal.

        Dagster would capture what a step prints by moving the file descriptors of the whole process, under a live view
        too, and with helpers that shout when Ctrl-C reaches them; and a step process tells of its start, at level
        DEBUG, before it has read the log level of its run.
        """
        if not self._instance.is_persistent:
            return self._instance
        ref = self._instance.get_ref()
        settings = {**ref.settings, "python_logs": {"python_log_level": "INFO"}}
        return dg.DagsterInstance.from_ref(
            ref._replace(settings=settings, compute_logs_data=_NO_CAPTURE)
        )

    def _ended(
        self, run: dg.DagsterRun | None, *, interrupted: bool, refusal: str | None
    ) -> CellResult:
        if run is None:
            status = "interrupted" if interrupted else "failed"
            return CellResult(status=status, run_id="", error=refusal)
        interrupted = interrupted or _was_interrupted(run)
        if interrupted and run.status not in {
            dg.DagsterRunStatus.SUCCESS,
            dg.DagsterRunStatus.CANCELED,
        }:
            self._instance.report_run_canceled(run, "Interrupted; the same command resumes it.")
        elif refusal is not None and not run.is_finished:
            self._instance.report_run_failed(run, refusal)
        self._instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        if interrupted:
            return CellResult(status="interrupted", run_id=run.run_id)
        if run.is_success:
            return CellResult(status="made", run_id=run.run_id)
        error = refusal or first_error(self._instance, run.run_id)
        if _is_of_full_disk(error):
            error = what_to_do(STORAGE, self._folder, OSError(error))
        return CellResult(status="failed", run_id=run.run_id, error=error)


def _is_of_full_disk(text: str) -> bool:
    # A store of ours has said what to do already; an event of Dagster's, written by a step, has not.
    return "Free some space" not in text and is_out_of_space(OSError(text))


def _folder_of(module: str) -> str | None:
    # Dagster takes the first entry of the path away while it imports, which may be the one the module is under.
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None
    depth = module.count(".") + (spec.submodule_search_locations is not None)
    return str(Path(spec.origin).parents[depth])


def _owner_tags() -> dict[str, str]:
    me = this_process()
    owner = {PID_TAG: str(me.pid), HOST_TAG: me.host, START_TAG: str(me.start_ticks)}
    # Whoever asked for the cell decides whether to try again, not the daemon.
    return {**owner, "dagster/max_retries": "0"}


def _is_lost(run: dg.DagsterRun) -> bool:
    pid, start = run.tags.get(PID_TAG, ""), run.tags.get(START_TAG, "")
    # A run that was launched again from the UI inherits these tags, but another process makes it.
    if run.parent_run_id is not None or not (pid.isdigit() and start.isdigit()):
        return False
    owner = ProcessIdentity(host=run.tags[HOST_TAG], pid=int(pid), start_ticks=int(start))
    return not owner.may_live()


def _was_interrupted(run: dg.DagsterRun) -> bool:
    by_signal = run.tags.get("dagster/failure_reason") == "UNEXPECTED_TERMINATION"
    return by_signal or run.status in {dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.CANCELING}
