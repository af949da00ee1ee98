"""find_the_bug: eight functions that run, give the right shapes, and are wrong."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from clearhead.languages import Said
from clearhead.practice.exercise import Call, Exercise, Mistake, Part, mistake

Pair = tuple[np.ndarray, np.ndarray]


def as_found(buggy: Callable[..., Any], name: str) -> str:
    """The source of a buggy function under the name that the learner finds it by."""
    return inspect.getsource(buggy).replace(f"def {buggy.__name__}(", f"def {name}(", 1)


def unchanged(buggy: Callable[..., Any], en: str, ko: str) -> Mistake:
    """The bug as it was planted, with an experiment that shows it."""
    return Mistake(name="unchanged", wrong=buggy, said=Said(en, ko))


# 1: the width under the root


def attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def buggy_attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(V.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def judged_attend(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Query by query."""
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for place in product(*map(range, Q.shape[:-1])):
        text = place[:-1]
        scores = [float(np.dot(Q[place], k)) / math.sqrt(len(k)) for k in K[text]]
        powers = [math.exp(score - max(scores)) for score in scores]
        output[place] = sum(power / sum(powers) * v for power, v in zip(powers, V[text], strict=True))
    return output


@mistake(
    "Now nothing is divided at all, and the attention is too sharp. The division belongs there; look at the number "
    "under the root.",
    "이제 아무것도 나누지 않아 어텐션이 너무 뾰족합니다. 나누기는 필요합니다. 루트 안의 수를 살펴보세요.",
)
def not_scaled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return attend(Q * np.sqrt(K.shape[-1]), K, V)


