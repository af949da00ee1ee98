"""One patch's attention drawn back over the image it was cut from.

Patches are numbered row by row: patch = row · columns + column. A class token, where a model has one, stands before
them; it has no place in the image, so what it takes of the weight is written below.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from clearhead.figures import words
from clearhead.figures.grid import GAP, NAME_HEIGHT
from clearhead.figures.layout import BAR_GAP
from clearhead.figures.lettering import fitted, text_style
from clearhead.figures.options import ImageOptions, Options, takes_options
from clearhead.figures.patches import PatchAttention, PatchGrid, checked_image, image_grid, patch_attention, view_row
from clearhead.figures.shading import BRIGHTNESS, DARK, EMPTY_COLOUR, LIGHT
from clearhead.figures.sheet import MARGIN, Bar, Sheet, titled_sheet
from clearhead.matrices import is_matrix

LONGEST_SIDE = 4.2  # of the image, in inches
SHORTEST_SIDE = 1.3
MOST_PIXELS = 1600  # along a side; more would not reach the screen


@takes_options(ImageOptions)
def visualize_patch_attention(
    image: ArrayLike,
    weights: Any,
    patch: int | tuple[int, int] | str,
    *,
    patch_size: int | tuple[int, int],
    head: int | None = None,
    **shared: Unpack[ImageOptions],
) -> Figure:
    """Draw where in the image one patch looks: the image with the patch marked, and beside it its attention.

    image (H, W) grey or (H, W, 3) colour, uint8 or floats from 0 to 1
    weights (n, n), one row for each of the n patches, or (n) for the chosen patch alone; n + 1 instead of n says
    that a class token stands before the patches; or a view, of which only that row is asked → a matplotlib figure

    `patch` is a patch's number, its (row, column), or "class" for the class token's own attention. `patch_size` is
    the side of a patch in pixels, or its (height, width). Of a view's heads one is drawn, `head`, or the mean. The
    other options and the figure are as in `visualize_attention`; the first key, which `hide_keys` leaves out, is the
    first patch, or the class token, which is not drawn anyway.

    Raises:
        TypeError: the image is neither uint8 nor float, or the weights are not floats.
        ValueError: the image's shape, the patch size, the number of weights and the patch do not fit together;
            weights are negative or not finite; `vmax`, `cmap` or the suffix of `save` is not one of those allowed.
        FileNotFoundError: the folder of `save` does not exist.
    """
    options = Options(**shared)
    pixels = checked_image(image)
    grid = image_grid(pixels.shape[0], pixels.shape[1], patch_size)
    if is_matrix(weights):
        weights = view_row(weights, patch, grid, head=head, batch=options.batch)
    elif head is not None or options.batch is not None:
        raise ValueError(
            "head and batch pick a part of a view; of an array of weights take it yourself, weights[0] say"
        )
    attention = patch_attention(weights, patch, grid)
    before = int(attention.on_class is not None)  # keys are counted from the class token on, if there is one
    hidden = [key for key in options.hidden(grid.size + before) if key >= before]
    drawn = attention.weights.copy()
    drawn.flat[[key - before for key in hidden]] = np.nan
    shades = options.shading(drawn.reshape(1, -1))
    width, height = _panel_size(*pixels.shape[:2])
    bar = Bar(shades.norm, shades.bar_label, height, shades.above, shades.below)

    note = " ".join(part for part in (_class_note(attention, options), options.hidden_note(hidden)) if part)
    figure, axes = _laid_out(width, height, bar, shades.cmap, options.title, note)
    step = -(-max(pixels.shape) // MOST_PIXELS)
    tints = shades.cmap(shades.norm(shades.shades(np.nan_to_num(drawn).reshape(1, -1)))).reshape(*drawn.shape, 4)
    tints[np.isnan(drawn)] = to_rgba(EMPTY_COLOUR)
    pictures = (pixels[::step, ::step], _tinted(pixels, tints, grid, step))
    names, size = fitted(_panel_names(attention, grid, options), width)
    for ax, picture, name in zip(axes, pictures, names, strict=True):
        _show(ax, picture, pixels.shape[:2])
        ax.set_title(name, loc="center", y=1.0, pad=4, **text_style(size))
        if attention.place is not None:
            _mark(ax, attention.place, grid)
    return options.finished(figure)


def _laid_out(
    width: float, height: float, bar: Bar, cmap: Colormap, title: str | None, note: str
) -> tuple[Sheet, tuple[Axes, Axes]]:
    """A sheet for two pictures of width × height side by side, with everything around them drawn."""
    bar_left = MARGIN + 2 * width + GAP + BAR_GAP
    sheet, top = titled_sheet(bar_left + bar.room + MARGIN, NAME_HEIGHT + bar.height, title, note)
    top += NAME_HEIGHT
    panels = (sheet.axes_at(MARGIN, top, width, height), sheet.axes_at(MARGIN + width + GAP, top, width, height))
    sheet.draw_bar(bar, cmap, bar_left, top)
    return sheet, panels


def _panel_size(height: int, width: int) -> tuple[float, float]:
    """Inches for an image of height × width pixels: its proportions, unless it is a narrow strip."""
    scale = LONGEST_SIDE / max(height, width)
    return max(width * scale, SHORTEST_SIDE), max(height * scale, SHORTEST_SIDE)


def _panel_names(attention: PatchAttention, grid: PatchGrid, options: Options) -> list[str]:
    if attention.place is None:
        return [options.say(words.IMAGE), options.say(words.CLASS_ATTENTION)]
    row, column = attention.place
    patch = options.say(words.PATCH, number=row * grid.columns + column, row=row, column=column)
    return [patch, options.say(words.ITS_ATTENTION)]


def _class_note(attention: PatchAttention, options: Options) -> str:
    return "" if attention.on_class is None else options.say(words.ON_CLASS, weight=attention.on_class)


def _tinted(
    pixels: Float[np.ndarray, "height width 3"], tints: Float[np.ndarray, "rows columns 4"], grid: PatchGrid, step: int
) -> Float[np.ndarray, "pixels_down pixels_across 3"]:
    """Every `step`-th pixel in pale grey under the colour of its patch's weight, so that both can be read."""
    grey = pixels[::step, ::step] @ BRIGHTNESS.astype(np.float32)
    row = np.arange(0, pixels.shape[0], step) // grid.height
    column = np.arange(0, pixels.shape[1], step) // grid.width
    return tints[row[:, None], column, :3] * (0.6 + 0.4 * grey[..., None])


def _show(axes: Axes, picture: Float[np.ndarray, "height width 3"], shape: tuple[int, ...]) -> None:
    """A picture whose axes count pixels of the image."""
    axes.imshow(
        picture,
        aspect="auto",
        origin="upper",
        interpolation="antialiased",
        extent=(-0.5, shape[1] - 0.5, shape[0] - 0.5, -0.5),
    )
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, alpha=0.5)


def _mark(axes: Axes, place: tuple[int, int], grid: PatchGrid) -> None:
    """A frame around the patch, dark outside and light inside, so that it shows on any image."""
    corner = (place[1] * grid.width - 0.5, place[0] * grid.height - 0.5)
    for colour, thickness in ((DARK, 3.4), (LIGHT, 1.6)):
        axes.add_patch(
            Rectangle(corner, grid.width, grid.height, fill=False, edgecolor=colour, linewidth=thickness, clip_on=False)
        )
