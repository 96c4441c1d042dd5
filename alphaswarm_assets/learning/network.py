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
    """Activations (B, H) of one layer; views are made once, since making one costs a product."""

    h: torch.Tensor
    h_t: torch.Tensor
    h_np: Float32Array
    work: torch.Tensor
    """(B, H) for the gradient on its way in."""


@dataclass(frozen=True, slots=True)
class _Head:
    """Outputs and their gradient as columns, (O, B)."""

    out: torch.Tensor
    out_np: Float32Array
    d_out: torch.Tensor
    d_out_t: torch.Tensor
    d_out_np: Float32Array


class Scratch:
    """Memory for hidden activations, shared by networks that take turns.

    A minibatch of one network then stays in a core's own cache, which two networks' would not.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._hidden: dict[tuple[int, int, int], _Hidden] = {}
        self._work: dict[tuple[int, int], torch.Tensor] = {}

    def hidden(self, n_rows: int, depth: int, width: int) -> _Hidden:
        """Return the activations of layer *depth*."""
        key = (n_rows, depth, width)
        if key not in self._hidden:
            h = torch.zeros(n_rows, width)
            work = self._work.setdefault((n_rows, width), torch.zeros(n_rows, width))
            self._hidden[key] = _Hidden(h=h, h_t=h.t(), h_np=h.numpy(), work=work)
        return self._hidden[key]


class Mlp:
    """A multilayer perceptron with tanh between its layers.

    `backward` uses what `forward` left in the scratch, so nobody else may use the scratch between the two. A head has
    few outputs, so it works on columns, (O, B): a product with six rows takes a third of the time that one with six
    columns does, and elementwise work on the outputs runs along B.
    """

    def __init__(self, layers: list[_Layer], scratch: Scratch) -> None:
        """Stand on *layers*, whose memory belongs to the flat vectors."""
        self._layers, self._head = layers[:-1], layers[-1]
        self._scratch = scratch
        self._rows: dict[int, tuple[list[_Hidden], _Head]] = {}

    def forward(self, x: torch.Tensor) -> Float32Array:
        """Return the outputs (O, B) for inputs (B, D); overwritten by the next pass over B rows."""
        hiddens, head = self._memory(len(x))
        for layer, hidden in zip(self._layers, hiddens, strict=True):
            torch.addmm(layer.bias, x, layer.weight_t, out=hidden.h)
            np.tanh(hidden.h_np, out=hidden.h_np)
            x = hidden.h
        torch.addmm(self._head.bias_column, self._head.weight, hiddens[-1].h_t, out=head.out)
        return head.out_np

    def output_gradient(self, n_rows: int) -> Float32Array:
        """Return the array (O, B) that the loss writes its gradient to before `backward`."""
        return self._memory(n_rows)[1].d_out_np

    def backward(self, x: torch.Tensor) -> None:
        """Write the gradient of every parameter, after a `forward` over the same *x*, whose activations it uses up."""
        hiddens, head = self._memory(len(x))
        torch.mm(head.d_out, hiddens[-1].h, out=self._head.d_weight)
        torch.sum(head.d_out, 1, out=self._head.d_bias)
        torch.mm(head.d_out_t, self._head.weight, out=hiddens[-1].work)
        for i in range(len(self._layers) - 1, -1, -1):
            layer, hidden = self._layers[i], hiddens[i]
            d = tanh_backward(hidden.work, hidden.h, grad_input=hidden.h)
            torch.mm(hiddens[i - 1].h_t if i else x.t(), d, out=layer.d_weight_t)
            torch.sum(d, 0, out=layer.d_bias)
            if i:
                torch.mm(d, layer.weight, out=hiddens[i - 1].work)

    def _memory(self, n_rows: int) -> tuple[list[_Hidden], _Head]:
        if n_rows not in self._rows:
            hiddens = [
                self._scratch.hidden(n_rows, i, len(layer.bias))
                for i, layer in enumerate(self._layers)
            ]
            out, d_out = (torch.zeros(len(self._head.bias), n_rows) for _ in range(2))
            head = _Head(
                out=out, out_np=out.numpy(), d_out=d_out, d_out_t=d_out.t(), d_out_np=d_out.numpy()
            )
            self._rows[n_rows] = (hiddens, head)
        return self._rows[n_rows]


class Network:
    """Actor, critic and log standard deviation.

    Attributes
    ----------
    flat, gradient : (P,) float32
        All parameters, and the gradient of each at the same place.
    log_std, d_log_std : (A,) float32
        Views of the two.
    actor, critic : Mlp
        Standing on views of the two, and taking turns on one scratch.
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
        self._flat, self._gradient = torch.zeros(size), torch.zeros(size)
        self.flat: Float32Array = self._flat.numpy()
        self.gradient: Float32Array = self._gradient.numpy()
        for name, array in parameters.items():
            np.copyto(self._view(self._flat, name).numpy(), array)
        self.log_std: Float32Array = self._view(self._flat, LOG_STD).numpy()
        self.d_log_std: Float32Array = self._view(self._gradient, LOG_STD).numpy()
        scratch = Scratch()
        self.actor = Mlp(self._layers(ACTOR), scratch)
        self.critic = Mlp(self._layers(CRITIC), scratch)

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
        stored = flat[start : start + int(np.prod(shape))]
        # A hidden layer's weights lie as (inputs, outputs): with as many outputs as a cache line holds floats, or a
        # multiple, its products and its gradient's are then fast whatever the number of inputs.
        return stored.view(shape[::-1]).t() if name in self._hidden_weights else stored.view(shape)

    def _layers(self, network: str) -> list[_Layer]:
        return [self._layer(f"{network}.{i}") for i in range(self._depth)]

    def _layer(self, name: str) -> _Layer:
        weight, bias = (self._view(self._flat, f"{name}.{part}") for part in ("weight", "bias"))
        d_weight = self._view(self._gradient, f"{name}.weight")
        return _Layer(
            weight=weight,
            weight_t=weight.t(),
            bias=bias,
            bias_column=bias[:, None],
            d_weight=d_weight,
            d_weight_t=d_weight.t(),
            d_bias=self._view(self._gradient, f"{name}.bias"),
        )
