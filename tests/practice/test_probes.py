"""A probe draws the same call each time, at the part's sizes, at others, and rounded."""

from __future__ import annotations

import numpy as np

from clearhead.practice.exercise import Call, Part
from clearhead.practice.probes import Moved, Probe, call_of, other_sizes, probes


def draw(rng, sizes):
    return Call((rng.standard_normal((sizes["n"], sizes["d"])),), {"eps": 1e-5})


def further(rng):
    yield Call((rng.standard_normal((1, 2)),))
    yield Call((np.zeros((1, 2)),))


PART = Part(solution=len, judge=len, draw=draw, further=further, sizes={"n": 3, "d": 4, "h": 2}, smallest={"d": 2})


def test_every_probe_draws_the_same_call_each_time():
    drawn = probes(PART)
    assert len({repr(call_of(PART, probe)) for probe in drawn}) == len(drawn)
    for probe in drawn:
        np.testing.assert_array_equal(call_of(PART, probe).arguments[0], call_of(PART, probe).arguments[0])


def test_other_sizes_are_the_same_numbers_elsewhere():
    assert [*other_sizes(PART)] == [{"n": 2, "d": 4, "h": 3}, {"n": 4, "d": 2, "h": 3}]
    assert [*other_sizes(Part(solution=len, judge=len, sizes={"n": 3, "d": 2}, smallest={"n": 3}))] == []


def test_further_calls_come_last():
    assert [probe.further for probe in probes(PART)][-2:] == [0, 1]
    assert call_of(PART, Probe(further=1)).arguments[0].sum() == 0


def test_a_part_without_sizes_is_called_once():
    assert probes(Part(solution=len, judge=len)) == [Probe()]


def test_rounding_spares_single_numbers_and_reaches_into_containers():
    values = {"a": np.array([0.26]), "b": [np.array([1.5, -0.2])]}
    part = Part(solution=len, judge=len, draw=lambda rng, sizes: Call((values, np.array([True])), {"eps": 0.01}))
    rounded = call_of(part, Probe(digits=0))
    assert rounded.keywords == {"eps": 0.01}
    assert str(rounded.arguments[0]["b"][0]) == "[2. 0.]"
    assert rounded.arguments[1].dtype == bool
    assert call_of(part, Probe(digits=1)).arguments[0]["a"][0] == 0.3


def test_one_array_of_a_call_has_other_numbers_at_one_place():
    def draw(rng, sizes):
        return Call((np.zeros((2, 3)),), {"mask": np.array([True, False])})

    def taken(x, mask=None):
        return x

    part = Part(solution=taken, judge=taken, draw=draw)
    still, moved, turned = (call_of(part, Probe(moved=m)) for m in (None, Moved("x", 1, 2), Moved("mask")))
    assert not still.arguments[0].any()
    assert (moved.arguments[0] != 0).tolist() == [[False, False, True]] * 2
    assert len({*moved.arguments[0][:, 2]}) == 2  # each by an amount of its own: a softmax would not notice one for all
    assert turned.keywords["mask"].tolist() == [False, True]
    assert not turned.arguments[0].any()
