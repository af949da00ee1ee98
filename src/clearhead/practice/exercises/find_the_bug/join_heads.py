"""Bug 3: heads back into rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def join_heads(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, h * d)


def buggy_join_heads(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.reshape(*leading, n, h * d)


def judged_join_heads(x: np.ndarray) -> np.ndarray:
    """Number by number."""
    *leading, h, n, d = x.shape
    joined = np.empty((*leading, n, h * d))
    for *place, head, i, c in product(*map(range, x.shape)):
        joined[(*place, i, head * d + c)] = x[(*place, head, i, c)]
    return joined


@mistake(
    "Two axes are swapped now, but the wrong two: each head's columns and positions. Swap heads with positions, so "
    "that the heads of one position lie side by side.",
    "이제 두 축을 맞바꾸었지만 헤드의 열과 위치를 바꾸었습니다. 헤드와 위치를 바꾸어야 한 위치의 헤드들이 나란히 "
    "놓입니다.",
    explained=sections.SPLIT_AND_MERGE,
)
def columns_swapped(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.swapaxes(-2, -1).reshape(*leading, n, h * d)


@mistake(
    "The columns of the heads are interleaved: head 0, head 1, head 0, … A position's row is all of head 0, then all "
    "of head 1.",
    "헤드의 열이 한 칸씩 번갈아 놓였습니다. 한 위치의 행은 0번 헤드 전체, 그다음 1번 헤드 전체의 순서입니다.",
    explained=sections.SPLIT_AND_MERGE,
)
def columns_interleaved(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, n, h * d)


def draw_join_heads(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.standard_normal(tuple(sizes.values())),))


PART = Part(
    solution=join_heads,
    judge=judged_join_heads,
    draw=draw_join_heads,
    sizes={"b": 2, "h": 3, "n": 5, "d": 4},
    outputs={"rows": "b n h·d"},
    stub=as_found(buggy_join_heads, "join_heads"),
    mistakes=(
        unchanged(
            buggy_join_heads,
            "join_heads: fill x with the number of each position, so that x[..., i, :] is i, and join. Every row "
            "should hold one number.",
            "join_heads: x[..., i, :]이 i가 되도록 위치의 번호로 x를 채우고 합쳐 보세요. 한 행에는 한 가지 수만 "
            "있어야 합니다.",
        ),
        columns_swapped,
        columns_interleaved,
    ),
)
