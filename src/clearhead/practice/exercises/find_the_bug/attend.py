"""Bug 1: the width under the root."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def buggy_attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(V.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def judged_attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Query by query."""
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in product(*map(range, Q.shape[:-1])):
        text = place[:-1]
        scores = [float(np.dot(Q[place], k)) / math.sqrt(len(k)) for k in K[text]]
        powers = [math.exp(score - max(scores)) for score in scores]
        output[place] = sum(power / sum(powers) * v for power, v in zip(powers, V[text], strict=True))
    return output


@mistake(
    "Now nothing is divided at all, and the attention is too sharp. The division belongs there; look at the number "
    "under the root.",
    "이제 아무것도 나누지 않아 어텐션이 너무 뾰족합니다. 나누기는 필요합니다. 루트 안의 수를 살펴보세요.",
    explained=sections.WHY_SCALE,
)
def not_scaled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return attend(Q * np.sqrt(K.shape[-1]), K, V)


@mistake(
    "Divided by the number of keys' root, not the width's: K.shape[-2] counts keys. A score sums K.shape[-1] products.",
    "키의 폭이 아니라 키의 개수로 나누었습니다. K.shape[-2]는 키의 개수이고, 점수 하나에 더한 곱은 "
    "K.shape[-1]개입니다.",
    explained=sections.WHY_SCALE,
)
def scaled_by_the_number_of_keys(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return attend(Q * np.sqrt(K.shape[-1] / K.shape[-2]), K, V)


def draw_attend(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, n_k, d, d_v = sizes.values()
    return Call(tuple(rng.standard_normal(shape) for shape in ((b, n_q, d), (b, n_k, d), (b, n_k, d_v))))


PART = Part(
    solution=attend,
    judge=judged_attend,
    draw=draw_attend,
    sizes={"b": 2, "n_q": 3, "n_k": 5, "d": 4, "d_v": 7},
    outputs={"output": "b n_q d_v"},
    stub=as_found(buggy_attend, "attend"),
    mistakes=(
        unchanged(
            buggy_attend,
            "attend: the weights must not depend on how wide the values are. Call it once with all columns of V "
            "and once with half of them, and compare the columns that both have.",
            "attend: 가중치는 값의 폭과 상관없어야 합니다. V의 열을 모두 준 결과와 절반만 준 결과에서, 둘 다에 "
            "있는 열을 비교해 보세요.",
        ),
        not_scaled,
        scaled_by_the_number_of_keys,
    ),
)
