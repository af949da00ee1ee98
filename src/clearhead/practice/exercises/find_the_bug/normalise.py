"""Bug 7: whose mean?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def normalise(x: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def buggy_normalise(x: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=-2, keepdims=True)
    variance = x.var(axis=-2, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def judged_normalise(x: np.ndarray) -> np.ndarray:
    """Position by position."""
    y = np.empty(x.shape)
    for place in product(*map(range, x.shape[:-1])):
        numbers = [float(number) for number in x[place]]
        mean = sum(numbers) / len(numbers)
        variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
        y[place] = [(number - mean) / math.sqrt(variance + 1e-5) for number in numbers]
    return y


@mistake(
    "Half repaired: the mean is each position's own, the variance is still taken over the positions. Both have the "
    "same axis.",
    "절반만 고쳤습니다. 평균은 위치마다 구했지만 분산은 여전히 위치 방향입니다. 둘 다 같은 축으로 구하세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def variance_still_over_positions(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-2, keepdims=True) + 1e-5)


@mistake(
    "Now there is one mean and one variance for everything, so that positions still know of each other. Each "
    "position has its own: axis=-1.",
    "이제 전체에 평균 하나와 분산 하나뿐이어서, 위치끼리 여전히 서로 영향을 줍니다. 위치마다 axis=-1로 따로 구하세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def one_mean_for_all(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def draw_normalise(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((1 + 2 * rng.standard_normal(tuple(sizes.values())),))


PART = Part(
    solution=normalise,
    judge=judged_normalise,
    draw=draw_normalise,
    sizes={"b": 2, "n": 3, "d": 5},
    outputs={"output": "b n d"},
    stub=as_found(buggy_normalise, "normalise"),
    mistakes=(
        unchanged(
            buggy_normalise,
            "normalise: change the last position of x and compare the first rows of the output. They must stay "
            "as they were. Whose numbers go into a mean?",
            "normalise: x의 마지막 위치를 바꾸고 출력의 첫 행들을 비교해 보세요. 그대로여야 합니다. 평균에 "
            "누구의 숫자가 들어가나요?",
        ),
        variance_still_over_positions,
        one_mean_for_all,
    ),
)
