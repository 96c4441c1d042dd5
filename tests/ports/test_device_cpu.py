import os
import subprocess
import sys

import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import Device
from alphaswarm_resources.device_cpu import CpuDevice


def test_the_cpu_is_a_device() -> None:
    assert isinstance(CpuDevice(), Device)


def test_the_cpu_says_what_it_is() -> None:
    info = CpuDevice().info()
    assert info.kind == "cpu"
    assert info.name
    assert 1 <= info.n_parallel <= (os.cpu_count() or 1)
    assert info.memory_bytes > 2**28


def test_how_many_steps_compute_at_once_can_be_said() -> None:
    assert CpuDevice(3).info().n_parallel == 3
    with pytest.raises(InvalidInputError, match="n_parallel must be at least 1, was 0"):
        CpuDevice(0)


def test_a_lease_gives_a_step_one_thread_and_puts_the_others_back() -> None:
    code = (
        "from alphaswarm_resources.device_cpu import CpuDevice\n"
        "import torch\n"
        "torch.set_num_threads(2)\n"
        "with CpuDevice(2).lease() as info:\n"
        "    print(info.n_parallel, torch.get_num_threads())\n"
        "print(torch.get_num_threads())\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "1", "2"]


def test_knowing_the_device_does_not_load_torch() -> None:
    code = (
        "import sys; from alphaswarm_resources.device_cpu import CpuDevice\n"
        "CpuDevice().info(); print('torch' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
