"""cross_attention: one sentence asks another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of

Answer = tuple[np.ndarray, np.ndarray]


def cross_attention(
    X: np.ndarray,
    memory: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    top = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True)
    powers = np.where(allowed, np.exp(np.where(allowed, scores - top, 0)), 0)
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights @ V, weights


def by_definition(
    X: np.ndarray,
    memory: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    mask: np.ndarray | None = None,
) -> Answer:
    """One target position at a time, one source position at a time."""
    Q, K, V = (np.einsum("...i,ij->...j", x, W) for x, W in ((X, W_Q), (memory, W_K), (memory, W_V)))
    *leading, n_t, d = Q.shape
    n_s = K.shape[-2]
    seen = np.broadcast_to(True if mask is None else mask, (*leading, n_t, n_s))
    output, weights = np.zeros((*leading, n_t, V.shape[-1])), np.zeros((*leading, n_t, n_s))
    for *place, t in product(*map(range, (*leading, n_t))):
        text = tuple(place)
        keys = [s for s in range(n_s) if seen[(*text, t, s)]]
        scores = {s: sum(Q[(*text, t, i)] * K[(*text, s, i)] for i in range(d)) / math.sqrt(d) for s in keys}
        powers = {s: math.exp(scores[s] - max(scores.values())) for s in keys}
        for s in keys:
            weights[(*text, t, s)] = powers[s] / sum(powers.values())
            output[(*text, t)] += weights[(*text, t, s)] * V[(*text, s)]
    return output, weights


def attended(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, *, axis: int = -1) -> Answer:
    """Attention with −inf for what is masked, and NaN where nothing is left."""
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = powers / powers.sum(axis=axis, keepdims=True)
    return weights @ V, weights


@mistake(
    "The output has as many rows as the memory has: the memory asked, and X answered. Who writes asks: the queries "
    "come from X, the keys and values from the memory.",
    "출력의 행 수가 메모리의 길이와 같습니다. 메모리가 묻고 X가 대답한 것입니다. 쓰는 쪽이 물어야 하므로 쿼리는 "
    "쿼리는 X에서, 키와 값은 메모리에서 만드세요.",
    explained=sections.BLOCKS_AND_DECODING,
)
def sources_swapped(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return cross_attention(memory, X, W[0], W[1], W[2], mask)


@mistake(
    "The queries were made from the memory and the keys from X. The weights then have a row for each source word, and "
    "no longer fit the values. Queries come from X, keys and values from the memory.",
    "쿼리를 메모리로, 키를 X로 만들었습니다. 그러면 가중치의 행이 원문 단어마다 하나씩이 되어 값과 맞지 않습니다. "
    "쿼리는 X에서, 키와 값은 메모리에서 만드세요.",
    explained=sections.BLOCKS_AND_DECODING,
)
def queries_and_keys_swapped(
    X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None
) -> Answer:
    return attended(memory @ W[0], X @ W[1], memory @ W[2], mask)


@mistake(
    "The values were made from X: the weights find the right source words, and then the target's own words are heard. "
    "Keys and values come from the memory together.",
    "값을 X로 만들었습니다. 가중치는 원문 단어를 찾았는데 들은 것은 번역문의 단어입니다. 키와 값은 함께 메모리에서 "
    "만드세요.",
)
def values_from_x(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    weights = cross_attention(X, memory, W[0], W[1], W[2], mask)[1]
    return weights @ (X @ W[2]), weights


@mistake(
    "Changing the memory changes nothing: keys and values were made from X, and that is self-attention. They come "
    "from the memory.",
    "메모리를 바꾸어도 출력이 그대로입니다. 키와 값까지 X로 만들어 셀프 어텐션이 되었습니다. 키와 값은 메모리에서 "
    "만드세요.",
)
def memory_ignored(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return cross_attention(X, X, W[0], W[1], W[2], mask)


@mistake(
    "The keys were made with W_Q: what a word looks for and what it offers are not the same thing. Use W_K for the "
    "keys.",
    "키를 W_Q로 만들었습니다. 단어가 찾는 것과 내놓는 것은 서로 다릅니다. 키에는 W_K를 쓰세요.",
    explained=sections.QUERY_IS_NO_KEY,
)
def one_matrix_for_queries_and_keys(
    X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None
) -> Answer:
    return cross_attention(X, memory, W[0], W[0], W[2], mask)


@mistake(
    "The weights are too sharp, those of queries √d times as long: the scores were not divided by √d.",
    "가중치가 너무 뾰족합니다. 쿼리가 √d배 길 때의 가중치와 같으니, 점수를 √d로 나누지 않은 것입니다.",
    explained=sections.WHY_SCALE,
)
def no_scaling(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return cross_attention(X * np.sqrt(W[0].shape[-1]), memory, W[0], W[1], W[2], mask)


@mistake(
    "The columns of the weights sum to 1 and the rows do not: the softmax ran over the queries. Each query shares "
    "its attention out among the keys, so the axis is the last.",
    "가중치의 행이 아니라 열의 합이 1입니다. 소프트맥스를 쿼리 방향으로 계산한 것입니다. 쿼리마다 키에 나누어 주어야 "
    "하므로 마지막 축을 따라 계산하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return attended(X @ W[0], memory @ W[1], memory @ W[2], mask, axis=-2)


@mistake(
    "The first target word sees one source word only: a causal mask lies on the cross-attention. The source is there "
    "as a whole from the beginning; only the mask that is given counts.",
    "번역문의 첫 단어가 원문 단어를 하나만 봅니다. 크로스 어텐션에 코잘 마스크를 씌운 것입니다. 원문은 처음부터 "
    "통째로 있으니 인자로 받은 마스크만 쓰세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def causal_mask_on_the_memory(
    X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None
) -> Answer:
    past = np.tri(X.shape[-2], memory.shape[-2], dtype=bool)
    return cross_attention(X, memory, W[0], W[1], W[2], past if mask is None else past & mask)


@mistake(
    "Right without a mask; with one, padding of the source keeps its weight. Scores of keys that are False become "
    "-inf before the softmax.",
    "마스크가 없으면 맞지만, 있으면 원문의 패딩에 가중치가 남습니다. False인 키의 점수를 소프트맥스 앞에서 -inf로 "
    "바꾸세요.",
    explained=sections.MINUS_INFINITY,
)
def mask_ignored(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return cross_attention(X, memory, W[0], W[1], W[2])


@mistake(
    "All weight is on the keys that the mask forbids: it was read the wrong way round. True means may attend, so keep "
    "the score there and put −inf elsewhere: np.where(mask, scores, -np.inf).",
    "마스크가 막은 키에 가중치가 모두 몰렸습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, "
    "np.where(mask, scores, -np.inf)처럼 True인 점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return attended(X @ W[0], memory @ W[1], memory @ W[2], None if mask is None else ~mask)


@variant_of(mask_inverted)
def mask_inverted_guarded(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return cross_attention(X, memory, W[0], W[1], W[2], None if mask is None else ~mask)


@mistake(
    "Right until a source is nothing but padding, and NaN there: 0 divided by 0. A query with no key left gets "
    "weights 0 and output 0.",
    "원문이 전부 패딩일 때만 NaN이 나옵니다. 0을 0으로 나누었기 때문입니다. 볼 키가 하나도 없는 쿼리는 가중치도 "
    "출력도 0이어야 합니다.",
    explained=sections.NO_KEY_LEFT,
)
def nothing_left_is_nan(X: np.ndarray, memory: np.ndarray, *W: np.ndarray, mask: np.ndarray | None = None) -> Answer:
    return attended(X @ W[0], memory @ W[1], memory @ W[2], mask)


def drawn(rng: np.random.Generator, b: int, n_t: int, n_s: int, d_model: int, d: int, d_v: int) -> list[np.ndarray]:
    shapes = ((b, n_t, d_model), (b, n_s, d_model), (d_model, d), (d_model, d), (d_model, d_v))
    return [rng.standard_normal(shape) for shape in shapes]


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    lengths = rng.integers(1, sizes["n_s"] + 1, (sizes["b"], 1, 1))
    mask = np.arange(sizes["n_s"]) < lengths if rng.random() < 0.5 else None
    return Call(tuple(drawn(rng, **sizes)), {} if mask is None else {"mask": mask})


def further(rng: np.random.Generator) -> Iterable[Call]:
    X, memory, *projections = drawn(rng, 2, 3, 4, 3, 2, 5)
    yield Call((X[0], memory[0], *projections))
    yield Call((X, memory, *projections), {"mask": np.array([[[True, True, False, False]], [[False] * 4]])})
    yield Call((X, memory, *projections), {"mask": rng.random((2, 3, 4)) < 0.5})
    yield Call((300 * X, memory, *projections), {"mask": np.array([True, True, True, False])})
    yield Call((X[:, :1], np.zeros_like(memory), *projections))
    yield Call((X, memory[:, :3], *projections))


TASK = Said(
    """\
