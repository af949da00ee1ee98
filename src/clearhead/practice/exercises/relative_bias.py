"""relative_bias: a number for each distance, laid out for every query and key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def relative_bias(table: np.ndarray, n: int) -> np.ndarray:
    m = len(table) // 2
    steps = np.arange(n) - np.arange(n)[:, None]
    return table[np.clip(steps, -m, m) + m]


def by_definition(table: np.ndarray, n: int) -> np.ndarray:
    """Cell by cell: j − i steps from the query to the key, at most m of them counted to either side."""
    m = (len(table) - 1) // 2
    bias = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            bias[i, j] = table[m + max(-m, min(m, j - i))]
    return bias


def steps(n: int) -> np.ndarray:
    """From query i to key j, j − i: (n, n)"""
    return np.arange(n) - np.arange(n)[:, None]


@mistake(
    "The table is read from the wrong end: what is meant for keys before the query went to those after it. The number "
    "of row i and column j is table[m + j − i].",
    "표를 반대쪽부터 읽었습니다. 쿼리보다 앞에 있는 키의 수가 뒤에 있는 키로 갔습니다. i행 j열의 수는 table[m + j − "
    "i]입니다.",
)
def read_backwards(table: np.ndarray, n: int) -> np.ndarray:
    return relative_bias(table[::-1], n)


@mistake(
    "Keys before and after the query get the same number: the distance lost its sign. The left half of the table is "
    "for keys before the query, the right half for keys after it.",
    "쿼리 앞의 키와 뒤의 키가 같은 수를 받았습니다. 거리의 부호가 사라진 것입니다. 표의 왼쪽 절반은 앞에 있는 키, "
    "오른쪽 절반은 뒤에 있는 키의 것입니다.",
)
def sides_not_told_apart(table: np.ndarray, n: int) -> np.ndarray:
    m = len(table) // 2
    return table[np.minimum(np.abs(steps(n)), m) + m]


@mistake(
    "Beyond the table the bias is 0. Whatever is farther away uses the outermost number of its side: clip the distance "
    "to −m … m.",
    "표를 벗어난 거리의 편향이 0입니다. 더 먼 거리에는 그쪽 끝의 수를 씁니다. 거리를 −m … m으로 자르세요.",
)
def nothing_beyond_the_table(table: np.ndarray, n: int) -> np.ndarray:
    return np.where(np.abs(steps(n)) > len(table) // 2, 0, relative_bias(table, n))


@mistake(
    "Beyond the table the bias is −inf, which hides those keys. Whatever is farther away uses the outermost number of "
    "its side; a bias is no mask.",
    "표를 벗어난 거리의 편향이 −inf여서 그 키가 가려집니다. 더 먼 거리에는 그쪽 끝의 수를 씁니다. 편향은 마스크가 "
    "아닙니다.",
)
def hidden_beyond_the_table(table: np.ndarray, n: int) -> np.ndarray:
    return np.where(np.abs(steps(n)) > len(table) // 2, -np.inf, relative_bias(table, n))


@mistake(
    "Beyond the table it begins again from the other end, as negative indices do in Python: a word far before looks "
    "like one after. Clip the distance to −m … m first.",
    "표를 벗어나면 반대쪽 끝에서 다시 시작합니다. 파이썬의 음수 인덱스가 이렇게 됩니다. 그래서 한참 앞의 단어가 뒤의 "
    "단어처럼 보입니다. 거리를 먼저 −m … m으로 자르세요.",
)
def wrapped_around(table: np.ndarray, n: int) -> np.ndarray:
    return table[(steps(n) + len(table) // 2) % len(table)]


@mistake(
    "The diagonal holds the first number of the table, which is for keys far before: the m was not added. Distance 0 "
    "is in the middle, table[m].",
    "대각선에 표의 첫째 수가 있는데, 그것은 한참 앞에 있는 키의 것입니다. m을 더하지 않았습니다. 거리 0은 가운데인 "
    "table[m]입니다.",
)
def middle_not_added(table: np.ndarray, n: int) -> np.ndarray:
    return table[np.clip(steps(n), 0, len(table) - 1)]


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.standard_normal(2 * sizes["m"] + 1), sizes["n"]))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((np.arange(-4.0, 5.0), 6))
    yield Call((rng.standard_normal(9), 12))
    yield Call((rng.standard_normal(7), 2))
    yield Call((rng.standard_normal(3), 1))
    yield Call((rng.standard_normal(1), 3))


TASK = Said(
    """\
A model has learned a number for each distance up to m, and adds it to the scores. The table has them in the order in
which keys come: table[0] is for the key m places before the query, table[m] for the query's own place, table[2m] for
the key m places after. Lay them out for n words, each as query and as key. Keys that are farther away use the outermost
number of their side.

    table  (2m + 1,)
    n      how many words
    →      (n, n), row: the query, column: the key""",
    """\
모델이 거리 m까지 거리마다 수를 하나씩 학습해서 점수에 더합니다. 표에는 키가 놓인 순서대로 있습니다. table[0]은 쿼리보다
m자리 앞에 있는 키, table[m]은 쿼리 자신의 자리, table[2m]은 m자리 뒤에 있는 키의 수입니다. 단어 n개가 저마다 쿼리이자
키일 때의 편향을 만드세요. 더 먼 키에는 그쪽 끝의 수를 씁니다.

    table  (2m + 1,)
    n      단어의 수
    →      (n, n), 행은 쿼리, 열은 키""",
)

HINTS = (
    Said(
        "First make a table of whole numbers, (n, n): how many places lie from query i to key j, j − i.",
        "먼저 정수의 표 (n, n)을 만드세요. 쿼리 i에서 키 j까지 몇 자리인지, 곧 j − i입니다.",
    ),
    Said(
        "An array can be indexed with an array: table[indices] has the shape of indices. The indices must lie in 0 … "
        "2m.",
        "배열을 배열로 인덱싱할 수 있습니다. table[indices]의 모양은 indices의 모양과 같습니다. 인덱스는 0 … 2m 안에 "
        "있어야 합니다.",
    ),
    Said(
        "steps = np.arange(n) - np.arange(n)[:, None]; clip them to −m … m with np.clip, add m, and index the table.",
        "steps = np.arange(n) - np.arange(n)[:, None]을 np.clip으로 −m … m 안으로 자르고, m을 더해 표를 인덱싱하세요.",
    ),
)

EXERCISE = Exercise(
    name="relative_bias",
    note="04",
    section=Said("In code", "코드로"),
    title=Said("A number for each distance", "거리마다 수 하나"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=relative_bias,
            judge=by_definition,
            draw=draw,
            sizes={"m": 2, "n": 7},
            further=further,
            outputs={"bias": "n n"},
            examples=("relative_bias(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), 4)",),
            mistakes=(
                read_backwards,
                sides_not_told_apart,
                nothing_beyond_the_table,
                hidden_beyond_the_table,
                wrapped_around,
                middle_not_added,
            ),
        ),
    ),
)
