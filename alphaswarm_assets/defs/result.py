"""What an asset hands back: digests, memo key, explicit parents and whatever a person wants to read."""

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import dagster as dg

from alphaswarm_assets.defs.pins import Making
from alphaswarm_assets.errors import AlphaSwarmError
from alphaswarm_assets.ports import Pin

MetadataInput: TypeAlias = Mapping[str, Any]


def to_metadata(values: MetadataInput) -> dict[str, Any]:
    """Return *values* as metadata the UI can show: NumPy scalars cast, what is not finite replaced by text."""
    return {key: _castable(value) for key, value in values.items()}


def _castable(value: Any) -> Any:
    if isinstance(value, dg.MetadataValue):
        return value
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"not finite: {value}"
    if value is None:
        return "none"
    if isinstance(value, dict | list | tuple):
        return dg.MetadataValue.json(_finite(value))
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def made(
    digest: str,
    *,
    memo: str,
    parents: Sequence[Pin | None],
    metadata: MetadataInput,
    spec_hash: str | None,
    check_results: Sequence[dg.AssetCheckResult] = (),
) -> dg.MaterializeResult:
    """Return the materialisation of the artifact *digest*."""
    return dg.MaterializeResult(
        # The UI keeps the order: what a person came for stands first.
        metadata=to_metadata(metadata)
        | provenance(digest, memo=memo, parents=parents, spec_hash=spec_hash),
        data_version=dg.DataVersion(f"sha256:{digest}"),
        check_results=list(check_results),
    )


def made_from(
    making: Making,
    digest: str,
    metadata: MetadataInput,
    check_results: Sequence[dg.AssetCheckResult] = (),
) -> dg.MaterializeResult:
    """Return the materialisation of *digest* for the cell in *making*."""
    return made(
        digest,
        memo=making.memo_key,
        parents=list(making.parents.values()),
        metadata=metadata,
        spec_hash=making.spec.snapshot_hash(),
        check_results=check_results,
    )


def provenance(
    digest: str, *, memo: str, parents: Sequence[Pin | None], spec_hash: str | None
) -> dict[str, Any]:
    """Return the metadata every materialisation carries."""
    return to_metadata(
        {
            "digest": digest,
            "memo_key": memo,
            "spec_hash": spec_hash,
            "parents": [pin.to_json() for pin in parents if pin is not None],
        }
    )


@contextmanager
def plain_errors() -> Generator[None]:
    """Turn an error raised on purpose into a failure whose description is its message; it is not retried."""
    try:
        yield
    except AlphaSwarmError as error:
        raise dg.Failure(
            description=f"{type(error).__name__}: {error}", allow_retries=False
        ) from error


def table(
    rows: Sequence[Mapping[str, Any]], *, meanings: Mapping[str, str] | None = None
) -> dg.MetadataValue:
    """Return *rows* as a table; every row has the keys of the first, and a missing number is shown as text.

    *meanings* are the descriptions of the columns that need one.
    """
    if not rows:
        return dg.MetadataValue.text("no rows")
    columns = list(rows[0])
    records = [
        dg.TableRecord({column: _cell(row.get(column)) for column in columns}) for row in rows
    ]
    told = meanings or {}
    schema = dg.TableSchema(columns=[dg.TableColumn(c, "string", told.get(c)) for c in columns])
    return dg.MetadataValue.table(records=records, schema=schema)


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}" if math.isfinite(value) else str(value)
        case _:
            return str(value)
