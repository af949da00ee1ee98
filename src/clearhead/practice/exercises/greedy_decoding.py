"""greedy_decoding: write the most probable next word, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clearhead.languages import Said
from clearhead.practice.exercise import Call, Exercise, Part, mistake

Step = Callable[[list[int]], np.ndarray]


def greedy_decoding(step: Callable[[list[int]], np.ndarray], start: int, end: int, max_length: int) -> list[int]:
    given = [start]
    while len(given) <= max_length:
        word = int(step(given).argmax())
        given.append(word)
        if word == end:
            break
    return given[1:]


def by_definition(step: Step, start: int, end: int, max_length: int) -> list[int]:
    """One word more, as long as there is room and the last one was not the end."""
    words: list[int] = []
    while len(words) < max_length and end not in words:
        logits = [float(logit) for logit in step([start, *words])]
        words.append(logits.index(max(logits)))
    return words


@dataclass(frozen=True)
class Speaker:
    """A model small enough to print: logits by the word given last, plus logits by how many were given.

    after (words, words), at (lengths, words); the last row of `at` stands for all that is longer
    """

    after: np.ndarray
    at: np.ndarray

    def __call__(self, given: Sequence[int]) -> np.ndarray:
        by_length = self.at[min(len(given), len(self.at) - 1)]
        return by_length + self.after[given[-1]] if len(given) else by_length

    def __repr__(self) -> str:
        after, at = (np.array2string(x, precision=2, suppress_small=True) for x in (self.after, self.at))
        return f"step(given) = after[given[-1]] + at[len(given)], with\nafter =\n{after}\nat =\n{at}"


@mistake(
    "The words are right, but the end is missing: it was noticed and thrown away. It is a word that was written; "
    "keep it, so that a finished sentence can be told from one that was cut off.",
    "단어는 맞지만 끝 토큰이 없습니다. 끝을 알아보고는 버렸습니다. 끝 토큰도 쓴 단어이니 남겨 두세요. 그래야 다 쓴 "
    "문장과 잘린 문장을 구별할 수 있습니다.",
)
def end_thrown_away(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return [word for word in by_definition(step, start, end, max_length) if word != end]


@mistake(
    "The answer begins with the start token, which was given and not written. Leave it out.",
    "답이 시작 토큰으로 시작합니다. 시작 토큰은 받은 것이지 쓴 것이 아니니 빼세요.",
)
def start_kept(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return [start, *by_definition(step, start, end, max_length)]


@mistake(
    "It writes on after the end, always max_length words. Stop as soon as the word is `end`.",
    "끝 토큰 뒤에도 계속 써서 언제나 max_length개가 됩니다. 쓴 단어가 `end`면 바로 멈추세요.",
)
def end_overlooked(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return by_definition(step, start, -1, max_length)


@mistake(
    "A sentence that never ends has one word too many, max_length + 1. Look at the length before writing, not after.",
    "끝나지 않는 문장에서 한 단어가 많아 max_length + 1개입니다. 쓰고 나서가 아니라 쓰기 전에 길이를 확인하세요.",
)
def one_word_too_many(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return by_definition(step, start, end, max_length + 1)


@mistake(
    "A sentence that never ends has one word too few: the start token was counted. max_length counts what is written.",
    "끝나지 않는 문장에서 한 단어가 모자랍니다. 시작 토큰까지 세었기 때문입니다. max_length는 쓴 단어만 셉니다.",
)
def start_counted(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return by_definition(step, start, end, max_length - 1)


@mistake(
    "From the second word on the model was given the last word alone, so it does not know what came before. Give it "
    "everything so far, the start first.",
    "두 번째 단어부터 모델에 마지막 단어만 주어서, 모델이 그 앞을 모릅니다. 시작 토큰부터 지금까지의 단어를 모두 "
    "주세요.",
)
def last_word_alone(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return by_definition(lambda given: step(given[-1:]), start, end, max_length)


@mistake(
    "The start token is given for the first word only and then forgotten. Every step is given the start, followed by "
    "all words so far.",
    "첫 단어를 쓸 때만 시작 토큰을 주고 그다음에는 빠뜨렸습니다. 단계마다 시작 토큰과 지금까지 쓴 단어를 모두 주세요.",
)
def start_forgotten(step: Step, start: int, end: int, max_length: int) -> list[int]:
    return by_definition(lambda given: step(given[1:] or given), start, end, max_length)


@mistake(
    "Of equally probable words the last was taken. Take the first, the one with the lowest id, as argmax does.",
    "확률이 같은 단어 가운데 마지막 것을 골랐습니다. argmax처럼 번호가 가장 작은 첫 번째를 고르세요.",
)
def last_of_equals(step: Step, start: int, end: int, max_length: int) -> list[int]:
    words: list[int] = []
    while len(words) < max_length and end not in words:
        logits = step([start, *words])
        words.append(len(logits) - 1 - int(logits[::-1].argmax()))
    return words


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    words, max_length = sizes["words"], sizes["max_length"]
    start, end = rng.integers(words), rng.integers(words)
    step = Speaker(rng.standard_normal((words, words)), rng.standard_normal((max_length + 1, words)))
    return Call((step, int(start), int(end), max_length))


def further(rng: np.random.Generator) -> Iterable[Call]:
    round_and_round = Speaker(np.roll(np.eye(4), 1, axis=1), np.zeros((1, 4)))
    yield Call((round_and_round, 0, 3, 9))  # ends after three words
    yield Call((round_and_round, 0, 9, 5))  # never ends
    yield Call((round_and_round, 2, 3, 1))  # ends at once
    yield Call((Speaker(np.zeros((3, 3)), np.array([[0.0, 0, 0], [0, 1, 1], [1, 0, 1]])), 0, 2, 4))  # equals
    yield Call((Speaker(rng.standard_normal((5, 5)), rng.standard_normal((9, 5))), 4, 5, 8))


TASK = Said(
    """\
