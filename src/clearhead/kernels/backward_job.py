"""A call to be differentiated, as the backward kernel reads it."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.kernels.job import BLOCK, Job, Strided
from clearhead.kernels.structs import laid_out
from clearhead.kernels.target import TARGET


class BlockScratch(NamedTuple):
    """Addresses of what the backward pass needs for a block of keys, besides the forward's scratch."""

    d_keys: int  # (BLOCK, d) in panels of columns
    d_values: int  # (BLOCK, d_v) in panels of columns
    slopes: int  # (BLOCK, width): dP, then dS
    caps: int  # (BLOCK, width): how much of dS a softcap lets through
    ones: int  # as many as a panel is wide
    clean: int  # (BLOCK, d): keys without those that are not finite
    end: int  # where the panels begin, each a PanelScratch


class PanelScratch(NamedTuple):
    """Addresses of one panel of queries."""

    queries: int  # (d, width): turned and scaled, for the scores
    gradient: int  # (d_v, width): the output's gradient, turned
    query_rows: int  # (width, d) in panels of columns
    gradient_rows: int  # (width, d_v) in panels of columns
    d_queries: int  # (d, width): turned
    top: int  # (width,): the largest score, in powers of two; +inf for a lane that takes no part
    delta: int  # (width,)
    inverse: int  # (width,): 1 / the sum, where the output's gradient is not divided by it
    end: int


class Backward(NamedTuple):
    """A call to be differentiated, whose output is that of the forward pass: what comes in, what goes out."""

    job: Job
    gradient: Strided  # of the output
    delta: Strided  # what is added to each query's Δ, if there is an address
    d_query: Strided
    d_key: Strided
    d_value: Strided
    d_bias: Strided
    bias_apart: int  # whether each number of d_bias is of one head, query and key alone, so that nothing is added to it
    block: BlockScratch
    panel: PanelScratch
    panel_size: int  # bytes of a PanelScratch and all it points to


def scratch_for(itemsize: int, width: int, d: int, d_v: int) -> tuple[BlockScratch, PanelScratch]:
    """Where each part of a block's and of a panel's scratch lies."""
    wide = TARGET.vectors * TARGET.lanes(itemsize)  # a panel of columns is at most padded to this
    d, d_v = -(-d // wide) * wide, -(-d_v // wide) * wide
    block = laid_out(
        BlockScratch, itemsize, d_keys=BLOCK * d, d_values=BLOCK * d_v, slopes=BLOCK * width, caps=BLOCK * width,
        ones=wide, clean=BLOCK * d,
    )  # fmt: skip
    panel = laid_out(
        PanelScratch, itemsize, queries=d * width, gradient=d_v * width, query_rows=d * width,
        gradient_rows=d_v * width, d_queries=d * width, top=width, delta=width, inverse=width,
    )  # fmt: skip
    return block, panel
