"""Adam on one flat vector, with the gradient's global norm clipped first.

References
----------
.. [1] Kingma and Ba (2015), "Adam: A Method for Stochastic Optimization", ICLR, algorithm 1.
"""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.arrays import Float32Array

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-5
"""The paper's decay rates; the epsilon PPO implementations use."""


class Adam:
    """The moments of P parameters, and the step that uses them."""

    def __init__(self, n_parameters: int, *, learning_rate: float, max_grad_norm: float) -> None:
        """Start with zero moments."""
        self.first: Float32Array = np.zeros(n_parameters, dtype=np.float32)
        self.second: Float32Array = np.zeros(n_parameters, dtype=np.float32)
        self.n_steps = 0
        self._learning_rate, self._max_norm = learning_rate, max_grad_norm
        self._work: Float32Array = np.zeros(n_parameters, dtype=np.float32)

    def step(self, flat: Float32Array, gradient: Float32Array, norm: float) -> None:
        """Move *flat* (P,) against *gradient* (P,), whose Euclidean norm is *norm*."""
        work = self._work
        self.n_steps += 1
        scale = min(1.0, self._max_norm / (norm + 1e-6))
        np.multiply(gradient, np.float32((1.0 - BETA1) * scale), out=work)
        self.first *= np.float32(BETA1)
        self.first += work
        np.multiply(gradient, gradient, out=work)
        work *= np.float32((1.0 - BETA2) * scale * scale)
        self.second *= np.float32(BETA2)
        self.second += work
        # Algorithm 1 with both bias corrections folded into the step and the epsilon.
        correction = (1.0 - BETA2**self.n_steps) ** 0.5
        np.sqrt(self.second, out=work)
        work += np.float32(EPSILON * correction)
        np.divide(self.first, work, out=work)
        work *= np.float32(self._learning_rate * correction / (1.0 - BETA1**self.n_steps))
        flat -= work
