"""Automation: a job that files a request for a study, and the sensor that drives every requested study forward."""

import socket
from collections.abc import Callable, Mapping, Sequence

import dagster as dg
from pydantic import Field

from alphaswarm_assets.defs.advancing import (
    MEMO_KEY_TAG,
    REQUEST_TAG,
    Launch,
    Request,
    Runs,
    Step,
    next_step,
    open_requests,
)
from alphaswarm_assets.defs.pins import StoresOf
from alphaswarm_assets.defs.result import plain_errors
from alphaswarm_assets.drive.plan import Stores
from alphaswarm_assets.errors import AlphaSwarmError, BusyError, MarketDataError, StoreError
from alphaswarm_assets.ports import BarSource, Ledger, Locks
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.support import require_supported

STUDIES_PER_TICK = 10
"""Studies one tick looks at; the next tick goes on after them."""

REQUESTS_PER_TICK = 20
"""Runs one tick asks for at most."""

EXECUTOR = dg.multiprocess_executor.configured({"max_concurrent": 2, "start_method": {"spawn": {}}})
"""Steps in processes of their own, spawned: nothing of CUDA is ever forked."""


class ResearchConfig(dg.Config):
    """Which study to drive."""

    spec: str = Field(description="Key of a registered spec: see `alphaswarm spec list`.")


@dg.op
def file_request(
    context: dg.OpExecutionContext,
    config: ResearchConfig,
    specs: dg.ResourceParam[SpecRegistry],
    sources: dg.ResourceParam[Mapping[str, BarSource]],
    requests: dg.ResourceParam[Ledger],
) -> None:
    """File a request; the sensor `advance` takes it from there, cell by cell, to a verdict."""
    with plain_errors():
        spec = specs.get(config.spec)
        require_supported(spec)
        source = spec.dataset.source
        if source not in sources:
            raise MarketDataError(
                f"dataset.source: there is no bar source {source!r}; there are {', '.join(sorted(sources))}"
            )
        context.instance.add_dynamic_partitions("spec", [spec.key])
        context.instance.add_dynamic_partitions("source", [source])
        row = requests.append(
            {"event": "requested", "spec_key": spec.key, "run_id": context.run.run_id}
        )
    context.log.info(
        f"request {row.index} filed for {spec.key}: the sensor 'advance' makes what is missing"
    )


@dg.config_mapping
def of_one_spec(val: ResearchConfig) -> dg.RunConfig:
    """Let the Launchpad ask for the key and for nothing else."""
    return dg.RunConfig(ops={"file_request": val})


@dg.job(
    config=of_one_spec,
    executor_def=dg.in_process_executor,
    description="Files a request to take a registered spec from data to a verdict; the sensor `advance` obeys. "
    "Ask again to try again what failed.",
)
def research() -> None:
    """File a request for one spec."""
    file_request()


make_sources = dg.define_asset_job(
    "make_sources",
    selection=["bronze_bars", "silver_bars", "gold_features"],
    executor_def=dg.in_process_executor,
    description="Tables of a source, as `advance` asks for them.",
)
make_folds = dg.define_asset_job(
    "make_folds",
    selection=["trained_checkpoint", "evaluation_report"],
    executor_def=dg.in_process_executor,
    description="A fold of a study, as `advance` asks for it. Folds are runs beside each other; the seeds of one train "
    "one after the other, since a process more costs as much as a short training.",
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
    description="Dataset, evidence, verdict and what it allows, as `advance` asks for them.",
)
JOB_OF = {"source": make_sources, "fold": make_folds, "spec": make_specs}


@dg.sensor(
    jobs=[make_sources, make_folds, make_specs],
    # The daemon looks every five seconds; a longer interval is most of the time a short study takes.
    minimum_interval_seconds=3,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for the next cells of every requested study, as the command does, until it has its verdict.",
)
def advance(
    context: dg.SensorEvaluationContext,
    *,
    specs: dg.ResourceParam[SpecRegistry],
    requests: dg.ResourceParam[Ledger],
    stores_of: dg.ResourceParam[StoresOf],
    locks: dg.ResourceParam[Locks],
    reconcile: dg.ResourceParam[Callable[[], Sequence[str]]],
) -> dg.SensorResult | dg.SkipReason:
    """Yield a run for every cell that can be made now and is not under way."""
    opened = open_requests(requests)
    if not opened:
        return dg.SkipReason("no study is requested; launch the job `research` with a spec's key")
    reconcile()
    runs = Runs.of(context.instance, opened)
    stores = stores_of(context.instance)
    asked: dict[str, dg.RunRequest] = {}
    said: list[str] = []
    last = context.cursor
    for request in _in_turn(opened, last):
        if len(asked) >= REQUESTS_PER_TICK:
            break
        step, words = _look_at(request, specs, stores, runs, locks)
        # Two studies may need the same table: whoever comes first asks for it.
        new = {la.memo_key: la for la in step.launches if la.memo_key not in asked}
        asked |= {memo: _run_request(request, launch) for memo, launch in new.items()}
        if step.ending is not None:
            requests.append({"event": "closed", "spec_key": request.spec_key, "note": step.ending})
        said.append(f"{request.spec_key}: {words}")
        last = request.spec_key
    return dg.SensorResult(
        run_requests=list(asked.values()),
        skip_reason=None if asked else "; ".join(said),
        cursor=last,
    )


def _in_turn(opened: list[Request], last: str | None) -> list[Request]:
    """Return the requests to look at now, those that come after the *last* one first."""
    keys = [request.spec_key for request in opened]
    first = keys.index(last) + 1 if last in keys else 0
    return (opened[first:] + opened[:first])[:STUDIES_PER_TICK]


def _look_at(
    request: Request, specs: SpecRegistry, stores: Stores, runs: Runs, locks: Locks
) -> tuple[Step, str]:
    """Return what to do for a study, and what to tell about it."""
    try:
        # The command holds this lock while it drives the study, and needs no help.
        with locks.hold(f"spec-{request.spec_key}"):
            pass
        step = next_step(request, specs.get(request.spec_key), stores, runs)
    except BusyError:
        return Step(), "another process drives it"
    except StoreError as error:
        return Step(), f"cannot be looked at now: {error}"
    except AlphaSwarmError as error:
        step = Step(ending=f"cannot be driven: {error}")
    if step.ending is not None:
        return step, step.ending
    heads = [launch.cells[0].name for launch in step.launches]
    return (
        step,
        f"asks for {', '.join(heads) or 'nothing'}; waits for {', '.join(step.making) or 'nothing'}",
    )


def _run_request(request: Request, launch: Launch) -> dg.RunRequest:
    first = launch.cells[0]
    return dg.RunRequest(
        run_key=f"{launch.memo_key}-{request.number}-{launch.n_before}",
        job_name=JOB_OF[first.axis].name,
        asset_selection=[dg.AssetKey(cell.asset) for cell in launch.cells],
        partition_key=first.partition,
        tags={
            MEMO_KEY_TAG: launch.memo_key,
            REQUEST_TAG: str(request.number),
            "alphaswarm/spec_key": request.spec_key,
            "alphaswarm/trigger": "advance",
            "alphaswarm/host": socket.gethostname(),
            # Whether to try again is decided here, not by the daemon.
            "dagster/max_retries": "0",
        },
    )
