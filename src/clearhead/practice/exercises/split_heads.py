"""split_heads: each row cut into pieces, one per head, and the heads brought to the front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    *leading, n, width = x.shape
    return x.reshape(*leading, n, num_heads, width // num_heads).swapaxes(-3, -2)


def by_definition(x: np.ndarray, num_heads: int) -> np.ndarray:
    """Number by number: column c of a word goes to head c // d, as its column c % d."""
    *leading, n, width = x.shape
    d = width // num_heads
    heads = np.empty((*leading, num_heads, n, d))
    for *sentence, word, column in product(*map(range, x.shape)):
        heads[(*sentence, column // d, word, column % d)] = x[(*sentence, word, column)]
    return heads


@mistake(
    "The shape is right and the numbers are not: reshape alone gave the first head whole words and the last head other "
    "words. Cut each row with reshape to (…, n, h, d), then swap the words and the heads.",
    "모양은 맞지만 수가 틀렸습니다. reshape만 하면 첫 헤드가 앞쪽 단어를 통째로 가져가고 마지막 헤드는 뒤쪽 단어를 "
    "가져갑니다. reshape로 행마다 나누어 (…, n, h, d)로 만든 다음 단어 축과 헤드 축을 바꾸세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def reshaped_only(x: np.ndarray, num_heads: int) -> np.ndarray:
    *leading, n, width = x.shape
    return x.reshape(*leading, num_heads, n, width // num_heads)


@mistake(
    "The rows are cut, but the heads stand behind the words: (…, n, h, d). Swap those two axes, so that attention's "
    "last two are words and columns.",
    "행은 나누었지만 헤드가 단어 뒤에 있어 (…, n, h, d)입니다. 어텐션이 쓰는 마지막 두 축이 단어와 열이 되도록 두 축을 "
    "바꾸세요.",
)
def not_swapped(x: np.ndarray, num_heads: int) -> np.ndarray:
    *leading, n, width = x.shape
    return x.reshape(*leading, n, num_heads, width // num_heads)


@mistake(
    "Each head got every h-th column in place of d neighbours: the row was cut to (…, n, d, h). Head 0 takes the first "
    "d columns, head 1 the next: reshape to (…, n, h, d).",
    "헤드마다 이웃한 열 d개가 아니라 h칸씩 건너뛴 열을 받았습니다. 행을 (…, n, d, h)로 나눈 것입니다. 헤드 0이 처음 "
    "d개, 헤드 1이 다음 d개를 받도록 (…, n, h, d)로 reshape하세요.",
)
def every_hth_column(x: np.ndarray, num_heads: int) -> np.ndarray:
    *leading, n, width = x.shape
    return np.moveaxis(x.reshape(*leading, n, width // num_heads, num_heads), -1, -3)


@mistake(
    "Right for one sentence, and wrong for a batch: axes 0 and 1 were swapped, and with a batch those are sentences "
    "and words. Count from the end: swapaxes(-3, -2).",
    "문장이 하나이면 맞지만 배치에서는 틀립니다. 축 0과 1을 바꾸었는데, 배치가 있으면 그 둘은 문장과 단어입니다. "
    "끝에서부터 세어 swapaxes(-3, -2)를 쓰세요.",
)
def swapped_from_the_front(x: np.ndarray, num_heads: int) -> np.ndarray:
    *leading, n, width = x.shape
    return x.reshape(*leading, n, num_heads, width // num_heads).swapaxes(0, 1)


@mistake(
    "The heads are right and each of them lies on its side: (…, h, d, n). Keep the words as rows: after the cut, only "
    "the words and the heads change places.",
    "헤드는 맞지만 저마다 옆으로 누워 (…, h, d, n)입니다. 단어가 행으로 남아야 합니다. 나눈 다음에는 단어 축과 헤드 "
    "축만 서로 바꾸세요.",
)
def heads_transposed(x: np.ndarray, num_heads: int) -> np.ndarray:
    return split_heads(x, num_heads).swapaxes(-2, -1)


@mistake(
    "`num_heads` was taken for the width of a head: there are width / h heads of width h. There should be h heads of "
    "width / h columns each.",
    "`num_heads`를 헤드의 폭으로 썼습니다. 폭이 h인 헤드가 width / h개 나왔습니다. 폭이 width / h인 헤드가 h개여야 "
    "합니다.",
)
def heads_for_width(x: np.ndarray, num_heads: int) -> np.ndarray:
    return split_heads(x, x.shape[-1] // num_heads)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, h, n, d = sizes.values()
    return Call((rng.standard_normal((b, n, h * d)), h))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((rng.standard_normal((3, 8)), 2))
    yield Call((rng.standard_normal((1, 6)), 3))
    yield Call((rng.standard_normal((4, 5)), 1))
    yield Call((rng.standard_normal((2, 3, 4, 10)), 5))


TASK = Said(
    """\
One large product has made the queries of all heads, side by side in one row per word: the first d columns belong to
head 0, the next d to head 1, and so on. Cut each row into `num_heads` pieces and bring the heads in front of the words,
so that attention, which works on the last two axes, sees every head by itself.

    x          (…, n, h·d)
    num_heads  h, which divides the width
    →          (…, h, n, d)""",
    """\
큰 행렬 곱 하나로 모든 헤드의 쿼리를 만들었습니다. 단어마다 한 행에 나란히 있어서, 처음 d개 열은 헤드 0의 것이고 다음
d개는 헤드 1의 것입니다. 행마다 `num_heads`조각으로 나누고 헤드를 단어 앞으로 옮기세요. 그러면 마지막 두 축으로 계산하는
어텐션이 헤드를 하나씩 따로 보게 됩니다.

    x          (…, n, h·d)
    num_heads  h, 폭은 h로 나누어떨어집니다
    →          (…, h, n, d)""",
)

HINTS = (
    Said(
        "Two moves: cut the last axis in two, then let two axes change places. One of them alone is not enough.",
        "두 번 움직입니다. 마지막 축을 둘로 나누고, 축 두 개를 서로 바꾸세요. 어느 하나만으로는 모자랍니다.",
    ),
    Said(
        "reshape keeps the numbers in their order, so it may only cut h·d into (h, d). The word axis n stays in front "
        "of both at first.",
        "reshape는 수의 순서를 바꾸지 않으므로 h·d를 (h, d)로 나누는 데에만 쓸 수 있습니다. 이때 단어 축 n은 아직 둘의 "
        "앞에 있습니다.",
    ),
    Said(
        "x.reshape(*x.shape[:-1], num_heads, -1) is (…, n, h, d); now swap the third and the second axis from the end.",
        "x.reshape(*x.shape[:-1], num_heads, -1)이 (…, n, h, d)입니다. 이제 끝에서 셋째 축과 둘째 축을 바꾸세요.",
    ),
)

EXERCISE = Exercise(
    name="split_heads",
    note="03",
    section=Said("In code", "코드로"),
    title=Said("One row, several heads", "한 행을 여러 헤드로"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=split_heads,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "h": 3, "n": 4, "d": 5},
            further=further,
            outputs={"heads": "b h n d"},
            examples=("split_heads(np.arange(12.0).reshape(2, 6), 3)",),
            mistakes=(
                reshaped_only,
                not_swapped,
                every_hth_column,
                swapped_from_the_front,
                heads_transposed,
                heads_for_width,
            ),
        ),
    ),
)
