"""What a layer says of itself is in the page's header, and is checked first."""

from __future__ import annotations

import numpy as np
import pytest
from tests.page.conftest import WORDS, seen
from tests.page.test_fitting import opened
from tests.page.test_writing import header

from clearhead import page
from clearhead.page import Patches, Shown
from clearhead.page.shown import images_of


@pytest.fixture
def image(rng) -> Patches:
    return Patches(rng.integers(0, 255, (20, 24, 3), np.uint8), 2, 3, 1)


def test_what_is_known_of_a_layer_is_in_the_header(tmp_path, image):
    effect = np.array([0.5, np.nan, -2])
    layers = [
        Shown("a", seen(13, tokens=WORDS), stack="decoder", prompt=5, statistics={"effect": effect}),
        Shown("b", seen(13, tokens=WORDS), trace=1, image=image),
        ("c", seen(13, tokens=WORDS)),
    ]
    found = header(page.write(tmp_path / "p.html", layers, traces=["before", "after"]))
    a, b, c = found["layers"]
    assert found["traces"] == ["before", "after"]
    assert found["images"] == [{"rows": 2, "columns": 3, "special": 1}]
    assert [(x["stack"], x["trace"], x["prompt"], x["image"]) for x in (a, b, c)] == [
        ("decoder", 0, 5, None), ("", 1, None, 0), ("", 0, None, None),
    ]  # fmt: skip
    assert [x["statistics"]["effect"] for x in a["heads"]] == [0.5, None, -2]
    assert "effect" not in b["heads"][0]["statistics"]
    assert found["chunks"]["image.0"] == [["pixels", "u1", [20, 24, 3]]]


def test_an_image_is_kept_once_and_a_large_one_made_smaller(image):
    large = Patches(np.repeat(np.repeat(image.pixels, 40, 0), 40, 1), 2, 3)
    view = seen(13)
    layers = [Shown("a", view, image=x) for x in (image, image._replace(pixels=image.pixels.copy()), large)]
    described, chunks, places = images_of([*layers, Shown("b", view)])
    assert places == [0, 0, 1, None]
    assert len(described) == 2
    np.testing.assert_array_equal(opened(chunks["image.0"])["pixels"], image.pixels)
    smaller = opened(chunks["image.1"])["pixels"]
    assert smaller.shape == (400, 480, 3)
    np.testing.assert_array_equal(smaller[::20, ::20], image.pixels)


def test_one_trace_needs_no_name(tmp_path):
    assert header(page.write(tmp_path / "p.html", [("a", seen(5))]))["traces"] == [""]
    assert header(page.write(tmp_path / "p.html", [Shown("a", seen(5), trace=1)]))["traces"] == ["0", "1"]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stack": "middle"}, "stack must be one of '', 'encoder', 'decoder', 'cross', got 'middle'"),
        ({"trace": -1}, "trace must be at least 0, got -1"),
        ({"prompt": 14}, "prompt of a must be at most its 13 queries, got 14"),
        ({"statistics": {"effect": [1, 2]}}, r"statistics\['effect'\] of a must be one number for each of its 3 heads"),
        ({"image": Patches(np.zeros((4, 4)), 1, 1)}, r"must be \(height, width, 3\) in uint8, got \(4, 4\) in float64"),
        (
            {"image": Patches(np.zeros((4, 4, 3), np.uint8), 3, 4, 2)},
            "3 × 4 patches after 2 positions do not fit the 13 keys of a",
        ),
    ],
)
def test_what_does_not_go_with_a_layer_is_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        page.write(tmp_path / "p.html", [Shown("a", seen(13), **options)])


def test_traces_without_a_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="traces must name all 3 traces that the layers are of, got 2 names"):
        page.write(tmp_path / "p.html", [Shown("a", seen(5), trace=2)], traces=["a", "b"])
