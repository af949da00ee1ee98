"""From a row of text to the arrays and options of one call, and to what the textbook says to them.

problem = build(row)                                    # always the same for the same row
attention(*problem.arrays, **problem.options)
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unittest import mock

import jaxtyping
import ml_dtypes
import numpy as np

from clearhead import biases, checks, masks
from clearhead.call import Part
from clearhead.textbook.attention import attention_scores, mask_scores, scaled_dot_product_attention, sink_column
from clearhead.textbook.dropout import dropout_mask
from clearhead.textbook.softmax import log_sum_exp

from .layouts import LAYOUTS

TYPES = {name: np.dtype(getattr(ml_dtypes if name == "bfloat16" else np, name)) for name in checks.FLOAT_TYPES}


@dataclass(frozen=True)
class Row:
    """One call. Shapes as q (…, h, n_q, d), k (…, h_kv, n_k, d), v (…, h_kv, n_k, d_v).

    dtype: one type, or three for q, k and v. Options that are text are evaluated with the constructors of
    `clearhead.masks` and `clearhead.biases`, `draw(*shape)` (normal numbers) and `flags(share, *shape)` (booleans) at
    hand; others are taken as they are. `spoil` is run on the arrays once they are drawn: `v[..., 5, :] = nan`.
    """

    name: str
    q: tuple[int, ...]
    k: tuple[int, ...]
    v: tuple[int, ...]
    dtype: str = "float32"
    layout: str = "plain"
    spoil: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def row(
    name: str,
    q: tuple[int, ...],
    n_k: int,
    d_v: int | None = None,
    *,
    kv: tuple[int, ...] | None = None,
    values: tuple[int, ...] | None = None,
    dtype: str = "float32",
    layout: str = "plain",
    spoil: str = "",
    **options: Any,
) -> Row:
    """A row whose keys have the queries' leading axes, or `kv`, and whose values have the keys', or `values`."""
    kv = q[:-2] if kv is None else kv
    v = (*(kv if values is None else values), n_k, q[-1] if d_v is None else d_v)
    return Row(name, q, (*kv, n_k, q[-1]), v, dtype, layout, spoil, options)


class Expected(NamedTuple):
    """Output, log Σ exp(score) of each query, the size of the largest score, and the weights that made the output."""

    output: np.ndarray
    lse: np.ndarray
    largest_score: float
    weights: np.ndarray


@dataclass(frozen=True)
class Problem:
    """The arrays and options of a row, and what the textbook says to them."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    options: dict[str, Any]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.q, self.k, self.v

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes of the scores: () or (*batch, heads)."""
        heads = max((x.shape[-3] for x in self.arrays if x.ndim > 2), default=None)
        batch = np.broadcast_shapes(*(x.shape[:-3] for x in self.arrays))
        return () if heads is None else (*batch, heads)

    @property
    def kind(self) -> np.dtype[Any]:
        """The type arithmetic runs in."""
        return checks.compute_type(*(x.dtype.newbyteorder("=") for x in self.arrays))

    @property
    def part(self) -> Part | None:
        """The place of the call in a longer sequence, if it is a part of one."""
        return None if self.options.get("part") is None else Part(*self.options["part"])

    def written_out(self) -> dict[str, Any]:
        """The options as the textbook takes them: masks and biases become arrays, or that piece of them."""
        options = {name: x for name, x in self.options.items() if name not in ("return_lse", "strict", "part")}
        n_q, n_k = self.q.shape[-2], self.k.shape[-2]
        first_query, first_key, offset = self.part or Part()
        whole = (first_query + n_q, first_key + n_k)
        place = {} if self.part is None else {"first_query": 0, "first_key": 0, "offset": offset}
        if isinstance(options.get("mask"), masks.Mask):
            heads = self.lead[-1] if self.lead else None
            mask = options["mask"].array(*whole, batch_shape=self.lead[:-1], heads=heads, **place)
            options["mask"] = mask[..., first_query:, first_key:]
        if isinstance(options.get("bias"), biases.RelativeBias):
            table = options["bias"].table(*whole, **place)
            bias = table[:, np.arange(whole[0])[:, None] - np.arange(whole[1]) + whole[1] - 1]
            bias = bias[:, first_query:, first_key:]
            options["bias"] = bias if self.lead else bias[0]
        return options

    def textbook(self, kind: np.dtype[Any], order: Any = slice(None)) -> Expected:
        """What the textbook says, computed and left in the given type. `order` is that of the d columns."""
        options = self.written_out()
        for name in ("mask", "bias"):
            if (x := options.get(name)) is not None and x.dtype != np.bool_:
                options[name] = in_range(x, kind).astype(kind)
        first_query, first_key, _ = self.part or Part()
        dropped = functools.partial(dropout_mask, first_query=first_query, first_key=first_key)
        with computing_in(kind), mock.patch("clearhead.textbook.attention.dropout_mask", dropped):
            Q, K, V = (x.astype(kind) for x in self.arrays)
            Q = np.broadcast_to(Q, (*self.lead, *Q.shape[-2:]))[..., order]
            K = K[..., order]
            output, weights = scaled_dot_product_attention(Q, K, V, **options)
            scores = attention_scores(Q, K, scale=options.get("scale"), softcap=options.get("softcap"))
            scores = mask_scores(scores, options.get("mask"), bias=options.get("bias"))
            if options.get("sinks") is not None:
                sinks = sink_column(options["sinks"], scores.shape).astype(kind)
                scores = np.concatenate([scores, sinks], axis=-1)
            lse = np.broadcast_to(log_sum_exp(scores), (*self.lead, Q.shape[-2]))
            return Expected(output, lse, float(np.abs(scores[np.isfinite(scores)]).max(initial=0)), weights)


def build(row: Row) -> Problem:
    """The row's arrays and options. They depend on nothing but the row, so two rooms see the same numbers."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    kinds = row.dtype.split() if " " in row.dtype else [row.dtype] * 3
    shapes = (row.q, row.k, row.v)
    arrays = [rng.standard_normal(shape).astype(TYPES[kind]) for shape, kind in zip(shapes, kinds, strict=True)]
    exec(row.spoil, {"np": np, "nan": np.nan, "inf": np.inf, **dict(zip("qkv", arrays, strict=True))})
    options = {name: evaluate(x, rng) if isinstance(x, str) else x for name, x in row.options.items()}
    return Problem(*(LAYOUTS[row.layout](x) for x in arrays), options)


