"""Whatever an annotation says is held against every call, with or without arrays in it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import beartype
import jaxtyping
import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError
from tests.annotations import checked, has_array

from clearhead import checks
from clearhead.text import labels
from clearhead.textbook.attention import scaled_dot_product_attention

if TYPE_CHECKING:
    from clearhead.nowhere import Unknown

check = functools.partial(checked, typechecker=beartype.beartype)


@check
def longest(words: list[str], /, *more: str, least: int = 3, **named: float) -> str:
    return max((word for word in [*words, *more] if len(word) >= least), key=len, default=None)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("cat",), {}),
        (([1, 2],), {}),
        ((["cat"], 5), {}),
        ((["cat"],), {"least": "3"}),
        ((["cat"],), {"other": "3"}),
        ((["a"],), {}),  # which answers None
    ],
    ids=["no list", "other things in it", "more", "a keyword", "any keyword", "the answer"],
)
def test_calls_without_arrays_are_checked(arguments, options, request):
    assert longest(["cat", "ox"], "mouse", least=2, scale=1.5) == "mouse"
    with pytest.raises(TypeCheckError, match="longest"):
        longest(*arguments, **options)


def test_and_are_not_where_it_is_switched_off(unchecked):
    assert longest(["a"]) is None
    assert longest("cat", least=1) == "c"


def test_a_wrong_call_is_told_as_python_tells_it():
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'words'"):
        longest()


def test_letters_of_shapes_mean_one_number_in_a_call():
    @check
    def joined(a: Float[np.ndarray, "n d"], b: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n d+1"]:
        return np.concatenate([a, b[:, None]], axis=1)[:, : a.shape[1] + len(b) % 2]

    assert joined(np.ones((3, 5)), np.ones(3)).shape == (3, 6)
    with pytest.raises(TypeCheckError):
        joined(np.ones((3, 5)), np.ones(2))
    with pytest.raises(TypeCheckError):
        joined(np.ones((2, 5)), np.ones(2))  # whose answer has a column too few


def test_a_function_inside_another_is_checked_each_time_it_is_made():
    @check
    def outer(value: Any) -> Any:
        @check
        def inner(number: int) -> int:
            return value

        return inner

    made = [outer(value) for value in (1, "one", 2)]
    assert (made[0](0), made[2](0)) == (1, 2)
    with pytest.raises(TypeCheckError, match="inner"):
        made[1](0)
    for inner in made:
        with pytest.raises(TypeCheckError, match="inner"):
            inner("0")


def test_a_name_that_is_known_later_is_looked_up_again(monkeypatch):
    def outer() -> Callable[[Any], Any]:
        @check
        def inner(thing: Unknown) -> int:
            return 1

        return inner

    assert outer()("anything") == 1
    monkeypatch.setattr(sys.modules[__name__], "Unknown", float, raising=False)
    with pytest.raises(TypeCheckError, match="inner"):
        outer()("anything")


def test_methods_and_generators_are_checked():
    class Thing:
        @classmethod
        @check
        def named(cls, name: str) -> Thing:
            return cls() if name else name

        @property
        @check
        def size(self) -> int:
            return "large"

        @check
        def each(self, names: tuple[str, ...]) -> Iterator[str]:
            yield from names

    assert list(Thing.named("a").each(("b", "c"))) == ["b", "c"]
    with pytest.raises(TypeCheckError):
        Thing.named(3)
    with pytest.raises(TypeCheckError):
        Thing().each(("b", 3)[1:])
    with pytest.raises(TypeCheckError):
        _ = Thing().size


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Float[np.ndarray, "n d"], True),
        (Float[np.ndarray, " n"] | None, True),
        (dict[str, list[Float[np.ndarray, "..."]]], True),
        (Callable[[Float[np.ndarray, " n"]], int], True),
        (np.ndarray, False),
        (dict[str, list[int]] | None, False),
        (Any, False),
    ],
    ids=str,
)
def test_arrays_are_found_at_any_depth(hint, expected):
    assert has_array(hint) is expected


def test_the_rooms_of_clearhead_are_checked():
    with pytest.raises(TypeCheckError):
        checks.count(3, 5)  # the name of a number is a text
    with pytest.raises(TypeCheckError):
        scaled_dot_product_attention(np.ones((3, 5)), np.ones((7, 5)), np.ones((2, 5)))
    assert jaxtyping.jaxtyped is checked
    assert any(hasattr(value, "__wrapped__") for value in vars(labels).values())
