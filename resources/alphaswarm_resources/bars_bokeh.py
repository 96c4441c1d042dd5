"""Five US stocks, 2000 to 2013, from the public-domain set in the PyPI package ``bokeh-sampledata``."""

from __future__ import annotations

import gzip
import zlib
from importlib.util import find_spec
from pathlib import Path

from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.ports import BarSource, Columns
from alphaswarm_assets.records.canonical import digest_bytes
from alphaswarm_resources.bars_csv import parse_bars

_PACKAGE = "bokeh_sampledata"
_NAMES = {
    "date": "Date",
    "symbol": "Ticker",
    "open": "Open",
    "high": "High",
    "low": "Low",
    "close": "Close",
    "volume": "Volume",
    "adj_close": "Adj Close",
}


class WikiFiveStocks(BarSource):
    """AAPL, FB, GOOG, IBM and MSFT by day: prices as traded, and a close adjusted for splits and dividends.

    GOOG lists on 2004-08-19 and FB on 2012-05-18; the set ends on 2013-03-01. It is read from the installed package's
    file; the package's own modules, which need pandas, are never imported.
    """

    @property
    def name(self) -> str:
        """Name a spec uses in ``dataset.source``."""
        return "wiki_5stocks"

    @property
    def licence(self) -> str:
        """Terms of the data, one line."""
        return "public domain (Quandl WIKI Prices, by its publisher's notice), carried by bokeh-sampledata"

    def fingerprint(self) -> str:
        """Return the SHA-256 of the CSV inside the installed package.

        Raises
        ------
        MarketDataError
            If the package is not installed, or is one from before it carried the public-domain set.
        """
        return digest_bytes(self._data())

    def read(self) -> Columns:
        """Return 12,154 bars as the file has them, ordered by symbol and session.

        Raises
        ------
        MarketDataError
            If the package is not installed, is too old, or its file cannot be read.
        """
        return parse_bars(self._data(), source=f"{_PACKAGE}/_data/stocks.csv.gz", names=_NAMES)

    def _data(self) -> bytes:
        path = _package_folder() / "_data" / "stocks.csv.gz"
        if not path.is_file():
            raise MarketDataError(
                f"source {self.name!r} needs bokeh-sampledata 2026.1 or later, was one without {path.name}: "
                "pip install --upgrade 'alphaswarm[demo]'"
            )
        try:
            return gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise MarketDataError(
                f"{path} must be a whole gzip file, was not: {error}. Install bokeh-sampledata again"
            ) from error


def _package_folder() -> Path:
    # The spec of a top-level package is found without running it.
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MarketDataError(
            "source 'wiki_5stocks' reads its bars from the package bokeh-sampledata, which is not installed: "
            "pip install 'alphaswarm[demo]'"
        )
    return Path(next(iter(spec.submodule_search_locations)))
