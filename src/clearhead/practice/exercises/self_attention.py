"""self_attention: queries, keys and values of the same words, then attention."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake
from clearhead.practice.exercises.softmax import softmax

Both = tuple[np.ndarray, np.ndarray]


def self_attention(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def by_definition(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    """Word by word: its query against the key of every word of its sentence, its output the average of the values."""

    def projected(word: np.ndarray, W: np.ndarray) -> list[float]:
        return [math.fsum(x * w for x, w in zip(word, column, strict=True)) for column in W.T]

    *leading, n, _ = X.shape
    output, weights = np.zeros((*leading, n, W_V.shape[1])), np.zeros((*leading, n, n))
    for sentence in product(*map(range, leading)):
        keys = [projected(word, W_K) for word in X[sentence]]
        values = [projected(word, W_V) for word in X[sentence]]
        for i, word in enumerate(X[sentence]):
            query = projected(word, W_Q)
            scores = [math.fsum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j, power in enumerate(powers):
                weights[(*sentence, i, j)] = power / sum(powers)
                output[(*sentence, i)] += power / sum(powers) * np.array(values[j])
    return output, weights


def attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *, root: float | None = None, axis: int = -1) -> Both:
    """Attention as it should be, unless told another root to divide by or another axis for softmax."""
    weights = softmax(Q @ K.swapaxes(-1, -2) / (np.sqrt(Q.shape[-1]) if root is None else root), axis)
    return weights @ V, weights


@mistake(
    "The scores are symmetric: the keys were made with W_Q. What a word offers is not what it looks for; make the keys "
    "with W_K.",
    "점수가 대칭입니다. 키를 W_Q로 만든 것입니다. 단어가 내놓는 것은 찾는 것과 다르므로 키는 W_K로 만드세요.",
    explained=sections.QUERY_IS_NO_KEY,
)
def keys_made_with_w_q(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_Q, X @ W_V)


@mistake(
    "The words themselves were mixed, so the output is d_model wide. Mix their values, X @ W_V: what a word says has a "
    "projection of its own.",
    "단어 자체를 섞어서 출력의 폭이 d_model입니다. 값 X @ W_V를 섞으세요. 단어가 들려주는 말에는 따로 투영 행렬이 "
    "있습니다.",
    explained=sections.FIVE_STEPS,
)
def values_not_projected(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X)


@mistake(
    "The weights are right, but the keys were mixed in place of the values: the output is as wide as a key. A name tag "
    "is for being found; mix X @ W_V.",
    "가중치는 맞지만 값 대신 키를 섞어서 출력의 폭이 키의 폭입니다. 키는 눈에 띄려고 다는 이름표입니다. X @ W_V를 "
    "섞으세요.",
    explained=sections.FIVE_STEPS,
)
def keys_mixed(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X @ W_K)


@mistake(
    "The scores were divided by √d_model, the width of the words, so the weights are off. Divide by the root of the "
    "width of a query, Q.shape[-1].",
    "점수를 단어의 폭인 d_model의 제곱근으로 나누어서 가중치가 어긋났습니다. 쿼리 하나의 폭인 Q.shape[-1]의 제곱근으로 "
    "나누세요.",
    explained=sections.WHY_SCALE,
)
def root_of_d_model(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X @ W_V, root=X.shape[-1] ** 0.5)


@mistake(
    "The scores were divided by √d_v, the root of the width of the values. That is right only where d_v = d: take the "
    "width of a query.",
    "점수를 값의 폭의 제곱근인 √d_v로 나누었습니다. d_v = d일 때만 맞으니 쿼리의 폭을 쓰세요.",
    explained=sections.WHY_SCALE,
)
def root_of_the_value_width(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X @ W_V, root=W_V.shape[-1] ** 0.5)


@mistake(
    "The scores were not scaled: these are the weights for queries √d times as long. Divide the scores by "
    "np.sqrt(Q.shape[-1]).",
    "스케일링을 하지 않아 쿼리가 √d배 길 때의 가중치가 나왔습니다. 점수를 np.sqrt(Q.shape[-1])로 나누세요.",
    explained=sections.WHY_SCALE,
)
def not_scaled(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X @ W_V, root=1.0)


@mistake(
    "Columns sum to 1 and rows do not: softmax ran over the words that ask. It runs over those that are asked, the "
    "last axis.",
    "열의 합이 1이고 행의 합은 1이 아닙니다. 묻는 단어 방향으로 소프트맥스를 한 것입니다. 질문을 받는 쪽, 곧 마지막 "
    "축을 따라 하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    return attend(X @ W_Q, X @ W_K, X @ W_V, axis=-2)


@mistake(
    "Right for small scores, NaN for large ones: exp overflows to infinity. Take the largest score of each row off "
    "before exp.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp가 무한대로 넘치기 때문입니다. exp를 계산하기 전에 행마다 가장 큰 "
    "점수를 빼세요.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    powers = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake(
    "Right for one sentence, and in a batch the first words of all sentences attend to each other: the batch axis was "
    "taken for the words. The words are the axis before the last, -2, whatever comes in front.",
    "문장이 하나이면 맞지만, 배치에서는 서로 다른 문장의 첫 단어끼리 어텐션을 합니다. 배치 축을 단어 축으로 여긴 "
    "것입니다. 앞에 무엇이 오든 단어는 끝에서 둘째 축 -2에 있습니다.",
)
def batch_for_words(X: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray) -> Both:
    if X.ndim < 3:
        return attend(X @ W_Q, X @ W_K, X @ W_V)
    turned = X.swapaxes(0, 1)
    output, weights = attend(turned @ W_Q, turned @ W_K, turned @ W_V)
    return output.swapaxes(0, 1), weights


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n, d_model, d, d_v = sizes.values()
    shapes = ((b, n, d_model), (d_model, d), (d_model, d), (d_model, d_v))
    return Call(tuple(rng.standard_normal(shape) for shape in shapes))


def further(rng: np.random.Generator) -> Iterable[Call]:
    X, W_Q, W_K, W_V = draw(rng, {"b": 2, "n": 3, "d_model": 4, "d": 5, "d_v": 6}).arguments
    yield Call((X[0], W_Q, W_K, W_V))
    yield Call((X[0, :1], W_Q, W_K, W_V))
    yield Call((30 * X, 30 * W_Q, W_K, W_V))
    yield Call((X, np.zeros_like(W_Q), W_K, W_V))


TASK = Said(
    """\
