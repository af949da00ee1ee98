from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from transformers import ViTConfig
from transformers.models.vit.modeling_vit import ViTPatchEmbeddings

from clearhead.textbook.attention import self_attention
from clearhead.textbook.image import (
    attention_map,
    cut_patches,
    embed_patches,
    image_attention,
    join_patches,
    patch_grid,
)


def test_patches_are_counted_as_one_reads():
    image = np.array([[0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15], [20, 21, 22, 23, 24, 25], [30, 31, 32, 33, 34, 35]])
    expected = [[0, 1, 10, 11], [2, 3, 12, 13], [4, 5, 14, 15], [20, 21, 30, 31], [22, 23, 32, 33], [24, 25, 34, 35]]
    np.testing.assert_array_equal(cut_patches(image, 2), expected)
    np.testing.assert_array_equal(cut_patches(image, (1, 3))[5], [23, 24, 25])  # row 2 of 4, column 1 of 2


def test_the_patch_at_row_and_column_is_at_row_times_columns_plus_column(rng):
    image = rng.standard_normal((2, 3 * 5, 7 * 11, 13))
    patches = cut_patches(image, (5, 11), channels=True)
    for row in range(3):
        for column in range(7):
            window = image[:, 5 * row : 5 * row + 5, 11 * column : 11 * column + 11]
            np.testing.assert_array_equal(patches[:, 7 * row + column], window.reshape(2, -1))


@given(
    leading=st.lists(st.integers(1, 3), max_size=3),
    grid=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    patch=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    colours=st.sampled_from([None, 1, 3, 4]),
    dtype=st.sampled_from([np.uint8, np.float32, np.float64]),
)
def test_cut_and_joined_is_the_image_again(leading, grid, patch, colours, dtype):
    size = (grid[0] * patch[0], grid[1] * patch[1])
    shape = (*leading, *size) if colours is None else (*leading, *size, colours)
    image = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    patches = cut_patches(image, patch, channels=colours is not None)
    joined = join_patches(patches, size, patch, channels=colours is not None)
    assert patches.dtype == joined.dtype == dtype
    np.testing.assert_array_equal(joined, image)


def test_torch_unfold_cuts_the_same(rng):
    images = rng.standard_normal((2, 3, 15, 21))  # torch has channels first
    unfolded = torch.nn.functional.unfold(torch.from_numpy(images), (5, 7), stride=(5, 7)).numpy()  # (b, C·p·p, n)
    ours = cut_patches(np.moveaxis(images, 1, -1), (5, 7), channels=True)
    theirs = unfolded.swapaxes(1, 2).reshape(2, 9, 3, 35).swapaxes(2, 3).reshape(2, 9, 105)
    np.testing.assert_array_equal(ours, theirs)


def test_vit_embeds_the_same(rng):
    config = ViTConfig(image_size=(15, 35), patch_size=(5, 5), num_channels=3, hidden_size=11)
    judge = ViTPatchEmbeddings(config).double()
    image = rng.standard_normal((2, 15, 35, 3))
    with torch.no_grad():
        expected = judge(torch.from_numpy(np.ascontiguousarray(np.moveaxis(image, -1, 1)))).numpy()
    kernel = judge.projection.weight.detach().numpy()  # (d_model, C, p, p)
    W = kernel.transpose(2, 3, 1, 0).reshape(75, 11)
    ours = embed_patches(cut_patches(image, 5, channels=True), W, judge.projection.bias.detach().numpy())
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


def test_image_attention_is_self_attention_over_embedded_patches(rng):
    image = rng.standard_normal((2, 6, 15, 7))
    patches = cut_patches(image, (2, 5), channels=True)  # (2, 9, 70)
    W, W_Q, W_K, W_V = (rng.standard_normal(shape) for shape in ((70, 11), (11, 5), (11, 5), (11, 13)))
    b, positions = rng.standard_normal(11), rng.standard_normal((9, 11))
    output, weights = image_attention(image, (2, 5), W, W_Q, W_K, W_V, b=b, positions=positions, channels=True)
    expected = self_attention(patches @ W + b + positions, W_Q, W_K, W_V)
    np.testing.assert_allclose(output, expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights, expected[1], rtol=0, atol=1e-12)


def test_without_positions_patches_are_a_set(rng):
    """Cut an image up and put it together in another order: the outputs only change places."""
    image = rng.standard_normal((6, 10))
    order = rng.permutation(15)
    shuffled = join_patches(cut_patches(image, 2)[order], (6, 10), 2)
    maps = [rng.standard_normal(shape) for shape in ((4, 7), (7, 5), (7, 5), (7, 3))]
    output, weights = image_attention(image, 2, *maps)
    moved_output, moved_weights = image_attention(shuffled, 2, *maps)
    np.testing.assert_allclose(moved_output, output[order], rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved_weights, weights[order][:, order], rtol=0, atol=1e-12)
    positions = rng.standard_normal((15, 7))
    placed = image_attention(image, 2, *maps, positions=positions)[0]
    assert abs(image_attention(shuffled, 2, *maps, positions=positions)[0] - placed[order]).max() > 0.1


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_embedding_keeps_the_type_and_rounds_once(rng, dtype):
    patches, W = rng.standard_normal((5, 4099)).astype(dtype), rng.standard_normal((4099, 3)).astype(dtype)
    positions = rng.standard_normal((5, 3)).astype(dtype)
    embedded = embed_patches(patches, W, positions=positions)
    assert embedded.dtype == dtype
    exact = patches.astype(np.float64) @ W.astype(np.float64) + positions.astype(np.float64)
    spacing = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-17}[np.dtype(dtype).name]
    np.testing.assert_allclose(embedded.astype(np.float64), exact, rtol=spacing, atol=spacing)


