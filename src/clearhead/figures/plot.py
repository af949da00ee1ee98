"""One door to the figures: what `view.plot()` calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from clearhead import checks
from clearhead.figures.heatmap import visualize_attention, visualize_cross_attention, visualize_head
from clearhead.figures.image import visualize_patch_attention
from clearhead.figures.layers import visualize_layers
from clearhead.figures.lines import visualize_lines
from clearhead.figures.rollouts import visualize_rollout
from clearhead.figures.source import refuse_pair, source

KINDS = ("heads", "head", "cross", "lines", "layers", "image", "rollout")
PARTS_OF_A_HEAD = ("head", "rows", "cols", "strips")


def plot(view: Any, kind: str | None = None, *, tokens: Sequence[object] | None = None, **options: Any) -> Figure:
    """Draw a view, or weights (…, n_q, n_k), in the way that suits it, or as `kind` says.

    "heads"  every head in a grid: `visualize_attention`
    "head"   one head, or their mean, with its tokens, entropy and received attention: `visualize_head`
    "cross"  a target reading its source, which `key_tokens` name: `visualize_cross_attention`
    "lines"  lines between tokens: `visualize_lines`
    "layers" one number for each head of a view or a list of them: `visualize_layers`
    "image"  one patch's attention over its image, given `image`, `patch` and `patch_size`: `visualize_patch_attention`
    "rollout" how much of each output comes from each input, given what `pooled_rollout` returned: `visualize_rollout`

    Without a kind a list of views is drawn as layers, an image is drawn if there is one, a rollout as one, and one view
    as "head" if it has one head or `head`, `rows` or `cols` choose a part, else as "heads". `options` are those of the
    figure.
    """
    refuse_pair(view, layers=True)
    if kind is None:
        kind = _suited(view, options)
    checks.choice("kind", kind, KINDS)
    if kind in ("layers", "image") and tokens is not None:
        what = "layers" if kind == "layers" else "an image"
        raise ValueError(f"tokens name positions, but a figure of {what} has none; leave them out")
    if kind == "layers":
        return visualize_layers(view, **options)
    if kind == "rollout":
        return visualize_rollout(view, tokens, **options)
    if kind == "image":
        return _over_image(view, **options)
    if kind == "cross":
        return visualize_cross_attention(view, tokens, options.pop("key_tokens", None), **options)
    if kind == "lines":
        return visualize_lines(view, tokens, **options)
    return visualize_head(view, tokens, **options) if kind == "head" else visualize_attention(view, tokens, **options)


def _over_image(
    view: Any, *, image: Any = None, patch: Any = "class", patch_size: Any = None, **options: Any
) -> Figure:
    missing = [name for name, given in (("image", image), ("patch_size", patch_size)) if given is None]
    if missing:
        raise ValueError(
            f"kind='image' needs {' and '.join(missing)}: plot(view, image=pixels, patch=0, patch_size=16) draws where "
            "the first patch looks"
        )
    return visualize_patch_attention(image, view, patch, patch_size=patch_size, **options)


def _suited(view: Any, options: dict[str, Any]) -> str:
    if hasattr(view, "shares"):
        return "rollout"
    if isinstance(view, (list, tuple)):
        return "layers"
    if "image" in options:
        return "image"
    if any(options.get(name) is not None for name in PARTS_OF_A_HEAD):
        return "head"
    return "head" if source(view, batch=options.get("batch")).heads == 1 else "heads"
