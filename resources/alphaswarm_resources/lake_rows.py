"""Rows of a table as arrays: sorted, told apart by a digest, and to and from Arrow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import Columns

SOURCE = "source"
"""Name of the column the lake adds: which source a row belongs to."""

_KINDS = {"f": "float64", "i": "int64", "b": "bool", "U": "str"}


@dataclass(frozen=True, slots=True)
class LakeRows:
    """Rows in their order, each column float64, int64, bool or str."""

    columns: Mapping[str, AnyArray]
    sort_by: tuple[str, ...]

    @classmethod
    def of(cls, rows: Columns, sort_by: Sequence[str]) -> LakeRows:
        """Return *rows* sorted by *sort_by*, then by every other column, so that their order follows from them alone.

        Raises
        ------
        InvalidInputError
            If *rows* are none, are not equally long one-dimensional arrays of the four kinds, have a column named
            ``source``, or lack one to sort by.
        """
        columns = {name: _checked(name, array) for name, array in sorted(rows.items())}
        lengths = {name: len(array) for name, array in columns.items()}
        if not columns or len(set(lengths.values())) != 1 or 0 in lengths.values():
            raise InvalidInputError(
                f"rows must be equally long columns with at least one row, was {lengths!r}"
            )
        if SOURCE in columns or not set(sort_by) <= set(columns):
            raise InvalidInputError(
                f"rows must have every column to sort by, {list(sort_by)!r}, and none named {SOURCE!r}, "
                f"was {sorted(columns)!r}"
            )
        keys = [*sort_by, *(name for name in columns if name not in sort_by)]
        # Bits last: 0.0 and -0.0 compare as equal and are not the same bytes.
        bits = [array.view(np.int64) for array in columns.values() if array.dtype.kind == "f"]
        order = np.lexsort([*bits, *(columns[name] for name in reversed(keys))])
        return cls({name: array[order] for name, array in columns.items()}, tuple(sort_by))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    @property
    def digest(self) -> str:
        """SHA-256 of the rows as one Arrow IPC stream, columns by name: equal rows, equal digest, in any lake."""
        pa, table = _arrow(), self.to_arrow()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return hashlib.sha256(sink.getvalue()).hexdigest()

    def to_arrow(self, *, source: str | None = None) -> Any:
        """Return the rows as a `pyarrow.Table` of one chunk, with a column that names *source* if it is given."""
        pa = _arrow()
        types: dict[str, Any] = {
            "float64": pa.float64(),
            "int64": pa.int64(),
            "bool": pa.bool_(),
            "str": pa.string(),
        }
        arrays: dict[str, Any] = {
            name: pa.array(array.tolist() if kind == "str" else array, type=types[kind])
            for (name, array), kind in zip(self.columns.items(), self.kinds.values(), strict=True)
        }
        if source is not None:
            arrays[SOURCE] = pa.array([source] * self.n_rows, type=pa.string())
        return pa.table(arrays).combine_chunks()

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column, by name."""
        return {name: _KINDS[array.dtype.kind] for name, array in self.columns.items()}

    def describe(self) -> str:
        """Return, as text for a snapshot, what `from_arrow` needs to give the same rows back."""
        return json.dumps({"columns": self.kinds, "sort_by": list(self.sort_by)})

    @classmethod
    def from_arrow(cls, table: Any, description: str) -> LakeRows:
        """Return the rows in the `pyarrow.Table` *table*, in the order and with the columns of *description*.

        Raises
        ------
        InvalidInputError
            If the table does not hold them.
        """
        described: dict[str, Any] = json.loads(description)
        missing = set(described["columns"]) - set(table.column_names)
        if missing:
            raise InvalidInputError(
                f"rows must have the columns {sorted(missing)!r}, was {table.column_names!r}"
            )
        columns: dict[str, AnyArray] = {}
        for name, kind in described["columns"].items():
            column: Any = table.column(name).combine_chunks()
            if column.null_count:
                raise InvalidInputError(
                    f"column {name!r} must have no null, was {column.null_count} of them"
                )
            values: Any = (
                column.to_pylist() if kind == "str" else column.to_numpy(zero_copy_only=False)
            )
            columns[name] = np.asarray(values, dtype=np.str_ if kind == "str" else kind)
        return cls.of(columns, described["sort_by"])


def _arrow() -> Any:
    import pyarrow as pa

    return pa


def _checked(name: str, array: AnyArray) -> AnyArray:
    kind = _KINDS.get(array.dtype.kind)
    exact = array.dtype.kind == "U" or array.dtype == kind
    if array.ndim != 1 or kind is None or not exact:
        raise InvalidInputError(
            f"column {name!r} must be one-dimensional float64, int64, bool or str, "
            f"was {array.ndim}-dimensional {array.dtype}"
        )
    return array
