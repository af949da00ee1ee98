"""Masks that compose, and that never become an n × n array unless asked to.

    from clearhead import masks
    masks.causal() & masks.window(256)          # both
    masks.causal() | masks.prefix(10)           # either
    ~masks.documents(ids)                       # not

A mask answers one question in two ways. `array(n_q, n_k)` writes it out, True = may attend, for reading and for the
textbook. The kernels ask for `ranges`: most masks leave each query a few runs of neighbouring keys, so the first and
last key of each run say everything in O(n) memory, and tell which tiles are empty and which are full. Masks that
cannot be said in runs are worked out a strip of queries at a time. `resolve` settles once for each call what is said
in which way.

Queries are the last positions: query i stands at position i + n_k − n_q among the keys. A call that holds a part of a
sequence says which; masks speak of the whole. The rule is in `Sizes`.
"""

from clearhead.checks import MaskWarning
from clearhead.masks.kinds import (
    UNLIMITED,
    array,
    block_sparse,
    causal,
    dilated,
    key_lengths,
    prefix,
    where,
    window,
)
from clearhead.masks.mask import Mask, parts
from clearhead.masks.packed import documents
from clearhead.masks.ranges import MOST_RANGES, Ranges
from clearhead.masks.resolved import Once, Resolved, resolve
from clearhead.masks.sizes import Sizes, Where, places

__all__ = [
    "MOST_RANGES",
    "UNLIMITED",
    "Mask",
    "MaskWarning",
    "Once",
    "Ranges",
    "Resolved",
    "Sizes",
    "Where",
    "array",
    "block_sparse",
    "causal",
    "dilated",
    "documents",
    "key_lengths",
    "parts",
    "places",
    "prefix",
    "resolve",
    "where",
    "window",
]
