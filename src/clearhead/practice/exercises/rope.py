"""rope: queries or keys turned by their position, column i with column i + d / 2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake

Positions = np.ndarray | None


def rope(x: np.ndarray, positions: np.ndarray | None = None) -> np.ndarray:
    n, d = x.shape[-2:]
    if positions is None:
        positions = np.arange(n)
    angles = positions[:, None] * 10000.0 ** (-2 * np.arange(d // 2) / d)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)


def by_definition(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    """Pair by pair: two numbers as a point in the plane, turned by position · 10000^(−2i / d)."""
    *leading, n, d = x.shape
    turned = np.empty(x.shape)
    for *head, row, i in product(*map(range, (*leading, n, d // 2))):
        angle = (row if positions is None else float(positions[row])) / 10000 ** (2 * i / d)
        a, b = (float(x[(*head, row, column)]) for column in (i, i + d // 2))
        turned[(*head, row, i)] = a * math.cos(angle) - b * math.sin(angle)
        turned[(*head, row, i + d // 2)] = a * math.sin(angle) + b * math.cos(angle)
    return turned


def seats(x: np.ndarray, positions: Positions) -> np.ndarray:
    """The positions of the rows, counted from 0 unless given: (n,)"""
    return np.arange(x.shape[-2]) if positions is None else positions


def turned(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """x (…, n, d) with column i and column i + d / 2 turned by angles (n, d / 2)"""
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)


def frequencies(d: int) -> np.ndarray:
    """(d / 2,)"""
    return 10000.0 ** (-2 * np.arange(d // 2) / d)


@mistake(
    "Neighbouring columns were turned together, 0 with 1 and 2 with 3: that is the interleaved layout. It is as good, "
    "but weights made for one do not fit the other. Here column i goes with column i + d/2.",
    "0열과 1열, 2열과 3열처럼 이웃한 열끼리 회전시켰습니다. 번갈아 두는 배치입니다. 그것도 좋지만, 한 배치로 학습한 "
    "가중치는 다른 배치와 맞지 않습니다. 여기서는 i열을 i + d/2열과 짝지으세요.",
    explained=sections.LAYOUTS,
)
def interleaved(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    order = np.r_[0 : x.shape[-1] : 2, 1 : x.shape[-1] : 2]
    return rope(x[..., order], positions)[..., np.argsort(order)]


@mistake(
    "The columns are paired by halves, but the angles are laid out for neighbours: θ₀ θ₀ θ₁ θ₁. So a pair is turned by "
    "two different angles and its length changes. Lay them out as θ₀ θ₁ θ₀ θ₁.",
    "열은 반으로 나누어 짝지었지만 각도는 θ₀ θ₀ θ₁ θ₁처럼 이웃한 열에 맞추어 놓았습니다. 그래서 한 짝이 서로 다른 "
    "각도로 돌고 길이도 달라집니다. 각도를 θ₀ θ₁ θ₀ θ₁처럼 놓으세요.",
)
def angles_for_the_other_layout(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    angles = np.repeat(seats(x, positions)[:, None] * frequencies(x.shape[-1]), 2, axis=-1)
    a, b = np.split(x, 2, axis=-1)
    return x * np.cos(angles) + np.concatenate([-b, a], axis=-1) * np.sin(angles)


@mistake(
    "Everything turned the other way: the minus sign stands with the wrong half. The first half becomes a cos − b sin, "
    "the second a sin + b cos.",
    "모두 반대 방향으로 돌았습니다. 빼기가 다른 쪽 절반에 있습니다. 앞쪽 절반은 a cos − b sin, 뒤쪽 절반은 a sin + b "
    "cos입니다.",
)
def turned_backwards(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    return turned(x, -seats(x, positions)[:, None] * frequencies(x.shape[-1]))


@mistake(
    "The pairs change their length, which a turn never does: the minus sign is missing. The first half becomes a cos − "
    "b sin.",
    "짝의 길이가 달라졌는데, 회전은 길이를 바꾸지 않습니다. 빼기가 빠졌습니다. 앞쪽 절반은 a cos − b sin입니다.",
)
def minus_lost(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    angles = seats(x, positions)[:, None] * frequencies(x.shape[-1])
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * np.cos(angles) + b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)


@mistake(
    "The first pair is right and the others turn too fast: the exponent was i / d. It is 2i / d, where i counts the "
    "pairs.",
    "첫 짝은 맞지만 나머지는 너무 빨리 돕니다. 지수에 i / d를 쓴 것입니다. i가 짝의 번호일 때 지수는 2i / d입니다.",
)
def pair_not_doubled(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    return turned(x, seats(x, positions)[:, None] * np.sqrt(frequencies(x.shape[-1])))


@mistake(
    "Right without `positions`, and with them the rows are still turned by 0, 1, 2, …: the argument was not used.",
    "`positions`를 주지 않으면 맞지만, 주어도 행마다 0, 1, 2, …만큼 돕니다. 인자를 쓰지 않은 것입니다.",
)
def positions_ignored(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    return rope(x)


@mistake(
    "Without `positions` the first row is turned, although it is position 0: the count began with 1. Use np.arange(n).",
    "`positions`를 주지 않았을 때, 위치 0인 첫 행까지 돌았습니다. 1부터 센 것입니다. np.arange(n)을 쓰세요.",
)
def counted_from_one(x: np.ndarray, positions: Positions = None) -> np.ndarray:
    return rope(x, np.arange(x.shape[-2]) + 1 if positions is None else positions)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    h, n, d = sizes.values()
    if d % 2:
        raise ValueError(f"columns are turned in pairs, so d must be even, got {d}")
    x = rng.standard_normal((h, n, d))
    return Call((x, rng.integers(1000, size=n)) if rng.random() < 0.5 else (x,))


def further(rng: np.random.Generator) -> Iterable[Call]:
    x = rng.standard_normal((3, 8))
    yield Call((x,))
    yield Call((x, np.array([7, 8, 9])))
    yield Call((x, np.array([5, 5, 0])))
    yield Call((rng.standard_normal((2, 3, 4, 6)), np.arange(10, 14)))
    yield Call((np.array([[1.0, 0.0]]), np.array([100_000])))


TASK = Said(
    """\
