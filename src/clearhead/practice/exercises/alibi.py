"""alibi: the further the key, the lower its score, at a slope of each head's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def alibi(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    distances = np.arange(n_q)[:, None] + n_k - n_q - np.arange(n_k)
    return slopes[:, None, None] * -np.abs(distances)


def by_definition(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    """Cell by cell: query i stands at position n_k − n_q + i, key j at position j."""
    bias = np.empty((num_heads, n_q, n_k))
    for head in range(num_heads):
        for i in range(n_q):
            for j in range(n_k):
                bias[head, i, j] = -abs(n_k - n_q + i - j) / 2 ** (8 * (head + 1) / num_heads)
    return bias


def slopes(num_heads: int) -> np.ndarray:
    """(h,)"""
    return 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)


def distances(n_q: int, n_k: int) -> np.ndarray:
    """How far each key lies before each query, negative if it comes after: (n_q, n_k)"""
    return np.arange(n_q)[:, None] + n_k - n_q - np.arange(n_k)


def biased(slope_of_each: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """slopes (h,)  distances (n_q, n_k) → (h, n_q, n_k)"""
    return slope_of_each[:, None, None] * -apart


@mistake(
    "The bias grows with the distance, so that far words get more attention. It is taken off the score: −slope · "
    "distance.",
    "거리가 멀수록 편향이 커져서 먼 단어를 더 보게 됩니다. 점수에서 빼야 하므로 −slope · 거리입니다.",
)
def further_is_higher(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return -biased(slopes(num_heads), np.abs(distances(n_q, n_k)))


@mistake(
    "Keys before the query are right, and keys after it get a reward: the distance kept its sign. Take its absolute "
    "value.",
    "쿼리보다 앞에 있는 키는 맞지만 뒤에 있는 키는 점수가 올라갑니다. 거리에 부호가 남아 있습니다. 절댓값을 쓰세요.",
)
def sign_of_the_distance_kept(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return biased(slopes(num_heads), distances(n_q, n_k))


@mistake(
    "Right where n_q = n_k, and else shifted: the first query was put beside the first key. With fewer queries than "
    "keys, the queries are the last positions, so add n_k − n_q to i.",
    "n_q = n_k일 때는 맞지만 다르면 밀려 있습니다. 첫 쿼리를 첫 키와 같은 자리에 둔 것입니다. 쿼리가 키보다 적으면 "
    "쿼리는 마지막 위치들이므로 i에 n_k − n_q를 더하세요.",
)
def aligned_at_the_first_key(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return biased(slopes(num_heads), np.abs(np.arange(n_q)[:, None] - np.arange(n_k)))


@mistake(
    "Every head has the slope of the one before it, and the first has slope 1: the heads were counted from 0. The "
    "series begins with 2^(−8/h).",
    "헤드마다 앞 헤드의 경사를 쓰고 첫 헤드의 경사는 1입니다. 헤드를 0부터 센 것입니다. 경사는 2^(−8/h)에서 "
    "시작합니다.",
)
def slopes_from_one(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return biased(2.0 ** (-8 * np.arange(num_heads) / num_heads), np.abs(distances(n_q, n_k)))


@mistake(
    "Right for 8 heads only: the slopes are 1/2, 1/4, 1/8, … whatever their number. The last slope is always 2⁻⁸, so "
    "the steps depend on h: 2^(−8k/h).",
    "헤드가 8개일 때만 맞습니다. 헤드가 몇 개든 경사가 1/2, 1/4, 1/8, …입니다. 마지막 경사는 언제나 2⁻⁸이므로 간격이 "
    "h에 따라 달라져 2^(−8k/h)입니다.",
)
def slopes_of_eight_heads(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return biased(2.0 ** -np.arange(1, num_heads + 1), np.abs(distances(n_q, n_k)))


@mistake(
    "All heads have the same slope. Each should hear as far as suits it: head k, counted from 1, has the slope "
    "2^(−8k/h).",
    "모든 헤드의 경사가 같습니다. 헤드마다 듣는 거리가 달라야 합니다. 1부터 센 k번째 헤드의 경사는 2^(−8k/h)입니다.",
)
def one_slope_for_all(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return biased(np.full(num_heads, 2.0 ** (-8 / num_heads)), np.abs(distances(n_q, n_k)))


@mistake(
    "Later keys got −inf: that is a causal mask. The bias only lowers; who may look at whom is the mask's business.",
    "뒤에 있는 키가 −inf가 되었습니다. 그것은 코잘 마스크가 할 일입니다. 편향은 점수를 낮추기만 하고, 누가 누구를 볼 "
    "수 있는지는 마스크가 정합니다.",
)
def later_keys_masked(n_q: int, n_k: int, num_heads: int) -> np.ndarray:
    return np.where(distances(n_q, n_k) < 0, -np.inf, alibi(n_q, n_k, num_heads))


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    n_q, n_k = sorted((sizes["n_q"], sizes["n_k"]))
    return Call((n_q, n_k, 2 ** (sizes["h"].bit_length() - 1)))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((4, 4, 2))
    yield Call((1, 6, 8))
    yield Call((2, 3, 1))
    yield Call((1, 1, 4))


TASK = Said(
    """\
