from __future__ import annotations

import pytest

from alphaswarm_assets.defs.pictures import MOST_LETTERS
from alphaswarm_assets.defs.verdict_page import _why
from alphaswarm_assets.specs.loading import parse_spec
from alphaswarm_assets.specs.research import ResearchSpec

EVIDENCE = {
    "metrics": {
        "ensemble": {"sharpe": {"value": 0.8903, "reason": None}},
        "equal_weight": {"sharpe": {"value": 1.036, "reason": None}},
    }
}
PASSED = {"passed": True, "status": "pass"}
FAILED = {"passed": False, "status": "missing_evidence"}


@pytest.fixture
def spec() -> ResearchSpec:
    return parse_spec(
        "name: patient\ndescription: Looks a hundred bars ahead.\ndataset: {source: wiki_5stocks}\n"
        "training: {seed: 1, total_timesteps: 4096}",
        source="patient.yaml",
    )


def test_a_pass_stands_beside_what_needs_no_agent(spec: ResearchSpec) -> None:
    facts = {"decision": "PASS", "outcomes": [PASSED] * 5, "reasons": []}
    assert _why(spec, facts, EVIDENCE).splitlines() == [
        f"## PASS: {spec.key}",
        "",
        "All 5 gates passed.",
        "",
        "",
        "Sharpe ratio over the same bars: ensemble 0.8903, equal weight 1.036.",
        "",
        "About: Looks a hundred bars ahead.",
    ]


def test_a_refusal_lists_its_reasons(spec: ResearchSpec) -> None:
    facts = {
        "decision": "REJECT",
        "outcomes": [PASSED, FAILED, {"passed": False, "status": "not_applicable"}],
        "reasons": ["min_sharpe: missing_evidence (needs sharpe >= 0.5; sharpe was not measured)"],
    }
    page = _why(spec, facts, {}).replace("\\\n", " ")
    assert "The agent is refused: 1 of 3 gates did not pass." in page
    assert "- min_sharpe: missing_evidence (needs sharpe >= 0.5; sharpe was not measured)" in page
    assert "Sharpe ratio over" not in page


def test_nothing_asked_is_said_so(spec: ResearchSpec) -> None:
    facts = {"decision": "UNGATED", "outcomes": [], "reasons": []}
    assert "nothing was asked of this agent" in _why(spec, facts, EVIDENCE)


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("length", [20, 400, 2000])
def test_however_many_reasons_there_are_the_page_shows_the_first_in_place(
    spec: ResearchSpec, n: int, length: int
) -> None:
    reasons = [f"gate_{i}: {'x' * length}" for i in range(n)]
    page = _why(
        spec, {"decision": "REJECT", "outcomes": [FAILED] * n, "reasons": reasons}, EVIDENCE
    )
    assert len(page) <= MOST_LETTERS
    shown = sum(f"gate_{i}: " in page for i in range(n))
    assert shown == n or f"and {n - shown} more: see `gates`" in page
