"""Bug 8: what is given and what is wanted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clearhead.practice import sections
from clearhead.practice.exercise import Call, Part, mistake
from clearhead.practice.exercises.find_the_bug.planted import as_found, unchanged

Pair = tuple[np.ndarray, np.ndarray]


def teacher_forcing(ids: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.full((len(ids), 1), start)
    given = np.concatenate([first, ids[:, :-1]], axis=1)
    wanted = ids
    return given, wanted


def buggy_teacher_forcing(ids: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.full((len(ids), 1), start)
    given = np.concatenate([first, ids], axis=1)[:, 1:]
    wanted = ids
    return given, wanted


def judged_teacher_forcing(ids: np.ndarray, start: int) -> Pair:
    """Word by word: what was written before it."""
    given = [[row[i - 1] if i else start for i in range(len(row))] for row in ids.tolist()]
    return np.array(given), np.array(ids)


@mistake(
    "Shifted, but the other way: given is now one word ahead of what is wanted, and the decoder is handed even the "
    "word after. The start comes first, and the last word is never given.",
    "밀기는 했지만 반대쪽입니다. 주는 것이 써야 할 것보다 한 단어 앞서, 디코더가 그다음 단어까지 받습니다. 시작 "
    "토큰이 맨 앞에 오고, 마지막 단어는 주지 않습니다.",
    explained=sections.BLOCKS_AND_DECODING,
)
def shifted_ahead(ids: np.ndarray, start: int) -> Pair:
    first = np.full((len(ids), 1), start)
    return np.concatenate([ids[:, 1:], first], axis=1), ids


@mistake(
    "given is right but for one word too many: the last word is given, and nothing is left to be written after it. "
    "Leave it out of `given`.",
    "주는 것이 한 단어 많습니다. 마지막 단어를 주면 그 뒤에 쓸 것이 없습니다. `given`에서 마지막 단어를 빼세요.",
    explained=sections.BLOCKS_AND_DECODING,
)
def last_word_given(ids: np.ndarray, start: int) -> Pair:
    first = np.full((len(ids), 1), start)
    return np.concatenate([first, ids], axis=1), ids


@mistake(
    "The two are shifted by one, but the beginning is lost: the decoder never learns to write the first word. Begin "
    "`given` with the start token, and keep all of ids in `wanted`.",
    "한 칸 밀리기는 했지만 처음이 사라져, 디코더가 첫 단어를 쓰는 법을 배우지 못합니다. `given`은 시작 토큰으로 "
    "시작하고, `wanted`에는 ids를 모두 남기세요.",
    explained=sections.BLOCKS_AND_DECODING,
)
def beginning_lost(ids: np.ndarray, start: int) -> Pair:
    return ids[:, :-1], ids[:, 1:]


def draw_teacher_forcing(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.integers(2, 50, (sizes["b"], sizes["n"])), 1))


PART = Part(
    solution=teacher_forcing,
    judge=judged_teacher_forcing,
    draw=draw_teacher_forcing,
    sizes={"b": 2, "n": 5},
    outputs={"given": "b n", "wanted": "b n"},
    stub=as_found(buggy_teacher_forcing, "teacher_forcing"),
    mistakes=(
        unchanged(
            buggy_teacher_forcing,
            "teacher_forcing: print given above wanted for one text of five words. What would you have to learn "
            "if you were given the upper row and had to write the lower one?",
            "teacher_forcing: 단어 다섯 개짜리 글 하나로 given과 wanted를 위아래로 출력해 보세요. 위의 행을 받아 "
            "아래의 행을 써야 한다면 무엇을 배워야 할까요?",
        ),
        shifted_ahead,
        last_word_given,
        beginning_lost,
    ),
)
