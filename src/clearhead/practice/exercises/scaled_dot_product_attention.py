"""scaled_dot_product_attention: scores, scaling, mask, weights, mixture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of
from clearhead.practice.exercises.softmax import unguarded

Both = tuple[np.ndarray, np.ndarray]
Mask = np.ndarray | None


def scaled_dot_product_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def by_definition(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    """One query at a time over the keys that it may attend to; a query with none keeps its zeros."""
    *leading, n_q, d = Q.shape
    n_k, d_v = V.shape[-2:]
    allowed = np.broadcast_to(True if mask is None else mask, (*leading, n_q, n_k))
    output, weights = np.zeros((*leading, n_q, d_v)), np.zeros((*leading, n_q, n_k))
    for *head, i in product(*map(range, (*leading, n_q))):
        keys = [j for j in range(n_k) if allowed[(*head, i, j)]]
        scores = [math.fsum(Q[(*head, i)] * K[(*head, j)]) / math.sqrt(d) for j in keys]
        top = max(scores, default=0.0)
        powers = [math.exp(score - top) for score in scores]
        total = math.fsum(powers)
        for j, power in zip(keys, powers, strict=True):
            weights[(*head, i, j)] = power / total
            output[(*head, i)] += power / total * V[(*head, j)]
    return output, weights


def products(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Every query's dot product with every key: Q (…, n_q, d)  K (…, n_k, d) → (…, n_q, n_k)"""
    return Q @ K.swapaxes(-1, -2)


def hidden(scores: np.ndarray, mask: Mask) -> np.ndarray:
    """The scores, −inf where the mask forbids."""
    return scores if mask is None else np.where(mask, scores, -np.inf)


def mixed(scores: np.ndarray, V: np.ndarray) -> Both:
    """The last two steps: scores (…, n_q, n_k)  V (…, n_k, d_v) → output (…, n_q, d_v), weights (…, n_q, n_k)"""
    weights = unguarded(scores)
    return weights @ V, weights


