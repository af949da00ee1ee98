"""Attention over a process group of torch.distributed: a sequence that is too long for one machine.

Usage, in a script that `torchrun --nproc-per-node 4` starts:

    from clearhead.torch import parallel

    q, k, v = (parallel.shard(x) for x in (q, k, v))       # this rank's positions
    parallel.attention(q, k, v, mask=masks.causal())       # its rows of the output; the mask speaks of the whole
    parallel.explain(q, k, v, mask=masks.causal())         # how many bytes go where, and who has how much to do
    parallel.look(q, k, v, mask=masks.causal())            # a view of every head
    with parallel.context(model=model):                    # a model of transformers, its sequence spread over the ranks
        model(**inputs).logits
"""

from clearhead.torch.parallel.explaining import Explanation, explain
from clearhead.torch.parallel.function import attention
from clearhead.torch.parallel.group_views import GroupView, Statistics
from clearhead.torch.parallel.layouts import gather, positions, shard
from clearhead.torch.parallel.looking import look
from clearhead.torch.parallel.spreading import context

__all__ = [
    "Explanation",
    "GroupView",
    "Statistics",
    "attention",
    "context",
    "explain",
    "gather",
    "look",
    "positions",
    "shard",
]
