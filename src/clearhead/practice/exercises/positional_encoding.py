"""positional_encoding: clock hands that turn ever more slowly, sine on even columns and cosine on odd ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def positional_encoding(seq_len: int, d_model: int) -> np.ndarray:
    columns = np.arange(d_model)
    angles = np.arange(seq_len)[:, None] / 10000 ** (2 * (columns // 2) / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def by_definition(seq_len: int, d_model: int) -> np.ndarray:
    """Cell by cell: the sine of the angle in column 2i, its cosine in column 2i + 1."""
    encoding = np.empty((seq_len, d_model))
    for position in range(seq_len):
        for column in range(d_model):
            i, odd = divmod(column, 2)
            angle = position / 10000 ** (2 * i / d_model)
            encoding[position, column] = math.cos(angle) if odd else math.sin(angle)
    return encoding


def waves(positions: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Sine on even columns and cosine on odd ones, of positions / 10000 ** exponents: (n,), (d,) → (n, d)"""
    angles = positions[:, None] / 10000.0**exponents
    return np.where(np.arange(len(exponents)) % 2 == 0, np.sin(angles), np.cos(angles))


def exponents(d_model: int) -> np.ndarray:
    """2i / d_model for each column: (d_model,)"""
    return 2 * (np.arange(d_model) // 2) / d_model


@mistake(
    "Sine and cosine of a pair do not belong together, sin² + cos² is not 1: every column got a frequency of its own. "
    "Columns 2i and 2i + 1 share one: use 2 * (column // 2) / d_model.",
    "한 짝의 sin² + cos²이 1이 아닙니다. 열마다 주파수가 따로여서 사인과 코사인이 짝을 이루지 못했습니다. 2i열과 2i + "
    "1열은 주파수가 같습니다. 2 * (column // 2) / d_model을 쓰세요.",
)
def a_frequency_for_every_column(seq_len: int, d_model: int) -> np.ndarray:
    return waves(np.arange(seq_len), np.arange(d_model) / d_model)


@mistake(
    "The hands slow down twice too fast, and sin² + cos² of a pair is not 1: the column's number was taken for i and "
    "doubled. i counts pairs: it is column // 2.",
    "바늘이 두 배나 빨리 느려지고, 한 짝의 sin² + cos²이 1이 아닙니다. 열 번호를 i로 여기고 두 배 한 것입니다. i는 "
    "짝의 번호, 곧 column // 2입니다.",
)
def column_number_for_pair(seq_len: int, d_model: int) -> np.ndarray:
    return waves(np.arange(seq_len), 2 * np.arange(d_model) / d_model)


@mistake(
    "The hands slow down only half as fast as they should: the exponent was i / d_model. It is 2i / d_model, so that "
    "the last hand turns nearly 10,000 times as slowly as the first.",
    "바늘이 느려지는 정도가 절반밖에 되지 않습니다. 지수에 i / d_model을 쓴 것입니다. 2i / d_model을 써야 마지막 "
    "바늘이 첫 바늘보다 거의 10,000배 느리게 돕니다.",
)
def pair_not_doubled(seq_len: int, d_model: int) -> np.ndarray:
    return waves(np.arange(seq_len), exponents(d_model) / 2)


@mistake(
    "The columns are right and in another order: all sines first, then all cosines. A model trained from scratch would "
    "not mind, but weights made for the one do not fit the other. Here sine and cosine alternate.",
    "열은 맞지만 순서가 다릅니다. 사인이 모두 앞에 있고 코사인이 뒤에 있습니다. 새로 학습하는 모델이라면 괜찮지만, "
    "가져온 가중치와는 맞지 않습니다. 여기서는 사인과 코사인을 번갈아 놓으세요.",
    explained=sections.LAYOUTS,
)
def sines_before_cosines(seq_len: int, d_model: int) -> np.ndarray:
    encoding = positional_encoding(seq_len, d_model)
    return np.concatenate([encoding[:, 0::2], encoding[:, 1::2]], axis=1)


@mistake(
    "Position 0 begins with 1, 0, 1, 0: sine and cosine have changed places. Even columns are sines, so it begins with "
    "0, 1, 0, 1.",
    "위치 0이 1, 0, 1, 0으로 시작합니다. 사인과 코사인의 자리가 바뀌었습니다. 짝수 열이 사인이므로 0, 1, 0, 1로 "
    "시작해야 합니다.",
)
def sine_and_cosine_swapped(seq_len: int, d_model: int) -> np.ndarray:
    angles = np.arange(seq_len)[:, None] / 10000 ** exponents(d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.cos(angles), np.sin(angles))


@mistake(
    "Every row is that of the next position: the positions were counted from 1. The first is position 0, whose row is "
    "0, 1, 0, 1, …",
    "행마다 다음 위치의 값이 들어 있습니다. 위치를 1부터 센 것입니다. 첫 위치는 0이고 그 행은 0, 1, 0, 1, …입니다.",
)
def counted_from_one(seq_len: int, d_model: int) -> np.ndarray:
    return waves(np.arange(1, seq_len + 1), exponents(d_model))


@mistake(
    "The hands turn faster and faster from column to column: the position was multiplied by 10000^(2i/d). Divide by "
    "it.",
    "열이 뒤로 갈수록 바늘이 점점 빨리 돕니다. 위치에 10000^(2i/d)를 곱한 것입니다. 그 수로 나누세요.",
)
def multiplied_by_the_power(seq_len: int, d_model: int) -> np.ndarray:
    return waves(np.arange(seq_len), -exponents(d_model))


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["seq_len"], sizes["d_model"]))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((5, 7))
    yield Call((1, 4))
    yield Call((3, 1))
    yield Call((40, 10))