def evaluate(text: str, rng: np.random.Generator) -> Any:
    """An option from its text."""
    return eval(
        text,
        {
            "np": np,
            "inf": np.inf,
            "draw": lambda *shape: rng.standard_normal(shape),
            "flags": lambda share, *shape: rng.random(shape) < share,
            **{name: getattr(masks, name) for name in constructors(masks, "Mask")},
            **{name: getattr(biases, name) for name in constructors(biases, "RelativeBias")},
        },
    )


def constructors(module: Any, result: str) -> list[str]:
    """The public functions of a room that are said to return `result`."""
    found = {name: x for name, x in vars(module).items() if getattr(x, "__module__", "").startswith(module.__name__)}
    return [
        name
        for name, x in found.items()
        if not name.startswith("_") and getattr(x, "__annotations__", {}).get("return") == result
    ]


def in_range(x: np.ndarray, kind: np.dtype[Any], share: float = 1.0) -> np.ndarray:
    """Finite numbers stay finite in a narrower type: a bias of −1e300 is a very low float32, and no mask."""
    limit = share * float(np.finfo(kind).max)
    x = x.astype(np.promote_types(x.dtype, np.float64))
    return np.where(np.isfinite(x), np.clip(x, -limit, limit), x)


@contextlib.contextmanager
def computing_in(kind: np.dtype[Any]) -> Iterator[None]:
    """Let the textbook compute in a type it does not offer: the judge of float64 has to be wider than float64."""
    if kind.name in checks.FLOAT_TYPES:
        yield
        return
    types = (*checks.FLOAT_TYPES, kind.name)
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    # is_float is replaced too: it remembers its answers, those of before and, after this, ours
    replaced = {"FLOAT_TYPES": types, "is_float": lambda dtype: dtype.name in types, "compute_type": lambda *_: kind}
    try:
        with mock.patch.multiple(checks, **replaced):
            yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
