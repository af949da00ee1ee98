"""linear_attention: one summary of all keys and values, in time that grows with n."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def linear_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    def features(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    queries, keys = features(Q), features(K)
    if not causal:
        summary = keys.swapaxes(-1, -2) @ V
        total = keys.sum(axis=-2)[..., None]
        return queries @ summary / (queries @ total)
    summaries = (keys[..., :, None] * V[..., None, :]).cumsum(axis=-3)
    totals = keys.cumsum(axis=-2)
    past = slice(K.shape[-2] - Q.shape[-2], None)
    mixed = (queries[..., None, :] @ summaries[..., past, :, :])[..., 0, :]
    return mixed / (queries * totals[..., past, :]).sum(axis=-1, keepdims=True)


def by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    """Every weight written down: φ(q) · φ(k) over the sum of its row."""

    def feature(number: float) -> float:
        return number + 1 if number > 0 else math.exp(number)

    *leading, n_q, d = Q.shape
    n_k = K.shape[-2]
    output = np.zeros((*leading, n_q, V.shape[-1]))
    for *place, i in product(*map(range, (*leading, n_q))):
        text = tuple(place)
        seen = range(n_k - n_q + i + 1 if causal else n_k)
        weights = [
            sum(feature(float(Q[(*text, i, c)])) * feature(float(K[(*text, j, c)])) for c in range(d)) for j in seen
        ]
        for j, weight in zip(seen, weights, strict=True):
            output[(*text, i)] += weight / sum(weights) * V[(*text, j)]
    return output


def elu_plus_one(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def same(x: np.ndarray) -> np.ndarray:
    return x


def weighed(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    causal: bool,
    *,
    of_queries: Callable[[np.ndarray], np.ndarray] = elu_plus_one,
    of_keys: Callable[[np.ndarray], np.ndarray] = elu_plus_one,
    offset: int | None = None,
) -> np.ndarray:
    """The O(n²) way, with other features or another triangle."""
    weights = of_queries(Q) @ of_keys(K).swapaxes(-1, -2)
    n_q, n_k = weights.shape[-2:]
    if causal:
        weights = np.where(np.tri(n_q, n_k, n_k - n_q if offset is None else offset, dtype=bool), weights, 0)
    return weights / weights.sum(axis=-1, keepdims=True) @ V


@mistake(
    "The rows are too large: nothing was divided. The weights of a query must sum to 1, so divide by φ(q) z, where z "
    "is the sum of the keys' features.",
    "행이 너무 큽니다. 나누지 않았기 때문입니다. 쿼리마다 가중치의 합이 1이 되도록 φ(q) z로 나누세요. z는 키의 "
    "특징을 모두 더한 것입니다.",
)
def not_divided(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    weights = elu_plus_one(Q) @ elu_plus_one(K).swapaxes(-1, -2)
    return (np.tril(weights, K.shape[-2] - Q.shape[-2]) if causal else weights) @ V


@mistake(
    "Weights can be negative, and a row's sum can be near 0: queries and keys were multiplied as they are. Put both "
    "through the feature map φ first.",
    "가중치가 음수가 되고 행의 합이 0에 가까워질 수도 있습니다. 쿼리와 키를 그대로 곱했기 때문입니다. 먼저 둘 다 "
    "특징 함수 φ에 넣으세요.",
)
def no_features(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    return weighed(Q, K, V, causal, of_queries=same, of_keys=same)


@mistake(
    "Only the keys went through φ. The queries do too, or weights become negative where a query is.",
    "키만 φ에 넣었습니다. 쿼리도 넣어야 합니다. 그러지 않으면 쿼리가 음수인 곳에서 가중치가 음수가 됩니다.",
)
def features_of_keys_alone(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    return weighed(Q, K, V, causal, of_queries=same)


@mistake(
    "φ lacks its + 1: elu reaches down to -1, and a feature must never be negative. φ(x) is x + 1 for positive x and "
    "exp(x) for the others.",
    "φ에 + 1이 빠졌습니다. elu는 -1까지 내려가는데 특징은 음수가 되면 안 됩니다. φ(x)는 x가 양수면 x + 1이고 아니면 "
    "exp(x)입니다.",
)
def elu_alone(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    def elu(x: np.ndarray) -> np.ndarray:
        return elu_plus_one(x) - 1

    return weighed(Q, K, V, causal, of_queries=elu, of_keys=elu)


@mistake(
    "`causal` changes nothing: every query sees all keys. With causal=True the sums may hold only the keys up to the "
    "query's own place.",
    "`causal`을 주어도 달라지지 않고 쿼리마다 모든 키를 봅니다. causal=True면 쿼리의 자리까지의 키만 더해야 합니다.",
)
def causal_ignored(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    return weighed(Q, K, V, False)


@mistake(
    "Causal, a query does not see its own key: it was read before its key was added. Add key and value first, then "
    "read.",
    "causal일 때 쿼리가 자기 키를 보지 못합니다. 키를 더하기 전에 읽었기 때문입니다. 키와 값을 먼저 더하고 나서 "
    "읽으세요.",
)
def own_key_left_out(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    return weighed(Q, K, V, causal, offset=K.shape[-2] - Q.shape[-2] - 1)


@mistake(
    "Right for as many queries as keys. With more keys the queries are the last positions: query i sees the keys up "
    "to i + n_k - n_q.",
    "쿼리와 키의 수가 같을 때만 맞습니다. 키가 더 많으면 쿼리는 마지막 위치들이므로, i번 쿼리는 i + n_k - n_q번 "
    "키까지 봅니다.",
    explained=sections.MORE_KEYS,
)
def in_the_upper_left_corner(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    return weighed(Q, K, V, causal, offset=0)


@mistake(
    "Causal, the mix is that of the past but the denominator sums over all keys, so the future shows in it. Let z "
    "grow with the keys as S does.",
    "causal일 때 섞은 값은 과거만 더했지만 분모는 모든 키를 더해, 미래가 분모로 샙니다. z도 S처럼 키를 하나씩 더해 "
    "가세요.",
)
def the_future_in_the_total(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, causal: bool = False) -> np.ndarray:
    total = elu_plus_one(Q) @ elu_plus_one(K).sum(axis=-2)[..., None]
    return not_divided.wrong(Q, K, V, causal=causal) / total


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, more, d, d_v = sizes.values()
    n_k = n_q + more
    arrays = (rng.standard_normal(shape) for shape in ((b, n_q, d), (b, n_k, d), (b, n_k, d_v)))
    return Call(tuple(arrays), {"causal": bool(rng.random() < 0.5)})


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = (rng.standard_normal(shape) for shape in ((2, 5, 3), (2, 5, 3), (2, 5, 4)))
    yield Call((Q, K, V), {"causal": True})
    yield Call((Q, K, V), {"causal": False})
    yield Call((Q[0, -2:], K[0], V[0]), {"causal": True})
    yield Call((Q[0], K[0, :2], V[0, :2]))
    yield Call((np.zeros((1, 3)), np.zeros((1, 3)), V[0, :1]), {"causal": True})
    yield Call((100 * Q, 100 * K, V))


TASK = Said(
    """\
