"""Exact attention at full hardware speed in O(n) memory, and every weight of it to look at.

The public names are listed in `__init__.pyi`. Each is loaded on first use, so `import clearhead` is quick and
needs neither matplotlib nor anything heavier.
"""

import lazy_loader

__version__ = "0.1.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name):
    if name in __all__:
        return _load(name)
    from importlib.util import find_spec

    if find_spec(f"{__name__}.{name}"):  # a room; `from clearhead import room` asks here first, and then loads it
        raise AttributeError(f"{__name__}.{name} is loaded by its name only: import {__name__}.{name}", name=name)
    from clearhead.names import no_such_name

    raise no_such_name(__name__, name, __all__)
