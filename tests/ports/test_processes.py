import os
import signal
import subprocess
import sys
import time

import pytest

from alphaswarm_resources import processes
from alphaswarm_resources.processes import (
    ProcessIdentity,
    host_name,
    is_alive,
    process_start_ticks,
    this_process,
)
from tests.ports.children import Start, first_line


def test_this_process_is_alive() -> None:
    me = this_process()
    assert me.pid == os.getpid()
    assert is_alive(me.pid, me.start_ticks)
    assert me.may_live()


def test_a_process_that_ended_is_not_alive_even_before_it_is_waited_for(start: Start) -> None:
    child = start("input()")
    ticks = process_start_ticks(child.pid)
    assert ticks is not None
    assert is_alive(child.pid, ticks)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(child.pid, ticks)


def test_a_later_process_with_the_same_number_is_another_process() -> None:
    me = this_process()
    earlier = ProcessIdentity(host=host_name(), pid=me.pid, start_ticks=me.start_ticks - 1)
    assert not earlier.may_live()


def test_nothing_is_known_of_a_process_on_another_host() -> None:
    assert ProcessIdentity(host="elsewhere", pid=1, start_ticks=0).may_live()


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux starts the count in two ways to compare"
)
def test_ps_and_proc_agree_on_who_is_there() -> None:
    try:
        found = processes._start_from_ps(os.getpid())
    except FileNotFoundError:
        pytest.skip("no ps on this machine")
    assert found is not None
    assert abs(found - time.time()) < 86_400
    assert processes._start_from_ps(2**22 + 1) is None


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a child of its parent's death"
)
@pytest.mark.faults
def test_a_step_process_dies_when_its_orchestrator_is_killed(start: Start) -> None:
    grandchild = "from alphaswarm_resources.processes import die_with_parent as d; d(); print(1, flush=True); input()"
    child = start(
        "import subprocess, sys, time\n"
        "step = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "step.stdout.readline(); print(step.pid, flush=True); time.sleep(60)",
        grandchild,
    )
    pid = int(first_line(child))
    ticks = process_start_ticks(pid)
    assert ticks is not None
    child.kill()
    deadline = time.monotonic() + 5
    while is_alive(pid, ticks):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_dying_with_the_parent_is_asked_for_without_harm() -> None:
    code = "from alphaswarm_resources.processes import die_with_parent as d; d(); print('lives')"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "lives\n"
