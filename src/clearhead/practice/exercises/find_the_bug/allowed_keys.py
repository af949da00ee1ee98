"""Bug 4: the triangle with a cache."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def allowed_keys(n: int, n_k: int) -> np.ndarray:
    query = np.arange(n)[:, None] + n_k - n
    return np.arange(n_k) <= query


def buggy_allowed_keys(n: int, n_k: int) -> np.ndarray:
    query = np.arange(n)[:, None]
    return np.arange(n_k) <= query


def judged_allowed_keys(n: int, n_k: int) -> np.ndarray:
    """The last query sees every key, the one before it one less, and so on."""
    return np.array([[j < n_k - later for j in range(n_k)] for later in reversed(range(n))])


@mistake(
    "Shifted the wrong way: now the triangle has moved out to the left. The queries stand n_k - n places further on, "
    "not further back.",
    "반대로 밀었습니다. 삼각형이 왼쪽으로 벗어났습니다. 쿼리는 n_k - n칸 앞이 아니라 뒤에 있습니다.",
    explained=sections.MORE_KEYS,
)
def shifted_the_wrong_way(n: int, n_k: int) -> np.ndarray:
    return np.arange(n_k) <= np.arange(n)[:, None] - (n_k - n)


@mistake(
    "Nearly: the place of the queries is right, but none sees its own key. With < the diagonal is lost; compare with "
    "<=.",
    "거의 맞습니다. 쿼리의 자리는 맞지만 자기 키를 보지 못합니다. <로 비교하면 대각선을 잃으니 <=로 비교하세요.",
    explained=sections.MORE_KEYS,
)
def own_key_lost(n: int, n_k: int) -> np.ndarray:
    return np.arange(n_k) < np.arange(n)[:, None] + n_k - n


def draw_allowed_keys(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["n"], sizes["n"] + sizes["cached"]))


PART = Part(
    solution=allowed_keys,
    judge=judged_allowed_keys,
    draw=draw_allowed_keys,
    sizes={"n": 3, "cached": 2},
    smallest={"cached": 0},
    outputs={"mask": "n n_k"},
    stub=as_found(buggy_allowed_keys, "allowed_keys"),
    mistakes=(
        unchanged(
            buggy_allowed_keys,
            "allowed_keys: print the mask for 2 queries and 5 keys. The last query has just been written, so it "
            "may see everything that is there. Does it?",
            "allowed_keys: 쿼리 2개와 키 5개의 마스크를 출력해 보세요. 마지막 쿼리는 방금 쓴 단어이니 있는 것을 "
            "모두 볼 수 있어야 합니다. 그런가요?",
        ),
        shifted_the_wrong_way,
        own_key_lost,
    ),
)
