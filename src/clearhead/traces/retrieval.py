"""Retrieval heads: which heads copy a needle out of a long text while a model writes (Wu et al., 2024).

At each generated token, a head scores 1 / needle length if its strongest key lies in the needle and that key's token is
the one generated (Retrieval_Head). One row of weights for each step is needed, and of it the strongest key alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from clearhead.tensors import on_host
from clearhead.traces.naming import role
from clearhead.traces.tables import HeadScores
from clearhead.views import View

if TYPE_CHECKING:
    from clearhead.traces.result import Trace


def retrieval(trace: Trace, needle: Any, generated: Any) -> HeadScores:
    """See `Trace.retrieval`."""
    take, entry = trace._sequence()
    own, source = take.ids(entry)
    written = np.asarray(on_host(generated)).reshape(-1)
    if own is None:
        raise ValueError("retrieval needs the ids of the text, and the model was called without input_ids")
    if written.dtype.kind not in "iu" or not written.size:
        raise TypeError(f"generated must be the ids that the model added, got {written.dtype.name} of {written.size}")
    if len(written) > len(own) or (own[len(own) - len(written) + 1 :] != written[:-1]).any():
        raise ValueError(
            f"the {len(written)} generated ids are not those that the trace ends with; give what generate added, such "
            "as out[0, ids.shape[1]:]"
        )
    place = _run(needle, len(own) if source is None else len(source))
    scores = {}
    for name in trace.names:
        keys = own if source is None else {"cross": source}.get(role(name))
        if keys is not None:
            strongest = _strongest(trace._view(name), len(written))  # (h, steps)
            inside = (strongest >= place.start) & (strongest < place.stop)
            right = inside & (keys[np.where(inside, strongest, 0)] == written)
            scores[name] = right.sum(axis=-1) / len(place)
    return HeadScores(scores, "retrieval score")


def _strongest(view: View, steps: int) -> Int[np.ndarray, "h steps"]:
    """The strongest key of the queries that the last so many tokens were generated at."""
    if view.observed.top_indices.shape[-1]:
        return np.asarray(view.top_k.indices)[..., view.n_q - steps :, 0]
    rows = (np.asarray(view.row(query)).argmax(axis=-1) for query in range(view.n_q - steps, view.n_q))
    return np.stack(list(rows), axis=-1)


def _run(needle: Any, n: int) -> range:
    """A run of positions."""
    run = range(n)[needle] if isinstance(needle, slice) else needle
    if not isinstance(run, range) or run.step != 1 or not len(run) or run.start < 0 or run.stop > n:
        raise ValueError(f"needle must be a run of the text's {n} positions, such as slice(100, 112), got {needle!r}")
    return run
