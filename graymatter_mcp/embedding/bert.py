"""The forward pass of a BERT encoder over one sequence, in float32 numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.embedding.weights import BertConfig, Tensor

# Products are cut into blocks of at most 48 rows, 64 columns and 128 in depth, for three reasons.
# OpenBLAS then uses its small-matrix kernels, which do not repack the weights each time: twice as
# fast for a query. From 2**19 multiplications it spreads a product over threads, which spin while
# they wait for each other: on a busy machine one window took seconds. And 32 kB of weights stay in
# the first cache while the rows pass: a quarter faster than blocks of 16 columns, 384 deep.
_COLUMNS: Final = 64
_DEPTH: Final = 128
_ROWS: Final = 48
_LINE: Final = 16
"""Numbers in a line of the cache."""

# erf(u) = u P(u^2) / Q(u^2) on [-4, 4], lowest power first (Eigen's generic_fast_erf_float): wrong
# by 7e-8 at most, less than the rounding of float32 around it.
_ERF_P: Final = (
    -1.60960333262415e-02,
    -2.95459980854025e-03,
    -7.34990630326855e-04,
    -5.69250639462346e-05,
    -2.10102402082508e-06,
    2.77068142495902e-08,
    -2.72614225801306e-10,
)
_ERF_Q: Final = (
    -1.42647390514189e-02,
    -7.37332916720468e-03,
    -1.68282697438203e-03,
    -2.13374055278905e-04,
    -1.45660718464996e-05,
)
# GELU needs erf(x / sqrt 2) / 2: the factors are folded into the coefficients.
_GELU_P: Final = tuple(np.float32(c * 0.5**i / (2 * math.sqrt(2))) for i, c in enumerate(_ERF_P))
_GELU_Q: Final = tuple(np.float32(c * 0.5**i) for i, c in enumerate(_ERF_Q))
_GELU_LIMIT: Final = np.float32(4 * math.sqrt(2))


def gelu(x: Tensor) -> None:
    """Replace x by x Phi(x), the exact (erf) form; error <= 3e-7 max(1, |x|)."""
    clipped = np.clip(x, -_GELU_LIMIT, _GELU_LIMIT)
    square = clipped * clipped
    numerator = _polynomial(_GELU_P, square)
    numerator *= clipped
    numerator /= _polynomial(_GELU_Q, square)
    numerator += np.float32(0.5)
    x *= numerator


def _polynomial(coefficients: tuple[np.float32, ...], at: Tensor) -> Tensor:
    value = at * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        value += coefficient
        value *= at
    value += coefficients[0]
    return value


class _Dense:
    """A linear layer; weights as blocks of shape (depth slices, column blocks, depth, columns)."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        columns, inputs = weight.shape
        width, depth = math.gcd(columns, _COLUMNS), math.gcd(inputs, _DEPTH)
        self.bias = np.array(bias)
        self.blocks = weight.reshape(columns // width, width, inputs // depth, depth).transpose(
            2, 0, 3, 1
        )

    def move(self, room: Tensor) -> Tensor:
        """Lay the blocks into the beginning of `room`, one after the other; return the rest."""
        taken = -(-self.blocks.size // _LINE) * _LINE
        blocks = room[: self.blocks.size].reshape(self.blocks.shape)
        blocks[...] = self.blocks
        self.blocks = blocks
        return room[taken:]

    def apply(self, rows: Tensor, out: Tensor) -> None:
        """Write rows @ weight.T + bias to out; shapes (t, inputs) and (t, columns), t <= 48."""
        slices, blocks, depth, width = self.blocks.shape
        parts = out[None] if slices == 1 else np.empty((slices, *out.shape), np.float32)
        np.matmul(
            rows.reshape(len(rows), slices, 1, depth).transpose(1, 2, 0, 3),
            self.blocks,
            out=parts.reshape(slices, len(rows), blocks, width).transpose(0, 2, 1, 3),
        )
        if slices > 1:
            np.add.reduce(parts, axis=0, out=out)
        out += self.bias


@dataclass(frozen=True, slots=True, kw_only=True)
class _LayerNorm:
    gain: Tensor
    bias: Tensor
    eps: np.float32

    def apply(self, x: Tensor) -> None:
        """Normalise each row of x in place."""
        share = np.float32(1 / x.shape[1])
        # Not x @ ones: OpenBLAS spreads that over threads as well.
        x -= np.add.reduce(x, axis=1, keepdims=True) * share
        variance = np.vecdot(x, x)
        variance *= share
        variance += self.eps
        np.sqrt(variance, out=variance)
        x /= variance[:, None]
        x *= self.gain
        x += self.bias


class _Layer:
    """Self-attention and feed-forward, each followed by a residual sum and a normalisation."""

    def __init__(self, tensors: Mapping[str, Tensor], prefix: str, config: BertConfig) -> None:
        width = config["hidden_size"]
        self.heads = config["num_attention_heads"]

        def parameters(name: str) -> tuple[Tensor, Tensor]:
            return tensors[f"{prefix}.{name}.weight"], tensors[f"{prefix}.{name}.bias"]

        projections = [parameters(f"attention.self.{name}") for name in ("query", "key", "value")]
        # Scores are divided by sqrt(head width): done once here, on the query's projection.
        scale = np.repeat(np.array([(self.heads / width) ** 0.5, 1, 1], np.float32), width)
        self.qkv = _Dense(
            np.concatenate([weight for weight, _ in projections]) * scale[:, None],
            np.concatenate([bias for _, bias in projections]) * scale,
        )
        self.attended = _Dense(*parameters("attention.output.dense"))
        self.up = _Dense(*parameters("intermediate.dense"))
        self.down = _Dense(*parameters("output.dense"))
        eps = np.float32(config["layer_norm_eps"])
        self.norms = [
            _LayerNorm(gain=np.array(gain), bias=np.array(bias), eps=eps)
            for gain, bias in map(parameters, ("attention.output.LayerNorm", "output.LayerNorm"))
        ]

    @property
    def parts(self) -> list[_Dense]:
        """The linear layers, in the order of their use."""
        return [self.qkv, self.attended, self.up, self.down]

    def apply(self, x: Tensor) -> None:
        """Replace the hidden states x, shape (tokens, width), by those after this layer."""
        qkv = np.empty((len(x), self.qkv.bias.size), np.float32)
        slices = [slice(start, start + _ROWS) for start in range(0, len(x), _ROWS)]
        for part in slices:
            self.qkv.apply(x[part], qkv[part])
        for part in slices:
            rows = x[part]
            update = np.empty_like(rows)
            self.attended.apply(self._attend(qkv, part), update)
            rows += update
            self.norms[0].apply(rows)
            inner = np.empty((len(rows), self.up.bias.size), np.float32)
            self.up.apply(rows, inner)
            gelu(inner)
            self.down.apply(inner, update)
            rows += update
            self.norms[1].apply(rows)

    def _attend(self, qkv: Tensor, part: slice) -> Tensor:
        """Mix the values of all tokens for the tokens in `part`; shape (part, width)."""
        split = qkv.reshape(len(qkv), 3, self.heads, -1)
        weights = np.matmul(split[part, 0].transpose(1, 0, 2), split[:, 1].transpose(1, 2, 0))
        weights -= weights.max(axis=2, keepdims=True)
        np.exp(weights, out=weights)
        context = np.empty(split[part, 0].shape, np.float32)
        np.matmul(weights, split[:, 2].transpose(1, 0, 2), out=context.transpose(1, 0, 2))
        # Dividing after the product touches fewer numbers than dividing the weights.
        context /= np.add.reduce(weights, axis=2).T[:, :, None]
        return context.reshape(len(context), -1)


def _lay_together(parts: Sequence[_Dense]) -> None:
    """Move all weights into one array: numpy asks for large pages where one is large enough."""
    room = np.empty(sum(part.blocks.size + _LINE for part in parts), np.float32)
    for part in parts:
        room = part.move(room)


class BertEncoder:
    """Token ids to hidden states. Holds no state between calls, so threads may share it."""

    def __init__(self, tensors: Mapping[str, Tensor], config: BertConfig) -> None:
        self._words = tensors["embeddings.word_embeddings.weight"]
        # A single sentence is all of type 0, so that row is added to the positions once.
        self._places = (
            tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _LayerNorm(
            gain=np.array(tensors["embeddings.LayerNorm.weight"]),
            bias=np.array(tensors["embeddings.LayerNorm.bias"]),
            eps=np.float32(config["layer_norm_eps"]),
        )
        self._layers = [
            _Layer(tensors, f"encoder.layer.{i}", config)
            for i in range(config["num_hidden_layers"])
        ]
        _lay_together([part for layer in self._layers for part in layer.parts])

    def hidden_states(self, ids: NDArray[np.intp]) -> Tensor:
        """Encode one sequence without padding; shape (tokens,) to (tokens, width)."""
        x = self._words[ids] + self._places[: len(ids)]
        self._norm.apply(x)
        for layer in self._layers:
            layer.apply(x)
        return x