Turn every row of x by its position. Column i and column i + d/2 make a pair (a, b), a point in the plane, and pair i of
the row at position p is turned by the angle p · θᵢ:

    (a, b) → (a cos pθᵢ − b sin pθᵢ,  a sin pθᵢ + b cos pθᵢ)        θᵢ = 10000^(−2i / d),  i = 0, 1, …, d/2 − 1

Turn queries and keys like this, and their dot product knows how far apart they are, and nothing else of where they are.

    x          (…, n, d), d even
    positions  (n,), or None for 0, 1, …, n − 1
    →          (…, n, d)""",
    """\
x의 행마다 자기 위치만큼 회전시키세요. i열과 i + d/2열이 짝 (a, b)를 이루고, 이것을 평면 위의 점으로 봅니다. 위치가 p인
행의 i번째 짝은 각도 p · θᵢ만큼 돕니다.

    (a, b) → (a cos pθᵢ − b sin pθᵢ,  a sin pθᵢ + b cos pθᵢ)        θᵢ = 10000^(−2i / d),  i = 0, 1, …, d/2 − 1

쿼리와 키를 이렇게 회전시키면 둘의 점곱은 둘이 얼마나 떨어져 있는지만 알고, 어디에 있는지는 모릅니다.

    x          (…, n, d), d는 짝수
    positions  (n,), 없으면 0, 1, …, n − 1
    →          (…, n, d)""",
)

HINTS = (
    Said(
        "Begin with the table of angles: positions down, pairs across, (n, d/2). It broadcasts over whatever stands "
        "before.",
        "각도의 표부터 만드세요. 위치를 세로로, 짝을 가로로 놓으면 (n, d/2)입니다. 앞에 어떤 축이 있든 "
        "브로드캐스팅됩니다.",
    ),
    Said(
        "a = x[..., : d // 2] and b = x[..., d // 2 :] are all first and all second numbers of the pairs. No loop is "
        "needed.",
        "a = x[..., : d // 2]와 b = x[..., d // 2 :]가 모든 짝의 첫째 수와 둘째 수입니다. 반복문은 필요 없습니다.",
    ),
    Said(
        "angles = positions[:, None] * 10000.0 ** (-2 * np.arange(d // 2) / d); then concatenate a cos − b sin and a "
        "sin + b cos along the last axis.",
        "angles = positions[:, None] * 10000.0 ** (-2 * np.arange(d // 2) / d)를 구하고, a cos − b sin과 a sin + b "
        "cos을 마지막 축으로 이어 붙이세요.",
    ),
)

EXERCISE = Exercise(
    name="rope",
    note="04",
    section=Said("The formula", "수식"),
    title=Said("Turned by position", "위치만큼 회전시키기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=rope,
            judge=by_definition,
            draw=draw,
            sizes={"h": 2, "n": 4, "d": 6},
            smallest={"d": 2},
            further=further,
            outputs={"turned": "h n d"},
            examples=("rope(np.array([[1.0, 1.0, 0.0, 0.0]] * 3)).round(4)",),
            mistakes=(
                interleaved,
                angles_for_the_other_layout,
                turned_backwards,
                minus_lost,
                pair_not_doubled,
                positions_ignored,
                counted_from_one,
            ),
        ),
    ),
)
