"""Rollouts: through all layers, how much of each output position comes from each input position.

A rollout is not attention: its rows are outputs of the last layer and its columns inputs of the first, so its figure
has words of its own. `clearhead.views.pooled_rollout` makes one of the views of all layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures import words
from clearhead.figures.grid import arrange
from clearhead.figures.layout import Layout
from clearhead.figures.maps import SMALL, draw_map, size_of_values, value_notes, write_values
from clearhead.figures.options import LayerOptions, Options, takes_options
from clearhead.figures.ticks import key_ticks, query_ticks
from clearhead.matrices import as_floats, check_weights


class Shares(NamedTuple):
    """Shares between cells of `by` positions, of which there are n."""

    cells: Float[np.ndarray, "c c"]
    by: int
    n: int


@takes_options(LayerOptions)
def visualize_rollout(rollout: Any, tokens: Sequence[object] | None = None, **shared: Unpack[LayerOptions]) -> Figure:
    """Draw how much of each output position comes from each input position, through all layers.

    rollout: what `clearhead.views.pooled_rollout` returns, or shares (…, n, n), rows outputs and columns inputs
    tokens (n) name the positions → a matplotlib figure

    Each row sums to 1, but for what sinks take. Where cells stand for several positions, as those of a long sequence
    do, the rollout is approximate and the figure says so. The options are those of `visualize_attention`.

    Raises:
        TypeError: the shares are not floats, as where views were given in place of their rollout.
        ValueError: they are not square, a batch, negative or not finite; the tokens do not fit their number.
        FileNotFoundError: the folder of `save` does not exist.
    """
    options = Options(**shared)
    shares = _shares(rollout, options)
    names = checks.tokens_of("tokens", tokens, shares.n, "positions")
    grid = arrange(1, shares.n, shares.n)
    below = key_ticks(names, shares.n, grid.width, slanted=True)
    beside = query_ticks(names, shares.n, grid.height, most=below.size)
    shades = options.shading(shares.cells, options.say(words.ROLLOUT_SHARE), fit=shares.n > SMALL)
    size = size_of_values(shares.cells[None], grid) if options.values and shares.by == 1 else None
    said = (
        options.say(words.ROLLOUT),
        options.say(words.APPROXIMATE_ROLLOUT, by=shares.by) if shares.by > 1 else "",
        shades.note(options.language),
        *(value_notes(shares.cells[None], options) if size else ()),
    )
    sides = options.say(words.OUTPUT_POSITION), options.say(words.INPUT_POSITION)
    layout = Layout(grid, beside, below, sides, options.title, " ".join(part for part in said if part))
    figure, (axes,) = layout.sheet(shades)
    draw_map(axes, shares.cells, (shares.by, shares.by), (shares.n, shares.n), shades)
    if size is not None:
        write_values(axes, shares.cells, size, shades)
    return options.finished(figure)


def _shares(rollout: Any, options: Options) -> Shares:
    """One item of a batch, and how many positions a cell has: those of a rollout say so, an array has one each."""
    if isinstance(rollout, (list, tuple)) and not hasattr(rollout, "shares"):
        raise TypeError(
            f"rollout must be what clearhead.views.pooled_rollout returns, or shares (n, n), got a "
            f"{type(rollout).__name__}; visualize_rollout(views.pooled_rollout(layers)) draws that of several views"
        )
    shares = as_floats("rollout", getattr(rollout, "shares", rollout))
    of_positions = np.asarray(getattr(rollout, "cells", np.arange(shares.shape[-1] if shares.ndim else 0)))
    if shares.ndim < 2 or shares.shape[-1] != shares.shape[-2] or not shares.size:
        raise ValueError(f"rollout must be (…, n, n), outputs × inputs, got shape {shares.shape}")
    place = options.batch if isinstance(options.batch, tuple) else (options.batch,) * (options.batch is not None)
    if not place and all(length == 1 for length in shares.shape[:-2]):
        place = (0,) * (shares.ndim - 2)
    if len(place) != shares.ndim - 2:
        raise ValueError(f"the rollout is of a batch of {shares.shape[:-2]}; batch=0 picks the first item")
    cells = shares[place].astype(checks.compute_type(shares.dtype))
    check_weights(cells)
    return Shares(cells, int(np.count_nonzero(of_positions == 0)), len(of_positions))
