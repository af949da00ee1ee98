from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from clearhead.figures import visualize_patch_attention
from clearhead.figures.shading import LIGHT, lightness

ROWS, COLUMNS, HEIGHT, WIDTH = 3, 5, 7, 4
N = ROWS * COLUMNS


@pytest.fixture
def image(rng):
    return rng.random((ROWS * HEIGHT, COLUMNS * WIDTH, 3))


def draw(image, weights, patch, **options):
    return visualize_patch_attention(image, weights, patch, patch_size=(HEIGHT, WIDTH), **options)


def marks(axes) -> set[tuple[float, ...]]:
    return {(*p.get_xy(), p.get_width(), p.get_height()) for p in axes.patches if isinstance(p, Rectangle)}


def tint_of_patches(figure) -> np.ndarray:
    """The mean colour of each patch in the right picture (rows, columns, 3)."""
    picture = figure.axes[1].images[0].get_array()
    return picture.reshape(ROWS, HEIGHT, COLUMNS, WIDTH, 3).mean(axis=(1, 3))


def test_the_image_is_shown_and_the_patch_is_framed_in_both_pictures(image, attend, tidy):
    figure = draw(image, attend(N, N), 8, title="패치 하나가 보는 곳")
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), image, atol=1e-6)
    row, column = 1, 3
    for axes in figure.axes[:2]:
        assert marks(axes) == {(column * WIDTH - 0.5, row * HEIGHT - 0.5, WIDTH, HEIGHT)}
    assert figure.axes[0].get_title() == "patch 8 (row 1, column 3)"
    assert figure.axes[2].get_ylabel() == "attention weight"
    tidy(figure)


def test_a_patch_may_be_named_by_row_and_column(image, attend):
    weights = attend(N, N)
    one, other = draw(image, weights, 8), draw(image, weights, (1, 3))
    np.testing.assert_array_equal(tint_of_patches(one), tint_of_patches(other))
    assert one.axes[0].get_title() == other.axes[0].get_title()


@pytest.mark.parametrize("patch", [0, 8, N - 1])
def test_the_more_a_patch_is_attended_the_darker_it_is(attend, patch):
    weights = attend(N, N)
    white = np.ones((ROWS * HEIGHT, COLUMNS * WIDTH))
    light = lightness(tint_of_patches(draw(white, weights, patch))).ravel()
    more = weights[patch] - weights[patch][:, None] > weights[patch].max() / 100  # a step that colours can show
    assert more.sum() > N
    assert ((light < light[:, None]) | ~more).all()


def test_one_row_is_enough(image, attend):
    weights = attend(N, N)
    whole, row = draw(image, weights, 4), draw(image, weights[4], 4)
    np.testing.assert_array_equal(tint_of_patches(whole), tint_of_patches(row))
    np.testing.assert_array_equal(tint_of_patches(whole), tint_of_patches(draw(image, weights[None, None], 4)))
    assert marks(whole.axes[0]) == marks(row.axes[0])


def test_a_class_token_is_left_out_of_the_image_and_named_below(image, attend, tidy):
    weights = attend(N + 1, N + 1)
    figure = draw(image, weights, 8)
    alone = draw(image, weights[9, 1:], 8)
    np.testing.assert_array_equal(tint_of_patches(figure), tint_of_patches(alone))
    (note,) = [text.get_text() for text in figure.texts]
    assert f"{weights[9, 0]:.2f} of the weight" in note
    assert not alone.texts
    tidy(figure)


def test_the_class_token_looks_from_nowhere(image, attend):
    weights = attend(N + 1, N + 1)
    figure = draw(image, weights, "class")
    np.testing.assert_array_equal(tint_of_patches(figure), tint_of_patches(draw(image, weights[0, 1:], 0)))
    assert not any(marks(axes) for axes in figure.axes)


