"""Exact attention at full hardware speed in O(n) memory, and every weight of it to look at.

The public names are listed in `__init__.pyi`. Each is loaded on first use, so `import clearhead` is quick and
needs neither matplotlib nor anything heavier.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
