"""grouped_heads: several query heads share one head of keys and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake
from clearhead.practice.exercises import scaled_dot_product_attention as one_head
from clearhead.practice.exercises.softmax import softmax

Both = tuple[np.ndarray, np.ndarray]


def grouped_heads(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    group = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, group, axis=-3), np.repeat(V, group, axis=-3)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    """Head by head: query head i beside key head i // (h / h_kv)."""
    *leading, h, n_q, _ = Q.shape
    h_kv, n_k, d_v = V.shape[-3:]
    output, weights = np.zeros((*leading, h, n_q, d_v)), np.zeros((*leading, h, n_q, n_k))
    for *sentence, head in product(*map(range, (*leading, h))):
        mine, theirs = (*sentence, head), (*sentence, head // (h // h_kv))
        output[mine], weights[mine] = one_head.by_definition(Q[mine], K[theirs], V[theirs])
    return output, weights


def tiled(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The heads of x one after the other, over and over, until there are as many as `like` has."""
    return np.concatenate([x] * (like.shape[-3] // x.shape[-3]), axis=-3)


def repeated(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Each head of x so many times in a row that there are as many as `like` has."""
    return np.repeat(x, like.shape[-3] // x.shape[-3], axis=-3)


def attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, root: float | None = None, axis: int = -1) -> Both:
    """Attention with a key head for each query head, unless told another root or another axis."""
    weights = softmax(Q @ K.swapaxes(-1, -2) / (Q.shape[-1] ** 0.5 if root is None else root), axis)
    return weights @ V, weights


@mistake(
    "Query head i used key head i mod h_kv: the heads were tiled, 0 1 2 0 1 2. Neighbours share a head, 0 0 1 1 2 2: "
    "that is np.repeat, not np.tile.",
    "쿼리 헤드 i가 키 헤드 i mod h_kv를 썼습니다. 헤드를 0 1 2 0 1 2처럼 이어 붙인 것입니다. 0 0 1 1 2 2처럼 이웃한 "
    "헤드끼리 함께 써야 하므로 np.tile이 아니라 np.repeat를 쓰세요.",
)
def heads_tiled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, tiled(K, Q), tiled(V, Q))


@mistake(
    "The weights are right and the output is not: the keys were repeated and the values tiled. A value belongs to its "
    "key, so do the same to both.",
    "가중치는 맞지만 출력이 틀렸습니다. 키는 헤드마다 되풀이하고 값은 통째로 이어 붙인 것입니다. 값은 자기 키를 "
    "따라가야 하니 둘 다 같은 방법으로 늘리세요.",
)
def values_tiled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, repeated(K, Q), tiled(V, Q))


@mistake(
    "All query heads used the first head of keys and values, and the others were never read. Give each key head its "
    "own group of query heads.",
    "모든 쿼리 헤드가 키와 값의 첫 헤드만 쓰고 나머지는 읽지 않았습니다. 키 헤드마다 쿼리 헤드 한 그룹씩을 맡기세요.",
)
def first_key_head_for_all(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, K[..., :1, :, :], V[..., :1, :, :])


@mistake(
    "The key heads were averaged into one for all. They are different heads: query head i uses key head i // (h / "
    "h_kv) as it is.",
    "키 헤드를 평균 내어 하나로 만들고 모두가 그것을 썼습니다. 키 헤드는 저마다 다릅니다. 쿼리 헤드 i는 키 헤드 i // "
    "(h / h_kv)를 그대로 씁니다.",
)
def key_heads_averaged(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, K.mean(axis=-3, keepdims=True), V.mean(axis=-3, keepdims=True))


@mistake(
    "There are h_kv heads in the output: the queries of each group were averaged into one. All h query heads keep "
    "asking for themselves; it is the keys and values that are shared.",
    "출력의 헤드가 h_kv개입니다. 그룹마다 쿼리를 평균 내어 하나로 만든 것입니다. 쿼리 헤드 h개는 저마다 따로 묻고, "
    "함께 쓰는 것은 키와 값입니다.",
)
def query_heads_averaged(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    group = Q.shape[-3] // K.shape[-3]
    return attend(Q.reshape(*Q.shape[:-3], -1, group, *Q.shape[-2:]).mean(axis=-3), K, V)


@mistake(
    "The heads are shared as they should be, and the scores not scaled. Divide them by np.sqrt(Q.shape[-1]).",
    "헤드는 제대로 나누어 썼지만 스케일링을 하지 않았습니다. 점수를 np.sqrt(Q.shape[-1])로 나누세요.",
    explained=sections.WHY_SCALE,
)
def not_scaled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, repeated(K, Q), repeated(V, Q), root=1.0)