def test_grey_bytes_and_floats_are_the_same_picture(attend):
    grey = np.arange(ROWS * HEIGHT * COLUMNS * WIDTH).reshape(ROWS * HEIGHT, -1) % 256
    weights = attend(N, N)
    pictures = [
        draw(image, weights, 0).axes[0].images[0].get_array()
        for image in (grey.astype(np.uint8), grey / 255, np.repeat(grey[..., None], 3, -1).astype(np.uint8))
    ]
    for picture in pictures[1:]:
        np.testing.assert_allclose(picture, pictures[0], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_half_precision_is_drawn(image, attend, dtype):
    weights = attend(N, N, dtype=dtype)
    tints = tint_of_patches(draw(image.astype(dtype), weights, 3))
    assert np.isfinite(tints).all()


def test_the_scale_may_be_given_and_is_the_bars(image, attend):
    weights = attend(N, N)
    assert draw(image, weights, 2).axes[2].get_ylim() == (0, weights[2].max())
    bar = draw(image, weights, 2, vmax=0.01).axes[2]
    assert bar.get_ylim() == (0, 0.01)
    assert bar._colorbar.extend == "max"


def test_a_large_image_is_thinned_and_still_counts_its_own_pixels(attend):
    image = np.zeros((4000, 3000), np.uint8)
    figure = visualize_patch_attention(image, attend(12, 12), 11, patch_size=1000)
    axes = figure.axes[1]
    assert max(axes.images[0].get_array().shape) <= 1600
    assert axes.get_xlim() == (-0.5, 2999.5)
    assert marks(axes) == {(1999.5, 2999.5, 1000, 1000)}


@pytest.mark.parametrize("shape", [(4, 400), (400, 4), (8, 8)])
def test_strips_stay_readable(attend, tidy, shape):
    n = shape[0] * shape[1] // 16
    figure = visualize_patch_attention(np.ones(shape), attend(n, n), 0, patch_size=4, title="띠")
    assert min(figure.axes[0].bbox.size) > 100
    tidy(figure)


def test_the_frame_shows_on_any_image(image, attend):
    inks = {to_rgb(p.get_edgecolor()) for p in draw(image, attend(N, N), 0).axes[0].patches}
    assert to_rgb(LIGHT) in inks
    assert len(inks) == 2


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_it_can_be_saved(image, attend, tmp_path, suffix):
    path = tmp_path / f"patch{suffix}"
    draw(image, attend(N, N), 0, save=path)
    assert path.stat().st_size > 5000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("image", "error", "words"),
    [
        (np.zeros((21, 20), np.int64), TypeError, r"image must be uint8 or floats.*got int64 \(image.astype"),
        (np.zeros((3, 21, 20)), ValueError, r"\(H, W\) or \(H, W, 3\), got shape \(3, 21, 20\) \(image.transpose"),
        (np.zeros((21, 20, 4)), ValueError, r"got shape \(21, 20, 4\) \(image\[..., :3\]"),
        (np.zeros((21, 20, 1)), ValueError, r"image\[..., 0\] of a single channel"),
        (np.zeros((1, 21, 20, 3)), ValueError, r"image\[0\] of a batch"),
        (np.zeros(20), ValueError, r"got shape \(20,\)$"),
        (np.zeros((0, 20)), ValueError, r"got shape \(0, 20\)"),
        (np.full((21, 20), 200.0), ValueError, "must run from 0 to 1, got 200 to 200 .*divide by 255"),
        (np.full((21, 20), -0.5), ValueError, "must run from 0 to 1, got -0.5"),
        (np.full((21, 20), np.nan), ValueError, "must run from 0 to 1, got nan"),
        (np.zeros((22, 20)), ValueError, "height of 22 pixels cannot be cut into patches of 7; crop or pad it to 21"),
    ],
)
def test_images_that_cannot_be_drawn(attend, image, error, words):
    with pytest.raises(error, match=words):
        draw(image, attend(N, N), 0)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shape", "patch", "error", "words"),
    [
        (
            (N + 2, N + 2),
            0,
            ValueError,
            r"3 × 5 patches needs weights of shape \(15, 15\) or \(15,\).*\(16,\), got shape",
        ),
        ((N, N + 1), 0, ValueError, "needs weights of shape"),
        ((2, N, N), 0, ValueError, r"got shape \(2, 15, 15\); pick a head, weights\[0\] say.*weights.mean\(0\)"),
        ((N, N), N, ValueError, r"patch 15 lies outside the image, which has 3 rows of 5 patches \(0 … 14\)"),
        ((N, N), (3, 0), ValueError, r"patch \(3, 0\) lies outside"),
        ((N, N), (0, 5), ValueError, r"patch \(0, 5\) lies outside"),
        ((N, N), -1, ValueError, "patch must be at least 0, got -1"),
        ((N, N), 1.5, TypeError, "patch must be a whole number"),
        ((N, N), (1, 2, 3), ValueError, r"a \(row, column\) or 'class', got \(1, 2, 3\)"),
        ((N, N), "cls", ValueError, "or 'class', got 'cls'"),
        ((N, N), "class", ValueError, "patch='class' needs weights for a class token and 15 patches, got 15 only"),
    ],
)
def test_weights_and_patches_that_do_not_fit(image, attend, shape, patch, error, words):
    with pytest.raises(error, match=words):
        draw(image, attend(*shape), patch)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"patch_size": 0}, ValueError, "patch_size must be at least 1"),
        ({"patch_size": 2.5}, TypeError, "patch_size must be a whole number"),
        ({"patch_size": (7, 4, 3)}, ValueError, r"patch_size must be \(height, width\), got \(7, 4, 3\)"),
        ({"patch_size": (7, 4), "vmax": -1.0}, ValueError, "vmax must be greater than 0"),
        ({"patch_size": (7, 4), "cmap": "none"}, ValueError, "cmap must be a colour map"),
        ({"patch_size": (7, 4), "save": "x.jpg"}, ValueError, "save must end in"),
    ],
)
def test_options_that_are_not_allowed(image, attend, options, error, words):
    with pytest.raises(error, match=words):
        visualize_patch_attention(image, attend(N, N), 0, **options)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, "must be finite, got nan at query 2, key 1"),
        (-0.25, "must not be negative, got -0.25 at query 2, key 1"),
    ],
)
def test_weights_that_are_no_weights(image, attend, value, words):
    weights = attend(N, N)
    weights[2, 1] = value
    with pytest.raises(ValueError, match=words):
        draw(image, weights, 0)
    with pytest.raises(TypeError, match="weights must be float16"):
        draw(image, np.ones((N, N), int), 0)


