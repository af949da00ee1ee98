"""The page: a model's attention in a browser, from all of its heads down to one weight.

`write` makes one self-contained file; `show` opens a page in a notebook or a browser, with maps of any length. What is
drawn is any `AttentionMatrix`, such as a `View`; the front end, in web/, is plain JavaScript that asks one module for
its data and does not know where they come from.
"""

from clearhead.page.showing import serve, show
from clearhead.page.shown import Patches, Shown
from clearhead.page.writing import write

__all__ = ["Patches", "Shown", "serve", "show", "write"]
