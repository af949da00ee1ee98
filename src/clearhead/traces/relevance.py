"""Gradient × attention: how relevant each position is to one number that a model gave (Chefer et al., 2021).

Of a layer, Ā = mean_h (∇A ⊙ A)₊, and ∇A[q, k] = dO_q · v_k, with dO the gradient of what the heads gave. R is 1 before
the first layer, and every layer of self-attention adds to it:

    R ← R + Ā R

In an encoder and decoder, R_ee and R_dd do so each in its own stack, and what the decoder takes from the encoder is
R_de, 0 at first. Behind a decoder's self-attention it is R_de ← R_de + Ā R_de, and behind its cross-attention

    R_de ← R_de + R̄_ddᵀ Ā R̄_ee        R̄ = 1 + (R − 1), each row of it divided by its sum

A row that is all 0 stays so. One row of any R needs no matrix: it is carried through the layers from the last to the
first, and where R̄_ddᵀ asks for columns those are carried from the first to the last, a strip of Ā's queries at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.traces.naming import role
from clearhead.traces.progress import showing
from clearhead.traces.projections import unchanged_values

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

MOST_PLACES = 2**22  # weights that are worked on at a time
AMONG = ("own", "source")


class _Layers(NamedTuple):
    """The layers of a trace, each stack in the order in which it is called; one stack alone is `own`."""

    own: list[str]
    cross: list[str]
    encoder: list[str]


def relevance(
    trace: Trace, position: int = -1, *, among: str | None = None, progress: bool = True
) -> Float[np.ndarray, " n"]:
    """See `Trace.relevance`."""
    layers = _layers(trace)
    among = checks.choice("among", "source" if among is None and layers.encoder else among or "own", AMONG)
    if among == "source" and not layers.encoder:
        raise ValueError(
            "there is no encoder whose positions could be relevant beside the model's own; leave among out"
        )
    if left_out := trace.facts.left_out(trace.names):
        raise ValueError(
            f"relevance goes through all layers, and {', '.join(left_out)} were not kept; leave layers= out: "
            "trace(model, gradients=True)"
        )
    n = trace._view(layers.own[0]).n_q
    place = checks.count("position", position, least=None)
    if not -n <= place < n:
        raise ValueError(f"position {position} is out of range; there are {n} positions")
    target = np.zeros(n)
    target[place] = 1
    if among == "own":
        with showing(progress, layers.own[::-1]) as steps:
            return target + _added(trace, steps, target)
    return _of_source(trace, layers, target, progress)


def _layers(trace: Trace) -> _Layers:
    """One stack, or an encoder, a decoder and what looks from the one to the other."""
    if len(trace.stacks) == 1:
        return _Layers(trace.names, [], [])
    names = {kind: [name for name in trace.names if role(name) == kind] for kind in ("decoder", "cross", "encoder")}
    if len(trace.stacks) != 3 or not all(names.values()) or len(names["decoder"]) != len(names["cross"]):
        raise NotImplementedError(
            "relevance follows one stack of layers, or an encoder and a decoder, and there are "
            f"{len(trace.stacks)}: {', '.join(trace.stacks)}; the rules for others are not published"
        )
    return _Layers(names["decoder"], names["cross"], names["encoder"])


def _of_source(
    trace: Trace, layers: _Layers, target: Float[np.ndarray, " n"], progress: bool
) -> Float[np.ndarray, " n_source"]:
    """One row of R_de."""
    both_ways = [*layers.own[:0:-1], *(x for pair in zip(layers.own, layers.cross, strict=True) for x in pair)]
    with showing(progress, [*both_ways, *layers.encoder, *layers.encoder[::-1]]) as steps:
        rows = [target]  # as it arrives behind the cross-attention of each layer, the last first
        for name in islice(steps, len(layers.own) - 1):
            rows.append(rows[-1] + _through_row(trace, name, rows[-1]))
        taken = _from_cross(trace, islice(steps, 2 * len(layers.own)), np.stack(rows[::-1], axis=-1))
        ones = np.ones((len(taken), 1))
        sums = np.zeros_like(ones)
        for name in islice(steps, len(layers.encoder)):
            sums += _through_columns(trace, name, ones + sums)
        return taken + _added(trace, steps, _divided(taken, sums[:, 0]))


def _from_cross(
    trace: Trace, steps: Iterator[str], rows: Float[np.ndarray, "n layers"]
) -> Float[np.ndarray, " n_source"]:
    """The sum over the decoder's layers of row · R̄_ddᵀ Ā, which is R̄_dd times the row as a column."""
    given = np.concatenate([rows, np.ones((len(rows), 1))], axis=-1)  # ones for the sums of R's rows
    added = np.zeros_like(given)  # (R_dd − 1) times what is given, so that nothing small is lost beside 1
    taken: Float[np.ndarray, " n_source"] | None = None
    for layer, (own, cross) in enumerate(zip(steps, steps, strict=True)):
        added += _through_columns(trace, own, given + added)
        mixed = given[:, layer] + _divided(added[:, layer], added[:, -1])
        found = _through_row(trace, cross, mixed)
        taken = found if taken is None else taken + found
    assert taken is not None
    return taken


def _divided(numbers: Float[np.ndarray, " n"], sums: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.divide(numbers, sums, out=np.zeros_like(numbers), where=sums > 0)


def _added(trace: Trace, names: Iterator[str], row: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """row · (R − 1) of one stack, whose layers are given from the last to the first."""
    added = np.zeros_like(row)
    for name in names:
        added = added + _through_row(trace, name, row + added)
    return added


def _through_row(trace: Trace, name: str, row: Float[np.ndarray, " n_q"]) -> Float[np.ndarray, " n_k"]:
    """row · Ā of one layer."""
    found = np.zeros(trace._view(name).n_k)
    for queries, strip in _strips(trace, name, np.flatnonzero(row)):
        found += row[queries] @ strip
    return found


def _through_columns(trace: Trace, name: str, columns: Float[np.ndarray, "n_k c"]) -> Float[np.ndarray, "n_q c"]:
    """Ā · columns of one layer."""
    found = np.zeros((trace._view(name).n_q, columns.shape[-1]))
    for queries, strip in _strips(trace, name, np.arange(len(found))):
        found[queries] = strip @ columns
    return found


def _strips(trace: Trace, name: str, queries: np.ndarray) -> Iterator[tuple[np.ndarray, Float[np.ndarray, "rows n_k"]]]:
    """Some rows of Ā of one layer, a strip at a time."""
    take, entry = trace._sequence()
    gradient, view = take.piece(name, entry).gradient, trace._view(name)
    if gradient is None:
        raise ValueError(
            f"no gradient reached the heads of {name}: trace(model, gradients=True), and call backward on one number "
            "that the model gave, model(ids).logits[0, -1, token].backward(), without torch.no_grad()"
        )
    if view.n_q != view.n_k and role(name) != "cross":
        raise ValueError(f"{name} has {view.n_q} queries and {view.n_k} keys; relevance needs one text, read at once")
    values = unchanged_values(trace, name)
    heads, v = values.heads, values.of_heads()
    height = max(1, MOST_PLACES // (heads * view.n_k))
    for start in range(0, len(queries), height):
        rows = queries[start : start + height]
        weights = np.asarray(view.weights(rows=rows), np.float64)  # (h, rows, n_k)
        slopes = gradient[:, rows].astype(np.float64) @ v.swapaxes(-1, -2)
        yield rows, np.maximum(weights * slopes, 0).mean(axis=0)
