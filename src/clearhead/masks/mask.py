"""What a mask is, and what joining masks with &, | and ~ makes.

A boolean array joins as the mask it is, so that one is here too; the other kinds are in `kinds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Bool

from clearhead import checks
from clearhead.masks.lookup import look_up, over_batch, shown
from clearhead.masks.ranges import Ranges, both, either, outside
from clearhead.masks.sizes import Sizes, Where, places


class Mask:
    """Which key each query may attend to. Join masks with `&`, `|` and `~`."""

    __array_ufunc__ = None  # array & mask is the mask's to answer

    def __and__(self, other: Mask | np.ndarray) -> Mask:
        return Both(self, _mask(other))

    def __or__(self, other: Mask | np.ndarray) -> Mask:
        return Either(self, _mask(other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Mask:
        return Not(self)

    def _no_arithmetic(self, *_: object) -> NoReturn:
        raise TypeError(
            "masks are not added, multiplied or subtracted: a & b is what both allow, a | b what either allows, ~a "
            "what a forbids, and so a & ~b what a allows and b does not"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __xor__ = __rxor__ = __neg__ = _no_arithmetic

    def __bool__(self) -> bool:
        raise TypeError("a mask has no truth value; join masks with &, | and ~ instead of and, or and not")

    def allows(self, at: Where) -> Bool[np.ndarray, "*places"]:
        """Whether each place may be attended, in array arithmetic."""
        raise NotImplementedError

    def ranges(self, sizes: Sizes) -> Ranges | None:
        """The same in runs of keys, or None where it takes too many."""
        return None

    def written(self, sizes: Sizes) -> np.ndarray | None:
        """The boolean array this mask is, if it is nothing else: the piece for a call, as it lies in memory."""
        return None

    def period(self) -> int | None:
        """The step, if this mask allows every so many keys, counted from the query's own, and is nothing else."""
        return None

    def lasting(self) -> bool:
        """Whether this mask answers alike for ever: nothing it was made of can be changed by anybody else."""
        return False

    def terms(self) -> tuple[Any, ...] | None:
        """A class, and the numbers and other terms that it is called with to make this mask; None if it takes more."""
        return None

    def padding(self, sizes: Sizes) -> Bool[np.ndarray, "*batch n_k"] | None:
        """Which keys are padding, where a mask is there to say so: `key_lengths`, or flags (…, 1, 1, n_k)."""
        return None

    def array(
        self,
        n_q: int,
        n_k: int | None = None,
        *,
        batch_shape: tuple[int, ...] = (),
        heads: int | None = None,
        first_query: int | None = None,
        first_key: int | None = None,
        offset: int | None = None,
    ) -> Bool[np.ndarray, "*lead n_q n_k"]:
        """The mask written out: (n_q, n_k), or (*batch_shape, heads, n_q, n_k) if sizes for those are given.

        The array is the caller's own and may be written to.
        first_query, first_key, offset: which part of a sequence this is, and where its queries stand: see `Sizes`.
        """
        n_q = checks.count("n_q", n_q, least=0)
        n_k = n_q if n_k is None else checks.count("n_k", n_k, least=0)
        sizes = Sizes(n_q, n_k, batch_shape, 1 if heads is None else heads, first_query, first_key, offset)
        full = np.broadcast_to(self.allows(places(sizes)), (*batch_shape, sizes.heads, n_q, n_k))
        return np.array(full if heads is not None else full[..., 0, :, :])


def _mask(other: object) -> Mask:
    """What a mask is joined with, as a mask."""
    if isinstance(other, Mask):
        return other
    if isinstance(other, np.ndarray) and other.dtype == np.bool_:
        return of_array(other)
    kind = getattr(other, "dtype", None)
    got = type(other).__name__ if kind is None else f"{type(other).__name__} of {kind}"
    raise TypeError(
        f"a mask is joined with a mask from clearhead.masks or a boolean NumPy array, got {got} (masks.array(x) makes "
        "a mask of booleans, and np.asarray(x, bool) makes booleans of 0 and 1)"
    )


