from __future__ import annotations

import pytest

from clearhead.figures.grid import GAP, arrange


@pytest.mark.parametrize(
    ("heads", "shape"),
    [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (8, (2, 4)), (12, (3, 4)), (16, (4, 4)), (64, (8, 8))],
)
def test_usual_numbers_of_heads_fill_their_grid(heads, shape):
    grid = arrange(heads, 12, 12)
    assert (grid.rows, grid.columns) == shape


@pytest.mark.parametrize("heads", [1, 2, 5, 7, 11, 37, 64, 144])
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (2, 3), (17, 17), (1, 1999), (1999, 2), (499, 1999)])
def test_maps_fit_a_page_and_do_not_overlap(heads, n_q, n_k):
    grid = arrange(heads, n_q, n_k)
    assert grid.rows * grid.columns >= heads
    assert 0.4 < grid.total_width < 11
    assert 0.4 < grid.total_height < 10.5
    assert min(grid.width, grid.height) > 0.2
    places = [grid.place(i) for i in range(heads)]
    for left, top in places:
        assert left + grid.width <= grid.total_width + 1e-9
        assert top + grid.height <= grid.total_height + 1e-9
    if heads > 1 and grid.columns > 1:
        assert places[1][0] - places[0][0] == pytest.approx(grid.width + GAP)


@pytest.mark.parametrize("heads", [1, 4, 9])
@pytest.mark.parametrize(("n_q", "n_k"), [(3, 3), (7, 12), (50, 50), (20, 31)])
def test_cells_are_square_unless_the_map_is_a_strip(heads, n_q, n_k):
    grid = arrange(heads, n_q, n_k)
    assert grid.width / n_k == pytest.approx(grid.height / n_q)


def test_a_strip_is_wide_enough_for_its_labels():
    assert arrange(1, 7, 500).height >= 7 * 0.16
    assert arrange(1, 1, 500).height >= 0.5
