"""The smallest call that still shows what is wrong: fewer positions, then rounder numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clearhead.practice.exercise import Part
from clearhead.practice.probes import Probe

ASKS = 60  # a learner waits for the answer


def smallest(part: Part, probe: Probe, still_fails: Callable[[Probe], bool]) -> Probe:
    """A probe none of whose sizes can be made smaller, and no number rounder, while it still fails in the same way."""
    asks = 0
    progress = True
    while progress:
        progress = False
        for candidate in smaller(part, probe):
            asks += 1
            if asks > ASKS:
                return probe
            if still_fails(candidate):
                probe, progress = candidate, True
                break
    return probe


def smaller(part: Part, probe: Probe) -> Iterator[Probe]:
    """Probes a step smaller: one size less, the smallest first; then numbers whole, or with one digit."""
    for position, (name, size) in enumerate(probe.sizes):
        for less in range(part.smallest.get(name, 1), size):
            yield probe._replace(sizes=(*probe.sizes[:position], (name, less), *probe.sizes[position + 1 :]))
    for digits in (0, 1):
        if probe.digits is None or digits < probe.digits:
            yield probe._replace(digits=digits)
