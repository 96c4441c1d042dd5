"""What a table of the lake looks like in Iceberg: its schema, its snapshots and what is noted on them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from alphaswarm_assets.errors import InvalidInputError, StaleArtifactError
from alphaswarm_assets.ports import TablePin
from alphaswarm_resources.durable import is_out_of_space
from alphaswarm_resources.lake_rows import SOURCE, LakeRows

_OF, _DIGEST, _N_ROWS, _ROWS = (
    f"alphaswarm.{name}" for name in ("source", "content_digest", "n_rows", "rows")
)


def create_table(catalog: Any, name: str, rows: LakeRows) -> Any:
    """Make the table *name* for *rows*, partitioned by source: replacing one source touches no other's files."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import NestedField

    types = {
        SOURCE: _types()["str"],
        **{column: _types()[kind] for column, kind in rows.kinds.items()},
    }
    fields = [
        NestedField(n, column, type_, required=False)
        for n, (column, type_) in enumerate(types.items(), 1)
    ]
    by_source = PartitionField(
        source_id=1, field_id=1000, transform=IdentityTransform(), name=SOURCE
    )
    # A conflict is met by looking at the table again, which only the caller can do.
    properties = {"commit.retry.num-retries": "0"}
    return catalog.create_table(
        name, schema=Schema(*fields), partition_spec=PartitionSpec(by_source), properties=properties
    )


def write_rows(table: Any, source: str, rows: LakeRows) -> None:
    """Make *rows* the only rows of *source* in *table*, in one commit; columns the table lacks are added.

    Raises
    ------
    InvalidInputError
        If a column has another type in the table.
    """
    noted = {_OF: source, _DIGEST: rows.digest, _N_ROWS: str(rows.n_rows), _ROWS: rows.describe()}
    data = rows.to_arrow(source=source)
    present = any(table.scan(row_filter=_only(source)).plan_files())
    with table.transaction() as transaction:
        _add_columns(table, transaction, rows)
        if present:
            transaction.overwrite(data, overwrite_filter=_only(source), snapshot_properties=noted)
        else:
            transaction.append(data, snapshot_properties=noted)


def newest_of(table: Any, name: str, source: str) -> TablePin | None:
    """Return the pin of the newest snapshot that wrote rows of *source*, among those the current one came from."""
    from pyiceberg.table.snapshots import ancestors_of

    for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
        noted = _noted(snapshot)
        if noted.get(_OF) == source and noted["operation"] == "append":
            return TablePin(
                table=name,
                snapshot_id=snapshot.snapshot_id,
                content_digest=noted[_DIGEST],
                n_rows=int(noted[_N_ROWS]),
            )
    return None


def description_of(snapshot: Any, source: str) -> str:
    """Return how the rows of *source* were written at *snapshot*.

    Raises
    ------
    StaleArtifactError
        If *snapshot* was not written for *source*.
    """
    noted = _noted(snapshot)
    if noted.get(_OF) != source:
        raise StaleArtifactError(
            f"snapshot {snapshot.snapshot_id} must be one of source {source!r}, was of {noted.get(_OF)!r}. "
            "Read it with the source it was pinned for"
        )
    return noted[_ROWS]


def rows_at(table: Any, snapshot_id: int, source: str, description: str) -> LakeRows:
    """Return the rows of *source* in *table* at exactly that snapshot."""
    scan = table.scan(row_filter=_only(source), snapshot_id=snapshot_id)
    return LakeRows.from_arrow(scan.to_arrow(), description)


@contextmanager
def leaving_nothing(table: Any) -> Generator[None]:
    """Remove the files of a write that ran out of space before its commit; the caller is the only writer."""
    folder = Path(urlsplit(str(table.location())).path)
    location, before = table.metadata_location, set(folder.rglob("*"))
    try:
        yield
    except Exception as error:
        if is_out_of_space(error) and table.refresh().metadata_location == location:
            written = set(folder.rglob("*")) - before
            for path in filter(Path.is_file, written):
                path.unlink(missing_ok=True)
        raise


def _add_columns(table: Any, transaction: Any, rows: LakeRows) -> None:
    held = {field.name: field.field_type for field in table.schema().fields}
    wanted = {column: _types()[kind] for column, kind in rows.kinds.items()}
    for column, type_ in wanted.items():
        if column in held and held[column] != type_:
            raise InvalidInputError(
                f"column {column!r} must be {held[column]} as in the table, was {type_}. Give it another name"
            )
    missing = [column for column in wanted if column not in held]
    if missing:
        with transaction.update_schema() as update:
            for column in missing:
                update.add_column(column, wanted[column])


def _noted(snapshot: Any) -> dict[str, str]:
    summary = snapshot.summary
    return (
        {}
        if summary is None
        else {"operation": summary.operation.value, **summary.additional_properties}
    )


def _only(source: str) -> Any:
    from pyiceberg.expressions import EqualTo

    predicate: Any = EqualTo
    return predicate(SOURCE, source)


def _types() -> dict[str, Any]:
    from pyiceberg.types import BooleanType, DoubleType, LongType, StringType

    return {
        "float64": DoubleType(),
        "int64": LongType(),
        "bool": BooleanType(),
        "str": StringType(),
    }
