from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from clearhead.figures import plot

KOREAN = ["나는", "어제", "친구와", "함께", "학교에"]


def test_what_suits_a_view_is_drawn(seen, rng):
    many, one = seen(3, 5, 5), seen(1, 5, 5)
    assert len(plot(many, tokens=KOREAN).axes) == 4  # three maps and a bar
    assert len(plot(one, tokens=KOREAN).axes) == 4  # a map, two strips and a bar
    assert len(plot(many, head=1, tokens=KOREAN).axes) == 4
    np.testing.assert_array_equal(plot(many, rows=slice(1, 3), head=2).axes[0].images[0].get_array(), many.all[2, 1:3])
    assert plot([many, many]).axes[0].images[0].get_array().shape == (2, 3)
    picture = plot(seen(2, 6, 6), image=rng.random((4, 6)), patch=3, patch_size=2)
    assert picture.axes[1].get_title() == "its attention"


def test_a_kind_can_be_asked_for(seen):
    view = seen(2, 5, 7)
    keys = list("abcdefg")
    lines = plot(view, "lines", tokens=KOREAN, key_tokens=keys)
    assert len(lines.axes[0].collections) == 2
    cross = plot(view, "cross", tokens=KOREAN, key_tokens=keys)
    assert [tick.label2.get_text() for tick in cross.axes[0].xaxis.get_major_ticks()] == keys
    assert plot(view.all, "head").axes[-1].get_ylabel() == "attention weight, mean of 2 heads"


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_asked_for(seen):
    with pytest.raises(ValueError, match=r"kind must be one of 'heads', 'head', .* got 'pie'"):
        plot(seen(1, 2, 2), "pie")
    with pytest.raises(ValueError, match="tokens name positions, but a figure of layers has none"):
        plot([seen(1, 2, 2)], tokens=["a", "b"])
    with pytest.raises(ValueError, match="tokens name positions, but a figure of an image has none"):
        plot(seen(1, 6, 6), image=np.ones((4, 6)), patch_size=2, tokens=list("abcdef"))


def test_one_view_is_one_layer(seen):
    view = seen(3, 5, 5)
    np.testing.assert_allclose(plot(view, "layers").axes[0].images[0].get_array(), [view.entropy.mean(axis=-1)])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "missing"),
    [({}, "image and patch_size"), ({"image": np.ones((4, 6))}, "patch_size"), ({"patch_size": 2}, "image")],
    ids=["both", "size", "image"],
)
def test_a_figure_over_an_image_needs_one(seen, options, missing):
    with pytest.raises(ValueError, match=rf"kind='image' needs {missing}: plot\(view, image=pixels, patch=0, "):
        plot(seen(2, 6, 6), "image", **options)


HOSTILE = {
    "text.usetex": True, "axes.grid": True, "figure.constrained_layout.use": True, "font.family": "serif",
    "axes.labelsize": 40, "xtick.labelsize": 40, "ytick.labelsize": 40, "xtick.top": True, "xtick.labeltop": True,
    "ytick.labelright": True, "xtick.minor.visible": True, "image.origin": "lower", "font.size": 40,
    "font.weight": "bold", "lines.linewidth": 20, "patch.linewidth": 20, "axes.facecolor": "red",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["heads", "head", "cross", "lines", "layers"])
def test_settings_of_the_process_are_neither_changed_nor_obeyed_to_ruin(seen, tidy, kind):
    with matplotlib.rc_context(HOSTILE):
        before = dict(matplotlib.rcParams)
        view = seen(3, 5, 5)
        figure = plot([view, view]) if kind == "layers" else plot(view, kind, tokens=KOREAN, title="설정")
        tidy(figure)
        figure._repr_png_()
        assert dict(matplotlib.rcParams) == before


def test_no_glyph_is_missing_and_none_is_a_box(seen, tmp_path):
    # Warnings are errors, so a glyph that no font has fails; LastResort is the font of boxes.
    for kind in ("head", "cross", "lines"):
        path = tmp_path / f"{kind}.svg"
        plot(seen(1, 5, 5), kind, tokens=["뷁", "쌻", "ㅋㅋ", " 훈민", "\n"], title="훈민정음", save=path)
        assert "LastResort" not in path.read_text()
