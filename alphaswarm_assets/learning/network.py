"""Actor and critic over one flat parameter vector, with gradients derived by hand.

Products of matrices are torch's, on the one thread its callers set; everything elementwise is NumPy's on the same
memory, whose float32 tanh is many times faster than torch's on a CPU. All memory is torch's, because its 64-byte
alignment is what makes a product's bits repeat from run to run.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from alphaswarm_assets.arrays import Float32Array
from alphaswarm_assets.learning.policy import ACTOR, CRITIC, LOG_STD

_ALIGN = 16
"""Floats in 64 bytes."""

tanh_backward = torch.ops.aten.tanh_backward.grad_input
"""d (1 - tanh^2), written to ``grad_input``."""


@contextmanager
def one_thread() -> Generator[None]:
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
    weight_t: torch.Tensor
    bias: torch.Tensor
    bias_column: torch.Tensor
    d_weight: torch.Tensor
    d_weight_t: torch.Tensor
    d_bias: torch.Tensor


@dataclass(frozen=True, slots=True)
class _Hidden:
    """Activations (B, H) of one layer and their gradient; views are made once, since making one costs a product."""

    h: torch.Tensor
    h_t: torch.Tensor
    h_np: Float32Array
    d: torch.Tensor


@dataclass(frozen=True, slots=True)
class _Scratch:
    """What a pass over B rows writes to; the head's outputs are columns, (O, B)."""

    hidden: list[_Hidden]
    out: torch.Tensor
    out_np: Float32Array
    d_out: torch.Tensor
    d_out_t: torch.Tensor
    d_out_np: Float32Array


class Mlp:
    """A multilayer perceptron with tanh between its layers; it remembers its last forward pass for one backward.

    A head has few outputs, so it works on columns, (O, B): a product with six rows takes a third of the time that one
    with six columns does, and elementwise work on the outputs runs along B.
    """

    def __init__(self, layers: list[_Layer]) -> None:
        """Stand on *layers*, whose memory belongs to the flat vectors."""
        self._layers, self._head = layers[:-1], layers[-1]
        self._scratches: dict[int, _Scratch] = {}

    def forward(self, x: torch.Tensor) -> Float32Array:
        """Return the outputs (O, B) for inputs (B, D); overwritten by the next pass over B rows."""
        scratch = self._scratch(len(x))
        for layer, hidden in zip(self._layers, scratch.hidden, strict=True):
            torch.addmm(layer.bias, x, layer.weight_t, out=hidden.h)
            np.tanh(hidden.h_np, out=hidden.h_np)
            x = hidden.h
        head = self._head
        torch.addmm(head.bias_column, head.weight, scratch.hidden[-1].h_t, out=scratch.out)
        return scratch.out_np

    def output_gradient(self, n_rows: int) -> Float32Array:
        """Return the array (O, B) that the loss writes its gradient to before `backward`."""
        return self._scratch(n_rows).d_out_np

    def backward(self, x: torch.Tensor) -> None:
        """Write the gradient of every parameter, after a `forward` over the same *x*."""
        scratch, head = self._scratch(len(x)), self._head
        hidden = scratch.hidden[-1]
        torch.mm(scratch.d_out, hidden.h, out=head.d_weight)
        torch.sum(scratch.d_out, 1, out=head.d_bias)
        torch.mm(scratch.d_out_t, head.weight, out=hidden.d)
        for i in range(len(self._layers) - 1, -1, -1):
            layer, hidden = self._layers[i], scratch.hidden[i]
            tanh_backward(hidden.d, hidden.h, grad_input=hidden.d)
            torch.mm(scratch.hidden[i - 1].h_t if i else x.t(), hidden.d, out=layer.d_weight_t)
            torch.sum(hidden.d, 0, out=layer.d_bias)
            if i:
                torch.mm(hidden.d, layer.weight, out=scratch.hidden[i - 1].d)

    def _scratch(self, n_rows: int) -> _Scratch:
        scratch = self._scratches.get(n_rows)
        if scratch is None:
            out, d_out = (torch.zeros(len(self._head.bias), n_rows) for _ in range(2))
            scratch = _Scratch(
                hidden=[_hidden(n_rows, len(layer.bias)) for layer in self._layers],
                out=out,
                out_np=out.numpy(),
                d_out=d_out,
                d_out_t=d_out.t(),
                d_out_np=d_out.numpy(),
            )
            self._scratches[n_rows] = scratch
        return scratch


def _hidden(n_rows: int, width: int) -> _Hidden:
    h, d = torch.zeros(n_rows, width), torch.zeros(n_rows, width)
    return _Hidden(h=h, h_t=h.t(), h_np=h.numpy(), d=d)


class Network:
    """Actor, critic and log standard deviation.

    Attributes
    ----------
    flat, gradient : (P,) float32
        All parameters, and the gradient of each at the same place: tensors.
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
        depth = sum(name.startswith(f"{ACTOR}.") for name in parameters) // 2
        self._hidden_weights = {
            f"{n}.{i}.weight" for n in (ACTOR, CRITIC) for i in range(depth - 1)
        }
        self._depth = depth
        self.flat, self.gradient = torch.zeros(size), torch.zeros(size)
        for name, array in parameters.items():
            np.copyto(self._view(self.flat, name).numpy(), array)
        self.log_std: Float32Array = self._view(self.flat, LOG_STD).numpy()
        self.d_log_std: Float32Array = self._view(self.gradient, LOG_STD).numpy()
        self.actor, self.critic = Mlp(self._layers(ACTOR)), Mlp(self._layers(CRITIC))

    def parameters(self) -> dict[str, Float32Array]:
        """Return a copy of every parameter by name."""
        return {name: self._view(self.flat, name).numpy().copy() for name in self._starts}

    def gradients(self) -> dict[str, Float32Array]:
        """Return a copy of every gradient by name."""
        return {name: self._view(self.gradient, name).numpy().copy() for name in self._starts}

    def gradient_norm(self) -> float:
        """Return the Euclidean norm of the whole gradient."""
        return float(torch.dot(self.gradient, self.gradient)) ** 0.5

    def _view(self, flat: torch.Tensor, name: str) -> torch.Tensor:
        start, shape = self._starts[name], self._shapes[name]
        stored = flat[start : start + int(np.prod(shape))]
        # A hidden layer's weights lie as (inputs, outputs): with as many outputs as a cache line holds floats, or a
        # multiple, its products and its gradient's are then fast whatever the number of inputs.
        return stored.view(shape[::-1]).t() if name in self._hidden_weights else stored.view(shape)

    def _layers(self, network: str) -> list[_Layer]:
        return [self._layer(f"{network}.{i}") for i in range(self._depth)]

    def _layer(self, name: str) -> _Layer:
        weight, bias = (self._view(self.flat, f"{name}.{part}") for part in ("weight", "bias"))
        d_weight = self._view(self.gradient, f"{name}.weight")
        return _Layer(
            weight=weight,
            weight_t=weight.t(),
            bias=bias,
            bias_column=bias[:, None],
            d_weight=d_weight,
            d_weight_t=d_weight.t(),
            d_bias=self._view(self.gradient, f"{name}.bias"),
        )
