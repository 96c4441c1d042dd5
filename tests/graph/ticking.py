"""What the daemon does, without a daemon: tick the sensor `advance`, and make what it asks for, or pretend to."""

from __future__ import annotations

import dagster as dg

from alphaswarm_assets.definitions import House, definitions_of
from alphaswarm_assets.defs import automation

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def tick(house: House, definitions: dg.Definitions, cursor: str | None = None) -> dg.SensorResult:
    result = evaluate(house, definitions, cursor)
    assert isinstance(result, dg.SensorResult)
    return result


def runs_of(house: House, definitions: dg.Definitions) -> list[dg.RunRequest]:
    return list(tick(house, definitions).run_requests or ())


def evaluate(
    house: House, definitions: dg.Definitions, cursor: str | None = None
) -> dg.SensorResult | dg.SkipReason:
    wanted = automation.advance.required_resource_keys
    given = {name: thing for name, thing in (definitions.resources or {}).items() if name in wanted}
    with dg.build_sensor_context(
        instance=house.instance, cursor=cursor, resources=given
    ) as context:
        result = automation.advance(context)
    assert isinstance(result, dg.SensorResult | dg.SkipReason)
    return result


def asked_for(result: dg.SensorResult) -> list[tuple[str, str]]:
    """Return what each run is to make: assets joined by a plus, and the partition without the spec's name."""
    return [
        (
            "+".join(key.to_user_string() for key in run.asset_selection or ()),
            str(run.partition_key).split("|")[0].split("-")[0],
        )
        for run in result.run_requests or ()
    ]


def make(house: House, run: dg.RunRequest) -> dg.ExecuteInProcessResult:
    """Do what the daemon does with a request for a run; like a worker of its, load the definitions anew."""
    assert run.job_name is not None
    return (
        definitions_of(house)
        .resolve_job_def(run.job_name)
        .execute_in_process(
            instance=house.instance,
            partition_key=run.partition_key,
            asset_selection=list(run.asset_selection or ()),
            tags=dict(run.tags),
            run_config=QUIET,
            raise_on_error=False,
        )
    )


def pretend(
    house: House,
    definitions: dg.Definitions,
    run: dg.RunRequest,
    status: dg.DagsterRunStatus,
    **tags: str,
) -> dg.DagsterRun:
    """Leave a run as a daemon, or its end, would leave it."""
    assert run.job_name is not None
    return house.instance.create_run_for_job(
        definitions.resolve_job_def(run.job_name),
        status=status,
        asset_selection=frozenset(run.asset_selection or ()),
        tags={**run.tags, "dagster/partition": str(run.partition_key), **tags},
    )
