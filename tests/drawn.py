"""Drawn shapes, masks and whole calls, for tests that must hold whatever is asked.

Masks are drawn as the text a user would type, as in the rows of `equivalence.py`, so that an example that fails can
be read, pasted and run.
"""

from __future__ import annotations

from hypothesis import strategies as st

SHARES = st.sampled_from([0.05, 0.5, 0.95])


def offsets(n_q: int, n_k: int) -> st.SearchStrategy[str]:
    return st.none().map(str) | st.integers(-n_q - 2, n_k + 2).map(str)


@st.composite
def leading(draw: st.DrawFn, *axes: int) -> str:
    """Leading axes that broadcast to the given ones, as the first arguments of flags(share, …)."""
    kept = draw(st.integers(0, len(axes)))
    return "".join(f"{draw(st.sampled_from([1, size]))}, " for size in axes[len(axes) - kept :])


@st.composite
def leaves(draw: st.DrawFn, n_q: int, n_k: int, batch: tuple[int, ...], heads: int) -> str:
    """One mask that fits the sizes."""
    names = ["causal", "window", "window sides", "key_lengths", "prefix", "dilated", "block_sparse", "array", "where"]
    name = draw(st.sampled_from(names + (["documents", "documents in pieces", "boundaries"] if n_q <= n_k else [])))
    offset = draw(offsets(n_q, n_k))
    lead = draw(leading(*batch, heads))
    match name:
        case "causal":
            return f"causal({offset})"
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


def mask_texts(n_q: int, n_k: int, batch: tuple[int, ...], heads: int) -> st.SearchStrategy[str]:
    """Any tree of masks joined with &, | and ~."""
    return st.recursive(
        leaves(n_q, n_k, batch, heads),
        lambda inner: (
            st.tuples(inner, st.sampled_from("&|"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
            | inner.map(lambda text: f"~{text}")
        ),
        max_leaves=4,
    )
