"""Bug 5: empty chairs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged


def hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, None, :], scores, -np.inf)


def buggy_hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, :, None], scores, -np.inf)


def judged_hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Column by column."""
    hidden = np.array(scores)
    for text, row in enumerate(ids):
        for key, number in enumerate(row):
            if number == 0:
                hidden[text, :, key] = -math.inf
    return hidden


@mistake(
    "The right axis, but inverted: now the real words are hidden and the padding is left. np.where takes the second "
    "where the first is True.",
    "축은 맞지만 반대로 가렸습니다. 진짜 단어가 가려지고 패딩만 남았습니다. np.where는 첫 인자가 True인 곳에서 두 "
    "번째 것을 고릅니다.",
    explained=sections.LEAKS,
)
def real_words_hidden(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return np.where((ids == 0)[:, None, :], scores, -np.inf)


@mistake(
    "The keys are hidden now, and the rows of padding too, which leaves those rows without any key: NaN after the "
    "softmax. Hide the columns and leave the rows.",
    "이제 키가 가려졌지만 패딩의 행까지 가려, 그 행에는 볼 키가 하나도 없습니다. 소프트맥스를 거치면 NaN이 됩니다. "
    "열만 가리고 행은 그대로 두세요.",
    explained=sections.LEAKS,
)
def rows_hidden_too(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, None, :] & real[:, :, None], scores, -np.inf)


def draw_hide_padding(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n = sizes["b"], sizes["n"]
    ids = np.where(np.arange(n) < rng.integers(1, n + 1, (b, 1)), rng.integers(1, 99, (b, n)), 0)
    return Call((rng.standard_normal((b, n, n)), ids))


PART = Part(
    solution=hide_padding,
    judge=judged_hide_padding,
    draw=draw_hide_padding,
    sizes={"b": 3, "n": 5},
    outputs={"scores": "b n n"},
    stub=as_found(buggy_hide_padding, "hide_padding"),
    mistakes=(
        unchanged(
            buggy_hide_padding,
            "hide_padding: take a text with one word and two paddings, and print the scores. Who may not be "
            "looked at, and is it these that carry the -inf?",
            "hide_padding: 단어 하나와 패딩 둘인 글을 넣고 점수를 출력해 보세요. 보면 안 되는 것은 누구이고, "
            "-inf가 그 자리에 있나요?",
        ),
        real_words_hidden,
        rows_hidden_too,
    ),
)
