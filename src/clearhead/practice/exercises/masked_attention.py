"""masked_attention: hidden keys count for nothing, and a query without any key gets zeros."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of
from clearhead.practice.exercises import scaled_dot_product_attention as unmasked
from clearhead.practice.exercises.softmax import unguarded

Both = tuple[np.ndarray, np.ndarray]


def masked_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights @ V, weights


def scaled(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Q (…, n_q, d)  K (…, n_k, d) → scores (…, n_q, n_k)"""
    return Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])


def mixed(weights: np.ndarray, V: np.ndarray) -> Both:
    return weights @ V, weights


def kept(scores: np.ndarray, mask: np.ndarray, axis: int = -1) -> np.ndarray:
    """The shares along an axis of the scores where the mask is True, 0 elsewhere and in a line without any."""
    shown = np.where(mask, scores, -np.inf)
    top = shown.max(axis=axis, keepdims=True)
    powers = np.exp(shown - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


@mistake(
    "Rows with a key are right, and a row without any is NaN: all its powers are 0, and 0 / 0 is no number. Such a "
    "query gets zeros: look after it before the division.",
    "볼 키가 있는 행은 맞지만, 하나도 없는 행은 NaN입니다. 거듭제곱이 모두 0이고 0 / 0은 수가 아니기 때문입니다. 그런 "
    "쿼리의 답은 0입니다. 나누기 전에 따로 처리하세요.",
)
def empty_row_nan(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(np.where(mask, scaled(Q, K), -np.inf)), V)


@mistake(
    "Rows with a key are right, and a row without any became the plain average of all values: with one large number "
    "for all, its keys are equal again. Use −np.inf, and zeros for such a row.",
    "볼 키가 있는 행은 맞지만, 하나도 없는 행은 모든 값의 단순 평균이 되었습니다. 아주 작은 수를 똑같이 넣으면 그 행의 "
    "키는 다시 서로 같아집니다. −np.inf를 쓰고 그런 행은 0으로 만드세요.",
)
def empty_row_averaged(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(np.where(mask, scaled(Q, K), -1e30)), V)


@mistake(
    "Right until the scores are very low: a hidden key has the score −1e9 or the like, which is higher than the real "
    "ones then and takes all the weight. Only −np.inf is below every score.",
    "점수가 아주 낮아지면 틀립니다. 가려진 키의 점수를 −1e9 같은 수로 두면, 진짜 점수가 그보다 낮을 때 가려진 키가 "
    "가중치를 모두 가져갑니다. 어떤 점수보다도 낮은 것은 −np.inf뿐입니다.",
    explained=sections.LEAKS,
)
def leaks_below_a_large_number(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return filled(Q, K, V, mask, -1e9, guarded=True)


@variant_of(leaks_below_a_large_number)
def leaks_below_minus_ten_thousand(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return filled(Q, K, V, mask, -1e4, guarded=True)


@variant_of(leaks_below_a_large_number)
def hidden_weights_zeroed_afterwards(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(np.where(mask, scaled(Q, K), -1e9)) * mask, V)


@variant_of(leaks_below_a_large_number)
def hidden_weights_of_ten_thousand_zeroed_afterwards(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray
) -> Both:
    return mixed(unguarded(np.where(mask, scaled(Q, K), -1e4)) * mask, V)


def filled(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray, number: float, *, guarded: bool = False
) -> Both:
    weights = unguarded(np.where(mask, scaled(Q, K), number))
    return mixed(weights * mask.any(axis=-1, keepdims=True) if guarded else weights, V)


@mistake(
    "−1e4, or −1e9, is a score like any other: a row without keys becomes the plain average of all values, and where "
    "the real scores are lower still, hidden keys leak. Use −np.inf, which no score is below, and zeros for a row "
    "without keys.",
    "−1e4나 −1e9도 하나의 점수일 뿐입니다. 볼 키가 없는 행은 모든 값의 단순 평균이 되고, 진짜 점수가 더 낮은 곳에서는 "
    "가려진 키가 샙니다. 어떤 점수보다도 낮은 −np.inf를 쓰고, 볼 키가 없는 행은 0으로 만드세요.",
    explained=sections.LEAKS,
)
def minus_ten_thousand(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return filled(Q, K, V, mask, -1e4)


@variant_of(minus_ten_thousand)
def minus_a_thousand_million(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return filled(Q, K, V, mask, -1e9)


@mistake(
    "Hidden keys still get weight: their score was set to 0, and e⁰ is 1. Use −np.inf: its power is 0.",
    "가려진 키에 여전히 가중치가 있습니다. 점수를 0으로 바꾸었는데 e⁰은 1입니다. 거듭제곱이 0이 되는 −np.inf를 쓰세요.",
    explained=sections.LEAKS,
)
def hidden_score_zero(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(np.where(mask, scaled(Q, K), 0)), V)


@mistake(
    "Hidden weights are 0, and the rows sum to less than 1: the mask came after softmax, when the hidden keys had "
    "taken their share. Hide the scores before softmax.",
    "가려진 가중치는 0이지만 행의 합이 1보다 작습니다. 마스크를 소프트맥스 뒤에 씌워서 가려진 키가 이미 제 몫을 "
    "가져갔습니다. 소프트맥스를 하기 전에 점수를 가리세요.",
    explained=sections.LEAKS,
)
def mask_after_softmax(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(scaled(Q, K)) * mask, V)


@mistake(
    "All weight lies on the keys that are hidden: the mask was read the wrong way round. True means may attend, so "
    "keep the score there and put −inf elsewhere: np.where(mask, scores, -np.inf).",
    "가려야 할 키에 가중치가 모두 몰렸습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, "
    "np.where(mask, scores, -np.inf)처럼 True인 점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(kept(scaled(Q, K), ~mask), V)


@variant_of(mask_inverted)
def mask_inverted_unguarded(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(np.where(mask, -np.inf, scaled(Q, K))), V)


@mistake(
    "Right until a score happens to be 0: then a hidden key is seen. What is hidden was read off the scores, and 0 "
    "looked like nothing there. Ask the mask itself: np.where(mask, scores, -np.inf).",
    "점수가 우연히 0이 되기 전까지는 맞지만, 0이 되면 가려진 키가 보입니다. 어디를 가릴지 점수의 값에서 읽어서, 0인 "
    "곳을 빈 곳으로 여긴 것입니다. np.where(mask, scores, -np.inf)처럼 마스크를 직접 쓰세요.",
    explained=sections.MASK_MISTAKES,
)
def hidden_by_score(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    scores = scaled(Q, K)
    return mixed(kept(scores, scores * ~mask == 0), V)


@mistake(
    "NaN in rows that have keys: 0 · (−inf) is no number, so multiplying the mask by −inf spoils the cells that may be "
    "seen. Choose with np.where in place of multiplying.",
    "볼 키가 있는 행까지 NaN입니다. 0 · (−inf)는 수가 아니므로, 마스크에 −inf를 곱하면 볼 수 있는 칸이 망가집니다. "
    "곱하지 말고 np.where로 고르세요.",
    explained=sections.MASK_MISTAKES,
)
def zero_times_infinity(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(unguarded(scaled(Q, K) + ~mask * -np.inf), V)


@mistake(
    "Hidden weights are 0, and the columns sum to 1 in place of the rows: softmax ran over the queries. Run it over "
    "the keys, along the last axis.",
    "가려진 가중치는 0이지만 행이 아니라 열의 합이 1입니다. 소프트맥스를 쿼리 방향으로 한 것입니다. 키 방향, 곧 마지막 "
    "축을 따라 하세요.",
    explained=sections.LEAKS,
)
def softmax_over_queries(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> Both:
    return mixed(kept(scaled(Q, K), mask, axis=-2), V)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    h, n_q, n_k, d, d_v = sizes.values()
    Q, K, V = (rng.standard_normal((h, *shape)) for shape in ((n_q, d), (n_k, d), (n_k, d_v)))
    mask = unmasked.random_mask(rng, (h, n_q, n_k))
    if rng.random() < 0.5:
        mask[rng.integers(h), rng.integers(n_q)] = False
    return Call((Q, K, V, mask))


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = rng.standard_normal((3, 4)), rng.standard_normal((5, 4)), rng.standard_normal((5, 2))
    mask = unmasked.random_mask(rng, (3, 5))
    yield Call((Q, K, V, mask))
    yield Call((Q, K, V, mask & (np.arange(3) != 1)[:, None]))
    yield Call((Q, K, V, np.zeros((3, 5), bool)))
    yield Call((Q + 200, K - 200, V, mask))
    yield Call((100 * Q, 100 * K, V, mask))
    words = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield Call((words, words, np.arange(6.0).reshape(3, 2), np.tri(3, dtype=bool)))
    yield Call((np.stack([Q, Q]), np.stack([K, K]), np.stack([V, V]), np.array([True, True, False, False, True])))
    yield Call((Q[:1], K[:1], V[:1], np.array([[False]])))
    yield Call((*unmasked.low_scores(2**17), V, mask))


TASK = Said(
    """\
Attention in which a query sees only the keys where the mask is True, as if the others were not there at all: they take
no weight, and change nobody else's. It may happen that a query has no key left, as in a sentence that is nothing but
padding. Then its output and all its weights are 0, and never NaN. Scores may be very high or very low.

    Q     (…, n_q, d)
    K     (…, n_k, d)
    V     (…, n_k, d_v)
    mask  broadcasts to (…, n_q, n_k), boolean, True = may attend
    →     output (…, n_q, d_v), weights (…, n_q, n_k)""",
    """\
쿼리가 마스크가 True인 키만 보는 어텐션을 만드세요. 나머지 키는 아예 없는 것과 같아서, 가중치를 받지도 않고 다른 키의
가중치를 바꾸지도 않습니다. 패딩뿐인 문장처럼 볼 키가 하나도 남지 않은 쿼리도 있습니다. 그때는 출력과 가중치가 모두
0이어야 하고 NaN이 나와서는 안 됩니다. 점수는 아주 높을 수도, 아주 낮을 수도 있습니다.

    Q     (…, n_q, d)
    K     (…, n_k, d)
    V     (…, n_k, d_v)
    mask  (…, n_q, n_k)로 브로드캐스팅되는 참·거짓 배열, True는 볼 수 있음
    →     출력 (…, n_q, d_v), 가중치 (…, n_q, n_k)""",
)

HINTS = (
    Said(
        "Set the scores of hidden keys to −np.inf before softmax: e^−∞ = 0, so they are missing from the sum as well.",
        "소프트맥스를 하기 전에 가려진 키의 점수를 −np.inf로 바꾸세요. e^−∞ = 0이므로 합에서도 빠집니다.",
    ),
    Said(
        "In a row without keys two steps go wrong: −inf − (−inf) is NaN, and so is 0 / 0. Both need another number in "
        "that row: take off 0, divide by 1.",
        "볼 키가 없는 행에서는 두 단계가 잘못됩니다. −inf − (−inf)도 NaN이고 0 / 0도 NaN입니다. 그 행에서는 다른 수를 "
        "쓰세요. 0을 빼고 1로 나누면 됩니다.",
    ),
    Said(
        "top = scores.max(axis=-1, keepdims=True), replaced by 0 where it is −inf; powers = np.exp(scores - top); "
        "total = their sum, replaced by 1 where it is 0; weights = powers / total.",
        "top = scores.max(axis=-1, keepdims=True)에서 −inf인 곳을 0으로 바꾸고, powers = np.exp(scores - top)을 "
        "구하세요. 그 합 total에서 0인 곳을 1로 바꾸면 weights = powers / total입니다.",
    ),
)

EXERCISE = Exercise(
    name="masked_attention",
    note="05",
    section=Said("In code", "코드로"),
    title=Said("Keys that are not there", "없는 셈 치는 키"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=masked_attention,
            judge=unmasked.by_definition,
            draw=draw,
            sizes={"h": 2, "n_q": 3, "n_k": 5, "d": 4, "d_v": 6},
            further=further,
            outputs={"output": "h n_q d_v", "weights": "h n_q n_k"},
            weights="weights",
            examples=("masked_attention(np.eye(2), np.eye(2), np.eye(2), np.array([[True, False], [False, False]]))",),
            mistakes=(
                empty_row_nan,
                empty_row_averaged,
                minus_ten_thousand,
                minus_a_thousand_million,
                leaks_below_a_large_number,
                leaks_below_minus_ten_thousand,
                hidden_weights_zeroed_afterwards,
                hidden_weights_of_ten_thousand_zeroed_afterwards,
                hidden_score_zero,
                mask_after_softmax,
                mask_inverted,
                mask_inverted_unguarded,
                hidden_by_score,
                zero_times_infinity,
                softmax_over_queries,
            ),
        ),
    ),
)
