"""causal_mask: no word looks at a later one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of


def causal_mask(n: int, n_k: int | None = None) -> np.ndarray:
    if n_k is None:
        n_k = n
    return np.arange(n_k) <= np.arange(n)[:, None] + n_k - n


def by_definition(n: int, n_k: int | None = None) -> np.ndarray:
    """Cell by cell: the key stands no later than the query, and the last query beside the last key."""
    n_k = n if n_k is None else n_k
    mask = np.zeros((n, n_k), bool)
    for i in range(n):
        for j in range(n_k):
            mask[i, j] = n_k - j >= n - i
    return mask


@mistake(
    "True and False are the wrong way round: this says what is hidden. In clearhead True means that a query may look "
    "there, so the lower triangle is True.",
    "True와 False가 반대입니다. 가릴 곳을 True로 적었습니다. clearhead에서 True는 볼 수 있다는 뜻이므로 아래쪽 "
    "삼각형이 True여야 합니다.",
    explained=sections.MASK_MISTAKES,
)
def inverted(n: int, n_k: int | None = None) -> np.ndarray:
    return ~causal_mask(n, n_k)


@variant_of(inverted)
def inverted_in_the_corner(n: int, n_k: int | None = None) -> np.ndarray:
    return ~np.tri(n, n_k, dtype=bool)


@mistake(
    "The diagonal is hidden too, so a word does not see itself, and the first of a text sees nothing at all. Its own "
    "place counts as past: j ≤ i, not j < i.",
    "대각선까지 가려서 단어가 자기 자신을 보지 못하고, 글의 첫 단어는 볼 것이 하나도 없습니다. 자기 자리는 볼 수 "
    "있으므로 j < i가 아니라 j ≤ i입니다.",
    explained=sections.MASK_MISTAKES,
)
def diagonal_hidden(n: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    return np.tri(n, n_k, n_k - n - 1, dtype=bool)


@mistake(
    "The wrong triangle: the first query sees everything and the last only itself, so every word looks into the "
    "future. Use np.tril in place of np.triu: keys to the left of the diagonal.",
    "반대쪽 삼각형입니다. 첫 쿼리는 모두 보고 마지막 쿼리는 자기만 보므로 단어마다 미래를 봅니다. np.triu 대신 "
    "np.tril을 써서 대각선 왼쪽의 키를 남기세요.",
    explained=sections.MASK_MISTAKES,
)
def wrong_triangle(n: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    return np.triu(np.ones((n, n_k), bool), n_k - n)


@variant_of(wrong_triangle)
def wrong_triangle_in_the_corner(n: int, n_k: int | None = None) -> np.ndarray:
    return np.triu(np.ones((n, n if n_k is None else n_k), bool))


@mistake(
    "Right where n_k = n, and with more keys the triangle begins in the top left corner, so that the newest word sees "
    "only the oldest. The queries are the last positions: query i sees keys up to i + n_k − n.",
    "n_k = n일 때는 맞지만, 키가 더 많으면 삼각형이 왼쪽 위 구석에 맞추어져 가장 새로운 단어가 옛 단어만 봅니다. "
    "쿼리는 마지막 위치들이므로 쿼리 i는 i + n_k − n번 키까지 봅니다.",
    explained=sections.MORE_KEYS,
)
def top_left_corner(n: int, n_k: int | None = None) -> np.ndarray:
    return np.tri(n, n_k, dtype=bool)


@mistake(
    "`n_k` was not used: the mask is always (n, n), although there are n_k keys.",
    "`n_k`를 쓰지 않아, 키가 n_k개인데도 마스크가 늘 (n, n)입니다.",
    explained=sections.MORE_KEYS,
)
def always_square(n: int, n_k: int | None = None) -> np.ndarray:
    return causal_mask(n)


@mistake(
    "The triangle is right, and made of ones and zeros. A mask is boolean, because ~mask of numbers gives −2 and −1: "
    "use dtype=bool or a comparison.",
    "삼각형은 맞지만 1과 0으로 되어 있습니다. 마스크는 참·거짓이어야 합니다. 수로 된 마스크에 ~를 붙이면 −2와 −1이 "
    "나오기 때문입니다. dtype=bool이나 비교를 쓰세요.",
)
def ones_and_zeros(n: int, n_k: int | None = None) -> np.ndarray:
    return causal_mask(n, n_k).astype(np.int64)


@mistake(
    "These are 0 and −inf, to be added to the scores. Asked for is who may look at whom, True or False; the −inf comes "
    "later.",
    "점수에 더할 0과 −inf가 나왔습니다. 여기서 만들 것은 누가 누구를 볼 수 있는지를 나타내는 True와 False입니다. "
    "−inf는 나중에 씁니다.",
    explained=sections.MINUS_INFINITY,
)
def made_for_adding(n: int, n_k: int | None = None) -> np.ndarray:
    return np.where(causal_mask(n, n_k), 0.0, -np.inf)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    n, n_k = sorted(sizes.values())
    return Call((n, n_k))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((4,))
    yield Call((1,))
    yield Call((5, 5))
    yield Call((1, 6))
    yield Call((2,), {"n_k": 5})


TASK = Said(
    """\