def test_one_patch_s_attention_lies_where_the_patches_lie():
    weights = np.arange(2 * 15 * 15, dtype=float).reshape(2, 15, 15)
    laid = attention_map(weights, 7, patch_grid((6, 10), 2))
    assert laid.shape == (2, 3, 5)
    assert laid[1, 2, 3] == weights[1, 7, 2 * 5 + 3]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: cut_patches(np.zeros((2, 6, 9)), 2),
            ValueError,
            "the image's width of 9 pixels cannot be cut into patches of 2; crop or pad it to 8 or 10, or choose a "
            "patch size that divides 9",
        ),
        (
            lambda: cut_patches(np.zeros((3, 9, 4)), (5, 3), channels=True),
            ValueError,
            "the image's height of 3 pixels cannot be cut into patches of 5; crop or pad it to 5, or choose",
        ),
        (lambda: cut_patches(np.zeros(6), 2), ValueError, r"image needs at least 2 dimensions, \(…, H, W\), got shape"),
        (
            lambda: cut_patches(np.zeros((6, 6)), 2, channels=True),
            ValueError,
            r"image needs at least 3 dimensions, \(…, H, W, C\), got shape \(6, 6\)",
        ),
        (lambda: cut_patches(np.zeros((6, 6)), 0), ValueError, "patch_size must be at least 1, got 0"),
        (lambda: cut_patches(np.zeros((6, 6)), 2.0), TypeError, "patch_size must be a whole number, got 2.0"),
        (
            lambda: cut_patches(np.zeros((6, 6)), (2, -3)),
            ValueError,
            "the width in patch_size must be at least 1, got -3",
        ),
        (
            lambda: cut_patches(np.zeros((6, 6)), (2, 3, 1)),
            ValueError,
            r"patch_size must be \(height, width\), got \(2, 3",
        ),
        (lambda: cut_patches(np.zeros((0, 6)), 2), ValueError, "the height in image_size must be at least 1, got 0"),
        (
            lambda: join_patches(np.zeros((5, 4)), (4, 6), 2),
            ValueError,
            r"an image of 4 × 6 pixels has 2 × 3 = 6 patches of 2 × 2, so .* must have shape \(…, 6, …\), got \(5, 4\)",
        ),
        (lambda: join_patches(np.zeros((6, 4)), 24, 2), ValueError, r"image_size must be \(height, width\), got 24"),
        (
            lambda: join_patches(np.zeros((6, 12)), (4, 6), 2),
            ValueError,
            r"has 4 numbers per channel, so the last axis of .* must be 4 \(with colours, say channels=True\), got 12",
        ),
        (
            lambda: join_patches(np.zeros((6, 13)), (4, 6), 2, channels=True),
            ValueError,
            "the last axis of patches must be a multiple of 4, got 13",
        ),
        (
            lambda: embed_patches(np.zeros((6, 4), np.uint8), np.zeros((4, 5))),
            TypeError,
            r"patches must be floats to be embedded, got uint8 \(image.astype\(np.float32\) / 255",
        ),
        (
            lambda: embed_patches(np.zeros((6, 4)), np.zeros((3, 5))),
            ValueError,
            r"W must have shape \(d_in, d_out\) with d_in = 4, the width of its input, got \(3, 5\)",
        ),
        (
            lambda: embed_patches(np.zeros((6, 4)), np.zeros((4, 5)), np.zeros(6)),
            ValueError,
            r"b must have shape \(5,\), one number per column of W, got \(6,\)",
        ),
        (
            lambda: embed_patches(np.zeros((6, 4)), np.zeros((4, 5)), positions=np.zeros((7, 5))),
            ValueError,
            r"positions must have shape \(6, 5\), one row per patch and d_model wide, got \(7, 5\)",
        ),
        (
            lambda: attention_map(np.eye(7), 0, (2, 3)),
            ValueError,
            r"a grid of 2 × 3 has 6 patches, but the weights are over 7 keys \(a class token is no patch",
        ),
        (
            lambda: attention_map(np.eye(6), 6, (2, 3)),
            ValueError,
            "patch must be less than 6, the number of queries, got 6",
        ),
        (lambda: attention_map(np.eye(6), -1, (2, 3)), ValueError, "patch must be at least 0, got -1"),
        (lambda: attention_map(np.eye(6), 0, (6,)), ValueError, r"grid must be \(rows, columns\), got \(6,\)"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()
