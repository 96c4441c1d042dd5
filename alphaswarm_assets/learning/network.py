"""Actor and critic over one flat parameter vector, with gradients derived by hand.

Products of matrices are torch's, on the one thread its callers set; everything elementwise is NumPy's on the same
memory, whose float32 tanh is many times faster than torch's on a CPU. All memory is torch's, because its 64-byte
alignment is what makes a product's bits repeat from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch  # noqa: TID253 -- this module is torch through and through; its callers import it lazily

from alphaswarm_assets.arrays import Float32Array
from alphaswarm_assets.learning.policy import ACTOR, CRITIC, LOG_STD

_ALIGN = 16
"""Floats in 64 bytes."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one intra-op thread, without autograd: a sum's bits must not depend on how many cores are free."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, slots=True)
class _Layer:
    weight: torch.Tensor
    bias: torch.Tensor
    d_weight: torch.Tensor
    d_bias: Float32Array


@dataclass(frozen=True, slots=True)
class _Scratch:
    """Activations and their gradients for one batch size, layer by layer."""

    out: list[torch.Tensor]
    out_np: list[Float32Array]
    d_out: list[torch.Tensor]
    d_out_np: list[Float32Array]


class Mlp:
    """A multilayer perceptron with tanh between its layers; it remembers its last forward pass for one backward."""

    def __init__(self, layers: list[_Layer]) -> None:
        """Stand on *layers*, whose memory belongs to the flat vectors."""
        self._layers = layers
        self._scratches: dict[int, _Scratch] = {}

    def forward(self, x: torch.Tensor) -> Float32Array:
        """Return the outputs (B, O) for inputs (B, D); overwritten by the next pass over B rows."""
        scratch = self._scratch(len(x))
        last = len(self._layers) - 1
        for i, layer in enumerate(self._layers):
            x = torch.addmm(layer.bias, x, layer.weight, out=scratch.out[i])
            if i < last:
                np.tanh(scratch.out_np[i], out=scratch.out_np[i])
        return scratch.out_np[last]

    def output_gradient(self, n_rows: int) -> Float32Array:
        """Return the array (B, O) that the loss writes its gradient to before `backward`."""
        return self._scratch(n_rows).d_out_np[-1]

    def backward(self, x: torch.Tensor) -> None:
        """Write the gradient of every parameter, after a `forward` over the same *x*, whose activations it uses up."""
        scratch = self._scratch(len(x))
        for i in range(len(self._layers) - 1, -1, -1):
            layer, d = self._layers[i], scratch.d_out[i]
            entering = scratch.out[i - 1] if i else x
            torch.mm(entering.t(), d, out=layer.d_weight)
            np.add.reduce(scratch.d_out_np[i], axis=0, out=layer.d_bias)
            if i:
                torch.mm(d, layer.weight.t(), out=scratch.d_out[i - 1])
                slope = scratch.out_np[i - 1]
                np.multiply(slope, slope, out=slope)
                np.subtract(np.float32(1.0), slope, out=slope)
                scratch.d_out_np[i - 1] *= slope

    def _scratch(self, n_rows: int) -> _Scratch:
        scratch = self._scratches.get(n_rows)
        if scratch is None:
            out = [torch.zeros(n_rows, layer.weight.shape[1]) for layer in self._layers]
            d_out = [torch.zeros_like(o) for o in out]
            scratch = _Scratch(out, [o.numpy() for o in out], d_out, [d.numpy() for d in d_out])
            self._scratches[n_rows] = scratch
        return scratch


class Network:
    """Actor, critic and log standard deviation.

    Attributes
    ----------
    flat, gradient : (P,) float32
        All parameters, and the gradient of each at the same place.
    log_std, d_log_std : (A,) float32
        Views of the two.
    actor, critic : Mlp
        Standing on views of the two.
    """

    def __init__(self, parameters: Mapping[str, Float32Array]) -> None:
        """Lay *parameters* out in one vector."""
        starts: dict[str, int] = {}
        size = 0
        for name, array in parameters.items():
            starts[name] = size
            size += -(-array.size // _ALIGN) * _ALIGN
        self._starts = starts
        self._shapes = {name: array.shape for name, array in parameters.items()}
        self._flat, self._gradient = torch.zeros(size), torch.zeros(size)
        self.flat: Float32Array = self._flat.numpy()
        self.gradient: Float32Array = self._gradient.numpy()
        for name, array in parameters.items():
            np.copyto(self._view(self._flat, name).numpy(), array)
        self.log_std: Float32Array = self._view(self._flat, LOG_STD).numpy()
        self.d_log_std: Float32Array = self._view(self._gradient, LOG_STD).numpy()
        self.actor, self.critic = Mlp(self._layers(ACTOR)), Mlp(self._layers(CRITIC))

    def parameters(self) -> dict[str, Float32Array]:
        """Return a copy of every parameter by name."""
        return {name: self._view(self._flat, name).numpy().copy() for name in self._starts}

    def gradients(self) -> dict[str, Float32Array]:
        """Return a copy of every gradient by name."""
        return {name: self._view(self._gradient, name).numpy().copy() for name in self._starts}

    def gradient_norm(self) -> float:
        """Return the Euclidean norm of the whole gradient."""
        return float(torch.dot(self._gradient, self._gradient)) ** 0.5

    def _view(self, flat: torch.Tensor, name: str) -> torch.Tensor:
        start, shape = self._starts[name], self._shapes[name]
        return flat[start : start + int(np.prod(shape))].view(shape)

    def _layers(self, network: str) -> list[_Layer]:
        depth = sum(name.startswith(f"{network}.") for name in self._starts) // 2
        return [
            _Layer(
                weight=self._view(self._flat, f"{network}.{i}.weight"),
                bias=self._view(self._flat, f"{network}.{i}.bias"),
                d_weight=self._view(self._gradient, f"{network}.{i}.weight"),
                d_bias=self._view(self._gradient, f"{network}.{i}.bias").numpy(),
            )
            for i in range(depth)
        ]