@mistake(
    "These are the weights for queries √d times as long: the scores were never divided by √d. Divide Q Kᵀ by "
    "np.sqrt(Q.shape[-1]) before softmax.",
    "쿼리가 √d배 길 때의 가중치가 나왔습니다. 점수를 √d로 나누지 않은 것입니다. 소프트맥스를 하기 전에 Q Kᵀ를 "
    "np.sqrt(Q.shape[-1])로 나누세요.",
    explained=sections.WHY_SCALE,
)
def not_scaled(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(hidden(products(Q, K), mask), V)


@mistake(
    "These are the weights for queries d times as long: the scores were multiplied by √d. Divide by it, so that wide "
    "queries do not get large scores.",
    "쿼리가 d배 길 때의 가중치가 나왔습니다. 점수에 √d를 곱한 것입니다. 폭이 넓어도 점수가 커지지 않도록 √d로 "
    "나누세요.",
    explained=sections.WHY_SCALE,
)
def multiplied_by_the_root(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(hidden(products(Q, K) * np.sqrt(Q.shape[-1]), mask), V)


@mistake(
    "The weights are too even: the scores were divided by d, not by its square root. A sum of d products spreads by "
    "√d, so that is what to divide by.",
    "가중치가 지나치게 고릅니다. 점수를 d의 제곱근이 아니라 d로 나눈 것입니다. 곱 d개를 더한 값은 √d만큼 퍼지므로 √d로 "
    "나누세요.",
    explained=sections.WHY_SCALE,
)
def divided_by_d(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(hidden(products(Q, K) / Q.shape[-1], mask), V)


@mistake(
    "The scores were divided by √d_v, the root of the width of the values, which is right only where d_v = d. Take the "
    "width of the queries and keys: they are what the dot product sums over.",
    "점수를 값의 폭의 제곱근인 √d_v로 나누었습니다. d_v = d일 때만 맞습니다. 점곱에서 더하는 것은 쿼리와 키의 열이므로 "
    "쿼리와 키의 폭을 쓰세요.",
    explained=sections.WHY_SCALE,
)
def root_of_the_value_width(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(hidden(products(Q, K) / np.sqrt(V.shape[-1]), mask), V)


@mistake(
    "The columns of the weights sum to 1 and the rows do not: softmax ran over the queries. Each query shares out its "
    "attention among the keys, so run it along the last axis.",
    "가중치의 열의 합이 1이고 행의 합은 1이 아닙니다. 소프트맥스를 쿼리 방향으로 한 것입니다. 쿼리마다 어텐션을 키에게 "
    "나누어 주므로 마지막 축을 따라 하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    weights = unguarded(hidden(products(Q, K) / np.sqrt(Q.shape[-1]), mask), axis=-2)
    return weights @ V, weights


@mistake(
    "Right for small scores, NaN for large ones: exp overflows to infinity. Take the largest score of each row off "
    "before exp; the weights stay the same.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp가 무한대로 넘치기 때문입니다. exp를 계산하기 전에 행마다 가장 큰 "
    "점수를 빼세요. 가중치는 달라지지 않습니다.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    powers = np.exp(hidden(products(Q, K) / np.sqrt(Q.shape[-1]), mask))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@mistake(
    "Right without a mask, and with one the masked keys keep their weight: the mask was not used. Set the scores to "
    "−inf where it is False, before softmax.",
    "마스크가 없으면 맞지만, 있어도 가려야 할 키의 가중치가 그대로입니다. 마스크를 쓰지 않은 것입니다. 소프트맥스를 "
    "하기 전에 마스크가 False인 점수를 −inf로 바꾸세요.",
    explained=sections.MINUS_INFINITY,
)
def mask_ignored(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(products(Q, K) / np.sqrt(Q.shape[-1]), V)


@mistake(
    "All weight is on the keys that the mask forbids: it was read the wrong way round. True means that a key may be "
    "attended to, so keep the score there and put −inf elsewhere.",
    "마스크가 막은 키에 가중치가 모두 몰렸습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, True인 "
    "점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return mixed(hidden(products(Q, K) / np.sqrt(Q.shape[-1]), None if mask is None else ~mask), V)


@mistake(
    "Masked weights are 0, but their rows sum to less than 1: the mask came after softmax, when the masked keys had "
    "already taken their share. Set the scores to −inf before softmax.",
    "가려진 가중치는 0이지만 그 행의 합이 1보다 작습니다. 마스크를 소프트맥스 뒤에 씌워서, 가려진 키가 이미 제 몫을 "
    "가져갔습니다. 소프트맥스를 하기 전에 점수를 −inf로 바꾸세요.",
    explained=sections.LEAKS,
)
def mask_after_softmax(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    weights = unguarded(products(Q, K) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else weights * mask
    return weights @ V, weights


@mistake(
    "The masked keys still get weight: their score was set to 0, and e⁰ is 1, not nothing. Use −np.inf, whose power is "
    "0.",
    "가려진 키에 여전히 가중치가 있습니다. 점수를 0으로 바꾸었는데, e⁰은 없음이 아니라 1입니다. 거듭제곱이 0이 되는 "
    "−np.inf를 쓰세요.",
    explained=sections.LEAKS,
)
def masked_score_zero(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    scores = products(Q, K) / np.sqrt(Q.shape[-1])
    return mixed(scores if mask is None else np.where(mask, scores, 0), V)


@mistake(
    "Right until the scores are very low: a masked key has the score −1e9 or the like, which is higher than the real "
    "ones then and takes all the weight. Only −np.inf is below every score.",
    "점수가 아주 낮아지면 틀립니다. 가려진 키의 점수를 −1e9 같은 수로 두면, 진짜 점수가 그보다 낮을 때 가려진 키가 "
    "가중치를 모두 가져갑니다. 어떤 점수보다도 낮은 것은 −np.inf뿐입니다.",
    explained=sections.LEAKS,
)
def a_large_number_for_infinity(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return filled(Q, K, V, mask, -1e9)


@variant_of(a_large_number_for_infinity)
def minus_ten_thousand(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask = None) -> Both:
    return filled(Q, K, V, mask, -1e4)


def filled(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Mask, number: float) -> Both:
    scores = products(Q, K) / np.sqrt(Q.shape[-1])
    return mixed(scores if mask is None else np.where(mask, scores, number), V)


def low_scores(base: int) -> Both:
    """Queries (3, 4) and keys (5, 4) with scores near −2 · base², whole numbers, so that they are exact."""
    steps = np.arange(20.0).reshape(5, 4) % 7
    return np.full((3, 4), -float(base)), base + steps


def random_mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A boolean mask that leaves every query at least one key, and where there are several forbids it one."""
    mask = rng.random(shape) < 0.5
    mine = rng.integers(shape[-1], size=shape[:-1])[..., None]
    columns = np.arange(shape[-1])
    mask[columns == (mine + 1) % shape[-1]] = False
    mask[columns == mine] = True
    return mask


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, h, n_q, n_k, d, d_v = sizes.values()
    Q, K, V = (rng.standard_normal((b, h, *shape)) for shape in ((n_q, d), (n_k, d), (n_k, d_v)))
    return Call((Q, K, V, random_mask(rng, (b, 1, n_q, n_k)) if rng.random() < 0.5 else None))


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = rng.standard_normal((3, 5)), rng.standard_normal((4, 5)), rng.standard_normal((4, 2))
    yield Call((Q, K, V))
    yield Call((Q, K, V, random_mask(rng, (3, 4))))
    yield Call((100 * Q, 100 * K, V))
    yield Call((100 * Q, 100 * K, V, random_mask(rng, (3, 4))))
    yield Call((np.array([[1.0, 0.0]]), np.array([[0.0, 3.0], [1.0, 1.0]]), np.array([[1.0], [2.0]])))
    yield Call((rng.standard_normal((1, 3)), rng.standard_normal((1, 3)), rng.standard_normal((1, 2))))
    for base in (2**8, 2**17):
        yield Call((*low_scores(base), rng.standard_normal((5, 2)), random_mask(rng, (3, 5))))


TASK = Said(
    """\
Mix the values by how well each query matches each key. Note 02 counts five steps. The first, the
projection, is done here: Q, K and V are given. Four are left, and between the second and the third of them a mask:

    scores  = Q Kᵀ
    scores  = scores / √d
    weights = softmax(scores), over the keys
    output  = weights V

Where `mask` is given, a query attends only to the keys where it is True; every query has at least one of those. Return
the output and the weights. Only the last two axes take part, and any axes before them are carried along. Scores that
are very high or very low must do no harm.

    Q     (…, n_q, d)
    K     (…, n_k, d)
    V     (…, n_k, d_v)
    mask  broadcasts to (…, n_q, n_k), boolean, True = may attend
    →     output (…, n_q, d_v), weights (…, n_q, n_k)""",
    """\
쿼리마다 키와 얼마나 맞는지에 따라 값을 섞으세요. 02번 노트의 다섯 단계 가운데 첫 단계인 투영은 이미 되어 있어서 Q, K,
V가 인자로 들어옵니다. 남은 것은 네 단계이고, 그 둘째와 셋째 사이에 마스크를 씌웁니다.

    점수   = Q Kᵀ
    점수   = 점수 / √d
    가중치 = softmax(점수), 키 방향으로
    출력   = 가중치 V

`mask`를 주면 쿼리는 마스크가 True인 키만 봅니다. 그런 키가 쿼리마다 적어도 하나 있습니다. 출력과 가중치를 돌려주세요.
계산에는 마지막 두 축만 쓰이고 그 앞의 축은 그대로 따라옵니다. 점수가 아주 높거나 낮아도 망가지지 않아야 합니다.

    Q     (…, n_q, d)
    K     (…, n_k, d)
    V     (…, n_k, d_v)
    mask  (…, n_q, n_k)로 브로드캐스팅되는 참·거짓 배열, True는 볼 수 있음
    →     출력 (…, n_q, d_v), 가중치 (…, n_q, n_k)""",
)

HINTS = (
    Said(
        "`K.T` turns every axis round; with a batch in front you want the last two alone: `K.swapaxes(-1, -2)`.",
        "`K.T`는 모든 축을 뒤집습니다. 앞에 배치 축이 있을 때는 마지막 두 축만 바꾸어야 합니다. `K.swapaxes(-1, -2)`를 "
        "쓰세요.",
    ),
    Said(
        "A key with the score −inf gets the weight e^−∞ = 0 and takes nothing from the others: `np.where(mask, scores, "
        "-np.inf)`, before softmax.",
        "점수가 −inf인 키는 가중치가 e^−∞ = 0이고 다른 키의 몫도 줄이지 않습니다. 소프트맥스를 하기 전에 "
        "`np.where(mask, scores, -np.inf)`를 쓰세요.",
    ),
    Said(
        "scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), masked if there is a mask; then your softmax along "
        "axis -1 gives the weights, and weights @ V the output.",
        "scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])을 구하고, 마스크가 있으면 씌우세요. 여기에 앞에서 만든 "
        "소프트맥스를 축 -1로 하면 가중치이고, weights @ V가 출력입니다.",
    ),
)

EXERCISE = Exercise(
    name="scaled_dot_product_attention",
    note="02",
    section=Said("The formula", "수식"),
    title=Said("Attention in four steps", "네 단계로 하는 어텐션"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=scaled_dot_product_attention,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "h": 3, "n_q": 4, "n_k": 5, "d": 6, "d_v": 7},
            further=further,
            outputs={"output": "b h n_q d_v", "weights": "b h n_q n_k"},
            weights="weights",
            examples=(
                "scaled_dot_product_attention(np.array([[2.0, 0.0]]), np.eye(2), np.array([[10.0], [20.0]]))",
                "scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2), np.array([[True, False], [True, "
                "True]]))",
            ),
            mistakes=(
                not_scaled,
                multiplied_by_the_root,
                divided_by_d,
                root_of_the_value_width,
                softmax_over_queries,
                no_maximum_subtracted,
                mask_ignored,
                mask_inverted,
                mask_after_softmax,
                masked_score_zero,
                a_large_number_for_infinity,
                minus_ten_thousand,
            ),
        ),
    ),
)
