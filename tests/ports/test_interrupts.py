"""Signals that come while a step runs."""

from __future__ import annotations

from tests.ports.children import Start

LOST = """
import os, signal
from alphaswarm_resources.interrupts import noticing_interrupts

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.{signal})
        sum(range(100))

with noticing_interrupts() as came:
    print(came())
    last = Last()
    del last
    print(came())
"""

RAISED = """
import os, signal
from alphaswarm_resources.interrupts import noticing_interrupts

before = signal.getsignal(signal.SIGTERM)
try:
    with noticing_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(100))
except KeyboardInterrupt:
    print("interrupted")
print(signal.getsignal(signal.SIGTERM) is before, signal.set_wakeup_fd(-1))
"""


def test_an_interrupt_whose_exception_python_drops_is_noticed(start: Start) -> None:
    for name in ("SIGINT", "SIGTERM"):
        out, err = start(LOST.format(signal=name)).communicate(timeout=60)
        assert out.split() == ["False", "True"]
        assert "KeyboardInterrupt" in err  # as one that was ignored


def test_sigterm_interrupts_as_ctrl_c_does_and_all_is_put_back(start: Start) -> None:
    assert start(RAISED).communicate(timeout=60)[0].splitlines() == ["interrupted", "True -1"]


def test_outside_the_main_thread_nothing_is_noticed(start: Start) -> None:
    code = (
        "import threading; from alphaswarm_resources.interrupts import noticing_interrupts as n\n"
        "def look():\n    with n() as came: print(came())\n"
        "thread = threading.Thread(target=look); thread.start(); thread.join()"
    )
    assert start(code).communicate(timeout=60) == ("False\n", "")