The decoder asks the encoder: every position of `X`, the sentence being written, looks at every position of `memory`,
what the encoder made of the sentence being translated. It is the attention you know, with queries from one side and
keys and values from the other. Divide the scores by √d and let the weights of each query sum to 1.

`mask` says which source positions are real; what is False gets the weight 0. A query with no key left gets weights 0
and output 0.

    X         (…, n_t, d_model)
    memory    (…, n_s, d_model)
    W_Q, W_K  (d_model, d)
    W_V       (d_model, d_v)
    mask      broadcasts to (…, n_t, n_s), True = may attend
    →         output (…, n_t, d_v), weights (…, n_t, n_s)""",
    """\
디코더가 인코더에 묻습니다. 쓰고 있는 문장 `X`의 모든 위치가, 인코더가 원문을 읽고 만든 `memory`의 모든 위치를 봅니다.
이미 아는 어텐션이고, 쿼리는 한쪽에서, 키와 값은 다른 쪽에서 온다는 점만 다릅니다. 점수를 √d로 나누고, 쿼리마다
가중치의 합이 1이 되게 하세요.

`mask`는 원문의 어느 위치가 진짜인지 알려 줍니다. False인 곳의 가중치는 0입니다. 볼 키가 하나도 없는 쿼리는 가중치도
출력도 0입니다.

    X         (…, n_t, d_model)
    memory    (…, n_s, d_model)
    W_Q, W_K  (d_model, d)
    W_V       (d_model, d_v)
    mask      (…, n_t, n_s)로 브로드캐스트, True = 볼 수 있음
    →         출력 (…, n_t, d_v), 가중치 (…, n_t, n_s)""",
)

HINTS = (
    Said(
        "Three products first: queries from X, keys and values from memory. From there on it is scaled dot-product "
        "attention.",
        "먼저 행렬 곱 세 번입니다. 쿼리는 X에서, 키와 값은 memory에서 만드세요. 그다음은 늘 하던 어텐션입니다.",
    ),
    Said(
        "The scores are (…, n_t, n_s). Give -inf to what the mask forbids, then softmax over the last axis; a row of "
        "nothing but -inf needs care, as -inf - (-inf) is NaN.",
        "점수의 모양은 (…, n_t, n_s)입니다. 마스크가 가린 곳을 -inf로 바꾸고 마지막 축으로 소프트맥스를 계산하세요. "
        "전부 -inf인 행은 -inf - (-inf)가 NaN이니 따로 다루어야 합니다.",
    ),
    Said(
        "Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V; scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]); "
        "powers of masked keys are 0; divide by np.where(total == 0, 1, total).",
        "Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V이고 scores = Q @ K.swapaxes(-1, -2) / "
        "np.sqrt(Q.shape[-1])입니다. 가려진 키의 거듭제곱은 0으로 두고 np.where(total == 0, 1, total)로 나누세요.",
    ),
)

EXERCISE = Exercise(
    name="cross_attention",
    note="06",
    section=Said("The formula", "수식"),
    title=Said("One sentence asks another", "문장이 문장에 묻기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=cross_attention,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n_t": 3, "n_s": 5, "d_model": 4, "d": 7, "d_v": 6},
            further=further,
            outputs={"output": "b n_t d_v", "weights": "b n_t n_s"},
            weights="weights",
            examples=(
                "cross_attention(\n"
                "    np.array([[0.0, 4.0]]), np.array([[0.0, 0.0], [0.0, 1.0]]),\n"
                "    np.eye(2), np.eye(2), np.array([[6.0], [3.0]]),\n"
                ")",
            ),
            mistakes=(
                sources_swapped,
                queries_and_keys_swapped,
                values_from_x,
                memory_ignored,
                one_matrix_for_queries_and_keys,
                no_scaling,
                softmax_over_queries,
                causal_mask_on_the_memory,
                mask_ignored,
                mask_inverted,
                mask_inverted_guarded,
                nothing_left_is_nan,
            ),
        ),
    ),
)
