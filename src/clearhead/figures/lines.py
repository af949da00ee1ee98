"""Lines between tokens: each query joined to the keys it looks at, the thicker the more it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures import words
from clearhead.figures.lettering import NOTE_SIZE, largest, text_size, token_label
from clearhead.figures.options import LineOptions, Options, takes_options
from clearhead.figures.sheet import LABEL_SIZE, MARGIN, Sheet, titled_sheet
from clearhead.figures.source import Drawn, checked_head, checked_range, source

MOST_TOKENS = 64  # on one side; more lines than that are a thicket
LEAST_SHARE = 0.04  # of the thickest line; a thinner one is not drawn
PITCH = (0.26, 0.2)  # between tokens, while they are few and when they are many
MANY = 20
TOKEN_SIZE = 9.0
TOKEN_GAP = 0.08  # between a token and its lines
HEADING = 0.26  # the words "query" and "key"
LEGEND = 0.24
BETWEEN = 3.0  # the two columns
THICKEST = 5.0  # points
HAIR = 0.5  # of the lines of a fan
MANY_QUERIES = 8  # fewer do not make a fan
MOST_SHARE = 0.5  # of the attention of a head, which one key takes
LEAST_REST = 0.25  # of the largest weight: beside a fan, the thickest line is no smaller weight than that
HEAD_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f7700", "#555555")


@takes_options(LineOptions)
def visualize_lines(
    weights: Any,
    tokens: Sequence[object] | None = None,
    *,
    key_tokens: Sequence[object] | None = None,
    head: int | None = None,
    query: int | None = None,
    rows: slice | None = None,
    cols: slice | None = None,
    **shared: Unpack[LineOptions],
) -> Figure:
    """Draw queries at the left, keys at the right, and a line for each weight between them.

    weights (…, n_q, n_k) or a view, tokens (n_q) and key_tokens (n_k) as in `visualize_attention` → a matplotlib figure

    One head is drawn, or with head=None all of up to eight in colours of their own, more as their mean. `query` draws
    the lines of one query only; `rows` and `cols` choose the queries and keys, at most 64 of each. The thickest line
    is the largest weight, with scale="row" the largest of its query; the thinnest are left out, and the figure says so.
    A key that takes most of a head's attention would hide the rest behind a fan of thick lines: its lines are hairs.

    Raises:
        TypeError, ValueError, FileNotFoundError: as `visualize_attention`; there are more tokens than can be read.
    """
    options = Options(**shared)
    drawn = source(weights, batch=options.batch)
    queries, keys = drawn.axis_tokens(tokens, key_tokens)
    head = checked_head(head, drawn.heads)
    checks.choice("scale", options.scale, ("auto", "linear", "row"))
    rows, cols = _checked_window(drawn, rows, cols, query)
    hidden = [key for key in options.hidden(drawn.n_k) if cols.start <= key < cols.stop]
    each: Sequence[int | None] = range(drawn.heads) if head is None and drawn.heads <= len(HEAD_COLOURS) else [head]
    parts = np.stack([_window(drawn, one, rows, cols) for one in each])
    parts[..., [key - cols.start for key in hidden]] = 0
    if query is not None:
        parts[:, [i for i in range(parts.shape[1]) if i != query - rows.start]] = 0

    left = [token_label(queries[i] if queries else i) for i in range(rows.start, rows.stop)]
    right = [token_label(keys[i] if keys else i) for i in range(cols.start, cols.stop)]
    names = [] if len(parts) == 1 else [options.say(words.NUMBERED_HEAD, number=i) for i in each]
    fans = [None if query is not None else fan(part) for part in parts]
    said = (
        options.say(words.FAINT_LINES, share=LEAST_SHARE),
        _fan_note([right[at] for at in dict.fromkeys(fans) if at is not None], options),
        options.say(words.MEAN_OF_HEADS, count=drawn.heads) if head is None and not names else "",
        options.hidden_note(hidden, what=words.LINES),
    )
    note = " ".join(part for part in said if part)
    chosen = None if query is None else query - rows.start
    sides = options.say(words.QUERY), options.say(words.KEY)
    figure, axes = _laid_out(left, right, names, sides, options.title, note, chosen)
    others = [part if at is None else np.delete(part, at, axis=-1) for part, at in zip(parts, fans, strict=True)]
    top = max(LEAST_REST * float(parts.max()), *(float(part.max()) for part in others))
    for colour, part, at in zip(HEAD_COLOURS, parts, fans, strict=False):
        if at is not None:
            _draw_fan(axes, part, at, colour)
        _draw_lines(axes, part, at, colour, top, by_row=options.scale == "row")
    return options.finished(figure)


def fan(weights: Float[np.ndarray, "n_q n_k"]) -> int | None:
    """The key that takes most of the attention of many queries, if there is one and other keys beside it."""
    if len(weights) < MANY_QUERIES or weights.shape[1] == 1:
        return None
    total = weights.sum(axis=0)
    key = int(total.argmax())
    return key if MOST_SHARE * weights.sum() < total[key] < weights.sum() else None


def _fan_note(keys: list[str], options: Options) -> str:
    return options.say(words.THIN_FAN, keys=", ".join(keys), share=MOST_SHARE) if keys else ""


def _checked_window(drawn: Drawn, rows: slice | None, cols: slice | None, query: int | None) -> tuple[slice, slice]:
    """Few enough queries and keys, the one query among them."""
    rows, cols = checked_range("rows", rows, drawn.n_q), checked_range("cols", cols, drawn.n_k)
    if max(rows.stop - rows.start, cols.stop - cols.start) > MOST_TOKENS:
        raise ValueError(
            f"{rows.stop - rows.start} queries and {cols.stop - cols.start} keys are too many for lines; draw at most "
            f"{MOST_TOKENS} of each (rows=slice(0, 40) and cols=slice(0, 40) take a part)"
        )
    if query is not None and not rows.start <= checks.count("query", query, least=0) < rows.stop:
        raise ValueError(f"query must be one of {rows.start} … {rows.stop - 1}, got {query}")
    return rows, cols


def _window(drawn: Drawn, head: int | None, rows: slice, cols: slice) -> Float[np.ndarray, "rows cols"]:
    where, number = drawn.one(head)
    return where.window(number, rows, cols)


def _laid_out(
    left: list[str],
    right: list[str],
    names: list[str],
    sides: tuple[str, str],
    title: str | None,
    note: str,
    chosen: int | None,
) -> tuple[Sheet, Axes]:
    """Both columns of tokens, and the empty axes between them, counted in rows."""
    rows = max(len(left), len(right))
    pitch = PITCH[rows > MANY]
    start = MARGIN + largest([*left, sides[0]], TOKEN_SIZE)[0] + TOKEN_GAP
    stop = start + BETWEEN
    across = stop + TOKEN_GAP + largest([*right, sides[1]], TOKEN_SIZE)[0] + MARGIN
    across = max(across, 2 * MARGIN + _legend_width(names))
    legend = LEGEND if names else 0.0
    sheet, begin = titled_sheet(across, legend + HEADING + rows * pitch + 0.1, title, note)
    top = begin + legend + HEADING
    place = MARGIN
    for name, colour in zip(names, HEAD_COLOURS, strict=False):
        sheet.write(name, place, begin, NOTE_SIZE, va="top", color=colour)
        place += text_size(name, NOTE_SIZE)[0] + 0.18
    sheet.write(sides[0], start - TOKEN_GAP, top - 0.06, LABEL_SIZE, ha="right", va="bottom", alpha=0.7)
    sheet.write(sides[1], stop + TOKEN_GAP, top - 0.06, LABEL_SIZE, ha="left", va="bottom", alpha=0.7)
    for i, text in enumerate(left):
        faint = {} if chosen in (None, i) else {"alpha": 0.45}
        level = top + _middle(i, len(left), rows) * pitch
        sheet.write(text, start - TOKEN_GAP, level, TOKEN_SIZE, ha="right", va="center", **faint)
    for j, text in enumerate(right):
        level = top + _middle(j, len(right), rows) * pitch
        sheet.write(text, stop + TOKEN_GAP, level, TOKEN_SIZE, ha="left", va="center")
    axes = sheet.axes_at(start, top, BETWEEN, rows * pitch)
    axes.set(xlim=(0, 1), ylim=(rows, 0), xticks=[], yticks=[])
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    return sheet, axes


def _middle(i: int, n: int, rows: int) -> float:
    """How far down the i-th of n tokens stands, in rows; the shorter column is spread along the longer."""
    return (i + 0.5) * rows / n


def _legend_width(names: list[str]) -> float:
    return sum((text_size(name, NOTE_SIZE)[0] + 0.18 for name in names), start=0.0)


def _draw_fan(axes: Axes, weights: Float[np.ndarray, "n_q n_k"], key: int, colour: str) -> None:
    """A hair from each query that looks at a key of which there is enough to see."""
    n_q, n_k = weights.shape
    rows = max(n_q, n_k)
    looking = np.flatnonzero(weights[:, key] >= LEAST_SHARE * weights[:, key].max())
    axes.add_collection(
        LineCollection(
            [[(0, _middle(int(i), n_q, rows)), (1, _middle(key, n_k, rows))] for i in looking],
            linewidths=HAIR,
            alpha=0.35,
            colors=[colour],
        ),
        autolim=False,
    )


def _draw_lines(
    axes: Axes, weights: Float[np.ndarray, "n_q n_k"], left_out: int | None, colour: str, top: float, *, by_row: bool
) -> None:
    """One line for each weight that can be seen, the faint ones first, so that the strong lie over them."""
    weights = weights.copy()
    if left_out is not None:
        weights[:, left_out] = 0
    tops = weights.max(axis=-1, keepdims=True) if by_row else np.full((len(weights), 1), top)
    shares = weights / np.where(tops > 0, tops, 1)
    pairs = sorted(np.argwhere(shares >= LEAST_SHARE).tolist(), key=lambda pair: shares[pair[0], pair[1]])
    thickness = [float(shares[i, j]) for i, j in pairs]
    n_q, n_k = weights.shape
    rows = max(n_q, n_k)
    axes.add_collection(
        LineCollection(
            [[(0, _middle(i, n_q, rows)), (1, _middle(j, n_k, rows))] for i, j in pairs],
            linewidths=[THICKEST * share for share in thickness],
            colors=[to_rgba(colour, 0.25 + 0.6 * share) for share in thickness],
            capstyle="round",
        ),
        autolim=False,
    )