Attention without the softmax. A query weighs a key by φ(q) · φ(k), with φ(x) = x + 1 where x is positive and exp(x)
elsewhere, which is never negative. Then the keys and values can be summed up first, once for all queries:

    S = Σⱼ φ(kⱼ) vⱼᵀ      z = Σⱼ φ(kⱼ)      outputᵢ = φ(qᵢ) S / φ(qᵢ) z

With causal=True query i uses the sums over the keys up to its own place. Where there are more keys than queries, the
queries are the last positions: query i stands at key i + n_k − n_q. There are never fewer keys than queries then. No
√d is needed.

    Q       (…, n_q, d)
    K, V    (…, n_k, d), (…, n_k, d_v)
    →       output (…, n_q, d_v)""",
    """\
소프트맥스가 없는 어텐션을 쓰세요. 쿼리가 키에 주는 무게는 φ(q) · φ(k)입니다. φ(x)는 x가 양수면 x + 1, 아니면
exp(x)여서 음수가 되지 않습니다. 그러면 모든 쿼리를 위해 키와 값을 먼저 한 번만 더해 둘 수 있습니다.

    S = Σⱼ φ(kⱼ) vⱼᵀ      z = Σⱼ φ(kⱼ)      출력ᵢ = φ(qᵢ) S / φ(qᵢ) z

causal=True면 i번 쿼리는 자기 자리까지의 키만 더한 합을 씁니다. 키가 쿼리보다 많으면 쿼리는 마지막 위치들이어서, i번
쿼리의 자리는 i + n_k − n_q번 키입니다. 이때 키가 쿼리보다 적은 일은 없습니다. √d로 나누지 않습니다.

    Q       (…, n_q, d)
    K, V    (…, n_k, d), (…, n_k, d_v)
    →       출력 (…, n_q, d_v)""",
)

HINTS = (
    Said(
        "Not causal first, three products: S = φ(K)ᵀ V, z is the sum of φ(K) over the keys, then φ(Q) S divided by "
        "φ(Q) z.",
        "먼저 causal이 아닌 쪽부터 쓰세요. S = φ(K)ᵀ V이고 z는 φ(K)를 키 방향으로 더한 것이며, φ(Q) S를 φ(Q) z로 "
        "나눕니다.",
    ),
    Said(
        "Causal, S and z grow key by key: a loop over the keys that adds φ(k) vᵀ and φ(k), then reads with the query "
        "that stands there; or cumsum over the keys.",
        "causal이면 S와 z가 키마다 커집니다. 키를 도는 반복문에서 φ(k) vᵀ와 φ(k)를 더한 다음 그 자리의 쿼리로 "
        "읽거나, 키 방향으로 cumsum을 쓰세요.",
    ),
    Said(
        "keys = φ(K); summaries = (keys[..., :, None] * V[..., None, :]).cumsum(axis=-3); totals = "
        "keys.cumsum(axis=-2); query i reads at place i + n_k - n_q.",
        "keys = φ(K), summaries = (keys[..., :, None] * V[..., None, :]).cumsum(axis=-3), totals = "
        "keys.cumsum(axis=-2)로 두고, i번 쿼리는 i + n_k - n_q번 자리에서 읽으세요.",
    ),
)

EXERCISE = Exercise(
    name="linear_attention",
    note="07",
    section=Said("The formula", "수식"),
    title=Said("One summary for everybody", "모두를 위한 요약 하나"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=linear_attention,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n_q": 4, "more": 3, "d": 5, "d_v": 6},
            smallest={"more": 0},
            further=further,
            outputs={"output": "b n_q d_v"},
            examples=(
                "linear_attention(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[7.0], [0.0]]))",
                "linear_attention(np.zeros((2, 1)), np.array([[0.0], [1.0]]), np.array([[3.0], [9.0]]), causal=True)",
            ),
            mistakes=(
                not_divided,
                no_features,
                features_of_keys_alone,
                elu_alone,
                causal_ignored,
                own_key_left_out,
                in_the_upper_left_corner,
                the_future_in_the_total,
            ),
        ),
    ),
)
