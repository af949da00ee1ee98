"""One door to the figures: what `view.plot()` calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures.cross import visualize_cross_attention
from clearhead.figures.head import visualize_head
from clearhead.figures.heatmap import visualize_attention
from clearhead.figures.image import visualize_patch_attention
from clearhead.figures.layers import visualize_layers
from clearhead.figures.lines import visualize_lines
from clearhead.figures.source import source

KINDS = ("heads", "head", "cross", "lines", "layers", "image")
OF_ONE_HEAD = ("head", "rows", "cols", "strips")


def plot(view: Any, kind: str | None = None, *, tokens: Sequence[object] | None = None, **options: Any) -> Figure:
    """Draw a view, or weights (…, n_q, n_k), in the way that suits it, or as `kind` says.

    "heads"  every head in a grid: `visualize_attention`
    "head"   one head, or their mean, with its tokens, entropy and received attention: `visualize_head`
    "cross"  a target reading its source, which `key_tokens` name: `visualize_cross_attention`
    "lines"  lines between tokens: `visualize_lines`
    "layers" one number for each head of a list of views: `visualize_layers`
    "image"  one patch's attention over its image, given `image`, `patch` and `patch_size`: `visualize_patch_attention`

    Without a kind a list of views is drawn as layers, an image is drawn if there is one, and one view as "head" if it
    has one head or `head`, `rows` or `cols` choose a part, else as "heads". `options` are those of the figure.
    """
    if kind is None:
        kind = _suited(view, options)
    checks.choice("kind", kind, KINDS)
    if kind == "layers":
        if tokens is not None:
            raise ValueError("tokens name positions, but a figure of layers has none; leave them out")
        return visualize_layers(view, **options)
    if kind == "image":
        return visualize_patch_attention(options.pop("image"), view, options.pop("patch", "class"), **options)
    if kind == "cross":
        return visualize_cross_attention(view, tokens, options.pop("key_tokens", None), **options)
    if kind == "lines":
        return visualize_lines(view, tokens, **options)
    return visualize_head(view, tokens, **options) if kind == "head" else visualize_attention(view, tokens, **options)


def _suited(view: Any, options: dict[str, Any]) -> str:
    if isinstance(view, (list, tuple)):
        return "layers"
    if "image" in options:
        return "image"
    if any(options.get(name) is not None for name in OF_ONE_HEAD):
        return "head"
    return "head" if source(view, batch=options.get("batch")).heads == 1 else "heads"
