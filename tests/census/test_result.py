"""Tables of a census, finished or not."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction

import numpy as np
import pytest
from tests.documents import fences

import clearhead.census
from clearhead.census.kinds import KINDS
from clearhead.census.measures import LABELS, MEASURES
from clearhead.census.result import TABLES, spread


def test_tables(taken):
    census = clearhead.census.load(taken)
    assert repr(census).endswith("28 documents, 453 tokens, 8 heads>")
    assert census.finished
    assert len(census.measures) == 8 * len(MEASURES)
    assert census.kinds.column("kind").to_pylist() == list(KINDS)
    assert sum(census.kinds.column("tokens").to_pylist()) == census.tokens
    for head in census.heads.to_pylist():
        assert sum(head["names"].values()) == head["documents"] == 28
        assert head["agreement"] == max(head["names"].values()) / 28
        assert list(head["names"]) == list(LABELS)
        assert sum(head["entropies"]) == census.tokens - 28  # a first token has no choice
    for row in census.measures.to_pylist():
        assert sum(row["bins"]) == row["documents"]
        if row["documents"]:
            assert row["least"] <= row["mean"] <= row["most"]
    frame = census.heads.to_pandas()
    assert frame.shape[0] == 8


def test_a_census_that_is_not_finished_is_opened_as_far_as_it_is(taken, tmp_path):
    out = shutil.copytree(taken, tmp_path / "out")
    for name in TABLES:
        (out / f"{name}.parquet").unlink()
    (out / "shards" / "00000002.parquet").unlink()
    census = clearhead.census.load(out)
    assert not census.finished
    assert repr(census).endswith("8 heads, 9 of 10 shards so far>")
    assert census.documents < 28


def test_what_is_not_there(taken, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no census in .*: it has no census\.json"):
        clearhead.census.load(tmp_path)
    with pytest.raises(ValueError, match=r"measure must be one of self, .*, got 'speed'"):
        clearhead.census.load(taken).mean("speed")


def test_a_spread_is_exact(rng):
    steps = [int(x) for x in rng.integers(0, 65_537, 100)]
    mean = Fraction(sum(steps), 100)
    exact = sum((x - mean) ** 2 for x in steps) / 100
    assert spread(100, sum(steps), sum(x * x for x in steps)) == float(np.sqrt(float(exact)))
    assert spread(3, 3 * 10**12, 3 * 10**24) == 0


def test_what_the_how_to_shows(taken, tmp_path, monkeypatch, capsys):
    out = shutil.copytree(taken, tmp_path / "out")
    told = json.loads((out / "census.json").read_text())
    told["model"]["name"] = "my-model"
    (out / "census.json").write_text(json.dumps(told))
    monkeypatch.chdir(tmp_path)
    found = fences("docs/en/howto/census.md")
    exec(next(fence.text for fence in found if fence.info == "python census"), {})
    assert capsys.readouterr().out == next(fence.text for fence in found if fence.info == "text")
