"""Daily bars from a CSV file, as the file has them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TypeVar

import numpy as np

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.ports import BarSource, Columns
from alphaswarm_assets.records.canonical import digest_bytes

NUMBERS = ("open", "high", "low", "close", "volume", "adj_close")
"""Numeric columns of bars, by the names the port gives them."""

COLUMNS = ("date", "symbol", *NUMBERS)
"""Columns of a CSV file of bars."""

_EPOCH = date(1970, 1, 1)
_Value = TypeVar("_Value", str, int, float)


class CsvBars(BarSource):
    """Bars in a CSV file whose first line names the columns in `COLUMNS`, in any order."""

    def __init__(
        self, name: str, path: Path, *, licence: str = "as the owner of the file says"
    ) -> None:
        """Call the bars in *path* *name*; dates in it are YYYY-MM-DD, text is UTF-8."""
        self._name = name
        self._path = path
        self._licence = licence

    @property
    def name(self) -> str:
        """Name a spec uses in ``dataset.source``."""
        return self._name

    @property
    def licence(self) -> str:
        """Terms of the data, one line."""
        return self._licence

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file as it is now.

        Raises
        ------
        MarketDataError
            If the file cannot be read.
        """
        return digest_bytes(self._data())

    def read(self) -> Columns:
        """Return the rows of the file, in its order: symbol str, session int64, prices and volume float64.

        Raises
        ------
        MarketDataError
            If the file cannot be read, lacks a column or every row, or a row has a value that is none; the line is
            named.
        """
        names = {name: name for name in COLUMNS}
        return parse_bars(self._data(), source=str(self._path), names=names)

    def _data(self) -> bytes:
        try:
            return self._path.read_bytes()
        except OSError as error:
            raise MarketDataError(
                f"source {self._name!r} reads its bars from {str(self._path)!r}, which cannot be read: "
                f"{error.strerror}. Put the file there, or correct the path"
            ) from error


def parse_bars(data: bytes, *, source: str, names: Mapping[str, str]) -> Columns:
    """Return the bars in the CSV text *data*.

    Parameters
    ----------
    data : bytes
        UTF-8; the first line names the columns.
    source : str
        Where it came from, for messages.
    names : mapping of str to str
        For each name in `COLUMNS`, the name the file has for it.

    Raises
    ------
    MarketDataError
        If a column or every row is missing, or a value is not what its column holds.
    """
    header, rows = _lines(data, source)
    missing = sorted(set(names.values()) - set(header))
    if missing:
        raise MarketDataError(
            f"{source} must have the columns {sorted(names.values())!r} in its first line, "
            f"was {header!r}, without {missing!r}"
        )

    def column(name: str, expected: str, parse: Callable[[str], _Value]) -> list[_Value]:
        place = header.index(names[name])
        return [
            _value(parse, row[place], f"{name} must be {expected}", (n, source)) for n, row in rows
        ]

    columns: dict[str, AnyArray] = {
        "symbol": np.array(column("symbol", "a symbol", _symbol), dtype=np.str_),
        "session": np.array(column("date", "a date as YYYY-MM-DD", _days), dtype=np.int64),
    }
    for name in NUMBERS:
        columns[name] = np.array(column(name, "a number", _number), dtype=np.float64)
    return columns


def _lines(data: bytes, source: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        lines = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise MarketDataError(f"{source} must be CSV in UTF-8, was not: {error}") from error
    if len(lines) < 2:
        raise MarketDataError(
            f"{source} must hold a line of column names and at least one bar, was {len(lines)} lines"
        )
    header = [title.strip() for title in lines[0][1]]
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise MarketDataError(
                f"line {number} of {source} must have {len(header)} values, was {len(row)}: {row!r}"
            )
    return header, lines[1:]


def _value(parse: Callable[[str], _Value], text: str, rule: str, where: tuple[int, str]) -> _Value:
    try:
        return parse(text)
    except ValueError:
        raise MarketDataError(
            f"{rule}, was {text!r} in line {where[0]} of {where[1]}. Correct the line or take it out"
        ) from None


def _symbol(text: str) -> str:
    if not text.strip():
        raise ValueError
    return text.strip()


def _days(text: str) -> int:
    if text[4:5] != "-" or text[7:8] != "-":
        raise ValueError
    return (date.fromisoformat(text) - _EPOCH).days


def _number(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)
