"""merge_heads: the heads of each word laid side by side again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def merge_heads(x: np.ndarray) -> np.ndarray:
    *leading, num_heads, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, num_heads * d)


def by_definition(x: np.ndarray) -> np.ndarray:
    """Number by number: column c of head i becomes column i · d + c of the same word."""
    *leading, num_heads, n, d = x.shape
    merged = np.empty((*leading, n, num_heads * d))
    for *sentence, head, word, column in product(*map(range, x.shape)):
        merged[(*sentence, word, head * d + column)] = x[(*sentence, head, word, column)]
    return merged


@mistake(
    "The shape is right and the words are mixed up: one row holds several words of one head, not one word of all "
    "heads. Swap the heads and the words back before you reshape.",
    "모양은 맞지만 단어가 뒤섞였습니다. 한 행에 한 단어의 모든 헤드가 아니라 한 헤드의 여러 단어가 들어 있습니다. "
    "reshape하기 전에 헤드 축과 단어 축을 되돌리세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def reshaped_only(x: np.ndarray) -> np.ndarray:
    *leading, num_heads, n, d = x.shape
    return x.reshape(*leading, n, num_heads * d)


@mistake(
    "The heads were added up: the row is d wide. Each head keeps its own answer, so lay them side by side, h · d "
    "columns.",
    "헤드를 더해서 행의 폭이 d입니다. 헤드마다 자기 답을 지켜야 하니 나란히 이어 붙여 열을 h · d개로 만드세요.",
)
def heads_added(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=-3)


@mistake(
    "The heads lie one below the other: (…, h·n, d). A word should have one row with all its heads, so concatenate "
    "along the last axis.",
    "헤드가 위아래로 쌓여 (…, h·n, d)입니다. 단어마다 모든 헤드를 담은 행이 하나씩 있어야 하니 마지막 축을 따라 이어 "
    "붙이세요.",
)
def heads_stacked(x: np.ndarray) -> np.ndarray:
    *leading, num_heads, n, d = x.shape
    return x.reshape(*leading, num_heads * n, d)


@mistake(
    "Every row holds the right numbers, and the heads are interleaved: column 0 of all heads, then column 1. Keep the "
    "d columns of a head together: (…, n, h, d) before you reshape.",
    "행마다 수는 맞지만 헤드가 번갈아 놓였습니다. 모든 헤드의 0열이 먼저 오고 1열이 그다음입니다. 한 헤드의 열 d개가 "
    "붙어 있도록 (…, n, h, d)로 만든 다음 reshape하세요.",
)
def heads_interleaved(x: np.ndarray) -> np.ndarray:
    *leading, num_heads, n, d = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, n, num_heads * d)


@mistake(
    "Right for one sentence, and wrong for a batch: axes 0 and 1 were swapped, and with a batch those are sentences "
    "and heads. Count from the end: swapaxes(-3, -2).",
    "문장이 하나이면 맞지만 배치에서는 틀립니다. 축 0과 1을 바꾸었는데, 배치가 있으면 그 둘은 문장과 헤드입니다. "
    "끝에서부터 세어 swapaxes(-3, -2)를 쓰세요.",
)
def swapped_from_the_front(x: np.ndarray) -> np.ndarray:
    *leading, num_heads, n, d = x.shape
    return x.swapaxes(0, 1).reshape(*leading, n, num_heads * d)


@mistake(
    "The heads were swapped behind the words and not joined: (…, n, h, d). Let reshape make one axis of the last two.",
    "헤드를 단어 뒤로 옮기기만 하고 합치지 않아 (…, n, h, d)입니다. reshape로 마지막 두 축을 하나로 합치세요.",
)
def not_joined(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(-3, -2)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.standard_normal(tuple(sizes.values())),))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((rng.standard_normal((2, 3, 4)),))
    yield Call((rng.standard_normal((3, 1, 2)),))
    yield Call((rng.standard_normal((1, 4, 5)),))
    yield Call((rng.standard_normal((2, 3, 5, 4, 6)),))


TASK = Said(
    """\
Every head has mixed its values. Lay the heads' answers side by side again, so that each word has one row: the d columns
of head 0 first, then those of head 1, and so on. This undoes `split_heads`.

    x  (…, h, n, d)
    →  (…, n, h·d)""",
    """\
헤드마다 값을 다 섞었습니다. 이제 헤드의 답을 다시 나란히 이어 붙여 단어마다 한 행으로 만드세요. 헤드 0의 열 d개가 먼저
오고 헤드 1의 열이 그다음입니다. `split_heads`를 되돌리는 일입니다.

    x  (…, h, n, d)
    →  (…, n, h·d)""",
)

HINTS = (
    Said(
        "The two moves of `split_heads`, the other way round: first the axes change places, then two become one.",
        "`split_heads`의 두 동작을 거꾸로 합니다. 먼저 축을 바꾸고, 그다음 축 두 개를 하나로 합치세요.",
    ),
    Said(
        "reshape can only join axes that stand side by side, so h has to stand directly before d first: (…, n, h, d).",
        "reshape는 나란히 있는 축만 합칠 수 있습니다. 그러니 먼저 h가 d 바로 앞에 오도록 (…, n, h, d)로 만드세요.",
    ),
    Said(
        "*leading, h, n, d = x.shape; swap axes -3 and -2, then reshape to (*leading, n, h * d).",
        "*leading, h, n, d = x.shape로 크기를 꺼내고, 축 -3과 -2를 바꾼 다음 (*leading, n, h * d)로 reshape하세요.",
    ),
)

EXERCISE = Exercise(
    name="merge_heads",
    note="03",
    section=Said("In code", "코드로"),
    title=Said("Several heads, one row", "여러 헤드를 한 행으로"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=merge_heads,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "h": 3, "n": 4, "d": 5},
            further=further,
            outputs={"merged": "b n h·d"},
            examples=("merge_heads(np.arange(12.0).reshape(3, 2, 2))",),
            mistakes=(
                reshaped_only,
                heads_added,
                heads_stacked,
                heads_interleaved,
                swapped_from_the_front,
                not_joined,
            ),
        ),
    ),
)