@mistake(
    "The heads are shared as they should be, and the columns of the weights sum to 1, not the rows: softmax ran over "
    "the queries. Run it along the last axis.",
    "헤드는 제대로 나누어 썼지만 가중치의 행이 아니라 열의 합이 1입니다. 소프트맥스를 쿼리 방향으로 한 것입니다. "
    "마지막 축을 따라 하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    return attend(Q, repeated(K, Q), repeated(V, Q), axis=-2)


@mistake(
    "Right for small scores, NaN for large ones: exp overflows to infinity. Take the largest score of each row off "
    "before exp.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp가 무한대로 넘치기 때문입니다. exp를 계산하기 전에 행마다 가장 큰 "
    "점수를 빼세요.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Both:
    powers = np.exp(Q @ repeated(K, Q).swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ repeated(V, Q), weights


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    h_kv, g, n_q, n_k, d, d_v = sizes.values()
    shapes = ((h_kv * g, n_q, d), (h_kv, n_k, d), (h_kv, n_k, d_v))
    return Call(tuple(rng.standard_normal(shape) for shape in shapes))


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = rng.standard_normal((6, 2, 4)), rng.standard_normal((3, 5, 4)), rng.standard_normal((3, 5, 2))
    yield Call((np.stack([Q, Q[::-1]]), np.stack([K, 2 * K]), np.stack([V, V + 1])))
    yield Call((Q, K[:1], V[:1]))
    yield Call((Q[:3], K, V))
    yield Call((Q[:, :1], K[:, :1], V[:, :1]))
    yield Call((100 * Q, 100 * K, V))


TASK = Said(
    """\
Keys and values are what a model has to remember while it writes, so many models keep fewer heads of them: h query heads
share h_kv heads of keys and values, h / h_kv neighbours each. With 6 query heads and 3 key heads, query heads 0 and 1
use key head 0, heads 2 and 3 use 1, heads 4 and 5 use 2. Attend in every query head, without a mask, and return output
and weights.

    Q  (…, h, n_q, d)
    K  (…, h_kv, n_k, d), where h_kv divides h
    V  (…, h_kv, n_k, d_v)
    →  output (…, h, n_q, d_v), weights (…, h, n_q, n_k)""",
    """\
키와 값은 모델이 글을 쓰는 동안 기억해 두어야 하는 것이어서, 헤드 수를 줄이는 모델이 많습니다. 쿼리 헤드 h개가 키와 값의
헤드 h_kv개를 나누어 쓰고, 이웃한 쿼리 헤드 h / h_kv개가 한 그룹이 됩니다. 쿼리 헤드가 6개이고 키 헤드가 3개이면 쿼리
헤드 0과 1은 키 헤드 0을, 2와 3은 1을, 4와 5는 2를 씁니다. 쿼리 헤드마다 마스크 없이 어텐션을 하고 출력과 가중치를
돌려주세요.

    Q  (…, h, n_q, d)
    K  (…, h_kv, n_k, d), h는 h_kv로 나누어떨어집니다
    V  (…, h_kv, n_k, d_v)
    →  출력 (…, h, n_q, d_v), 가중치 (…, h, n_q, n_k)""",
)

HINTS = (
    Said(
        "Make K and V as many heads as Q has, and the rest is attention as you know it.",
        "K와 V의 헤드를 Q의 헤드만큼 늘리면, 나머지는 이미 아는 어텐션입니다.",
    ),
    Said(
        "Query head i uses key head i // group, where group = h // h_kv. Write down the list for h = 6, h_kv = 3: 0 0 "
        "1 1 2 2.",
        "쿼리 헤드 i는 키 헤드 i // group을 쓰고, group = h // h_kv입니다. h = 6, h_kv = 3일 때를 적어 보면 0 0 1 1 2 "
        "2입니다.",
    ),
    Said(
        "np.repeat(K, group, axis=-3) gives 0 0 1 1 2 2 (np.tile would give 0 1 2 0 1 2); the same for V, then your "
        "attention.",
        "np.repeat(K, group, axis=-3)은 0 0 1 1 2 2가 되고 np.tile은 0 1 2 0 1 2가 됩니다. V도 똑같이 늘린 다음 "
        "어텐션을 하세요.",
    ),
)

EXERCISE = Exercise(
    name="grouped_heads",
    note="03",
    section=Said("Measured: what heads cost", "재어 보기: 헤드의 비용"),
    title=Said("Query heads that share their keys", "키를 나누어 쓰는 쿼리 헤드"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=grouped_heads,
            judge=by_definition,
            draw=draw,
            sizes={"h_kv": 3, "g": 2, "n_q": 4, "n_k": 5, "d": 6, "d_v": 7},
            further=further,
            outputs={"output": "h_kv·g n_q d_v", "weights": "h_kv·g n_q n_k"},
            weights="weights",
            examples=(
                "grouped_heads(np.ones((4, 1, 1)), np.zeros((2, 3, 1)), np.array([[[0.0]] * 3, [[1.0]] * "
                "3]))[0].ravel()",
            ),
            mistakes=(
                heads_tiled,
                values_tiled,
                first_key_head_for_all,
                key_heads_averaged,
                query_heads_averaged,
                not_scaled,
                softmax_over_queries,
                no_maximum_subtracted,
            ),
        ),
    ),
)
