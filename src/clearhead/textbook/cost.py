"""What attention costs: parameters, FLOPs and bytes, counted from the shapes alone.

Counting rules. A multiply and an add are 2 FLOPs, as in every table of hardware speeds. Only matrix products are
counted: softmax, biases and norms are there too, but at the widths of real models they are a few percent. Bytes are
those of what each step makes and hands on, if nothing is thrown away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from clearhead import checks

BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


@dataclass(frozen=True)
class Step:
    """One step of attention: what it learns, what it computes, how much it makes."""

    parameters: int
    flops: int
    bytes: int


@dataclass(frozen=True)
class AttentionCost:
    """The cost of multi-head attention over one shape. Printed, it is a table of the steps."""

    batch: int
    n_q: int
    n_k: int
    d_model: int
    num_heads: int
    num_kv_heads: int
    d_k: int
    dtype: str
    steps: dict[str, Step]

    @property
    def parameters(self) -> int:
        """All numbers that are learned."""
        return sum(step.parameters for step in self.steps.values())

    @property
    def flops(self) -> int:
        """All multiplies and adds in the matrix products."""
        return sum(step.flops for step in self.steps.values())

    @property
    def parameter_bytes(self) -> int:
        """What the parameters take."""
        return self.parameters * BYTES[self.dtype]

    @property
    def attention_bytes(self) -> int:
        """What the attention matrices (…, h, n_q, n_k) take: the part that grows with the square of the length."""
        return self.steps["scores"].bytes

    @property
    def activation_bytes(self) -> int:
        """What all steps together make."""
        return sum(step.bytes for step in self.steps.values())

    @property
    def cache_bytes(self) -> int:
        """What the keys and values take, which decoding keeps."""
        return self.steps["keys"].bytes + self.steps["values"].bytes

    def __str__(self) -> str:
        shape = f"{self.n_q:,} queries × {self.n_k:,} keys" + (f", batch of {self.batch:,}" if self.batch > 1 else "")
        shared = f" ({self.num_kv_heads} for keys and values)" if self.num_kv_heads != self.num_heads else ""
        rows = [(name, step.parameters, step.flops, step.bytes) for name, step in self.steps.items()]
        total = ("total", self.parameters, self.flops, self.activation_bytes)
        return (
            f"attention: {shape}, d_model {self.d_model:,} = {self.num_heads} heads{shared} × d_k {self.d_k}, "
            f"{self.dtype}\n{text_table(('', 'parameters', 'FLOPs', 'bytes made'), [*rows, total])}"
        )


def attention_cost(
    n: int,
    d_model: int,
    num_heads: int = 1,
    *,
    n_k: int | None = None,
    num_kv_heads: int | None = None,
    batch: int = 1,
    bias: bool = True,
    dtype: DTypeLike = np.float32,
) -> AttentionCost:
    """What multi-head attention costs for n queries and n_k keys, n unless given.

    Parameters and FLOPs do not depend on the number of heads, because more heads are narrower: d_k = d_model / h.
    The attention matrices do: there is one of n × n_k per head.

    >>> attention_cost(1000, d_model=512, num_heads=8).parameters
    1050624
    >>> attention_cost(1000, d_model=512).attention_bytes
    4000000
    """
    n, d_model, num_heads = checks.count("n", n), checks.count("d_model", d_model), checks.count("num_heads", num_heads)
    n_k = n if n_k is None else checks.count("n_k", n_k)
    batch = checks.count("batch", batch)
    num_kv_heads = num_heads if num_kv_heads is None else checks.count("num_kv_heads", num_kv_heads)
    checks.head_groups(num_heads, num_kv_heads)
    d_k = checks.head_width(d_model, num_heads)
    kind = dtype if isinstance(dtype, str) and dtype in BYTES else np.dtype(dtype).name
    size = BYTES[checks.choice("dtype", kind, tuple(BYTES))]
    width = num_kv_heads * d_k

    def projection(rows: int, d_in: int, d_out: int) -> Step:
        learned = d_in * d_out + (d_out if bias else 0)
        return Step(learned, 2 * batch * rows * d_in * d_out, size * batch * rows * d_out)

    product = 2 * batch * num_heads * n * n_k * d_k
    steps = {
        "queries": projection(n, d_model, d_model),
        "keys": projection(n_k, d_model, width),
        "values": projection(n_k, d_model, width),
        "scores": Step(0, product, size * batch * num_heads * n * n_k),
        "mix": Step(0, product, size * batch * n * d_model),
        "output": projection(n, d_model, d_model),
    }
    return AttentionCost(batch, n, n_k, d_model, num_heads, num_kv_heads, d_k, kind, steps)


@dataclass(frozen=True)
class LayerCost:
    """What one kind of layer costs at one length.

    `complexity` and `mixing_flops` are about the part that lets positions see each other, `flops` is the whole
    layer. `sequential_steps` have to wait for each other. `path_length` is how many times a word has to be handed
    on before the last position knows of the first: through steps of a recurrence, or through layers.
    """

    layer: str
    n: int
    complexity: str
    parameters: int
    mixing_flops: int
    flops: int
    sequential_steps: int
    path_length: int


@dataclass(frozen=True)
class LayerComparison:
    """Attention against its rivals, at one or more lengths. Printed, it is a table."""

    d_model: int
    kernel: int
    layers: tuple[LayerCost, ...]

    def __str__(self) -> str:
        heading = ("n", "layer", "complexity", "parameters", "mixing FLOPs", "FLOPs", "steps in a row", "path length")
        rows = [
            (c.n, c.layer, c.complexity, c.parameters, c.mixing_flops, c.flops, c.sequential_steps, c.path_length)
            for c in self.layers
        ]
        return f"one layer, d = {self.d_model:,}, kernel k = {self.kernel}\n{text_table(heading, rows)}"


def compare_layers(lengths: int | Sequence[int], d_model: int, *, kernel: int = 3) -> LayerComparison:
    """Attention, recurrence and convolution as the sequence grows, all d_model wide and d_model out.

    A recurrent step is tanh(x W + h U + b). A convolution looks at `kernel` positions, its own and those before; in
    a dilated stack each layer spreads them `kernel` times as far apart.
    """
    d_model, kernel = checks.count("d_model", d_model), checks.count("kernel", kernel, least=2)
    lengths = [lengths] if isinstance(lengths, (int, np.integer)) else list(lengths)
    layers: list[LayerCost] = []
    for n in (checks.count("n", length) for length in lengths):
        attention = attention_cost(n, d_model)
        mixing = attention.steps["scores"].flops + attention.steps["mix"].flops
        square, d = 2 * n * d_model**2, d_model
        convolution = (kernel * d**2 + d, kernel * square, kernel * square, 1)
        layers += [
            LayerCost("attention", n, "n² d", attention.parameters, mixing, attention.flops, 1, 1),
            LayerCost("recurrent", n, "n d²", 2 * d**2 + d, square, 2 * square, n, n),
            LayerCost("convolution", n, "k n d²", *convolution, max(1, -(-(n - 1) // (kernel - 1)))),
            LayerCost("dilated", n, "k n d²", *convolution, _dilated_depth(n, kernel)),
        ]
    return LayerComparison(d_model, kernel, tuple(layers))


def _dilated_depth(n: int, kernel: int) -> int:
    """Layers of dilation 1, k, k² … until the last position sees the first: k to that power is at least n."""
    depth = 1
    while kernel**depth < n:
        depth += 1
    return depth


def text_table(heading: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """Lines with aligned columns, words to the left and numbers to the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in [heading, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heading))]
    right = [isinstance(cell, int) for cell in rows[0]]
    lines = (
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    )
    return "\n".join(lines)