@dataclass(frozen=True, eq=False)
class BooleanArray(Mask):
    """An array that broadcasts to (*batch, heads, n_q, n_k) of the whole; True = may attend."""

    allowed: np.ndarray

    def __repr__(self) -> str:
        return f"array({shown(self.allowed)})"

    def allows(self, at: Where) -> np.ndarray:
        self._reaches(at.sizes)
        return look_up(self.allowed, at, at.query, at.key)

    def written(self, sizes: Sizes) -> np.ndarray | None:
        if sizes.whole:
            return self.allowed
        self._reaches(sizes)
        rows, columns = (
            slice(None) if has == 1 else slice(numbers.start, numbers.stop)
            for has, numbers in zip(self.allowed.shape[-2:], (sizes.queries, sizes.keys), strict=True)
        )
        return self.allowed[..., rows, columns]

    def padding(self, sizes: Sizes) -> np.ndarray | None:
        """With one row for all heads and queries of a batch entry, what is forbidden at either end is padding."""
        if self.allowed.ndim < 3 or self.allowed.shape[-3:-1] != (1, 1):
            return None
        real = over_batch("mask", self.allowed[..., 0, 0, :], sizes, of_keys=True)
        real = np.broadcast_to(real, (*sizes.batch_shape, sizes.n_k))
        begun, ends = (np.logical_or.accumulate(x, axis=-1) for x in (real, real[..., ::-1]))
        return ~(begun & ends[..., ::-1])

    def _reaches(self, sizes: Sizes) -> None:
        """It has a row for each query and a column for each key, or one for all."""
        axes = (("n_q", "queries", sizes.queries), ("n_k", "keys", sizes.keys))
        for has, (name, what, numbers) in zip(self.allowed.shape[-2:], axes, strict=True):
            if sizes.whole and has not in (1, len(numbers)):
                raise ValueError(f"mask of shape {self.allowed.shape} does not broadcast to {name} = {len(numbers)}")
            if has != 1 and has < numbers.stop:
                raise ValueError(
                    f"mask of shape {self.allowed.shape} does not reach {what} {numbers.start} … {numbers.stop - 1} of "
                    "the whole; it must be the mask of the whole sequence"
                )


def of_array(allowed: np.ndarray) -> Mask:
    """The mask that a boolean array is."""
    return BooleanArray(allowed if allowed.ndim >= 2 else allowed.reshape(1, -1))


@dataclass(frozen=True)
class Both(Mask):
    """What two masks allow."""

    a: Mask
    b: Mask

    def __repr__(self) -> str:
        return f"{_operand(self.a, Either)} & {_operand(self.b, Either, Both)}"

    def allows(self, at: Where) -> np.ndarray:
        return self.a.allows(at) & self.b.allows(at)

    def ranges(self, sizes: Sizes) -> Ranges | None:
        return both(self.a.ranges(sizes), self.b.ranges(sizes))

    def lasting(self) -> bool:
        return self.a.lasting() and self.b.lasting()

    def terms(self) -> tuple[Any, ...] | None:
        return _joined(Both, self.a, self.b)

    def padding(self, sizes: Sizes) -> np.ndarray | None:
        found = [x for x in (self.a.padding(sizes), self.b.padding(sizes)) if x is not None]
        return np.logical_or.reduce(found) if found else None


@dataclass(frozen=True)
class Either(Mask):
    """What one of two masks allows."""

    a: Mask
    b: Mask

    def __repr__(self) -> str:
        return f"{self.a!r} | {_operand(self.b, Either)}"

    def allows(self, at: Where) -> np.ndarray:
        return self.a.allows(at) | self.b.allows(at)

    def ranges(self, sizes: Sizes) -> Ranges | None:
        return either(self.a.ranges(sizes), self.b.ranges(sizes))

    def lasting(self) -> bool:
        return self.a.lasting() and self.b.lasting()

    def terms(self) -> tuple[Any, ...] | None:
        return _joined(Either, self.a, self.b)


@dataclass(frozen=True)
class Not(Mask):
    """What a mask forbids."""

    a: Mask

    def __repr__(self) -> str:
        return f"~{_operand(self.a, Either, Both)}"

    def __invert__(self) -> Mask:
        return self.a

    def allows(self, at: Where) -> np.ndarray:
        return ~self.a.allows(at)

    def ranges(self, sizes: Sizes) -> Ranges | None:
        return outside(self.a.ranges(sizes), sizes.n_k)

    def lasting(self) -> bool:
        return self.a.lasting()

    def terms(self) -> tuple[Any, ...] | None:
        return _joined(Not, self.a)


def _operand(mask: Mask, *looser: type[Mask]) -> str:
    """A mask as it is written beside an operator, in brackets if its own would be read later."""
    return f"({mask!r})" if isinstance(mask, looser) else repr(mask)


def _joined(made: type[Mask], *masks: Mask) -> tuple[Any, ...] | None:
    """The terms of a mask that others are joined to."""
    terms = [mask.terms() for mask in masks]
    return None if None in terms else (made, *terms)


def of_terms(terms: tuple[Any, ...]) -> Mask:
    """The mask that terms make."""
    made, *values = terms
    mask: Mask = made(*(of_terms(x) if isinstance(x, tuple) else x for x in values))
    return mask


def parts(mask: Mask) -> list[Mask]:
    """The masks that `mask` joins with &, itself if there are none."""
    return [*parts(mask.a), *parts(mask.b)] if isinstance(mask, Both) else [mask]
