"""softmax: scores become shares that sum to 1, along any axis, however large the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    top = x.max(axis=axis, keepdims=True)
    powers = np.exp(x - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def by_definition(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """e to each score over the sum of its line, one line at a time; a line of nothing but −inf keeps its zeros."""
    lines = np.moveaxis(np.asarray(x, np.float64), axis, -1)
    shares = np.zeros(lines.shape)
    for place in product(*map(range, lines.shape[:-1])):
        scores = [float(score) for score in lines[place]]
        if max(scores) == -math.inf:
            continue
        powers = [math.exp(score - max(scores)) for score in scores]
        shares[place] = [power / sum(powers) for power in powers]
    return np.moveaxis(shares, -1, axis)


def unguarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Softmax as most write it first: NaN in a line of nothing but −inf."""
    return divided(np.exp(x - x.max(axis=axis, keepdims=True)), axis)


def divided(powers: np.ndarray, axis: int) -> np.ndarray:
    return powers / powers.sum(axis=axis, keepdims=True)


def safely_divided(powers: np.ndarray, axis: int) -> np.ndarray:
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


@mistake(
    "Right but for a line of nothing but −inf, which is NaN: −inf − (−inf) is no number, and neither is 0 / 0. No "
    "score there has a share, so that line should be 0: take off 0 where the largest score is −inf, and divide by 1 "
    "where the sum is 0.",
    "−inf뿐인 줄만 빼고 모두 맞습니다. 그 줄은 NaN입니다. −inf − (−inf)도 0 / 0도 수가 아니기 때문입니다. 그 줄에서는 "
    "어느 점수도 몫을 받지 못하므로 모두 0이어야 합니다. 가장 큰 점수가 −inf이면 0을 빼고, 합이 0이면 1로 나누세요.",
    explained=sections.NO_KEY_LEFT,
)
def nothing_but_minus_infinity(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return unguarded(x, axis)


@mistake(
    "Right for small scores, and NaN for large ones: exp(1000) overflows to infinity, and infinity over infinity is no "
    "number. Take the largest score of each line off before exp.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp(1000)이 무한대로 넘치고, 무한대를 무한대로 나누면 수가 아니기 "
    "때문입니다. exp를 계산하기 전에 줄마다 가장 큰 점수를 빼세요.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return divided(np.exp(x), axis)


@variant_of(no_maximum_subtracted)
def no_maximum_subtracted_guarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return safely_divided(np.exp(x), axis)


@mistake(
    "Right where the lines have scores of about one size, and lost where one line lies far below another: `x.max()` is "
    "the largest score of the whole array, and with it taken off the powers of the low line are all 0. Take off the "
    "largest score of each line: `x.max(axis=axis, keepdims=True)`.",
    "줄마다 점수의 크기가 비슷하면 맞지만, 한 줄의 점수가 다른 줄보다 훨씬 낮으면 망가집니다. `x.max()`는 배열 "
    "전체에서 가장 큰 점수여서, 그것을 빼면 낮은 줄의 거듭제곱이 모두 0이 됩니다. `x.max(axis=axis, keepdims=True)`로 "
    "줄마다 가장 큰 점수를 빼세요.",
    explained=sections.LARGE_SCORES,
)
def one_maximum_for_all(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return divided(np.exp(x - x.max()), axis)


@variant_of(one_maximum_for_all)
def one_maximum_for_all_guarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return safely_divided(np.exp(x - x.max()), axis)


@mistake(
    "The whole array sums to 1, and each line to less: the sum went over every axis. Sum along `axis` alone, with "
    "keepdims=True so that the sum can be divided by.",
    "배열 전체의 합이 1이고 줄마다의 합은 1보다 작습니다. 모든 축을 더한 것입니다. `axis` 방향으로만 더하고, 나눌 수 "
    "있도록 keepdims=True를 주세요.",
)
def sum_over_everything(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


@mistake(
    "The shares always sum to 1 along the last axis, whatever `axis` says. Hand `axis` on to max and sum.",
    "`axis`에 무엇을 주어도 늘 마지막 축을 따라 합이 1입니다. `axis`를 max와 sum에 넘기세요.",
)
def axis_ignored(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return unguarded(x, -1)


@variant_of(axis_ignored)
def axis_ignored_guarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return softmax(x, -1)


@mistake(
    "The shares always sum to 1 along the first axis, whatever `axis` says, so that the columns of a matrix sum to 1 "
    "and its rows do not. Hand `axis` on to max and sum in place of the 0.",
    "`axis`에 무엇을 주어도 늘 첫 번째 축을 따라 합이 1입니다. 그래서 행렬이면 열의 합이 1이고 행의 합은 1이 아닙니다. "
    "max와 sum에 0 대신 `axis`를 넘기세요.",
    explained=sections.WHICH_AXIS,
)
def always_the_first_axis(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return softmax(x, 0)


@mistake(
    "Without `axis` the columns sum to 1 and the rows do not. The default is the last axis, -1.",
    "`axis`를 주지 않으면 열의 합이 1이고 행의 합은 1이 아닙니다. 기본값은 마지막 축인 -1입니다.",
    explained=sections.WHICH_AXIS,
)
def first_axis_by_default(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return softmax(x, 0 if axis == -1 else axis)


@mistake(
    "The largest share of every line is exactly 1: these are the powers, not yet divided by their sum.",
    "줄마다 가장 큰 값이 정확히 1입니다. 거듭제곱까지만 계산하고 합으로 나누지 않았습니다.",
)
def not_divided(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.exp(x - x.max(axis=axis, keepdims=True))


@variant_of(not_divided)
def not_divided_guarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    top = x.max(axis=axis, keepdims=True)
    return np.exp(x - np.where(np.isneginf(top), 0, top))


@mistake(
    "The lines sum to 1, but these are powers of 2: the table of the note uses 2 because it is easy by hand. Softmax "
    "uses e: take np.exp.",
    "줄의 합은 1이지만 2의 거듭제곱을 썼습니다. 노트의 표에서는 손으로 계산하기 쉬우라고 2를 썼을 뿐, 소프트맥스는 e의 "
    "거듭제곱을 씁니다. np.exp를 쓰세요.",
    explained=sections.POWERS,
)
def powers_of_two(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return unguarded(x * np.log(2), axis)


@variant_of(powers_of_two)
def powers_of_two_guarded(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return softmax(x * np.log(2), axis)


@mistake(
    "The lines sum to 1, but a negative score gives a negative share: the scores were divided as they are. "
    "Take exp first.",
    "줄의 합은 1이지만 음수 점수의 비율이 음수입니다. 점수를 그대로 나눈 것입니다. 먼저 exp를 계산하세요.",
    explained=sections.POWERS,
)
def no_powers(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return x / x.sum(axis=axis, keepdims=True)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    shape = tuple(sizes.values())
    return Call((2 * rng.standard_normal(shape),), {"axis": int(rng.integers(-len(shape), len(shape)))})


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((rng.standard_normal((2, 3)),))
    yield Call((np.array([1.0, 2.0, 3.0]),))
    yield Call((np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1002.0, -1001.0]]),))
    yield Call((np.array([2000.0, 0.0, -500.0]),))
    yield Call((np.array([5.0]),))
    yield Call((np.array([[0.0, 1.0, 2.0], [-np.inf, -np.inf, -np.inf]]),))


TASK = Said(
    """\
Turn scores into shares: every share is between 0 and 1, larger for a larger score, and along `axis` they sum to 1.

    shareᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

Scores of a thousand must work too, although exp(1000) is too large for a float. Taking the same number off every
score of a line changes no share: choose a number that keeps exp small. A score of −inf has the share 0. In a line of
nothing but −inf there is nothing to share out: all of it is 0, and never NaN. Write it without Python loops.

    x     any shape
    axis  the axis along which the shares sum to 1
    →     the shape of x""",
    """\
점수를 비율로 바꾸세요. 비율은 모두 0과 1 사이이고, 점수가 크면 비율도 크며, `axis` 방향으로 더하면 1입니다.

    비율ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

점수가 1000이어도 계산되어야 합니다. exp(1000)은 부동소수점으로 나타낼 수 없을 만큼 큽니다. 한 줄의 점수에서 같은
수를 빼도 비율은 그대로이니, exp가 커지지 않게 할 수를 골라 빼세요. 점수가 −inf이면 비율은 0입니다. −inf뿐인 줄에는 나눌
몫이 없으므로 NaN이 아니라 모두 0이 나와야 합니다. 반복문은 쓰지 말고 작성하세요.

    x     모양은 자유
    axis  비율의 합이 1이 되는 축
    →     x와 같은 모양""",
)

HINTS = (
    Said(
        "Two steps: exp of every score, then each divided by the sum of its line.",
        "두 단계입니다. 모든 점수에 exp를 취하고, 각각을 그 줄의 합으로 나누세요.",
    ),
    Said(
        "`x.sum(axis=axis)` loses the axis, so dividing by it does not line up; `keepdims=True` keeps it. "
        "So for `x.max`.",
        "`x.sum(axis=axis)`를 쓰면 그 축이 사라져 나눗셈의 모양이 맞지 않습니다. `keepdims=True`를 주면 축이 남습니다. "
        "`x.max`도 마찬가지입니다.",
    ),
    Said(
        "powers = np.exp(x - top), where top = x.max(axis=axis, keepdims=True) with 0 in place of −inf; then divide by "
        "their sum along the axis, with 1 in place of 0: `np.where(total == 0, 1, total)`.",
        "top = x.max(axis=axis, keepdims=True)에서 −inf인 곳을 0으로 바꾸고 powers = np.exp(x - top)을 구하세요. "
        "이것을 축 방향의 합으로 나누되, 합이 0인 곳은 `np.where(total == 0, 1, total)`처럼 1로 바꾸면 됩니다.",
    ),
)

EXERCISE = Exercise(
    name="softmax",
    note="01",
    section=Said("The formula", "수식"),
    title=Said("Scores become shares", "점수를 비율로"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=softmax,
            judge=by_definition,
            draw=draw,
            sizes={"a": 2, "b": 3, "c": 5},
            further=further,
            outputs={"softmax(x)": "a b c"},
            loops=False,
            examples=("softmax(np.array([0.0, 1.0, 2.0]))", "softmax(np.array([[0.0, 0.0], [1.0, 3.0]]), axis=0)"),
            mistakes=(
                nothing_but_minus_infinity,
                no_maximum_subtracted,
                no_maximum_subtracted_guarded,
                one_maximum_for_all,
                one_maximum_for_all_guarded,
                sum_over_everything,
                axis_ignored,
                axis_ignored_guarded,
                always_the_first_axis,
                first_axis_by_default,
                not_divided,
                not_divided_guarded,
                no_powers,
                powers_of_two,
                powers_of_two_guarded,
            ),
        ),
    ),
)
