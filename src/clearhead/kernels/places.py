"""Which places of a tile are masked, for those who look on: scores say so, but not where numbers are not finite.

A masked score is −inf. But the product of a query and a key may be −inf by itself, where a number of either is infinite
or both are huge: such a key has no weight, and is not masked. And beside a NaN every weight of a query is NaN, while
what is masked stays 0. So where that can happen the mask is asked once more, by itself: as what it makes of zeros.
"""

from __future__ import annotations

import numpy as np

from clearhead.kernels.compiler import helper, twin
from clearhead.kernels.job import FULL, NO_BIAS
from clearhead.kernels.memory import all_finite, cast, clear, peek_flag, poke, size_of
from clearhead.kernels.scores import multiply_key_pairs, multiply_keys, shape_scores
from clearhead.kernels.strange import note_allowed
from clearhead.kernels.tile import Tile
from clearhead.kernels.weighing import count_allowed


@helper
def score_block(job, scratch, panel, block, counting, spoilt):
    """The scores of a block; returns whether scratch.allowed has the places that are not masked, as scores cannot tell.

    counting: whether these are to be counted. spoilt: whether they are wanted in any case.
    """
    multiply_keys(job, scratch, panel, block)
    noted = spoilt
    if counting and not noted and not nothing_masked(job, block):
        noted = not all_finite(job.like, scratch.tile, block.keys * job.width)
    if noted:
        note_unmasked(job, scratch, panel, block)
        multiply_keys(job, scratch, panel, block)
    shape_scores(job, scratch, panel, block)
    return noted


@helper
def note_unmasked(job, scratch, panel, block):
    """Which places of a block are not masked, into scratch.allowed. Takes the room of the tile."""
    clear(job.like, scratch.tile, block.keys * job.width)
    shape_scores(job, scratch, panel, block)
    note_allowed(job.like, Tile(scratch.tile, block.keys, job.width), scratch.allowed)


@helper
def nothing_masked(job, block):
    """Whether no place of a block can be masked: not by runs or flags, and not by a bias of −inf."""
    return block.state == FULL and job.bias_form == NO_BIAS


@helper
def count_unmasked(job, scratch, block, noted, at, end, target):
    """target[query] = how many of the keys from `at` to before `end` are not masked; the scores are in the tile."""
    like, width = job.like, job.width
    size = size_of(like)
    first = (at - block.key) * width
    if not nothing_masked(job, block) and not noted:
        count_allowed(like, Tile(scratch.tile + first * size, end - at, width), target)
        return
    for i in range(width):
        count = end - at
        if noted:
            count = 0
            for j in range(end - at):
                count += peek_flag(scratch.allowed + first + j * width + i)
        poke(like, target + i * size, cast(like, count))


@helper
def spoil_query(job, scratch, keys, tile, i, masked):
    """Beside a NaN all is NaN: one query's numbers of a tile, but for those that are `masked`."""
    like, width = job.like, job.width
    size = size_of(like)
    for j in range(keys):
        number = np.nan if peek_flag(scratch.allowed + j * width + i) else masked
        poke(like, tile + (j * width + i) * size, cast(like, number))


score_block_of_pairs = twin(score_block, multiply_keys=multiply_key_pairs)
