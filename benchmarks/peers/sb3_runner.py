"""Steps per second of stable-baselines3's PPO; reads a JSON job on stdin and writes a JSON result to stdout.

Two ways of running it: ``plain``, as people do (one `gymnasium.Env` a portfolio, NumPy inside, under DummyVecEnv), and
``vector``, on this project's own vector environment wrapped as a VecEnv. It runs in the peers' environment, which
finds this project by path.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from simulated_panel import simulated_panel
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from alphaswarm_assets.learning.environment import RUIN_EQUITY, PortfolioVectorEnv
from alphaswarm_assets.learning.normalizer import fit_normalizer
from alphaswarm_assets.learning.observation import market_part
from alphaswarm_assets.learning.policy import weights_from_logits
from alphaswarm_assets.learning.tape import cut_tape
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec

AGREEMENT = 1e-12
LOGIT_BOUND = 10.0  # it wants finite bounds; no logit comes near them


class PlainPortfolioEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One portfolio by the same rules; what a step can look up instead of computing it is looked up."""

    def __init__(self, panel: Panel, environment: EnvironmentSpec) -> None:
        """Prepare the tables."""
        window = Block(start=0, stop=panel.n_bars)
        self.tape = tape = cut_tape(panel, window)
        self.market = market_part(tape.features, tape.known, fit_normalizer(panel, window))
        self.cost_rate, self.episode_bars = environment.cost_bps / 1e4, environment.episode_bars
        self.n = n = panel.n_symbols
        size = self.market.shape[1] + n + 1
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gymnasium.spaces.Box(-LOGIT_BOUND, LOGIT_BOUND, (n + 1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start flat at a random bar, or at ``options["bar"]``."""
        super().reset(seed=seed)
        latest = len(self.market) - self.episode_bars
        self.bar = options["bar"] if options else int(self.np_random.integers(0, latest))
        self.steps, self.weights, self.cash, self.equity = 0, np.zeros(self.n), 1.0, 1.0
        return self._observe(), {}

    def step(self, action: np.ndarray) -> Any:
        """Softmax of the action over the known symbols and cash, filled at the next open, held to its close."""
        tape, known = self.tape, self.tape.known[self.bar]
        logits = np.where(np.append(known, True), action.astype(np.float64), -np.inf)
        e = np.exp(logits - logits.max())
        target = (e / e.sum())[:-1]
        self.bar += 1
        self.steps += 1
        held = self.weights * tape.overnight[self.bar]
        night = held.sum() + self.cash
        held /= night
        fills = tape.tradable[self.bar]
        wanted = np.where(fills, np.where(known, target, np.minimum(target, held)), 0.0)
        locked = np.where(fills, 0.0, held)
        free = 1.0 - locked.sum()
        if wanted.sum() > free:
            wanted *= free / wanted.sum()
        change = np.where(fills, wanted - held, 0.0)
        traded = np.abs(change).sum()
        left = 1.0 - self.cost_rate * traded
        paid = (1.0 - self.cost_rate * traded / free) / left if free > 0.0 else 1.0
        grown = (wanted * paid + locked / left) * tape.intraday[self.bar]
        cash = (free - wanted.sum()) * paid
        day = grown.sum() + cash
        self.weights, self.cash = grown / day, cash / day
        self.equity *= night * left * day
        holding, cost = float(np.log(night * day)), float(np.log(left))
        info = {
            "terms": {"holding": holding, "cost": cost},
            "equity": self.equity,
            "turnover_one_way": 0.5 * (traded + abs(change.sum())),
        }
        ruined = self.equity < RUIN_EQUITY
        return self._observe(), holding + cost, ruined, self.steps >= self.episode_bars, info

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.market[self.bar], self.weights, [self.cash]], dtype=np.float32)


class WrappedVectorEnv(VecEnv):
    """Our vector environment as stable-baselines3 wants one."""

    def __init__(self, env: PortfolioVectorEnv, random: np.random.Generator) -> None:
        """Take over *env*."""
        self.env, self.random = env, random
        n = env.n_symbols
        super().__init__(
            env.n_envs,
            gymnasium.spaces.Box(-np.inf, np.inf, (env.observation_size,), np.float32),
            gymnasium.spaces.Box(-LOGIT_BOUND, LOGIT_BOUND, (n + 1,), np.float32),
        )

    def reset(self) -> Any:
        """Start every episode."""
        return self.env.reset(self.random).copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Remember the actions."""
        self.actions = actions

    def step_wait(self) -> Any:
        """Carry them out."""
        result = self.env.step(weights_from_logits(self.actions, self.env.known()))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row, i in enumerate(np.flatnonzero(result.done)):
            infos[i]["terminal_observation"] = result.final_observation[row]
            infos[i]["TimeLimit.truncated"] = not result.terminated[i]
        return (
            result.observation.copy(),
            result.reward.astype(np.float32),
            result.done.copy(),
            infos,
        )

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ARG002 -- VecEnv's
        """Return an attribute, once an environment."""
        return [getattr(self.env, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: nothing here is set from outside."""
        raise NotImplementedError(attr_name)

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        """Refuse: there is nothing to call."""
        raise NotImplementedError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002 -- VecEnv's
        """Say that no wrapper stands around an environment."""
        return [False] * self.num_envs


def disagreement(panel: Panel, environment: EnvironmentSpec) -> float:
    """Return the largest difference in reward between the plain environment and ours over one episode."""
    ours = PortfolioVectorEnv(
        panel=panel, window=Block(start=0, stop=panel.n_bars), environment=environment, n_envs=1
    )
    plain = PlainPortfolioEnv(panel, environment)
    ours.reset(np.array([100]))
    plain.reset(options={"bar": 100})
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(environment.episode_bars):
        logits = random.normal(size=(1, panel.n_symbols + 1)).astype(np.float32)
        reward = ours.step(weights_from_logits(logits, ours.known())).reward[0]
        worst = max(worst, abs(reward - plain.step(logits[0])[1]))
    return worst


def main() -> None:
    """Run the job.

    Raises
    ------
    SystemExit
        If the two environments do not pay the same.
    """
    job = json.load(sys.stdin)
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    panel, environment = simulated_panel(), EnvironmentSpec()
    difference = max(disagreement(p, environment) for p in (panel, simulated_panel(gaps=0.1)))
    if difference > AGREEMENT:
        raise SystemExit(f"the two environments must pay the same, differed by {difference!r}")
    if job["mode"] == "plain":
        env: VecEnv = DummyVecEnv([lambda: PlainPortfolioEnv(panel, environment)] * job["n_envs"])
    else:
        window = Block(start=0, stop=panel.n_bars)
        ours = PortfolioVectorEnv(
            panel=panel,
            window=window,
            environment=environment,
            n_envs=job["n_envs"],
            normalizer=fit_normalizer(panel, window),
        )
        env = WrappedVectorEnv(ours, np.random.default_rng(1))
    hyper = {name: job[name] for name in ("n_steps", "batch_size", "n_epochs")}
    model = PPO(
        "MlpPolicy", env, seed=1, device="cpu", policy_kwargs={"net_arch": [64, 64]}, **hyper
    )
    per_update = job["n_envs"] * job["n_steps"]
    start = time.perf_counter()
    model.learn(per_update)  # warm, and a guess at how many fill the time
    n_updates = max(2, round(job["seconds"] / (time.perf_counter() - start)))
    start, start_cpu = time.perf_counter(), time.process_time()
    model.learn(per_update * n_updates)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    json.dump(
        {
            "steps_per_s": per_update * n_updates / seconds,
            "steps_per_cpu_s": per_update * n_updates / cpu_seconds,
            "threads": torch.get_num_threads(),
            "stable_baselines3": stable_baselines3.__version__,
            "torch": torch.__version__,
        },
        sys.stdout,
    )


main()
