import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alphaswarm_assets.errors import InvalidInputError, LedgerError
from alphaswarm_assets.records.ledger import GENESIS, Ledger, Row
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from tests.ports.children import Start

APPEND = """
import sys
from pathlib import Path
from alphaswarm_resources.ledger_jsonl import JsonlLedger
ledger = JsonlLedger(Path(sys.argv[1]))
for n in range(50):
    ledger.append({"by": sys.argv[2], "n": n})
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledgers" / "promotions.jsonl"


@pytest.fixture
def ledger(path: Path) -> JsonlLedger:
    return JsonlLedger(path)


def test_a_file_of_json_lines_is_a_ledger(ledger: JsonlLedger, path: Path) -> None:
    held: Ledger = ledger
    assert held.rows() == []
    assert not path.exists()


def test_rows_are_chained_and_come_back_in_order(ledger: JsonlLedger, path: Path) -> None:
    made = [ledger.append({"n": n, "why": "größer\n"}) for n in range(5)]
    assert [row.index for row in made] == [0, 1, 2, 3, 4]
    assert [row.previous for row in made] == [GENESIS, *(row.digest for row in made[:-1])]
    assert ledger.rows() == JsonlLedger(path).rows() == made


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=st.dictionaries(
        st.text(),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
    )
)
def test_any_body_comes_back_as_it_was(
    ledger: JsonlLedger, path: Path, body: dict[str, Any]
) -> None:
    row = ledger.append(body)
    assert JsonlLedger(path).rows()[-1] == row
    assert row.body == body


def test_a_body_without_a_json_form_leaves_no_trace(ledger: JsonlLedger, path: Path) -> None:
    ledger.append({"n": 0})
    with pytest.raises(InvalidInputError, match="finite"):
        ledger.append({"n": float("nan")})
    assert len(ledger.rows()) == 1
    assert path.read_bytes().count(b"\n") == 1


def test_a_row_much_longer_than_a_block_is_followed(ledger: JsonlLedger) -> None:
    rows = [ledger.append({"text": "x" * size}) for size in (200_000, 10, 65_536 - 200, 65_536)]
    assert ledger.rows() == rows


def test_another_writer_is_seen_at_once(ledger: JsonlLedger, path: Path) -> None:
    other = JsonlLedger(path)
    for n in range(6):
        (ledger, other)[n % 2].append({"n": n})
        assert len(ledger.rows()) == len(other.rows()) == n + 1


@pytest.mark.slow
def test_four_processes_append_two_hundred_rows_that_verify(
    ledger: JsonlLedger, path: Path, start: Start
) -> None:
    children = [start(APPEND, path, name) for name in "abcd"]
    assert [child.communicate(timeout=120)[1] for child in children] == [""] * 4
    rows = ledger.rows()
    assert len(rows) == 200
    for name in "abcd":
        assert [row.body["n"] for row in rows if row.body["by"] == name] == list(range(50))


TAMPERINGS = {
    "a changed body": lambda lines: [lines[0], lines[1].replace('"n":1', '"n":9'), *lines[2:]],
    "a dropped row": lambda lines: [lines[0], *lines[2:]],
    "swapped rows": lambda lines: [lines[1], lines[0], *lines[2:]],
    "a doubled row": lambda lines: [lines[0], lines[0], *lines[1:]],
    "a lost beginning": lambda lines: lines[1:],
    "a note nobody reads": lambda lines: [lines[0].replace("{", '{"a":0,', 1), *lines[1:]],
    "other spacing": lambda lines: [lines[0].replace(":", ": "), *lines[1:]],
    "a number too large": lambda lines: [lines[0].replace('"n":0', '"n":1e999'), *lines[1:]],
    "a blank line": lambda lines: [lines[0], "", *lines[1:]],
    "a line that is no JSON": lambda lines: [lines[0], "{", *lines[1:]],
    "a line that is no row": lambda lines: [lines[0], "7", *lines[1:]],
}


@pytest.mark.faults
@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_tampered_ledger_is_broken_for_every_reader(
    ledger: JsonlLedger, path: Path, tampering: str
) -> None:
    for n in range(4):
        ledger.append({"n": n})
    assert len(ledger.rows()) == 4
    path.write_text("\n".join(TAMPERINGS[tampering](path.read_text().splitlines())) + "\n")
    for reader in (ledger, JsonlLedger(path)):
        with pytest.raises(LedgerError, match=r"broken at row \d.*do not edit"):
            reader.rows()


@pytest.mark.faults
def test_nothing_is_appended_to_a_last_row_that_was_changed(
    ledger: JsonlLedger, path: Path
) -> None:
    ledger.append({"n": 0})
    path.write_text(path.read_text().replace('"n":0', '"n":1'))
    with pytest.raises(LedgerError, match="broken at its end"):
        ledger.append({"n": 1})
    assert path.read_text().count("\n") == 1


@pytest.mark.faults
def test_a_row_that_was_never_whole_does_not_count_and_is_kept_aside(
    ledger: JsonlLedger, path: Path
) -> None:
    rows = [ledger.append({"n": n}) for n in range(3)]
    whole = path.read_bytes()
    torn = json.dumps(rows[0].to_json()).encode()[:-5]
    for n in (1, 2):
        with path.open("ab") as file:
            file.write(torn)
        assert ledger.rows() == JsonlLedger(path).rows() == rows
        rows.append(JsonlLedger(path).append({"again": n}))
        assert ledger.rows() == rows
        assert path.with_name(f"promotions.jsonl.torn-{n}").read_bytes() == torn
    assert path.read_bytes().startswith(whole)


@pytest.mark.faults
def test_a_ledger_that_is_one_torn_row_is_empty(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"index":0')
    ledger = JsonlLedger(path)
    assert ledger.rows() == []
    assert ledger.append({"n": 0}) == Row(index=0, previous=GENESIS, body={"n": 0})
    assert len(ledger.rows()) == 1
