"""A census of heads: a model run over a corpus on Ray, and what every head does gathered in exact counts.

`take` does it, as `clearhead census` does; `load` opens what was written.
"""

from clearhead.census.result import Census, load
from clearhead.census.taking import take

__all__ = ["Census", "load", "take"]
