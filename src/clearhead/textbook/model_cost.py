"""What whole models cost, counted from their published shapes: BERT, GPT-3, ViT.

The counting rules are those of `cost`. The totals are exact: the parameter counts that papers round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from clearhead import checks
from clearhead.textbook.cost import attention_cost, text_table


@dataclass(frozen=True)
class ModelShape:
    """A stack of blocks, each attention and a feed-forward of two maps, each with a norm; everything has biases.

    `tables` are learned rows d_model wide, looked up or added: one per word, position, segment. `maps` are linear
    maps besides the blocks, (d_in, d_out, rows): how many of the n positions they are applied to, or 0 for all.
    `norms` are norms besides the blocks'. `tied` says that the word table also makes the prediction, for every
    position and without parameters of its own.
    """

    n: int
    num_layers: int
    d_model: int
    num_heads: int
    d_ff: int
    tables: dict[str, int]
    norms: int = 1
    maps: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    tied: bool = False


def _bert(num_layers: int, d_model: int, num_heads: int) -> ModelShape:
    tables = {"words": 30_522, "positions": 512, "segments": 2}
    return ModelShape(512, num_layers, d_model, num_heads, 4 * d_model, tables, maps={"pooler": (d_model, d_model, 1)})


MODELS = {
    # Devlin et al. 2018, table 1 and section 3; the encoder with its pooler, without the two pre-training heads
    "bert-base": _bert(12, 768, 12),
    "bert-large": _bert(24, 1024, 16),
    # Brown et al. 2020, table 2.1; the vocabulary is GPT-2's
    "gpt-3": ModelShape(2048, 96, 12_288, 96, 4 * 12_288, {"words": 50_257, "positions": 2048}, tied=True),
    # Dosovitskiy et al. 2020, table 1: 14 × 14 patches of 16 × 16 pixels in 3 colours, a class token, 1,000 classes
    "vit-b/16": ModelShape(
        197,
        12,
        768,
        12,
        3072,
        {"class token": 1, "positions": 197},
        maps={"patches": (16 * 16 * 3, 768, 196), "classes": (768, 1000, 1)},
    ),
}


@dataclass(frozen=True)
class ModelCost:
    """The cost of a model reading n positions. Printed, it is a table of its parts."""

    name: str
    n: int
    parts: dict[str, tuple[int, int]]  # parameters and FLOPs

    @property
    def parameters(self) -> int:
        """All numbers that are learned."""
        return sum(parameters for parameters, _ in self.parts.values())

    @property
    def flops(self) -> int:
        """The matrix products of one forward pass."""
        return sum(flops for _, flops in self.parts.values())

    def __str__(self) -> str:
        rows = [(part, *counts) for part, counts in self.parts.items()]
        total = ("total", self.parameters, self.flops)
        return f"{self.name}, n = {self.n:,}\n{text_table(('', 'parameters', 'FLOPs'), [*rows, total])}"


def model_cost(model: str | ModelShape, n: int | None = None) -> ModelCost:
    """What a model costs: a name from `MODELS`, or a shape of your own, reading n positions or as many as it can.

    >>> model_cost("bert-base").parameters
    109482240
    """
    shape = model if isinstance(model, ModelShape) else MODELS[checks.choice("model", model, tuple(MODELS))]
    n = shape.n if n is None else checks.count("n", n)
    if n > shape.n:
        raise ValueError(f"the model has {shape.n} positions, got n = {n}; give an n of at most {shape.n}")
    d, d_ff, layers = shape.d_model, shape.d_ff, shape.num_layers
    attention = attention_cost(n, d, shape.num_heads)
    parts = {name: (rows * d, 0) for name, rows in shape.tables.items()}
    parts["attention"] = (layers * attention.parameters, layers * attention.flops)
    parts["feed-forward"] = (layers * (2 * d * d_ff + d_ff + d), layers * 4 * n * d * d_ff)
    parts["norms"] = ((2 * layers + shape.norms) * 2 * d, 0)
    for name, (d_in, d_out, rows) in shape.maps.items():
        parts[name] = (d_in * d_out + d_out, 2 * min(rows or n, n) * d_in * d_out)
    if shape.tied:
        parts["prediction"] = (0, 2 * n * d * shape.tables["words"])
    return ModelCost(model if isinstance(model, str) else "model", n, parts)
