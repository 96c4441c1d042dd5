"""Adam on one flat vector, with the gradient's global norm clipped first.

References
----------
.. [1] Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", ICLR, algorithm 1.
"""

from __future__ import annotations

import torch

from alphaswarm_assets.arrays import Float32Array

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-5
"""The paper's decay rates; the epsilon PPO implementations use."""


class Adam:
    """The moments of P parameters, and the step that uses them."""

    def __init__(self, n_parameters: int, *, learning_rate: float, max_grad_norm: float) -> None:
        """Start with zero moments."""
        self._first, self._second, self._work = (torch.zeros(n_parameters) for _ in range(3))
        self.first: Float32Array = self._first.numpy()
        self.second: Float32Array = self._second.numpy()
        self.n_steps = 0
        self._learning_rate, self._max_norm = learning_rate, max_grad_norm

    def step(self, flat: torch.Tensor, gradient: torch.Tensor, norm: float) -> None:
        """Move *flat* (P,) against *gradient* (P,), whose Euclidean norm is *norm*."""
        self.n_steps += 1
        scale = min(1.0, self._max_norm / (norm + 1e-6))
        self._first.mul_(BETA1).add_(gradient, alpha=(1.0 - BETA1) * scale)
        self._second.mul_(BETA2).addcmul_(gradient, gradient, value=(1.0 - BETA2) * scale * scale)
        # Algorithm 1 with both bias corrections folded into the step and the epsilon.
        correction = (1.0 - BETA2**self.n_steps) ** 0.5
        torch.sqrt(self._second, out=self._work).add_(EPSILON * correction)
        step = self._learning_rate * correction / (1.0 - BETA1**self.n_steps)
        flat.addcdiv_(self._first, self._work, value=-step)
