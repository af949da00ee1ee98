"""Rows of Parquet: there and back, and many as one."""

from __future__ import annotations

import pytest

from clearhead.census.counts import Counts
from clearhead.census.measures import MEASURES
from clearhead.census.rows import Row, as_parquet, folded, from_parquet, read_rows, rows_of, written_rows

from . import small


def test_there_and_back(taken):
    for path in written_rows(taken / "shards").values():
        raw = path.read_bytes()
        assert as_parquet(from_parquet(raw)) == raw
        assert from_parquet(path).shard == int(path.stem)


def test_a_row_of_nothing():
    row = from_parquet(as_parquet(Row(7)))
    assert (row.shard, row.read, row.heads, row.layers) == (7, 0, 0, [])


def test_any_number_of_rows_adds_up_to_the_same(taken):
    rows = lambda: list(read_rows(taken / "shards"))  # noqa: E731
    census = rows()[0].census
    whole = as_parquet_of(folded(rows(), census))
    assert as_parquet_of(folded(reversed(rows()), census)) == whole
    half = len(rows()) // 2
    halves = [folded(rows()[:half], census), folded(rows()[half:], census)]
    for part in halves:
        part.counts.squares = part.counts.squares.astype("int64")
    assert as_parquet_of(folded(halves, census)) == whole


def as_parquet_of(row: Row) -> bytes:
    row.problems.sort()
    return as_parquet(row)


def test_squares_have_no_end():
    def row(number):
        counts = Counts.nothing(1)
        counts.squares += 2**62 + 3
        return Row(number, layers=[("x", 1)], counts=counts)

    total = folded(map(row, range(9))).counts.squares
    assert total.shape == (1, len(MEASURES))
    assert set(total.ravel().tolist()) == {9 * (2**62 + 3)}


def test_rows_of_two_models_are_refused():
    rows = [Row(0, layers=[("x", 1)], counts=Counts.nothing(1)), Row(1, layers=[("y", 1)], counts=Counts.nothing(1))]
    with pytest.raises(ValueError, match="shard 1 has other layers than those before it"):
        folded(rows)


def test_rows_of_two_censuses_are_not_mixed(tmp_path):
    """Two that begin at once in one folder both find it empty."""
    for number, census in enumerate(["one", "two", "one"]):
        (tmp_path / f"{number:08}.parquet").write_bytes(as_parquet(Row(number, census=census)))
    assert list(rows_of(tmp_path, "one")) == [0, 2]
    with pytest.raises(ValueError, match="shard 1 is of another census: two were taken into one folder; take each"):
        folded(read_rows(tmp_path), "one")


def test_the_folder_is_read_in_the_order_of_shards(taken):
    assert list(written_rows(taken / "shards")) == list(range(len(list((taken / "shards").iterdir()))))
    assert small.contents(taken)["heads.parquet"][:4] == b"PAR1"
