from __future__ import annotations

import pickle

import pytest

from alphaswarm_assets import errors
from alphaswarm_assets.errors import Fault, InvalidSpecError, NotYetSupportedError

FAULTS = (
    Fault(path="training.seed", problem="is required and was not given"),
    Fault(
        path="dataset.sybmols", problem="is not a field of a spec", hint="did you mean 'symbols'?"
    ),
)


@pytest.mark.parametrize("kind", [InvalidSpecError, NotYetSupportedError])
def test_the_message_names_the_source_and_every_fault_with_its_hint(
    kind: type[InvalidSpecError | NotYetSupportedError],
) -> None:
    text = str(kind("study.yaml", FAULTS))
    assert "study.yaml" in text
    assert "  - training.seed: is required and was not given\n" in text
    assert "dataset.sybmols: is not a field of a spec (did you mean 'symbols'?)" in text


@pytest.mark.parametrize("kind", [InvalidSpecError, NotYetSupportedError])
def test_an_error_survives_the_way_between_two_processes(
    kind: type[InvalidSpecError | NotYetSupportedError],
) -> None:
    back = pickle.loads(pickle.dumps(kind("study.yaml", FAULTS)))  # noqa: S301
    assert (type(back), back.source, back.faults) == (kind, "study.yaml", FAULTS)


def test_one_fault_is_counted_as_one() -> None:
    assert "1 fault:" in str(InvalidSpecError("a", FAULTS[:1]))
    assert "2 faults:" in str(InvalidSpecError("a", FAULTS))


def test_every_exception_stands_in_the_tree_of_the_module_docstring() -> None:
    own = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.AlphaSwarmError)
    ]
    assert [name for name in own if name not in (errors.__doc__ or "")] == []
