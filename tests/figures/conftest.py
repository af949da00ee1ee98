"""What tests of figures look at: where each text lies, and weights that attention really made."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import font_manager

from clearhead.figures import lettering
from clearhead.textbook.attention import scaled_dot_product_attention

from .seen import Seen


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """Whatever the locale of the machine, figures speak English here unless they are asked otherwise."""
    monkeypatch.setenv("CLEARHEAD_LANG", "en")


@pytest.fixture
def attend(rng):
    """Weights (…, n_q, n_k) of scaled dot-product attention over drawn queries and keys."""

    def weights(*shape: int, mask=None, dtype=np.float64) -> np.ndarray:
        *leading, n_q, n_k = shape
        queries, keys = (2 * rng.normal(size=(*leading, n, 5)) for n in (n_q, n_k))
        return scaled_dot_product_attention(queries, keys, keys, mask)[1].astype(dtype)

    return weights


@pytest.fixture
def seen(attend):
    """A view of drawn attention, made from weights (…, h, n_q, n_k)."""

    def view(*shape: int, mask=None) -> Seen:
        return Seen(attend(*shape, mask=mask), mask)

    return view


@pytest.fixture
def bare_fonts(monkeypatch):
    """A machine without any font but those matplotlib carries. What a test adds is forgotten with it."""
    manager = font_manager.fontManager
    monkeypatch.setattr(manager, "ttflist", [font for font in manager.ttflist if "mpl-data" in str(font.fname)])
    forget_fonts()
    yield manager
    monkeypatch.undo()
    forget_fonts()


def forget_fonts() -> None:
    lettering.families.cache_clear()
    lettering.drawable_characters.cache_clear()
    font_manager.fontManager._findfont_cached.cache_clear()


@pytest.fixture
def corners():
    """The four corners of a text in pixels, also of a slanted one."""

    def find(text) -> np.ndarray:
        slant = text.get_rotation()
        if slant % 90 == 0:
            box = text.get_window_extent()
            return np.array([[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1]])
        assert text.get_rotation_mode() == "anchor"
        text.set_rotation(0)
        level = find(text)
        text.set_rotation(slant)
        anchor = text.get_transform().transform(text.get_position())
        turn = np.exp(1j * np.deg2rad(slant)) * ((level - anchor) @ [1, 1j])
        return anchor + np.stack([turn.real, turn.imag], axis=-1)

    return find


@pytest.fixture
def texts():
    """All texts around the maps, once drawn: labels of ticks, names, title, note, axis labels."""

    def find(figure) -> list:
        figure.draw_without_rendering()
        found = [*figure.texts, *(t for t in (figure._supxlabel, figure._supylabel) if t is not None)]
        for axes in figure.axes:
            found += [axes.title, axes.yaxis.label, axes.xaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()]
        found = [text for text in found if text.get_text() and text.get_visible()]
        return list({id(text): text for text in found}.values())

    return find


@pytest.fixture
def tidy(corners, texts):
    """Assert that no text is cut off, runs into another or stands on a map."""

    def check(figure) -> None:
        placed = [(text.get_text(), corners(text)) for text in texts(figure)]
        across, down = figure.bbox.width, figure.bbox.height
        for name, box in placed:
            assert box.min() > 0, f"{name!r} is cut off"
            assert box[:, 0].max() < across, f"{name!r} is cut off at the right"
            assert box[:, 1].max() < down, f"{name!r} is cut off at the top"
        for i, (name, box) in enumerate(placed):
            for other, other_box in placed[:i]:
                assert apart(box, other_box), f"{name!r} runs into {other!r}"
            for axes in figure.axes:
                area = axes.bbox
                panel = np.array([[area.x0, area.y0], [area.x1, area.y0], [area.x1, area.y1], [area.x0, area.y1]])
                assert apart(box, panel), f"{name!r} stands on a map"

    return check


def apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Two rectangles do not meet if some side of one has the whole of the other beyond it."""
    for box in (one, other):
        for side in (box[1] - box[0], box[2] - box[1]):
            a, b = one @ side, other @ side
            if a.max() <= b.min() + 1e-6 or b.max() <= a.min() + 1e-6:
                return True
    return False
