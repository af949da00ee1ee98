"""The smallest probe that still fails, found in few steps."""

from __future__ import annotations

from clearhead.practice.exercise import Part
from clearhead.practice.probes import Probe
from clearhead.practice.shrinking import ASKS, smallest

PART = Part(solution=len, judge=len, sizes={"h": 4, "n": 5, "d": 6}, smallest={"d": 2})
PROBE = Probe((("h", 4), ("n", 5), ("d", 6)))


def test_every_size_is_as_small_as_it_can_be():
    found = smallest(PART, PROBE, lambda probe: dict(probe.sizes)["h"] > 1 and dict(probe.sizes)["n"] >= 3)
    assert (dict(found.sizes), found.digits) == ({"h": 2, "n": 3, "d": 2}, 0)


def test_numbers_stay_where_rounding_hides_it():
    assert smallest(PART, PROBE, lambda probe: probe.digits is None).digits is None
    assert smallest(PART, PROBE, lambda probe: probe.digits != 0).digits == 1


def test_it_asks_only_so_often():
    asked = []
    smallest(PART, PROBE, lambda probe: bool(asked.append(probe)))
    assert len(asked) <= ASKS


def test_a_further_call_keeps_its_shape():
    assert smallest(PART, Probe(further=2), lambda probe: True) == Probe(further=2, digits=0)
