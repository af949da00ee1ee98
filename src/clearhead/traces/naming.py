"""What layers are called: by the path of their module, by number, and which stack they belong to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

CROSS = re.compile(r"cross|encoder_attn|encdec|enc_dec|memory", re.IGNORECASE)


def numbered(name: str) -> tuple[str, int]:
    """The stack that a layer belongs to, its path with * for its number there, and that number.

    A module that is used several times in one call of its model, as in ALBERT, has a number for each use.
    """
    path, _, use = name.partition(":")
    parts = path.split(".")
    place = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    if use or place is None:
        return path, int(use or 0)
    return ".".join("*" if i == place else part for i, part in enumerate(parts)), int(parts[place])


def role(name: str) -> str:
    """Whether a layer is the encoder's, the decoder's, or looks from the one to the other, by the words in its path."""
    path = name.partition(":")[0]
    if CROSS.search(path.rpartition("decoder")[2] if "decoder" in path else path):
        return "cross"
    return "decoder" if "decoder" in path else "encoder"


def stacks(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """The stacks there are, each with its layers' names by their numbers."""
    found: dict[str, dict[int, str]] = {}
    shared = {name.partition(":")[0] for name in names if ":" in name}
    for name in names:
        stack, number = numbered(name)
        if name in shared:
            stack, number = name, 0
        found.setdefault(stack, {})[number] = name
    return found


def is_wanted(path: str, layers: object) -> bool:
    """Whether a layer is among those asked for: all, numbers, paths, or the beginnings of paths."""
    if layers is None:
        return True
    asked = [layers] if isinstance(layers, (int, str)) else list(layers)  # type: ignore[call-overload]
    number = numbered(path)[1]
    return any(x == number if isinstance(x, int) else path == x or path.startswith(f"{x}.") for x in asked)


def concerns(layer: int | str, path: str) -> bool:
    """Whether a layer, by number or by path, is the one at a path."""
    return layer == path if isinstance(layer, str) else layer == numbered(path)[1]


def checked_layers(layers: object) -> None:
    """layers is None, a number, a path, or several of those."""
    asked = [] if layers is None else [layers] if isinstance(layers, (int, str)) else layers
    if not isinstance(asked, Iterable) or not all(isinstance(x, (int, str)) and not isinstance(x, bool) for x in asked):
        raise TypeError(f"layers must be numbers or module paths, such as [0, 5] or 'model.layers.3', got {layers!r}")


def not_there(name: object, names: list[str]) -> KeyError:
    """The error for a layer that is not there, with one that may be meant."""
    close = difflib.get_close_matches(str(name), names, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return KeyError(f"there is no layer {name!r}{hint} (trace.names lists them)")
