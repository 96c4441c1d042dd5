from __future__ import annotations

import numpy as np
import pytest

from alphaswarm_assets.rehearsal.triggers import RUIN, Account, Trigger, TriggerName, triggers_of
from alphaswarm_assets.specs.paper import PaperSpec


def test_an_account_starts_at_one_which_counts_as_a_peak() -> None:
    account = Account().after(np.array([-0.25]))
    assert (account.equity, account.peak, account.drawdown, account.loss) == (0.75, 1.0, 0.25, 0.25)


def test_an_account_remembers_its_worst_fall_after_a_recovery() -> None:
    account = Account().after(np.array([0.5, -0.5, 3.0]))
    assert account.drawdown == 0.5
    assert account.peak == account.equity == 3.0


def test_what_is_wiped_out_stays_wiped_out() -> None:
    account = Account().after(np.array([-1.0])).after(np.array([2.0]))
    assert (account.equity, account.drawdown, account.loss) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "observed"), [("max_drawdown", "drawdown"), ("max_loss_pct", "loss")]
)
def test_a_trigger_fires_at_its_threshold_and_not_below(name: TriggerName, observed: str) -> None:
    trigger = Trigger(name=name, threshold=0.15)
    at = Account(equity=0.85, drawdown=0.15)
    below = Account(equity=0.8501, drawdown=0.1499)
    assert trigger.fires(at)
    assert not trigger.fires(below)
    assert trigger.observed(at) == getattr(at, observed)


def test_the_halt_reason_names_the_trigger() -> None:
    assert Trigger(name="max_drawdown", threshold=0.1).halt_reason == "rollback:max_drawdown"


def test_ruin_is_watched_for_where_no_loss_is_configured() -> None:
    assert triggers_of(PaperSpec()) == (RUIN,)
    paper = PaperSpec(rollback_max_drawdown=0.15, rollback_max_loss_pct=0.10)
    assert [(t.name, t.threshold) for t in triggers_of(paper)] == [
        ("max_drawdown", 0.15),
        ("max_loss_pct", 0.10),
    ]
