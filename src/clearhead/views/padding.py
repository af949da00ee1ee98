"""Which queries and keys of a view are padding, and a mask that leaves such queries nothing to attend to.

Padding counts nowhere: a query that is padding is one with no key left in all that a view says, but for its output and
its lse, which are what attention gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike

from clearhead import masks
from clearhead.masks.lookup import over_batch
from clearhead.matrices import Padding, Tokens
from clearhead.textbook.pattern_scores import padding_of
from clearhead.textbook.token_kinds import are, is_padding


def find_padding(
    given: ArrayLike | bool | None, mask: masks.Mask | ArrayLike | None, tokens: Tokens | None, sizes: masks.Sizes
) -> Padding | None:
    """The padding of a view, None if there is none: see `clearhead.look`."""
    batch, n_q, n_k = sizes.batch_shape, sizes.n_q, sizes.n_k
    of_keys = labels(None if tokens is None else tokens.keys)
    keys = padding_of(given, mask, of_keys, sizes)
    if given is None and tokens is not None and not same_tokens(tokens):
        named = labels(tokens.queries)
        queries = None if named is None else np.broadcast_to(are(is_padding, named), (*batch, n_q))
    else:
        same = padding_of(given, mask if n_q == n_k else None, of_keys if n_q <= n_k else None, sizes)
        queries = None if same is None else same[..., n_k - n_q :]
    if keys is None and (queries is None or not queries.any()):
        return None
    found = (np.zeros((*batch, n), np.bool_) if x is None else x for x, n in ((queries, n_q), (keys, n_k)))
    return Padding(*found)


def labels(tokens: Sequence[object] | None) -> np.ndarray | None:
    """Labels as an array of text, None if they are anything else."""
    is_text = tokens is not None and len(tokens) > 0 and all(isinstance(token, str) for token in tokens)
    return np.asarray(tokens) if is_text else None


def same_tokens(tokens: Tokens) -> bool:
    """Whether queries and keys are the same tokens: not where keys were given labels of their own."""
    return tokens.queries is None or tokens.queries is tokens.keys


@dataclass(frozen=True, eq=False)
class OnlyQueries(masks.Mask):
    """Some queries of a call may attend to every key, all others to none: real (*batch, n_q)"""

    real: Bool[np.ndarray, "*batch n_q"]

    def allows(self, at: masks.Where) -> np.ndarray:
        return self._rows(at.sizes)[at.batch, at.query - at.sizes.queries.start]

    def ranges(self, sizes: masks.Sizes) -> masks.Ranges | None:
        high = np.where(self.real, sizes.n_k, 0)[..., None, None, :]
        return masks.Ranges(np.zeros_like(high), high)

    def _rows(self, sizes: masks.Sizes) -> Any:
        real = over_batch("real", self.real, sizes, of_keys=True)
        return real.reshape(math.prod(sizes.batch_shape), sizes.n_q)