TASK = Said(
    """\
Give every position a row of numbers between −1 and 1. Columns 2i and 2i + 1 are a pair, the sine and the cosine of one
angle, like the hand of a clock; the hands of later pairs turn more slowly.

    encoding[p, 2i]     = sin(p / 10000^(2i / d_model))
    encoding[p, 2i + 1] = cos(p / 10000^(2i / d_model))

Positions count from 0. The width may be odd: the last column is then a sine without its cosine.

    seq_len  how many positions
    d_model  how many columns
    →        (seq_len, d_model)""",
    """\
위치마다 −1과 1 사이의 수로 된 행을 하나씩 주세요. 2i열과 2i + 1열은 한 짝으로, 시곗바늘처럼 각도 하나의 사인과
코사인입니다. 뒤에 있는 짝일수록 바늘이 천천히 돕니다.

    encoding[p, 2i]     = sin(p / 10000^(2i / d_model))
    encoding[p, 2i + 1] = cos(p / 10000^(2i / d_model))

위치는 0부터 셉니다. 폭이 홀수일 수도 있으며, 그때 마지막 열은 코사인 짝이 없는 사인입니다.

    seq_len  위치의 수
    d_model  열의 수
    →        (seq_len, d_model)""",
)

HINTS = (
    Said(
        "Column c belongs to pair i = c // 2, whether it is even or odd. Compute one angle for each position and "
        "column first.",
        "열 c는 짝수든 홀수든 i = c // 2번째 짝에 속합니다. 먼저 위치와 열마다 각도를 하나씩 구하세요.",
    ),
    Said(
        "np.arange(seq_len)[:, None] is a column of positions; divided by a row of d_model powers it gives all angles, "
        "(seq_len, d_model).",
        "np.arange(seq_len)[:, None]은 위치를 세로로 늘어놓은 것입니다. 이것을 거듭제곱 d_model개로 된 행으로 나누면 "
        "모든 각도 (seq_len, d_model)이 나옵니다.",
    ),
    Said(
        "angles = np.arange(seq_len)[:, None] / 10000 ** (2 * (columns // 2) / d_model); take np.sin where the column "
        "is even and np.cos where it is odd, for instance with np.where.",
        "angles = np.arange(seq_len)[:, None] / 10000 ** (2 * (columns // 2) / d_model)을 구하고, np.where 등으로 짝수 "
        "열에는 np.sin, 홀수 열에는 np.cos을 쓰세요.",
    ),
)

EXERCISE = Exercise(
    name="positional_encoding",
    note="04",
    section=Said("The formula", "수식"),
    title=Said("Seats with numbers", "번호가 붙은 자리"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=positional_encoding,
            judge=by_definition,
            draw=draw,
            sizes={"seq_len": 7, "d_model": 6},
            further=further,
            outputs={"encoding": "seq_len d_model"},
            examples=("positional_encoding(3, 4).round(4)",),
            mistakes=(
                a_frequency_for_every_column,
                column_number_for_pair,
                pair_not_doubled,
                sines_before_cosines,
                sine_and_cosine_swapped,
                counted_from_one,
                multiplied_by_the_power,
            ),
        ),
    ),
)
