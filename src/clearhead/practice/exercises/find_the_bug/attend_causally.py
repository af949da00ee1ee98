"""Bug 2: when to mask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.attend import judged_attend
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    past = np.tri(Q.shape[-2], dtype=bool)
    scores = np.where(past, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def buggy_attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    past = np.tri(Q.shape[-2], dtype=bool)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    weights = np.where(past, weights, 0)
    return weights @ V


def judged_attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each query over the keys up to itself, as if there were no others."""
    rows = [judged_attend(Q[..., i : i + 1, :], K[..., : i + 1, :], V[..., : i + 1, :]) for i in range(Q.shape[-2])]
    return np.concatenate(rows, axis=-2)


def filled(Q: np.ndarray, K: np.ndarray, V: np.ndarray, past: np.ndarray, fill: float) -> np.ndarray:
    scores = np.where(past, Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]), fill)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ V


@mistake(
    "The mask is in the right place now, but a score of 0 is not nothing: e⁰ = 1 takes part. Use -np.inf.",
    "마스크의 자리는 이제 맞지만, 점수 0은 없는 것이 아닙니다. e⁰ = 1만큼 끼어듭니다. -np.inf를 쓰세요.",
    explained=sections.LEAKS,
)
def masked_with_zero(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool), 0.0)


@mistake(
    "Right for ordinary scores; where real scores are lower than -10,000 the future wins. Only -np.inf is lower than "
    "every score.",
    "평범한 점수에서는 맞지만, 진짜 점수가 -10,000보다 낮으면 미래가 이깁니다. 어떤 점수보다도 낮은 것은 "
    "-np.inf뿐입니다.",
    explained=sections.LEAKS,
)
def masked_with_a_large_number(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool), -1e4)


@mistake(
    "Masked in the right place, and the wrong triangle: now each query sees itself and the future. Keep np.tri as it "
    "was.",
    "마스크의 자리는 맞지만 삼각형이 반대입니다. 쿼리가 자기와 미래를 봅니다. np.tri는 그대로 두세요.",
    explained=sections.LEAKS,
)
def the_wrong_triangle(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool).T, -np.inf)


def draw_attend_causally(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n, d, d_v = sizes.values()
    return Call(tuple(rng.standard_normal(shape) for shape in ((b, n, d), (b, n, d), (b, n, d_v))))


def low_scores(rng: np.random.Generator) -> Iterable[Call]:
    ones = np.ones((3, 4))
    yield Call((-200 * ones, 200 * ones + rng.standard_normal((3, 4)) / 100, rng.standard_normal((3, 2))))


PART = Part(
    solution=attend_causally,
    judge=judged_attend_causally,
    draw=draw_attend_causally,
    sizes={"b": 2, "n": 5, "d": 3, "d_v": 4},
    further=low_scores,
    outputs={"output": "b n d_v"},
    stub=as_found(buggy_attend_causally, "attend_causally"),
    mistakes=(
        unchanged(
            buggy_attend_causally,
            "attend_causally: print the row sums of the weights, then change the last row of K and look at the "
            "first row of the output. A weight of 0 is not enough; where did the future leave a trace before "
            "that?",
            "attend_causally: 가중치의 행 합을 출력해 보고, K의 마지막 행을 바꾼 다음 출력의 첫 행을 보세요. "
            "가중치가 0인 것만으로는 부족합니다. 그 전에 미래가 어디에 흔적을 남겼을까요?",
        ),
        masked_with_zero,
        masked_with_a_large_number,
        the_wrong_triangle,
    ),
)