@mistake(
    "Divided by the number of keys' root, not the width's: K.shape[-2] counts keys. A score sums K.shape[-1] products.",
    "키의 폭이 아니라 키의 개수로 나누었습니다. K.shape[-2]는 키의 개수이고, 점수 하나에 더한 곱은 "
    "K.shape[-1]개입니다.",
)
def scaled_by_the_number_of_keys(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return attend(Q * np.sqrt(K.shape[-1] / K.shape[-2]), K, V)


def draw_attend(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, n_k, d, d_v = sizes.values()
    return Call(tuple(rng.standard_normal(shape) for shape in ((b, n_q, d), (b, n_k, d), (b, n_k, d_v))))


# 2: when to mask


def attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    past = np.tri(Q.shape[-2], dtype=bool)
    scores = np.where(past, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ V


def buggy_attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    past = np.tri(Q.shape[-2], dtype=bool)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    weights = np.where(past, weights, 0)
    return weights @ V


def judged_attend_causally(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each query over the keys up to itself, as if there were no others."""
    rows = [judged_attend(Q[..., i : i + 1, :], K[..., : i + 1, :], V[..., : i + 1, :]) for i in range(Q.shape[-2])]
    return np.concatenate(rows, axis=-2)


def filled(Q: np.ndarray, K: np.ndarray, V: np.ndarray, past: np.ndarray, fill: float) -> np.ndarray:
    scores = np.where(past, Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]), fill)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ V


@mistake(
    "The mask is in the right place now, but a score of 0 is not nothing: e⁰ = 1 takes part. Use -np.inf.",
    "마스크의 자리는 이제 맞지만, 점수 0은 없는 것이 아닙니다. e⁰ = 1만큼 끼어듭니다. -np.inf를 쓰세요.",
)
def masked_with_zero(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool), 0.0)


@mistake(
    "Right for ordinary scores; where real scores are lower than -10,000 the future wins. Only -np.inf is lower than "
    "every score.",
    "평범한 점수에서는 맞지만, 진짜 점수가 -10,000보다 낮으면 미래가 이깁니다. 어떤 점수보다도 낮은 것은 "
    "-np.inf뿐입니다.",
)
def masked_with_a_large_number(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool), -1e4)


@mistake(
    "Masked in the right place, and the wrong triangle: now each query sees itself and the future. Keep np.tri as it "
    "was.",
    "마스크의 자리는 맞지만 삼각형이 반대입니다. 쿼리가 자기와 미래를 봅니다. np.tri는 그대로 두세요.",
)
def the_wrong_triangle(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    return filled(Q, K, V, np.tri(Q.shape[-2], dtype=bool).T, -np.inf)


def draw_attend_causally(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n, d, d_v = sizes.values()
    return Call(tuple(rng.standard_normal(shape) for shape in ((b, n, d), (b, n, d), (b, n, d_v))))


def low_scores(rng: np.random.Generator) -> Iterable[Call]:
    ones = np.ones((3, 4))
    yield Call((-200 * ones, 200 * ones + rng.standard_normal((3, 4)) / 100, rng.standard_normal((3, 2))))


# 3: heads back into rows


def join_heads(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, h * d)


def buggy_join_heads(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.reshape(*leading, n, h * d)


def judged_join_heads(x: np.ndarray) -> np.ndarray:
    """Number by number."""
    *leading, h, n, d = x.shape
    joined = np.empty((*leading, n, h * d))
    for *place, head, i, c in product(*map(range, x.shape)):
        joined[(*place, i, head * d + c)] = x[(*place, head, i, c)]
    return joined


@mistake(
    "Two axes are swapped now, but the wrong two: each head's columns and positions. Swap heads with positions, so "
    "that the heads of one position lie side by side.",
    "이제 두 축을 맞바꾸었지만 헤드의 열과 위치를 바꾸었습니다. 헤드와 위치를 바꾸어야 한 위치의 헤드들이 나란히 "
    "놓입니다.",
)
def columns_swapped(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return x.swapaxes(-2, -1).reshape(*leading, n, h * d)


@mistake(
    "The columns of the heads are interleaved: head 0, head 1, head 0, … A position's row is all of head 0, then all "
    "of head 1.",
    "헤드의 열이 한 칸씩 번갈아 놓였습니다. 한 위치의 행은 0번 헤드 전체, 그다음 1번 헤드 전체의 순서입니다.",
)
def columns_interleaved(x: np.ndarray) -> np.ndarray:
    *leading, h, n, d = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, n, h * d)


def draw_join_heads(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.standard_normal(tuple(sizes.values())),))


# 4: the triangle with a cache


def allowed_keys(n: int, n_k: int) -> np.ndarray:
    query = np.arange(n)[:, None] + n_k - n
    return np.arange(n_k) <= query


def buggy_allowed_keys(n: int, n_k: int) -> np.ndarray:
    query = np.arange(n)[:, None]
    return np.arange(n_k) <= query


def judged_allowed_keys(n: int, n_k: int) -> np.ndarray:
    """The last query sees every key, the one before it one less, and so on."""
    return np.array([[j < n_k - later for j in range(n_k)] for later in reversed(range(n))])


@mistake(
    "Shifted the wrong way: now the triangle has moved out to the left. The queries stand n_k - n places further on, "
    "not further back.",
    "반대로 밀었습니다. 삼각형이 왼쪽으로 벗어났습니다. 쿼리는 n_k - n칸 앞이 아니라 뒤에 있습니다.",
)
def shifted_the_wrong_way(n: int, n_k: int) -> np.ndarray:
    return np.arange(n_k) <= np.arange(n)[:, None] - (n_k - n)


@mistake(
    "Nearly: the place of the queries is right, but none sees its own key. With < the diagonal is lost; compare with "
    "<=.",
    "거의 맞습니다. 쿼리의 자리는 맞지만 자기 키를 보지 못합니다. <로 비교하면 대각선을 잃으니 <=로 비교하세요.",
)
def own_key_lost(n: int, n_k: int) -> np.ndarray:
    return np.arange(n_k) < np.arange(n)[:, None] + n_k - n


def draw_allowed_keys(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["n"], sizes["n"] + sizes["cached"]))


# 5: empty chairs


def hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, None, :], scores, -np.inf)


def buggy_hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, :, None], scores, -np.inf)


def judged_hide_padding(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Column by column."""
    hidden = np.array(scores)
    for text, row in enumerate(ids):
        for key, number in enumerate(row):
            if number == 0:
                hidden[text, :, key] = -math.inf
    return hidden


@mistake(
    "The right axis, but inverted: now the real words are hidden and the padding is left. np.where takes the second "
    "where the first is True.",
    "축은 맞지만 반대로 가렸습니다. 진짜 단어가 가려지고 패딩만 남았습니다. np.where는 첫 인자가 True인 곳에서 두 "
    "번째 것을 고릅니다.",
)
def real_words_hidden(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return np.where((ids == 0)[:, None, :], scores, -np.inf)


@mistake(
    "The keys are hidden now, and the rows of padding too, which leaves those rows without any key: NaN after the "
    "softmax. Hide the columns and leave the rows.",
    "이제 키가 가려졌지만 패딩의 행까지 가려, 그 행에는 볼 키가 하나도 없습니다. 소프트맥스를 거치면 NaN이 됩니다. "
    "열만 가리고 행은 그대로 두세요.",
)
def rows_hidden_too(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    real = ids != 0
    return np.where(real[:, None, :] & real[:, :, None], scores, -np.inf)


def draw_hide_padding(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n = sizes["b"], sizes["n"]
    ids = np.where(np.arange(n) < rng.integers(1, n + 1, (b, 1)), rng.integers(1, 99, (b, n)), 0)
    return Call((rng.standard_normal((b, n, n)), ids))


# 6: clocks that run at the wrong speed


def place_code(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (2 * (column // 2) / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def buggy_place_code(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (column / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def judged_place_code(n: int, d: int) -> np.ndarray:
    """Pair by pair."""
    code = np.zeros((n, d))
    for place in range(n):
        for first in range(0, d, 2):
            angle = place / 10000 ** (first / d)
            code[place, first] = math.sin(angle)
            if first + 1 < d:
                code[place, first + 1] = math.cos(angle)
    return code


@mistake(
    "sin and cos of a pair run alike now, but twice too slowly from pair to pair: the exponent of pair i is 2i / d, "
    "and column // 2 is i.",
    "한 쌍의 sin과 cos은 이제 같이 가지만, 쌍마다 지수가 절반입니다. i번 쌍의 지수는 2i / d이고 column // 2가 i입니다.",
)
def exponent_halved(n: int, d: int) -> np.ndarray:
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10000 ** (column // 2 / d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


@mistake(
    "Now all sines come first and all cosines after them. The speeds are right; the columns alternate, sin on even "
    "and cos on odd ones.",
    "이제 sin이 모두 앞에, cos이 모두 뒤에 있습니다. 속도는 맞습니다. 열은 번갈아 놓여야 해서 짝수 열이 sin, 홀수 "
    "열이 cos입니다.",
)
def halves_for_pairs(n: int, d: int) -> np.ndarray:
    code = place_code(n, d)
    return np.concatenate([code[:, 0::2], code[:, 1::2]], axis=-1)


def draw_place_code(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["n"], sizes["d"]))


# 7: whose mean?


def normalise(x: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def buggy_normalise(x: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=-2, keepdims=True)
    variance = x.var(axis=-2, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


def judged_normalise(x: np.ndarray) -> np.ndarray:
    """Position by position."""
    y = np.empty(x.shape)
    for place in product(*map(range, x.shape[:-1])):
        numbers = [float(number) for number in x[place]]
        mean = sum(numbers) / len(numbers)
        variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
        y[place] = [(number - mean) / math.sqrt(variance + 1e-5) for number in numbers]
    return y


@mistake(
    "Half repaired: the mean is each position's own, the variance is still taken over the positions. Both have the "
    "same axis.",
    "절반만 고쳤습니다. 평균은 위치마다 구했지만 분산은 여전히 위치 방향입니다. 둘 다 같은 축으로 구하세요.",
)
def variance_still_over_positions(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-2, keepdims=True) + 1e-5)


@mistake(
    "Now there is one mean and one variance for everything, so that positions still know of each other. Each "
    "position has its own: axis=-1.",
    "이제 전체에 평균 하나와 분산 하나뿐이어서, 위치끼리 여전히 서로 영향을 줍니다. 위치마다 axis=-1로 따로 구하세요.",
)
def one_mean_for_all(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def draw_normalise(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((1 + 2 * rng.standard_normal(tuple(sizes.values())),))


# 8: what is given and what is wanted


def teacher_forcing(ids: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.full((len(ids), 1), start)
    given = np.concatenate([first, ids[:, :-1]], axis=1)
    wanted = ids
    return given, wanted


def buggy_teacher_forcing(ids: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    first = np.full((len(ids), 1), start)
    given = np.concatenate([first, ids], axis=1)[:, 1:]
    wanted = ids
    return given, wanted


def judged_teacher_forcing(ids: np.ndarray, start: int) -> Pair:
    """Word by word: what was written before it."""
    given = [[row[i - 1] if i else start for i in range(len(row))] for row in ids.tolist()]
    return np.array(given), np.array(ids)


@mistake(
    "Shifted, but the other way: given is now one word ahead of what is wanted, and the decoder is handed even the "
    "word after. The start comes first, and the last word is never given.",
    "밀기는 했지만 반대쪽입니다. 주는 것이 써야 할 것보다 한 단어 앞서, 디코더가 그다음 단어까지 받습니다. 시작 "
    "토큰이 맨 앞에 오고, 마지막 단어는 주지 않습니다.",
)
def shifted_ahead(ids: np.ndarray, start: int) -> Pair:
    first = np.full((len(ids), 1), start)
    return np.concatenate([ids[:, 1:], first], axis=1), ids


@mistake(
    "given is right but for one word too many: the last word is given, and nothing is left to be written after it. "
    "Leave it out of `given`.",
    "주는 것이 한 단어 많습니다. 마지막 단어를 주면 그 뒤에 쓸 것이 없습니다. `given`에서 마지막 단어를 빼세요.",
)
def last_word_given(ids: np.ndarray, start: int) -> Pair:
    first = np.full((len(ids), 1), start)
    return np.concatenate([first, ids], axis=1), ids


@mistake(
    "The two are shifted by one, but the beginning is lost: the decoder never learns to write the first word. Begin "
    "`given` with the start token, and keep all of ids in `wanted`.",
    "한 칸 밀리기는 했지만 처음이 사라져, 디코더가 첫 단어를 쓰는 법을 배우지 못합니다. `given`은 시작 토큰으로 "
    "시작하고, `wanted`에는 ids를 모두 남기세요.",
)
def beginning_lost(ids: np.ndarray, start: int) -> Pair:
    return ids[:, :-1], ids[:, 1:]


def draw_teacher_forcing(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.integers(2, 50, (sizes["b"], sizes["n"])), 1))


TASK = Said(
    """\
Eight functions, each with one bug. They run without an error, give the right shapes, and training with them would
look fine. Repair them one at a time; each needs a change in one or two lines. The symptoms:

    1 attend            right where keys and values are equally wide; elsewhere too sharp or too flat
    2 attend_causally   no query puts weight on the future, and yet the future changes the past; rows sum to less than 1
    3 join_heads        right for one head; with more, a position's row holds other positions' numbers
    4 allowed_keys      right without a cache; with one, the newest word does not see itself
    5 hide_padding      padding keeps its weight, and its own rows are empty
    6 place_code        sin² + cos² of a pair of columns is not 1
    7 normalise         a later word changes the earlier ones
    8 teacher_forcing   the loss falls to 0 at once; left to write by itself, the model can do nothing

    attend, attend_causally   Q, K (…, n, d), V (…, n_k, d_v) → (…, n_q, d_v); causally with n_q = n_k
    join_heads                (…, h, n, d) → (…, n, h·d)
    allowed_keys              n queries, the last of n_k positions → (n, n_k), True = may attend
    hide_padding              scores (b, n, n), ids (b, n), 0 is padding → scores with -inf for padding keys
    place_code                (n, d): sin on even columns, cos on odd ones
    normalise                 (…, n, d) → each position with mean 0 and variance 1
    teacher_forcing           ids (b, n) → what the decoder is given and what it is to write, (b, n) each""",
    """\
함수 여덟 개에 버그가 하나씩 있습니다. 모두 오류 없이 실행되고 모양도 맞으며, 그대로 학습시켜도 잘되는 듯이 보입니다.
하나씩 고치세요. 저마다 한두 줄만 바꾸면 됩니다. 증상은 다음과 같습니다.

    1 attend            키와 값의 폭이 같으면 맞고, 다르면 너무 뾰족하거나 너무 고름
    2 attend_causally   미래에 가중치를 주는 쿼리가 없는데도 미래가 과거를 바꿈. 행의 합이 1보다 작음
    3 join_heads        헤드가 하나면 맞고, 여럿이면 한 위치의 행에 다른 위치의 숫자가 들어 있음
    4 allowed_keys      캐시가 없으면 맞고, 있으면 가장 새로운 단어가 자기를 보지 못함
    5 hide_padding      패딩에 가중치가 남고, 패딩의 행은 비어 있음
    6 place_code        한 쌍의 열에서 sin² + cos²이 1이 아님
    7 normalise         뒤의 단어가 앞의 단어를 바꿈
    8 teacher_forcing   손실이 바로 0이 되지만, 스스로 쓰게 하면 아무것도 못 함

    attend, attend_causally   Q, K (…, n, d), V (…, n_k, d_v) → (…, n_q, d_v). attend_causally는 n_q = n_k
    join_heads                (…, h, n, d) → (…, n, h·d)
    allowed_keys              쿼리 n개는 n_k개 위치 가운데 마지막 → (n, n_k), True = 볼 수 있음
    hide_padding              점수 (b, n, n), ids (b, n), 0이 패딩 → 패딩 키가 -inf인 점수
    place_code                (n, d): 짝수 열은 sin, 홀수 열은 cos
    normalise                 (…, n, d) → 위치마다 평균 0, 분산 1
    teacher_forcing           ids (b, n) → 디코더에 줄 것과 디코더가 쓸 것, 각각 (b, n)""",
)

HINTS = (
    Said(
        "Give every size another value and print: row sums, shapes, a row that you can check by hand. A symptom says "
        "where to look.",
        "크기를 모두 다르게 하고 출력해 보세요. 행의 합, 모양, 손으로 확인할 수 있는 행 하나면 됩니다. 증상이 볼 "
        "곳을 알려 줍니다.",
    ),
    Said(
        "1: which width? 2: before or after? 3: which axis comes first? 4: where do the queries stand? 5: rows or "
        "columns? 6: sin and cos of a pair share one speed. 7: which axis? 8: who is given the answer?",
        "1은 어느 폭인지, 2는 앞인지 뒤인지, 3은 어느 축이 먼저인지, 4는 쿼리가 어디에 서는지, 5는 행인지 열인지를 "
        "보세요. 6은 한 쌍의 sin과 cos이 같은 속도인지, 7은 어느 축인지, 8은 답을 미리 주지는 않는지 보세요.",
    ),
    Said(
        "1: K.shape[-1]. 2: np.where(past, scores, -np.inf) before exp. 3: swapaxes(-3, -2) first. 4: + n_k - n. 5: "
        "real[:, None, :]. 6: 2 * (column // 2). 7: axis=-1, twice. 8: [:, :-1] instead of [:, 1:].",
        "1은 K.shape[-1], 2는 exp 앞에서 np.where(past, scores, -np.inf), 3은 먼저 swapaxes(-3, -2), 4는 + n_k - n, "
        "5는 real[:, None, :], 6은 2 * (column // 2), 7은 두 곳 모두 axis=-1, 8은 [:, 1:] 대신 [:, :-1]입니다.",
    ),
)

PARTS = (
    Part(
        solution=attend,
        judge=judged_attend,
        draw=draw_attend,
        sizes={"b": 2, "n_q": 3, "n_k": 5, "d": 4, "d_v": 7},
        outputs={"output": "b n_q d_v"},
        stub=as_found(buggy_attend, "attend"),
        mistakes=(
            unchanged(
                buggy_attend,
                "attend: the weights must not depend on how wide the values are. Call it once with all columns of V "
                "and once with half of them, and compare the columns that both have.",
                "attend: 가중치는 값의 폭과 상관없어야 합니다. V의 열을 모두 준 결과와 절반만 준 결과에서, 둘 다에 "
                "있는 열을 비교해 보세요.",
            ),
            not_scaled,
            scaled_by_the_number_of_keys,
        ),
    ),
    Part(
        solution=attend_causally,
        judge=judged_attend_causally,
        draw=draw_attend_causally,
        sizes={"b": 2, "n": 5, "d": 3, "d_v": 4},
        further=low_scores,
        outputs={"output": "b n d_v"},
        stub=as_found(buggy_attend_causally, "attend_causally"),
        mistakes=(
            unchanged(
                buggy_attend_causally,
                "attend_causally: print the row sums of the weights, then change the last row of K and look at the "
                "first row of the output. A weight of 0 is not enough; where did the future leave a trace before "
                "that?",
                "attend_causally: 가중치의 행 합을 출력해 보고, K의 마지막 행을 바꾼 다음 출력의 첫 행을 보세요. "
                "가중치가 0인 것만으로는 부족합니다. 그 전에 미래가 어디에 흔적을 남겼을까요?",
            ),
            masked_with_zero,
            masked_with_a_large_number,
            the_wrong_triangle,
        ),
    ),
    Part(
        solution=join_heads,
        judge=judged_join_heads,
        draw=draw_join_heads,
        sizes={"b": 2, "h": 3, "n": 5, "d": 4},
        outputs={"rows": "b n h·d"},
        stub=as_found(buggy_join_heads, "join_heads"),
        mistakes=(
            unchanged(
                buggy_join_heads,
                "join_heads: fill x with the number of each position, so that x[..., i, :] is i, and join. Every row "
                "should hold one number.",
                "join_heads: x[..., i, :]이 i가 되도록 위치의 번호로 x를 채우고 합쳐 보세요. 한 행에는 한 가지 수만 "
                "있어야 합니다.",
            ),
            columns_swapped,
            columns_interleaved,
        ),
    ),
    Part(
        solution=allowed_keys,
        judge=judged_allowed_keys,
        draw=draw_allowed_keys,
        sizes={"n": 3, "cached": 2},
        smallest={"cached": 0},
        outputs={"mask": "n n_k"},
        stub=as_found(buggy_allowed_keys, "allowed_keys"),
        mistakes=(
            unchanged(
                buggy_allowed_keys,
                "allowed_keys: print the mask for 2 queries and 5 keys. The last query has just been written, so it "
                "may see everything that is there. Does it?",
                "allowed_keys: 쿼리 2개와 키 5개의 마스크를 출력해 보세요. 마지막 쿼리는 방금 쓴 단어이니 있는 것을 "
                "모두 볼 수 있어야 합니다. 그런가요?",
            ),
            shifted_the_wrong_way,
            own_key_lost,
        ),
    ),
    Part(
        solution=hide_padding,
        judge=judged_hide_padding,
        draw=draw_hide_padding,
        sizes={"b": 3, "n": 5},
        outputs={"scores": "b n n"},
        stub=as_found(buggy_hide_padding, "hide_padding"),
        mistakes=(
            unchanged(
                buggy_hide_padding,
                "hide_padding: take a text with one word and two paddings, and print the scores. Who may not be "
                "looked at, and is it these that carry the -inf?",
                "hide_padding: 단어 하나와 패딩 둘인 글을 넣고 점수를 출력해 보세요. 보면 안 되는 것은 누구이고, "
                "-inf가 그 자리에 있나요?",
            ),
            real_words_hidden,
            rows_hidden_too,
        ),
    ),
    Part(
        solution=place_code,
        judge=judged_place_code,
        draw=draw_place_code,
        sizes={"n": 5, "d": 6},
        outputs={"code": "n d"},
        stub=as_found(buggy_place_code, "place_code"),
        mistakes=(
            unchanged(
                buggy_place_code,
                "place_code: compute code[:, 0]**2 + code[:, 1]**2, then columns 2 and 3. Two columns of a pair are "
                "one hand of a clock seen from two sides; how fast does each column run?",
                "place_code: code[:, 0]**2 + code[:, 1]**2을 구하고 2번과 3번 열로도 구해 보세요. 한 쌍의 두 열은 "
                "시곗바늘 하나를 두 방향에서 본 것입니다. 열마다 얼마나 빨리 도나요?",
            ),
            exponent_halved,
            halves_for_pairs,
        ),
    ),
    Part(
        solution=normalise,
        judge=judged_normalise,
        draw=draw_normalise,
        sizes={"b": 2, "n": 3, "d": 5},
        outputs={"output": "b n d"},
        stub=as_found(buggy_normalise, "normalise"),
        mistakes=(
            unchanged(
                buggy_normalise,
                "normalise: change the last position of x and compare the first rows of the output. They must stay "
                "as they were. Whose numbers go into a mean?",
                "normalise: x의 마지막 위치를 바꾸고 출력의 첫 행들을 비교해 보세요. 그대로여야 합니다. 평균에 "
                "누구의 숫자가 들어가나요?",
            ),
            variance_still_over_positions,
            one_mean_for_all,
        ),
    ),
    Part(
        solution=teacher_forcing,
        judge=judged_teacher_forcing,
        draw=draw_teacher_forcing,
        sizes={"b": 2, "n": 5},
        outputs={"given": "b n", "wanted": "b n"},
        stub=as_found(buggy_teacher_forcing, "teacher_forcing"),
        mistakes=(
            unchanged(
                buggy_teacher_forcing,
                "teacher_forcing: print given above wanted for one text of five words. What would you have to learn "
                "if you were given the upper row and had to write the lower one?",
                "teacher_forcing: 단어 다섯 개짜리 글 하나로 given과 wanted를 위아래로 출력해 보세요. 위의 행을 받아 "
                "아래의 행을 써야 한다면 무엇을 배워야 할까요?",
            ),
            shifted_ahead,
            last_word_given,
            beginning_lost,
        ),
    ),
)

EXERCISE = Exercise(
    name="find_the_bug",
    note="08",
    section=Said("Mistakes people make", "자주 하는 실수"),
    title=Said("Eight bugs", "버그 여덟 개"),
    task=TASK,
    hints=HINTS,
    parts=PARTS,
)