ALiBi learns nothing: it takes something off every score, the more the further the key is from the query. Head k,
counted from 1, has the slope 2^(−8k / h):

    bias = −slope · |position of the query − position of the key|

Where there are fewer queries than keys, the queries are the last positions: query i stands at n_k − n_q + i.

    n_q, n_k   how many queries and keys, n_q ≤ n_k
    num_heads  h, a power of two
    →          (h, n_q, n_k)""",
    """\
ALiBi는 학습할 것이 없습니다. 키가 쿼리에서 멀수록 점수를 더 많이 깎을 뿐입니다. 1부터 센 k번째 헤드의 경사는 2^(−8k /
h)입니다.

    편향 = −경사 · |쿼리의 위치 − 키의 위치|

쿼리가 키보다 적으면 쿼리는 마지막 위치들입니다. 쿼리 i의 위치는 n_k − n_q + i입니다.

    n_q, n_k   쿼리와 키의 수, n_q ≤ n_k
    num_heads  h, 2의 거듭제곱
    →          (h, n_q, n_k)""",
)

HINTS = (
    Said(
        "Two tables: the distances, (n_q, n_k), and the slopes, (h,). Their product with two new axes is (h, n_q, "
        "n_k).",
        "표가 둘 필요합니다. 거리 (n_q, n_k)와 경사 (h,)입니다. 경사에 축 두 개를 더해 곱하면 (h, n_q, n_k)가 됩니다.",
    ),
    Said(
        "np.arange(n_q)[:, None] + n_k - n_q are the positions of the queries, as a column; np.arange(n_k) those of "
        "the keys.",
        "np.arange(n_q)[:, None] + n_k - n_q가 쿼리의 위치를 세로로 늘어놓은 것이고, np.arange(n_k)가 키의 위치입니다.",
    ),
    Said(
        "slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads); then slopes[:, None, None] * "
        "-np.abs(distances).",
        "slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)를 구하고, slopes[:, None, None] * "
        "-np.abs(distances)를 계산하세요.",
    ),
)

EXERCISE = Exercise(
    name="alibi",
    note="04",
    section=Said("The formula", "수식"),
    title=Said("The further, the lower", "멀수록 낮게"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=alibi,
            judge=by_definition,
            draw=draw,
            sizes={"n_q": 3, "n_k": 5, "h": 4},
            further=further,
            outputs={"bias": "h n_q n_k"},
            examples=("alibi(2, 4, 2)",),
            mistakes=(
                further_is_higher,
                sign_of_the_distance_kept,
                aligned_at_the_first_key,
                slopes_from_one,
                slopes_of_eight_heads,
                one_slope_for_all,
                later_keys_masked,
            ),
        ),
    ),
)
