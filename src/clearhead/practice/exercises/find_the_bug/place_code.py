"""Bug 6: clocks that run at the wrong speed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged

Pair = tuple[np.ndarray, np.ndarray]


def place_code(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (2 * (column // 2) / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def buggy_place_code(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def judged_place_code(n: int, d: int) -> np.ndarray:
    """Pair by pair."""
    code = np.zeros((n, d))
    for place in range(n):
        for first in range(0, d, 2):
            angle = place / 10000 ** (first / d)
            code[place, first] = math.sin(angle)
            if first + 1 < d:
                code[place, first + 1] = math.cos(angle)
    return code


@mistake(
    "sin and cos of a pair run alike now, but twice too slowly from pair to pair: the exponent of pair i is 2i / d, "
    "and column // 2 is i.",
    "한 쌍의 sin과 cos은 이제 같이 가지만, 쌍마다 지수가 절반입니다. i번 쌍의 지수는 2i / d이고 column // 2가 i입니다.",
    explained=sections.SINES_AND_ANGLES,
)
def exponent_halved(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (column // 2 / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@mistake(
    "Now all sines come first and all cosines after them. The speeds are right; the columns alternate, sin on even "
    "and cos on odd ones.",
    "이제 sin이 모두 앞에, cos이 모두 뒤에 있습니다. 속도는 맞습니다. 열은 번갈아 놓여야 해서 짝수 열이 sin, 홀수 "
    "열이 cos입니다.",
    explained=sections.SINES_AND_ANGLES,
)
def halves_for_pairs(n: int, d: int) -> np.ndarray:
    code = place_code(n, d)
    return np.concatenate([code[:, 0::2], code[:, 1::2]], axis=-1)


def draw_place_code(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["n"], sizes["d"]))


PART = Part(
    solution=place_code,
    judge=judged_place_code,
    draw=draw_place_code,
    sizes={"n": 5, "d": 6},
    outputs={"code": "n d"},
    stub=as_found(buggy_place_code, "place_code"),
    mistakes=(
        unchanged(
            buggy_place_code,
            "place_code: compute code[:, 0]**2 + code[:, 1]**2, then columns 2 and 3. Two columns of a pair are "
            "one hand of a clock seen from two sides; how fast does each column run?",
            "place_code: code[:, 0]**2 + code[:, 1]**2을 구하고 2번과 3번 열로도 구해 보세요. 한 쌍의 두 열은 "
            "시곗바늘 하나를 두 방향에서 본 것입니다. 열마다 얼마나 빨리 도나요?",
        ),
        exponent_halved,
        halves_for_pairs,
    ),
)