When a text is written word by word, nobody can ask a word that has not been said yet. Make the mask for n queries: True
where a query may look at a key, which is at its own place and at all before. Without `n_k` there are as many keys as
queries. With it there are n_k keys, at least n: the earlier ones come from a cache, and the queries are the last
positions, so the last query sees every key.

    n    how many queries
    n_k  how many keys, n unless given
    →    (n, n_k), boolean""",
    """\
글을 한 단어씩 쓸 때는 아직 나오지 않은 단어에게 물을 수 없습니다. 쿼리 n개의 마스크를 만드세요. 쿼리가 볼 수 있는 키,
곧 자기 자리와 그 앞의 모든 자리가 True입니다. `n_k`를 주지 않으면 키의 수는 쿼리의 수와 같습니다. `n_k`를 주면 키가
n_k개이고 n보다 적지 않습니다. 앞의 키는 캐시에서 온 것이고 쿼리는 마지막 위치들이므로, 마지막 쿼리는 모든 키를 봅니다.

    n    쿼리의 수
    n_k  키의 수, 주지 않으면 n
    →    (n, n_k), 참·거짓""",
)

HINTS = (
    Said(
        "Draw the mask for n = 3 on paper: row 0 has one True, row 1 two, row 2 three. Then the one for 2 queries and "
        "5 keys: 4 and 5.",
        "n = 3인 마스크를 종이에 그려 보세요. 0행에는 True가 하나, 1행에는 둘, 2행에는 셋입니다. 쿼리 2개와 키 5개이면 "
        "4개와 5개입니다.",
    ),
    Said(
        "A column of query positions compared with a row of key positions gives the whole table at once: (n, 1) and "
        "(n_k,) broadcast to (n, n_k).",
        "세로로 놓은 쿼리 위치와 가로로 놓은 키 위치를 비교하면 표 전체가 한 번에 나옵니다. (n, 1)과 (n_k,)가 (n, "
        "n_k)로 브로드캐스팅됩니다.",
    ),
    Said(
        "np.arange(n_k) <= np.arange(n)[:, None] + (n_k - n), after n_k has become n if it was None. np.tri with k = "
        "n_k − n does it too.",
        "n_k가 None이면 n으로 바꾼 다음 np.arange(n_k) <= np.arange(n)[:, None] + (n_k - n)을 계산하세요. np.tri에 k = "
        "n_k − n을 주어도 됩니다.",
    ),
)

EXERCISE = Exercise(
    name="causal_mask",
    note="05",
    section=Said("By hand", "손으로 계산하기"),
    title=Said("Nobody asks the future", "미래에는 묻지 않기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=causal_mask,
            judge=by_definition,
            draw=draw,
            sizes={"n": 3, "n_k": 5},
            further=further,
            outputs={"mask": "n n_k"},
            examples=("causal_mask(3)", "causal_mask(2, 5)"),
            mistakes=(
                inverted,
                inverted_in_the_corner,
                diagonal_hidden,
                wrong_triangle,
                wrong_triangle_in_the_corner,
                top_left_corner,
                always_square,
                ones_and_zeros,
                made_for_adding,
            ),
        ),
    ),
)
