"""Drawn shapes, masks and whole calls, for tests that must hold whatever is asked.

Masks are drawn as the text a user would type, as in the rows of `equivalence.py`, so that an example that fails can
be read, pasted and run.
"""

from __future__ import annotations

from hypothesis import strategies as st

from .layouts import LAYOUTS
from .problems import TYPES, Row

SHARES = st.sampled_from([0.05, 0.5, 0.95])


def offsets(n_q: int, n_k: int) -> st.SearchStrategy[str]:
    return st.none().map(str) | st.integers(-n_q - 2, n_k + 2).map(str)


@st.composite
def leading(draw: st.DrawFn, *axes: int) -> str:
    """Leading axes that broadcast to the given ones, as the first arguments of flags(share, …)."""
    kept = draw(st.integers(0, len(axes)))
    return "".join(f"{draw(st.sampled_from([1, size]))}, " for size in axes[len(axes) - kept :])


@st.composite
def leaves(draw: st.DrawFn, n_q: int, n_k: int, batch: tuple[int, ...], heads: int | None) -> str:
    """One mask that fits the sizes."""
    names = ["causal", "window", "window sides", "key_lengths", "prefix", "dilated", "block_sparse", "array", "where"]
    name = draw(st.sampled_from(names + (["documents", "documents in pieces", "boundaries"] if n_q <= n_k else [])))
    offset = draw(offsets(n_q, n_k))
    lead = draw(leading(*batch, *([] if heads is None else [heads])))
    match name:
        case "causal":
            return f"causal(offset={offset})"
        case "window":
            return f"window({draw(st.integers(1, n_k + 2))}, offset={offset})"
        case "window sides":
            return f"window({draw(st.integers(0, n_k))}, {draw(st.integers(0, n_k))}, offset={offset})"
        case "key_lengths":
            size = ", ".join(map(str, batch))
            return f"key_lengths(np.abs({draw(st.integers(1, n_k + 2))} * draw({size})).astype(int))"
        case "prefix":
            return f"prefix({draw(st.integers(0, n_k + 2))})"
        case "dilated":
            return f"dilated({draw(st.integers(1, 5))})"
        case "block_sparse":
            block = draw(st.integers(1, max(n_q, n_k, 1) + 3))
            rows, columns = -(-n_q // block), -(-n_k // block)
            return f"block_sparse(flags({draw(SHARES)}, {lead}{rows}, {columns}), {block})"
        case "array":
            rows, columns = draw(st.sampled_from([1, n_q])), draw(st.sampled_from([1, n_k]))
            return f"array(flags({draw(SHARES)}, {lead}{rows}, {columns}))"
        case "where":
            a, b, c = (draw(st.integers(0, 3)) for _ in range(3))
            return f"where(lambda b, h, i, j: (i * {a} + j * {b} + h + b) % 4 != {c})"
        case "documents":
            return f"documents(np.arange({n_k}) // {draw(st.integers(1, n_k + 2))})"
        case "documents in pieces":
            return f"documents(np.floor(2 * draw({''.join(f'{b}, ' for b in batch)}{n_k})).astype(int))"
        case _:
            cuts = sorted(draw(st.lists(st.integers(0, n_k), max_size=4)))
            return f"documents(boundaries={[0, *cuts, n_k]})"


def mask_texts(n_q: int, n_k: int, batch: tuple[int, ...], heads: int | None) -> st.SearchStrategy[str]:
    """Any tree of masks joined with &, | and ~."""
    return st.recursive(
        leaves(n_q, n_k, batch, heads),
        lambda inner: (
            st.tuples(inner, st.sampled_from("&|"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
            | inner.map(lambda text: f"~{text}")
        ),
        max_leaves=4,
    )


SIZES = st.sampled_from([1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 64, 65, 97, 131, 193]) | st.integers(0, 70)
KEYS = SIZES | st.sampled_from([191, 192, 193, 211, 389, 577])
WIDTHS = st.sampled_from([1, 2, 3, 7, 8, 15, 16, 17, 32, 33, 64, 67]) | st.integers(1, 80)

# Sums of one number again and again: their errors all point one way. The table has rows of them that are exact.
REPEATING = ("one for all", "one row for all", "one number for all")

# What is not a number reaches those who may attend to it, and nobody else. Infinite values are left to the table: where
# a weight is too small for float32, 0 · inf is NaN, and the judge, who has more digits, says inf.
STRANGE = [
    "v[..., -1:, :] = nan",
    "v[..., :1, ::2] = nan",
    "v[..., 3:6, :1] = nan",
    "k[..., -1:, :] = nan",
    "k[..., 2::7, :1] = inf",
    "q[..., -1:, :] = nan",
    "k[..., 1::2, :] = nan; v[..., 1::2, :] = nan",
]


@st.composite
def biases(draw: st.DrawFn, n_q: int, n_k: int, batch: tuple[int, ...], heads: int | None) -> str | None:
    """A bias that fits the sizes, or none."""
    slopes = heads or 1
    offset = draw(offsets(n_q, n_k))
    lead, rows, columns = (
        draw(leading(*batch, *([] if heads is None else [heads]))),
        draw(st.sampled_from([1, n_q])),
        draw(st.sampled_from([1, n_k])),
    )
    array = f"draw({lead}{rows}, {columns})"
    return draw(
        st.sampled_from(
            [
                None,
                None,
                None,
                array,
                f"{array}.astype(np.float32)",
                f"{array}.astype(np.float16)",
                f"np.where(flags(.8, {lead}{rows}, {columns}), {array}, -inf)",
                f"alibi({slopes}, offset={offset})",
                f"alibi(np.abs(draw({slopes})), offset={offset})",
                f"t5(draw(8, {slopes}), max_distance=40, offset={offset})",
                f"t5(draw(7, {slopes}), bidirectional=False, offset={offset})",
            ]
        )
    )


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A whole call: shapes, types, layout and options."""
    n_q, n_k, d, d_v = draw(SIZES), draw(KEYS), draw(WIDTHS), draw(WIDTHS)
    kv_heads, group = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 4]))
    batch = tuple(draw(st.lists(st.integers(1, 2), max_size=2)))
    has_heads = bool(batch) or kv_heads * group > 1 or draw(st.booleans())
    heads = kv_heads * group
    fewer = draw(st.integers(0, len(batch)))  # batch axes that the keys are without
    lead, kv = ((*batch, heads), (*batch[fewer:], kv_heads)) if has_heads else ((), ())
    kind = draw(st.sampled_from([*TYPES, *TYPES, "float32 bfloat16 bfloat16", "float16 float32 float64"]))
    layouts = [name for name in LAYOUTS if name not in REPEATING and (has_heads or name != "heads inside")]
    layout = draw(st.just("plain") | st.sampled_from(layouts))
    if layout == "big-endian" and "bfloat16" in kind:
        layout = "plain"
    sizes = (n_q, n_k, batch, heads if has_heads else None)
    mask = draw(st.none() | mask_texts(*sizes) | st.just(f"np.where(flags(.7, {n_q}, {n_k}), 0, -inf)"))
    options = {
        "mask": mask,
        "bias": draw(biases(*sizes)),
        "scale": draw(st.sampled_from([None, None, 0.0, -0.5, 1.0, 4.0])),
        "softcap": draw(st.sampled_from([None, None, None, 0.7, 30.0])),
        "sinks": draw(st.sampled_from([None, None, f"draw({heads})", f"np.full({heads}, -inf)"])),
        "dropout": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "seed": draw(st.integers(0, 2**64)),
    }
    spoil = draw(st.sampled_from(["", "", "", *STRANGE]))
    name = f"drawn {draw(st.integers(0, 2**32))}"
    return Row(name, (*lead, n_q, d), (*kv, n_k, d), (*kv, n_k, d_v), kind, layout, spoil, options)
