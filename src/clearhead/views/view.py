"""Looking at attention: what each head does, at any length, without its matrix.

    view = look(q, k, v, mask=masks.causal())
    view.entropy, view.max_weight, view.received      # exact, for each head and query or key
    view.weights(head=3, rows=slice(900, 1000))       # any window of the matrix, computed when it is asked for

Statistics stream out of the tiles in one pass beside the output, which has the bits `attention` gives it. Everything
else is computed again from q, k and two sums for each query, so a view holds on to q and k, the ones it was given: it
reads them where they lie, and they must not be changed while it is in use.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from clearhead import checks, masks, names
from clearhead.call import prepare, refuse_slow
from clearhead.kernels.observation import Watched
from clearhead.matrices import Padding, Pooled, Tokens
from clearhead.tensors import on_host
from clearhead.views import engines, passes, tiles, windows
from clearhead.views.averages import Average, average
from clearhead.views.conversion import Convert, floats, handed_back, placed, taken_in
from clearhead.views.distances import Distances, find_distances
from clearhead.views.grouping import Labels, grouped
from clearhead.views.padding import OnlyQueries, find_padding
from clearhead.views.patterns import Patterns, find_patterns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TopK(NamedTuple):
    """The keys each query attends to most, by falling weight; of equal scores the lower key comes first.

    indices (…, h, n_q, k), −1 where fewer than k keys score more than −inf; weights (…, h, n_q, k), 0 there
    """

    indices: Int[Any, "... n_q k"]
    weights: Float[Any, "... n_q k"]


@names.own_options
def look(
    q: Float[Any, "... n_q d"],
    k: Float[Any, "... n_k d"],
    v: Float[Any, "... n_k d_v"] | None = None,
    mask: masks.Mask | ArrayLike | None = None,
    *,
    bias: Any = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | float | None = None,
    strict: bool = False,
    top_k: int = 8,
    map_size: int = 512,
    tokens: Sequence[object] | None = None,
    key_tokens: Sequence[object] | None = None,
    padding: ArrayLike | bool | None = None,
) -> View:
    """Attention, and a view of every head of it, in O(n) memory. NumPy in, NumPy out; torch in, torch out.

    q (…, h, n_q, d)  k (…, h_kv, n_k, d)  v (…, h_kv, n_k, d_v) → a `View`

    Takes and means what `clearhead.attention` does. Without v there is no output, and all the rest is the same. With
    tensors, gradients are not tracked. On a device without kernels q, k and v stay where they are: torch's operations
    read the same from them, in blocks, and answers are tensors there. Masks, biases and labels are copied to the CPU,
    and answers pass through it.

    Args:
        bias: an array, or a structure from `clearhead.biases` or `clearhead.torch.biases`.
        strict: refuse a look that would take a slow way, with the reason, as `clearhead.attention` does.
        top_k: how many of each query's strongest keys to keep.
        map_size: how many cells the pooled map of a head has along either side, at most.
        tokens: a label for each query, and for each key too unless key_tokens has those. Figures of the view show
            them, and patterns are found with them.
        padding: (*batch, n_k) or (n_k), True where a position only fills up a batch, as in ids == pad_id; the queries
            are the last positions. Unless given, it is what the mask says: what `masks.key_lengths`, or a mask of shape
            (…, 1, 1, n_k), leaves out at either end is padding, and with n_q = n_k so are the queries there. In
            cross-attention, where queries are other positions than keys, False says that none of them is. Tokens
            labelled [PAD], <pad> and the like are padding in any case.

    Padding counts nowhere: a query that is padding is one with no key left in all that the view says, its statistics,
    maps, patterns and weights; only output and lse have what attention gives it. For that, a look in which queries are
    padding takes a second pass: one of attention alone, and one that is watched, without values.

    Raises:
        TypeError: an array is not of floats, the mask is neither a mask, boolean nor float, or padding is not boolean.
        ValueError: shapes do not fit together, there are not as many labels as positions, top_k or map_size is
            negative, or `strict` and the look would be slow.
    """
    top_k, map_size = checks.count("top_k", top_k, least=0), checks.count("map_size", map_size, least=0)
    (q, k, v), options, convert = taken_in(q, k, v, mask=mask, bias=bias, sinks=sinks)
    labels = None if tokens is None and key_tokens is None else (tokens, key_tokens)
    return View(
        q, k, v, convert, top_k=top_k, map_size=map_size, tokens=labels,
        padding=on_host(padding), scale=scale, softcap=softcap,
        strict=strict, **options,
    )  # fmt: skip


class View:
    """What `look` saw. Statistics are exact, for each head, in float32 or float64, the type they were computed in.

    output       (…, h, n_q, d_v)  as `clearhead.attention` gives it, bit for bit
    lse          (…, h, n_q)       log Σ exp(score), sinks included; −inf for a query with no key left
    entropy      (…, h, n_q)       −Σ weight · log weight in nats: 0 for one key, log n for n keys alike
    max_weight   (…, h, n_q)       the largest weight
    distance     (…, h, n_q)       how far away a query looks, on average, in positions
    on_first     (…, h, n_q)       the weight on the first key that is no padding
    on_self      (…, h, n_q)       the weight on the query's own position, i + n_k − n_q: queries are the last positions
    received     (…, h, n_k)       the attention each key gets, summed over the queries
    top_k        (…, h, n_q, k)    .indices and .weights of the keys each query attends to most
    tokens                         .queries and .keys, labels as they were given to `look`, or None
    padding                        .queries (*batch, n_q) and .keys (*batch, n_k), True where it is, or None

    Without a head axis in q, k and v, there is none here. A query with no key left has 0 in all of them but lse, and so
    has one that is padding: what is padding is told at `look`.
    """

    def __init__(
        self,
        q: Any,
        k: Any,
        v: Any,
        convert: Convert,
        *,
        top_k: int,
        map_size: int,
        mask: Any = None,
        tokens: tuple[Sequence[object] | None, Sequence[object] | None] | None = None,
        padding: ArrayLike | bool | Padding | None = None,
        strict: bool = False,
        seen: Watched | None = None,
        **options: Any,
    ) -> None:
        """As `look` makes it.

        seen: what was observed of this call before, so that it is not observed again
        part, among the options: what is looked at is a part of a longer sequence, of which masks speak
        """
        call = prepare(q, k, passes.no_values(k, k) if v is None else v, mask=mask, lse=True, **options)
        self.call = placed(convert, call, own_values=v is not None)
        self.convert = convert
        if strict:
            refuse_slow(self.call.slow)
        self.tokens = None if tokens is None else Tokens(*checks.axis_tokens(*tokens, self.n_q, self.n_k))
        sizes = masks.Sizes(self.n_q, self.n_k, self.batch_shape, self.heads)
        self.padding: Padding | None = (
            padding if isinstance(padding, Padding) else find_padding(padding, mask, self.tokens, sizes)
        )
        self.map_size = map_size
        self.inputs = tuple(np.asarray(x) for x in (q, k, k if v is None else v))
        if not (mask is None or isinstance(mask, masks.Mask)):
            mask = masks.array(mask) if np.asarray(mask).dtype == np.bool_ else None  # a float mask is in the bias
        self.mask: masks.Mask | None = mask
        watched: Any = {"top_k": top_k, "map_size": map_size}
        if self.padding is None or not self.padding.queries.any():
            seen = seen or engines.observe(self.call, output=v is not None, **watched)
            output, lse = seen.output, seen.lse
        else:
            output, lse = engines.compute(self.call)
            real = OnlyQueries(~self.padding.queries)
            self.mask = real if self.mask is None else real & self.mask
            self.call = passes.again(self, None)
            seen = engines.observe(self.call, output=False, **watched)
        self.sums, self.observed = seen.sums, seen.observation
        self._output = None if v is None else convert(output)
        self.lse: Float[Any, "... n_q"] = convert(lse)
        self.entropy: Float[Any, "... n_q"] = convert(self.observed.entropy)
        self.max_weight: Float[Any, "... n_q"] = convert(self.observed.max_weight)
        self.received: Float[Any, "... n_k"] = convert(self.observed.received)
        self.top_k = TopK(convert(self.observed.top_indices), convert(self.observed.top_weights))

    @property
    def output(self) -> Float[Any, "... n_q d_v"]:
        if self._output is None:
            raise AttributeError("there is no output without values: look(q, k, v) gives one, look(q, k) does not")
        return self._output

    @functools.cached_property
    @handed_back
    def distance(self) -> Float[Any, "... n_q"]:
        far = self.observed.distance
        return np.divide(far, self.total, out=np.zeros_like(far), where=self.total != 0)

    @functools.cached_property
    @handed_back
    def on_first(self) -> Float[Any, "... n_q"]:
        return windows.on_first(self, None if self.padding is None else self.padding.keys)

    @functools.cached_property
    @handed_back
    def on_self(self) -> Float[Any, "... n_q"]:
        return windows.at(self, np.arange(self.n_q) + self.call.shift)

    @property
    def heads(self) -> int:
        """How many heads there are; 1 if there is no axis for them."""
        return self.call.heads

    @property
    def n_q(self) -> int:
        """How many queries."""
        return self.call.n_q

    @property
    def n_k(self) -> int:
        """How many keys."""
        return self.call.n_k

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The axes before that of the heads."""
        return self.call.batch_shape if self.call.many_axes is None else self.call.many_axes

    @property
    def lead(self) -> tuple[int, ...]:
        """The axes before that of the queries: batch and heads, or none."""
        return (*self.batch_shape, self.heads) if self.call.has_heads else ()

    def __repr__(self) -> str:
        heads = f"{self.heads} heads" if self.heads != 1 else "1 head"
        batch = f"a batch of {' × '.join(map(str, self.batch_shape))}, " if self.batch_shape else ""
        padded = 0 if self.padding is None else int(self.padding.queries.sum())
        padding = f", {padded} queries of padding left out" if padded else ""
        said = f"View({batch}{heads}, {self.n_q} queries × {self.n_k} keys{padding}, {self.call.kind.name})"
        doubt = checks.doubtful_axes(*(x.shape for x in self.inputs[:2]))
        return f"{said}\n{doubt}" if doubt else said

    @handed_back
    def map(self, reduce: str = "mean") -> Float[Any, "... size_q size_k"]:
        """The tile of everything, in at most map_size cells a side: → (…, h, cells_q, cells_k)

        What a cell holds is told at `tile`. The maximum takes another pass the first time.
        """
        return tiles.tile(self, None, None, None, tiles.size_of_map(self), reduce, None)

    @handed_back
    def tile(
        self,
        head: Any = None,
        rows: Any = slice(None),
        cols: Any = slice(None),
        size: int | tuple[int, int] = 512,
        *,
        reduce: str = "mean",
        batch: Any = None,
    ) -> Float[Any, "... cells_q cells_k"]:
        """A window pooled into at most `size` cells a side, exact: → (…, h, cells_q, cells_k)

        A cell is 2^l queries by 2^m keys, counted from the window's start, with the smallest l and m that fit; size
        may be two numbers, for queries and keys. It holds the mean or the maximum of its weights over the places that
        are not masked; NaN where all of them are. rows and cols are runs of positions, head and batch as in `weights`.
        Takes time for the window, and memory for the tile alone.
        """
        return tiles.tile(self, head, rows, cols, size, reduce, batch)

    @handed_back
    def weights(
        self, head: Any = None, rows: Any = slice(None), cols: Any = slice(None), *, batch: Any = None
    ) -> Float[Any, ...]:
        """Any window of the matrix, exact: → (…, h, rows, cols)

        head, rows and cols are a number, whose axis is dropped, a slice, or a sequence of numbers; all of them unless
        given. batch is the place along the batch axes, a number or one for each axis. The memory it takes is that of
        the window: all of it, at n = 65,536, is 16 GiB for each head.
        """
        return windows.window(self, head, rows, cols, batch)

    def row(self, query: int, head: Any = None, *, batch: Any = None) -> Float[Any, "... n_k"]:
        """The weights of one query on every key: → (…, h, n_k)"""
        return self.weights(head, checks.count("query", query, least=None), batch=batch)

    @handed_back
    def mass(self, mask: masks.Mask | ArrayLike | None = None) -> Float[Any, "... n_q"]:
        """The share of each query's attention that falls on the keys a further mask allows: → (…, h, n_q)

        mask: from `clearhead.masks`, or a boolean array. What the view's own mask hides stays hidden. Without a mask,
        the share that falls on any key: 1, less what sinks take, and 0 for a query with no key left.
        """
        return passes.mass(self, mask)

    @handed_back
    def mix(self, values: Float[Any, "... n_k w"]) -> Float[Any, "... n_q w"]:
        """Other values under the same weights: values (…, h_kv, n_k, w), or one head for all → (…, h, n_q, w)"""
        return passes.mix(self, floats("values", values))

    @handed_back
    def received_from(self, shares: Float[Any, "... n_q"]) -> Float[Any, "... n_k"]:
        """The attention each key gets if queries count so much each: shares (…, h, n_q) → (…, h, n_k)"""
        return passes.received_from(self, floats("shares", shares, ndim=1))

    def distances(self) -> Distances:
        """How far away each head looks: mean, variance and log₂ histogram of i − j under its weights.

        i is the query's place among the keys, of which the queries are the last, so what is positive lies back. See
        `clearhead.views.Distances`; `distance` has the mean of |i − j| for each query.
        """
        return find_distances(self)

    def patterns(
        self,
        token_ids: ArrayLike | None = None,
        *,
        separators: Collection[object] | None = None,
        punctuation: Collection[object] | None = None,
    ) -> Patterns:
        """What each head does, and how sure that is: a name with its score, and the score of every pattern.

        token_ids (*batch, n_k) or (n_k): the tokens of the keys, of which the queries are the last, by id or by label;
        the view's own labels unless given. With them, heads that look for their own token, or for what followed it, are
        found too, and with labels those that look at separators or punctuation. `separators` and `punctuation` say
        which tokens those are where labels do not: `view.patterns(ids, separators=tokenizer.all_special_ids)`. What a
        pattern is, and what its score means, is told in `clearhead.patterns`. Padding counts nowhere: see `look`. NumPy
        in any case; print the result to see it as a table.
        """
        return find_patterns(self, on_host(token_ids), separators, punctuation)

    @handed_back
    def grouped(self, query_groups: Labels, key_groups: Labels | None = None) -> Float[Any, "... G_q G_k"]:
        """Attention between groups of positions, such as the words that tokens make up: → (…, h, G_q, G_k)

        query_groups (n_q) or (*batch, n_q), key_groups (n_k) likewise, the same unless given: whole numbers from 0 on
        are the groups' own numbers, −1 or None is no group, and any other labels are numbered in the order in which
        they first appear. Weights are summed over the keys of a group and averaged over its queries; exact, in memory
        of the size of the answer.
        """
        return grouped(self, on_host(query_groups), on_host(key_groups))

    def average(self, heads: Any = None) -> Average:
        """The mean over heads, or some of them: see `clearhead.views.average`, which takes several layers too."""
        return average(self, heads)

    def plot(self, kind: str | None = None, *, tokens: Sequence[object] | None = None, **options: Any) -> Figure:
        """A figure of this view: its heads in a grid, one head with its tokens, or as `kind` says.

        The kinds and their options are told in `clearhead.figures.plot`. tokens are those of the view unless given.
        """
        from clearhead.figures import plot

        return plot(self, kind, tokens=tokens, **options)

    def to_html(self, path: str | Path, *, name: str = "layer 0", **options: Any) -> Path:
        """Write a page to walk through this view in a browser: one file that needs no network. → its path

        name is what the layer is called there. The options, such as tokens, title, language and megabytes, are told in
        `clearhead.page.write`, which takes several layers too.
        """
        from clearhead.page import write

        names.check_options("to_html", options, write)
        return write(path, [(name, self)], **options)

    def show(self, *, name: str = "layer 0", **options: Any) -> Any:
        """Show the page of this view, in a notebook or a browser: maps of any length, computed as they are looked at.

        The options, such as tokens, browser=False and block=False, are told in `clearhead.page.show`.
        """
        from clearhead.page import show

        return show([(name, self)], **options)

    def shaped(self, x: np.ndarray) -> np.ndarray:
        """From the axes a call has to those that came: (*call.lead, …) → (*lead, …)"""
        return x.reshape(*self.lead, *x.shape[len(self.call.lead) :])

    @functools.cached_property
    def total(self) -> np.ndarray:
        """Σ weights of each query: 1 but for sinks, 0 with no key left."""
        return passes.mass(self, None)

    @functools.cached_property
    def maxima(self) -> Pooled:
        """The map with the largest weight of each cell: another pass, for those who ask."""
        whole = tiles.checked_window(None, None, self.map_size, self.n_q, self.n_k)
        return engines.pooled(self.call, self.sums, whole.rows, whole.cols, *whole.bits)
