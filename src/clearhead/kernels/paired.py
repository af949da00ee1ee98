"""One tile in pairs of bfloat16: what the steps of `forward` are where its products are those of `pairs`.

Between the two products all is as elsewhere. Weights are rounded once, when they are made, and sums are of what they
were before.
"""

from __future__ import annotations

import numpy as np

from clearhead.kernels.compiler import helper
from clearhead.kernels.memory import Rows, cast, clear, fill, round_up, size_of
from clearhead.kernels.pairs import WORD, clear_strange, mix_pairs, pair_keys, round_tile
from clearhead.kernels.scores import block_rows, drop_tile, multiply_key_pairs, shape_scores, stored_rows
from clearhead.kernels.shaping import soften, soften_pairs
from clearhead.kernels.strange import add_strange, note_allowed, rows_finite
from clearhead.kernels.thin import thin_mix_pairs, thin_scores_pairs
from clearhead.kernels.tile import Tile


@helper
def attend_pairs(job, scratch, panel, block, careful, alpha):
    """One tile: scores, what the options make of them, softmax, and the values mixed in."""
    like, width = job.like, panel.width
    if panel.thin:
        keys = stored_rows(job, job.key, panel.head, block, scratch.keys, job.d)
        thin_scores_pairs(job, scratch, keys, panel.rows, block.keys)
    else:
        multiply_key_pairs(job, scratch, panel, block)
    shape_scores(job, scratch, panel, block)
    values, guarded = values_of_pairs(job, scratch, panel, block, careful)
    tile = Tile(scratch.tile, block.keys, width)
    if guarded:
        note_allowed(like, tile, scratch.allowed)
    if guarded or job.dropping != 0:
        soften(like, tile, scratch.top, scratch.total, scratch.alpha)
        round_weights(job, scratch, panel, block)
    else:  # nobody needs the exponentials but the product
        after = scratch.tile + block.keys * width * size_of(like)
        fill(like, after, width * (block.keys % 2), cast(like, -np.inf))
        soften_pairs(like, tile, scratch.top, scratch.total, scratch.alpha, scratch.pairs)
    mix_rounded(job, scratch, panel, block, values, guarded, alpha)


@helper
def values_of_pairs(job, scratch, panel, block, careful):
    """A block's values in pairs of neighbouring keys, and whether some of them were kept out: if care is taken.

    A handful of queries take them as they are stored.
    """
    like, array, head, d_v, count = job.like, job.value, panel.head, job.d_v, block.keys
    guarded = False
    if careful == 1:
        numbers = block_rows(job, array, head, block, scratch.clean, d_v)
        guarded = not rows_finite(like, numbers, count, d_v)
    if panel.thin:
        return stored_rows(job, array, head, block, scratch.values, d_v), guarded
    values = stored_rows(job, array, head, block, scratch.clean, d_v)
    pair_keys(like, values, count, d_v, scratch.values)
    if guarded:
        clear_strange(like, scratch.values, round_up(count, 2) * d_v)
    return Rows(scratch.values, d_v * WORD), guarded


@helper
def round_weights(job, scratch, panel, block):
    """What a tile of exponentials goes through before it weighs values: dropout, and rounding into pairs."""
    like, keys, width = job.like, block.keys, panel.width
    if job.dropping != 0:
        drop_tile(job, scratch, Tile(scratch.tile, keys, width), block.key)
    clear(like, scratch.tile + keys * width * size_of(like), width * (keys % 2))
    round_tile(like, Tile(scratch.tile, keys + keys % 2, width), scratch.pairs)


@helper
def mix_rounded(job, scratch, panel, block, values, guarded, alpha):
    """Add the values, weighed by what was rounded, to those mixed so far, times alpha; 0 if there are none."""
    like, d_v = job.like, job.d_v
    if panel.thin:
        thin_mix_pairs(job, scratch, values, panel.rows, block.keys, alpha)
    else:
        mix_pairs(like, panel.vectors, values.address, scratch.pairs, scratch.mixed, d_v, block.keys, alpha)
    if guarded:
        numbers = block_rows(job, job.value, panel.head, block, scratch.clean, d_v)
        add_strange(job, scratch, numbers, Tile(scratch.tile, block.keys, panel.width))


@helper
def mix_kept(job, scratch, panel, block, values, guarded, alpha):
    """Round a tile of exponentials, which somebody else needs too, and mix the values by them."""
    round_weights(job, scratch, panel, block)
    mix_rounded(job, scratch, panel, block, values, guarded, alpha)
