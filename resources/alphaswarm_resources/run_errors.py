"""Why a Dagster run failed, in one sentence for a person: the error that was raised, without the way it travelled."""

from __future__ import annotations

import dagster as dg
from dagster._core.execution.plan.objects import StepFailureData
from dagster_shared.error import SerializableErrorInfo

_WRAPPERS = {"DagsterExecutionStepExecutionError", "RetryRequested", "RetryRequestedFromPolicy"}
_CRASHED = "ChildProcessCrashException"


def first_error(instance: dg.DagsterInstance, run_id: str) -> str:
    """Return class and message of the error that ended the first step of the run that failed, or the run itself."""
    for event in _events(instance, run_id, dg.DagsterEventType.STEP_FAILURE):
        if isinstance(event.event_specific_data, StepFailureData):
            return _told_by_step(event.step_key or "", event.event_specific_data)
    for event in _events(instance, run_id, dg.DagsterEventType.RUN_FAILURE):
        error = event.job_failure_data.error
        return _told(error) if error else event.message or "the run failed and left no message"
    return "the run ended and left no message"


def _events(
    instance: dg.DagsterInstance, run_id: str, kind: dg.DagsterEventType
) -> list[dg.DagsterEvent]:
    found = (entry.dagster_event for entry in instance.all_logs(run_id, of_type=kind))
    return [event for event in found if event is not None]


def _told_by_step(step_key: str, failure: StepFailureData) -> str:
    if failure.user_failure_data and failure.user_failure_data.description:
        return failure.user_failure_data.description
    if failure.error is None:
        return f"step {step_key!r} failed and left no message"
    if failure.error.cls_name == _CRASHED:
        return f"the process of step {step_key!r} died before it could say why: it was killed, or out of memory"
    return _told(failure.error)


def _told(error: SerializableErrorInfo) -> str:
    while error.cls_name in _WRAPPERS and error.cause is not None:
        error = error.cause
    name, text = error.cls_name or "", error.message.strip()
    qualified, _, message = text.partition(": ")
    if qualified.rpartition(".")[2] == name and message:
        text = message
    return text if not name or text == name else f"{name}: {text}"