In self-attention the words of a sentence ask each other. Make a query, a key and a value of every word with the three
projections, then let every query attend to all keys of its own sentence, as in `scaled_dot_product_attention`. Return
the output and the weights. One sentence and a batch of them must work with the same lines.

    X          (…, n, d_model), the words
    W_Q, W_K   (d_model, d)
    W_V        (d_model, d_v)
    →          output (…, n, d_v), weights (…, n, n)""",
    """\
셀프 어텐션에서는 한 문장의 단어들이 서로에게 묻습니다. 투영 행렬 세 개로 단어마다 쿼리와 키와 값을 만들고,
`scaled_dot_product_attention`에서처럼 쿼리마다 같은 문장의 모든 키를 보게 하세요. 출력과 가중치를 돌려주세요.
문장이 하나든 여러 문장의 배치든 같은 코드로 계산되어야 합니다.

    X          (…, n, d_model), 단어들
    W_Q, W_K   (d_model, d)
    W_V        (d_model, d_v)
    →          출력 (…, n, d_v), 가중치 (…, n, n)""",
)

HINTS = (
    Said(
        "A projection is applied from the right: `X @ W_Q` turns every row of X, whatever axes come before.",
        "투영 행렬은 오른쪽에서 곱합니다. `X @ W_Q`는 앞에 어떤 축이 있든 X의 모든 행을 바꿉니다.",
    ),
    Said(
        "Three products give Q, K and V; what follows is your `scaled_dot_product_attention`, without a mask.",
        "곱셈 세 번으로 Q, K, V를 얻습니다. 그다음은 앞에서 만든 `scaled_dot_product_attention`이고, 마스크는 "
        "없습니다.",
    ),
    Said(
        "Q, K, V = X @ W_Q, X @ W_K, X @ W_V; scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]); softmax along "
        "the last axis; times V.",
        "Q, K, V = X @ W_Q, X @ W_K, X @ W_V에서 scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])을 구하고, "
        "마지막 축으로 소프트맥스를 한 다음 V를 곱하세요.",
    ),
)

EXERCISE = Exercise(
    name="self_attention",
    note="02",
    section=Said("In code", "코드로"),
    title=Said("The words ask each other", "서로에게 묻는 단어들"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=self_attention,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n": 3, "d_model": 5, "d": 4, "d_v": 7},
            further=further,
            outputs={"output": "b n d_v", "weights": "b n n"},
            weights="weights",
            examples=(
                "self_attention(np.array([[1.0, 0.0], [0.0, 1.0]]), np.eye(2), np.eye(2), np.array([[10.0], [20.0]]))",
            ),
            mistakes=(
                keys_made_with_w_q,
                values_not_projected,
                keys_mixed,
                root_of_d_model,
                root_of_the_value_width,
                not_scaled,
                softmax_over_queries,
                no_maximum_subtracted,
                batch_for_words,
            ),
        ),
    ),
)
