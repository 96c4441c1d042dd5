"""PPO steps per second, environment and learning together, against stable-baselines3, in one run.

    python benchmarks/bench_ppo.py [--rounds 3] [--seconds 4] [--json FILE]

Ours and the peer take turns within every round, with the same market, rewards, network (64 x 64, tanh) and
hyper-parameters. The peer runs as people run it (a plain `gymnasium.Env` under DummyVecEnv), and on our own vector
environment; with one thread, and with as many as it takes by itself, of which the better counts. Its environment is
made in .bench/venv on the first run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
import torch
from simulated_panel import simulated_panel

from alphaswarm_assets.learning.learner import Learner
from alphaswarm_assets.markets.panel import Block
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.training import TrainingSpec

HERE = Path(__file__).parent
ROOT = HERE.parent
PEERS = ROOT / ".bench" / "venv"
PEER_PACKAGES = (
    "stable-baselines3==2.9.2",
    "gymnasium==1.4.0",
    "pydantic",
    "safetensors",
    "pyyaml",
)
SETTINGS: tuple[dict[str, int], ...] = (
    {"n_envs": 16, "n_steps": 128, "batch_size": 256, "n_epochs": 10},
    {"n_envs": 16, "n_steps": 128, "batch_size": 256, "n_epochs": 4},
    {"n_envs": 128, "n_steps": 64, "batch_size": 512, "n_epochs": 10},
    {"n_envs": 128, "n_steps": 64, "batch_size": 512, "n_epochs": 4},
)
TARGETS = {"plain": 5.0, "vector": 1.0}
"""Ours over the peer's better: as people run it, and on our own vector environment."""


def ours(setting: dict[str, int], seconds: float) -> dict[str, Any]:
    """Return our steps per second over about *seconds*, one thread."""
    panel = simulated_panel()
    training = TrainingSpec(seed=1, total_timesteps=10**9, **setting)
    learner = Learner(
        panel=panel,
        window=Block(start=0, stop=panel.n_bars),
        training=training,
        environment=EnvironmentSpec(),
        seed=1,
    )
    learner.update()  # warm
    done, start, start_cpu = learner.steps_done, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        learner.update()
    steps = learner.steps_done - done
    return {
        "steps_per_s": steps / (time.perf_counter() - start),
        "steps_per_cpu_s": steps / (time.process_time() - start_cpu),
    }


def peer(setting: dict[str, int], mode: str, threads: int | None, seconds: float) -> dict[str, Any]:
    """Return what the peer's runner says.

    Raises
    ------
    SystemExit
        If it fails, with what it printed.
    """
    job = {**setting, "mode": mode, "threads": threads, "seconds": seconds}
    run = subprocess.run(  # noqa: S603 -- our own script
        [PEERS / "bin" / "python", HERE / "peers" / "sb3_runner.py"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise SystemExit(f"the peer failed:\n{run.stderr}")
    return json.loads(run.stdout)


def ensure_peers() -> None:
    """Make the peers' environment unless it is there: torch by pip, whose configuration knows the right build."""
    ready = PEERS / "ready"
    wanted = "\n".join(
        (f"torch=={torch.__version__.split('+')[0]}", f"numpy=={np.__version__}", *PEER_PACKAGES)
    )
    if ready.exists() and ready.read_text() == wanted:
        return
    print(f"making {PEERS.relative_to(ROOT)} …", file=sys.stderr)
    venv.create(PEERS, with_pip=True, clear=True)
    python = str(PEERS / "bin" / "python")
    first, *rest = wanted.split("\n")
    site = next((PEERS / "lib").glob("python*")) / "site-packages"
    (site / "this_project.pth").write_text(f"{ROOT}\n{HERE}\n")
    subprocess.run([python, "-m", "pip", "install", "--quiet", first, "uv"], check=True)  # noqa: S603
    subprocess.run(  # noqa: S603
        [python, "-m", "uv", "pip", "install", "--quiet", "--python", python, *rest], check=True
    )
    ready.write_text(wanted)


def machine() -> dict[str, Any]:
    """Return what the numbers were measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [
        line.split(":", 1)[1].strip()
        for line in (cpuinfo.read_text().splitlines() if cpuinfo.exists() else ())
        if line.startswith("model name")
    ]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }


def measure(setting: dict[str, int], rounds: int, seconds: float) -> dict[str, Any]:
    """Return medians and ratios for one *setting*, taking turns within every round."""
    runs: dict[str, list[dict[str, Any]]] = {"ours": []}
    for _ in range(rounds):
        runs["ours"].append(ours(setting, seconds))
        for mode in TARGETS:
            for threads in (1, None):
                name = f"{mode}, {'1 thread' if threads else 'default threads'}"
                runs.setdefault(name, []).append(peer(setting, mode, threads, seconds))
    median = {
        unit: {
            name: round(statistics.median(r[unit] for r in found)) for name, found in runs.items()
        }
        for unit in ("steps_per_s", "steps_per_cpu_s")
    }
    return {"setting": setting, **median, "ratio": _ratios(median), "runs": runs}


def _ratios(median: dict[str, dict[str, int]]) -> dict[str, dict[str, float]]:
    # The wall clock decides, against the peer's better; CPU seconds of one thread tell whether the machine was ours.
    wall, cpu = median["steps_per_s"], median["steps_per_cpu_s"]
    return {
        mode: {
            "wall": round(wall["ours"] / max(v for n, v in wall.items() if n.startswith(mode)), 2),
            "cpu": round(cpu["ours"] / cpu[f"{mode}, 1 thread"], 2),
        }
        for mode in TARGETS
    }


def main() -> None:
    """Measure and print a table.

    Raises
    ------
    SystemExit
        If a target is missed.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median over them counts")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measurement")
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    arguments = parser.parse_args()
    ensure_peers()
    facts = machine()
    print(json.dumps(facts))
    results: list[dict[str, Any]] = []
    for setting in SETTINGS:
        result = measure(setting, arguments.rounds, arguments.seconds)
        results.append(result)
        print(", ".join(f"{name} {value}" for name, value in setting.items()))
        for name, value in result["steps_per_s"].items():
            cpu = result["steps_per_cpu_s"][name]
            print(f"  {name:26} {value:>9,} steps/s {cpu:>9,} steps/CPU-s")
        for mode, ratio in result["ratio"].items():
            print(
                f"  ours over {mode:16} {ratio['wall']:>9.2f} (target {TARGETS[mode]:g}) {ratio['cpu']:>9.2f}"
            )
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"machine": facts, "results": results}, indent=2) + "\n"
        )
    missed = [
        r["setting"] for r in results if any(r["ratio"][m]["wall"] < t for m, t in TARGETS.items())
    ]
    if missed:
        raise SystemExit(f"below target: {missed}")


if __name__ == "__main__":
    main()