# Views


def test_a_view_is_asked_for_one_row(image, seen):
    view = seen(3, N, N)
    figure = draw(image, view, 8, head=2)
    assert view.asked == [(1, N)]
    np.testing.assert_array_equal(tint_of_patches(figure), tint_of_patches(draw(image, view.all[2], 8)))
    mean = draw(image, view, (1, 3))
    np.testing.assert_allclose(
        tint_of_patches(mean), tint_of_patches(draw(image, view.all.mean(axis=0), 8)), atol=1e-12
    )


def test_a_view_may_have_a_class_token(image, seen):
    view = seen(1, N + 1, N + 1)
    for patch in (4, "class"):
        figures = (draw(image, weights, patch) for weights in (view, view.all[0]))
        one, other = (tint_of_patches(figure) for figure in figures)
        np.testing.assert_array_equal(one, other)


def test_scales_and_hidden_keys_mean_what_they_mean_elsewhere(image, attend, tidy):
    weights = attend(N, N)
    weights[8, 0] = 0.9
    figure = draw(image, weights, 8, hide_keys=True, scale="log")
    assert figure.axes[-1].get_ylim() == pytest.approx((weights[8, 1:].max() / 1e4, weights[8, 1:].max()))
    assert any("Key 0 is hidden" in text.get_text() for text in figure.texts)
    tidy(figure)


def test_patches_are_hidden_by_their_keys(image, attend):
    weights = attend(N + 1, N + 1)
    figure = draw(image, weights, 8, hide_keys=[0, 3])
    assert figure.axes[-1].get_ylim() == (0, np.delete(weights[9], [0, 3]).max())
    assert any("Key 3 is hidden" in text.get_text() for text in figure.texts)
    with pytest.raises(ValueError, match="hide_keys names key 16, but there are only 16 keys"):
        draw(image, weights, 8, hide_keys=16)


def test_views_and_options_that_do_not_fit(image, seen, attend):
    with pytest.raises(ValueError, match=r"3 × 5 patches needs a view of 15 × 15 positions, .* got 7 × 7"):
        draw(image, seen(1, 7, 7), 0)
    with pytest.raises(ValueError, match="head and batch pick a part of a view"):
        draw(image, attend(N, N), 0, head=1)