Let a model write. `step(given)` is the model: it takes the list of words so far, beginning with `start`, and returns
one logit for every word that could come next. Greedy decoding takes the word with the largest logit, the first of
equals, puts it behind the others and asks again. It is finished when the word is `end`, or when `max_length` words
have been written.

    step        a function: list of ids → logits (words,)
    start, end  ids of the tokens that begin and end a text
    max_length  the most words that may be written; the start is not one of them
    →           the list of ids written, without the start, with the end if there is one""",
    """\
모델이 글을 쓰게 하세요. `step(given)`이 모델입니다. `start`로 시작하는 지금까지의 단어 목록을 받아, 다음에 올 수 있는
단어마다 로짓을 하나씩 돌려줍니다. 그리디 디코딩은 로짓이 가장 큰 단어를 고르고(같으면 첫 번째), 목록 뒤에 붙이고,
다시 묻습니다. 고른 단어가 `end`이거나 `max_length`개를 썼으면 끝납니다.

    step        함수: 번호의 list → 로짓 (words,)
    start, end  글의 시작과 끝을 나타내는 토큰의 번호
    max_length  쓸 수 있는 단어의 최대 개수(시작 토큰은 세지 않음)
    →           쓴 단어 번호의 list. 시작 토큰은 빼고, 끝 토큰은 있으면 넣음""",
)

HINTS = (
    Said(
        "Keep one list that begins with the start token. Each round: ask step for the logits, take argmax, append.",
        "시작 토큰으로 시작하는 목록 하나를 두세요. 매번 step에서 로짓을 받아 argmax를 고르고 목록에 붙입니다.",
    ),
    Said(
        "Two ways to stop: break when the word is `end`, and a loop that runs at most max_length times.",
        "멈추는 길은 두 가지입니다. 단어가 `end`면 break하고, 반복은 많아야 max_length번 합니다.",
    ),
    Said(
        "given = [start]; for _ in range(max_length): word = int(step(given).argmax()); given.append(word); if word "
        "== end: break; and return given[1:].",
        "given = [start]로 두고 for _ in range(max_length) 안에서 word = int(step(given).argmax()), "
        "given.append(word)를 하고 word == end면 break하세요. 답은 given[1:]입니다.",
    ),
)

EXERCISE = Exercise(
    name="greedy_decoding",
    note="06",
    section=Said("In code", "코드로"),
    title=Said("Writing word by word", "한 단어씩 쓰기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=greedy_decoding,
            judge=by_definition,
            draw=draw,
            sizes={"words": 5, "max_length": 7},
            smallest={"words": 2},
            further=further,
            outputs={"ids": "n"},
            examples=(
                "greedy_decoding(lambda given: np.eye(4)[(given[-1] + 1) % 4], 0, 3, 9)",
                "greedy_decoding(lambda given: np.eye(4)[(given[-1] + 1) % 4], 0, 9, 5)",
            ),
            mistakes=(
                end_thrown_away,
                start_kept,
                end_overlooked,
                one_word_too_many,
                start_counted,
                last_word_alone,
                start_forgotten,
                last_of_equals,
            ),
        ),
    ),
)
