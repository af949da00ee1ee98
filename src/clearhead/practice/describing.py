"""What can be said of a wrong output that no mistake explains: read off its numbers, or found by asking further."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from clearhead.languages import Said
from clearhead.practice import words
from clearhead.practice.comparing import bare, differing
from clearhead.practice.exercise import Part
from clearhead.practice.probes import Probe

MOST = 2  # things said, the plainest first
WEIGHTS = "weights"


def described(part: Part, output: str, expected: object, got: object) -> tuple[Said, ...]:
    """What the numbers of one output show. expected and got are values of one output."""
    a, b = bare(expected), bare(got)
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype.kind in "fiub"):
        return ()
    if b.dtype.kind not in "fiub":
        return ()
    letters = part.outputs.get(output, "").split()
    is_weights = output != "" and output == part.weights
    found = itertools.chain(
        _as_weights(a, b) if is_weights else (),
        _as_a_whole(a, b, part.tolerance),
        _by_axis(a, b, letters, part.tolerance),
    )
    return tuple(itertools.islice(found, MOST))


def probed(part: Part, probe: Probe, shown: Probe, right_at: Callable[[Probe], bool]) -> tuple[Said, ...]:
    """Where the function is right after all: when one size is 1, or two are equal.

    shown      a probe at which it is wrong, which must not belie what is said
    right_at   whether the answer to a probe is right; False too where there is nothing to ask
    """
    sizes, belied = dict(probe.sizes), dict(shown.sizes)
    if not sizes or probe.further is not None:
        return ()

    def right_with(**others: int) -> bool:
        return right_at(probe._replace(sizes=tuple((sizes | others).items())))

    for name, size in sizes.items():
        if size > 1 >= part.smallest.get(name, 1) and belied.get(name) != 1 and right_with(**{name: 1}):
            return (words.seen.ONLY_ONE.get(name, words.seen.ONLY_WHEN_ONE).filled(letter=name),)
    for a, b in itertools.combinations(sizes, 2):
        # At both sizes: at one it may be right by chance, as a rotation of a single pair is at any base.
        if belied.get(a) != belied.get(b) and right_with(**{b: sizes[a]}) and right_with(**{a: sizes[b]}):
            return (words.seen.ONLY_WHEN_EQUAL.filled(a=a, b=b),)
    return ()


def _as_weights(expected: np.ndarray, got: np.ndarray) -> Iterator[Said]:
    """Attention weights: rows, columns, masked keys."""
    if not np.isfinite(got).all():
        return
    rows, columns = got.sum(axis=-1), got.sum(axis=-2)
    ones = expected.sum(axis=-1) > 0.5
    if np.allclose(columns, 1) and not np.allclose(rows[ones], 1):
        yield words.seen.COLUMNS_SUM_TO_ONE
        return
    if (got < -1e-12).any():
        yield words.seen.NEGATIVE_WEIGHTS
    if ones.any() and not np.allclose(rows[ones], 1):
        worst = float(rows[ones][np.argmax(np.abs(rows[ones] - 1))])
        yield words.seen.ROWS_DO_NOT_SUM.filled(sum=f"{worst:.3g}")
    leaks = np.argwhere((expected == 0) & (np.abs(got) > 1e-12))
    if leaks.size and (expected == 0).any() and (expected > 0).any():
        query, key = (int(i) for i in leaks[0][-2:])
        yield (words.seen.FUTURE if _is_causal(expected) and key > query else words.seen.LEAK).filled(
            query=query, key=key, weight=f"{float(got[tuple(leaks[0])]):.3g}"
        )


def _is_causal(expected: np.ndarray) -> bool:
    return bool((np.triu(expected, 1) == 0).all())


def _as_a_whole(expected: np.ndarray, got: np.ndarray, tolerance: float) -> Iterator[Said]:
    """One factor, one number added, or the right rows or columns in another order."""
    if expected.dtype == bool and got.dtype == bool:
        yield from _truths(expected, got)
        return
    a, b = expected.astype(np.float64), got.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or a.size < 2:
        return
    large = np.abs(a) > 1e-6 * (np.abs(a).max() or 1.0)
    if large.any():
        factor = float(np.median(b[large] / a[large]))
        if abs(factor) > 1e-9 and not differing(a * factor, b, tolerance).any():
            shown = f"{factor:.4g}"
            if shown != "1":  # so near that it says nothing
                yield words.seen.NEGATED if shown == "-1" else words.seen.FACTOR.filled(factor=shown)
            return
    added = float(np.median(b - a))
    if not differing(a + added, b, tolerance).any():
        yield words.seen.ADDED.filled(added=f"{added:.4g}")
        return
    for axis, said in ((-1, words.seen.COLUMNS_PERMUTED), (-2, words.seen.ROWS_PERMUTED)):
        if a.ndim >= -axis and a.shape[axis] > 1 and _is_permuted(a, b, axis, tolerance):
            yield said
            return
    yield from _row_by_row(a, b, tolerance)


def _truths(expected: np.ndarray, got: np.ndarray) -> Iterator[Said]:
    """A mask: how it differs, either way."""
    extra, missing = int((got & ~expected).sum()), int((expected & ~got).sum())
    if (expected == ~got).all():
        yield words.seen.EXCHANGED
    elif extra or missing:
        yield words.seen.TOO_MANY_AND_TOO_FEW.filled(extra=extra, missing=missing)


def _row_by_row(a: np.ndarray, b: np.ndarray, tolerance: float) -> Iterator[Said]:
    """Rows that are right but for one factor, or one number added, of each row's own."""
    if a.ndim < 1 or a.shape[-1] < 3:  # any two numbers are a row of such a kind
        return
    large = np.take_along_axis(a, np.abs(a).argmax(axis=-1, keepdims=True), -1)
    if (large != 0).all():
        factors = np.take_along_axis(b, np.abs(a).argmax(axis=-1, keepdims=True), -1) / large
        if (np.abs(factors) > 1e-9).all() and not differing(a * factors, b, tolerance).any():
            yield words.seen.ROW_FACTORS
            return
    if not differing(a + np.median(b - a, axis=-1, keepdims=True), b, tolerance).any():
        yield words.seen.ROW_SHIFTS


def _is_permuted(a: np.ndarray, b: np.ndarray, axis: int, tolerance: float) -> bool:
    """Whether b holds the slices of a along an axis, each once, in another order."""
    lines, others = (np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) for x in (a, b))
    free = list(range(len(others)))
    for line in lines:
        match = next((i for i in free if not differing(line, others[i], tolerance).any()), None)
        if match is None:
            return False
        free.remove(match)
    return True


def _by_axis(a: np.ndarray, b: np.ndarray, letters: Sequence[str], tolerance: float) -> Iterator[Said]:
    """Right in the first place of an axis alone, or wrong in the last alone."""
    wrong = differing(a, b, tolerance)
    if len(letters) != wrong.ndim:
        return
    for axis, letter in enumerate(letters):
        at = np.asarray(wrong.any(axis=tuple(i for i in range(wrong.ndim) if i != axis)))
        if len(at) > 1 and not at[0] and at[1:].all():
            yield words.seen.FIRST_ALONE.filled(letter=letter)
            return
        if len(at) > 2 and at.sum() == 1:
            yield words.seen.ONE_PLACE_WRONG.filled(letter=letter, place=int(np.argmax(at)))
            return
