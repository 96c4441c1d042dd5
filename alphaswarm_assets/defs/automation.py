"""Automation: a job that files a request for a study, and the sensor that drives every requested study forward."""

from typing import Protocol

import dagster as dg

from alphaswarm_assets.defs.pins import EventLogs
from alphaswarm_assets.defs.result import plain_errors
from alphaswarm_assets.drive.plan import Planned, Stores, next_cells
from alphaswarm_assets.errors import AlphaSwarmError
from alphaswarm_assets.ports import EventLog, Ledger
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported

MAX_ATTEMPTS = 2
"""Runs of one memo key that may fail before the sensor leaves it to a person."""

REQUESTS_PER_TICK = 20
"""Runs one tick of the sensor asks for at most."""

EXECUTOR = dg.multiprocess_executor.configured({"max_concurrent": 2, "start_method": {"spawn": {}}})
"""Steps in processes of their own, spawned: nothing of CUDA is ever forked."""


class StoresOf(Protocol):
    """Opens what planning reads."""

    def __call__(self, events: EventLog) -> Stores:
        """Return the stores around *events*."""
        ...


class ResearchConfig(dg.Config):
    """Which study to drive."""

    spec: str
    """Key of a registered spec: see `alphaswarm spec list`."""


@dg.op
def file_request(
    context: dg.OpExecutionContext,
    config: ResearchConfig,
    specs: dg.ResourceParam[SpecRegistry],
    requests: dg.ResourceParam[Ledger],
) -> None:
    """File a request; the sensor `advance` takes it from there, cell by cell, to a verdict."""
    with plain_errors():
        spec = specs.get(config.spec)
        require_supported(spec)
        row = requests.append(
            {"event": "requested", "spec_key": spec.key, "run_id": context.run_id}
        )
    context.instance.add_dynamic_partitions("spec", [spec.key])
    context.instance.add_dynamic_partitions("source", [spec.dataset.source])
    context.log.info(
        f"request {row.index} filed for {spec.key}: the sensor 'advance' makes what is missing"
    )


@dg.job(
    description="Files a request to take a registered spec from data to a verdict; the sensor `advance` obeys."
)
def research() -> None:
    """File a request for one spec."""
    file_request()


make_sources = dg.define_asset_job(
    "make_sources",
    selection=["bronze_bars", "silver_bars", "gold_features"],
    executor_def=dg.in_process_executor,
    description="One cell of the tables of a source.",
)
make_folds = dg.define_asset_job(
    "make_folds",
    selection=["trained_checkpoint", "evaluation_report"],
    executor_def=EXECUTOR,
    description="One cell of a fold of a study.",
)
make_specs = dg.define_asset_job(
    "make_specs",
    selection=[
        "research_dataset",
        "evaluation_summary",
        "promotion_verdict",
        "registered_model",
        "paper_pack",
    ],
    executor_def=dg.in_process_executor,
    description="One cell of a study.",
)
JOB_OF = {"source": make_sources, "fold": make_folds, "spec": make_specs}


@dg.sensor(
    jobs=[make_sources, make_folds, make_specs],
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for the next cells of every requested study, as the command does, until it has its verdict.",
)
def advance(
    context: dg.SensorEvaluationContext,
    specs: dg.ResourceParam[SpecRegistry],
    requests: dg.ResourceParam[Ledger],
    event_logs: dg.ResourceParam[EventLogs],
    stores_of: dg.ResourceParam[StoresOf],
) -> dg.SensorResult | dg.SkipReason:
    """Yield a run for every cell that can be made now and is not under way."""
    events = event_logs.of(context.instance)
    open_keys = open_requests(requests)
    if not open_keys:
        return dg.SkipReason("no study is requested; launch the job `research` with a spec's key")
    runs: list[dg.RunRequest] = []
    for key in open_keys:
        asked, note = _drive_one(key, specs, stores_of(events), events)
        runs += asked
        if note is not None:
            requests.append({"event": "closed", "spec_key": key, "note": note})
            context.log.info(f"{key}: {note}")
    return dg.SensorResult(run_requests=runs[:REQUESTS_PER_TICK])


def open_requests(requests: Ledger) -> list[str]:
    """Return the keys of the studies that are requested and not closed, oldest first."""
    opened: dict[str, bool] = {}
    for row in requests.rows():
        opened[str(row.body["spec_key"])] = row.body["event"] == "requested"
    return [key for key, is_open in opened.items() if is_open]


def _drive_one(
    key: str, specs: SpecRegistry, stores: Stores, events: EventLog
) -> tuple[list[dg.RunRequest], str | None]:
    """Return the runs to ask for, and a closing note once nothing is left to do or to wait for."""
    try:
        plan, exhausted = _plan(specs.get(key), stores, events)
    except AlphaSwarmError as error:
        return [], f"cannot be driven: {error}"
    ready = [p for p in plan if p.state == "ready" and p.memo_key is not None]
    idle = [p for p in ready if not events.running(str(p.memo_key))]
    if ready:
        return [_run_request(key, p, events.attempts(str(p.memo_key))) for p in idle], None
    if exhausted:
        return [], f"stopped: {MAX_ATTEMPTS} runs each failed of {', '.join(sorted(exhausted))}"
    return [], "done: every cell is current or not due"


def _plan(
    spec: ResearchSpec, stores: Stores, events: EventLog
) -> tuple[tuple[Planned, ...], set[str]]:
    """Return the plan that does without the cells whose runs failed too often, and their names."""
    exhausted: set[str] = set()
    while True:
        plan = next_cells(spec, stores, given_up=exhausted)
        more = {
            p.cell.name
            for p in plan
            if p.state == "ready" and events.attempts(str(p.memo_key)) >= MAX_ATTEMPTS
        }
        if not more:
            return plan, exhausted
        exhausted |= more


def _run_request(key: str, planned: Planned, attempts: int) -> dg.RunRequest:
    cell = planned.cell
    return dg.RunRequest(
        run_key=f"{planned.memo_key}-{attempts}",
        job_name=JOB_OF[cell.axis].name,
        asset_selection=[dg.AssetKey(cell.asset)],
        partition_key=cell.partition,
        tags={
            "alphaswarm/memo_key": str(planned.memo_key),
            "alphaswarm/spec_key": key,
            "alphaswarm/trigger": "advance",
        },
    )
