"""weights_by_hand: scores to shares, shares to a mixture, and two heads side by side, with pencil and paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Exercise, Part, mistake


def weights_by_hand() -> dict[str, Any]:
    return {
        "shares_of_two": (1 / 7, 2 / 7, 4 / 7),
        "shares_of_e": (0.090, 0.245, 0.665),
        "shares_shifted": (1 / 7, 2 / 7, 4 / 7),
        "mixture": 12,
        "head_1": 1.5,
        "head_2": 0.9,
        "concatenated": (1.5, 0.9),
    }


def by_definition() -> dict[str, Any]:
    """Every number from the formula that the task quotes."""

    def shares(base: float, scores: Sequence[float]) -> tuple[float, ...]:
        powers = [base**score for score in scores]
        return tuple(power / sum(powers) for power in powers)

    def head(number: float) -> float:
        query = key = value = sum(x * number for x in (1, 2))
        (weight,) = shares(math.e, [query * key])
        return weight * value

    values = (13, 0, 13, 26)
    return {
        "shares_of_two": shares(2.0, (0.0, 1.0, 2.0)),
        "shares_of_e": shares(math.e, (0.0, 1.0, 2.0)),
        "shares_shifted": shares(2.0, (100.0, 101.0, 102.0)),
        "mixture": sum(share * value for share, value in zip(shares(2.0, (3.0, 1.0, 1.0, 0.0)), values, strict=True)),
        "head_1": head(0.5),
        "head_2": head(0.3),
        "concatenated": (head(0.5), head(0.3)),
    }


@mistake(
    "0, 1/3, 2/3 are the scores divided by their sum, so the score 0 gets nothing at all. Take the power first: a "
    "score of 0 counts 2⁰ = 1.",
    "0, 1/3, 2/3는 점수를 합으로 나눈 것이어서 0점은 몫이 전혀 없습니다. 거듭제곱을 먼저 하세요. 0점의 거듭제곱은 2⁰ = "
    "1입니다.",
)
def scores_divided_as_they_are() -> dict[str, Any]:
    return {"shares_of_two": (0, 1 / 3, 2 / 3)}


@mistake(
    "1, 2, 4 are the powers, and they sum to 7. Shares sum to 1: divide each by 7.",
    "1, 2, 4는 거듭제곱이고 더하면 7입니다. 비율은 더해서 1이어야 하니 각각을 7로 나누세요.",
)
def powers_not_divided() -> dict[str, Any]:
    return {"shares_of_two": (1, 2, 4)}


@mistake(
    "These are the right shares in the opposite order: the largest went to the score 0. Give them in the order of the "
    "scores 0, 1, 2.",
    "비율은 맞지만 순서가 반대여서 0점이 가장 많이 가져갔습니다. 점수 0, 1, 2의 순서대로 적으세요.",
)
def shares_in_reverse() -> dict[str, Any]:
    return {"shares_of_two": (4 / 7, 2 / 7, 1 / 7)}


@mistake(
    "These are the shares with powers of two again. With e every point multiplies the share by 2.718: the powers are "
    "1, 2.718 and 7.389.",
    "2의 거듭제곱으로 구한 비율이 다시 나왔습니다. e를 쓰면 1점 오를 때마다 비율이 2.718배가 됩니다. 거듭제곱은 1, "
    "2.718, 7.389입니다.",
)
def powers_of_two_for_e() -> dict[str, Any]:
    return {"shares_of_e": (1 / 7, 2 / 7, 4 / 7)}


@mistake(
    "1, 2.718 and 7.389 are the powers of e. Divide each by their sum, 11.107.",
    "1, 2.718, 7.389는 e의 거듭제곱입니다. 각각을 합인 11.107로 나누세요.",
)
def powers_of_e_not_divided() -> dict[str, Any]:
    return {"shares_of_e": (1, math.e, math.e**2)}


@mistake(
    "Nearly a third each: the 100 counted as if it were part of what is compared. Only differences count: 2¹⁰⁰ stands "
    "above and below the line, and cancels.",
    "셋이 거의 3분의 1씩 나누어 가졌습니다. 100까지 함께 견주었기 때문입니다. 중요한 것은 차이뿐입니다. 2¹⁰⁰은 분자와 "
    "분모에 똑같이 있으므로 약분됩니다.",
    explained=sections.LARGE_SCORES,
)
def shift_counted() -> dict[str, Any]:
    return {"shares_shifted": (100 / 303, 101 / 303, 102 / 303)}


@mistake(
    "13 is what the word with the best score says, and also the plain average of the four values. Everybody is heard, "
    "but not equally: 8/13, 2/13, 2/13 and 1/13.",
    "13은 점수가 가장 높은 단어의 값이고, 네 값의 단순 평균이기도 합니다. 모두의 말을 듣되 똑같이 듣지는 않습니다. "
    "비율은 8/13, 2/13, 2/13, 1/13입니다.",
)
def best_value_or_plain_average() -> dict[str, Any]:
    return {"mixture": 13}


@mistake(
    "156 is 8 · 13 + 2 · 0 + 2 · 13 + 1 · 26: the values were mixed by the powers. Divide by the sum of the powers, "
    "13.",
    "156은 8 · 13 + 2 · 0 + 2 · 13 + 1 · 26입니다. 값을 거듭제곱 그대로 섞은 것입니다. 거듭제곱의 합인 13으로 "
    "나누세요.",
)
def mixed_by_powers() -> dict[str, Any]:
    return {"mixture": 156}


@mistake(
    "10.4 is the mixture by shares 3/5, 1/5, 1/5, 0: the scores were divided as they are. Take powers of two first: 8, "
    "2, 2, 1.",
    "10.4는 비율 3/5, 1/5, 1/5, 0으로 섞은 것입니다. 점수를 그대로 나눈 것입니다. 2의 거듭제곱 8, 2, 2, 1을 먼저 "
    "구하세요.",
)
def mixed_by_scores() -> dict[str, Any]:
    return {"mixture": 10.4}


@mistake(
    "3.375 and 0.729 are the score times the value: the score was taken for the weight. Softmax of a single score is "
    "1, whatever the score, so each head gives its value as it is.",
    "3.375와 0.729는 점수에 값을 곱한 것입니다. 점수를 가중치로 쓴 것입니다. 점수가 하나뿐이면 얼마든 소프트맥스는 "
    "1이므로 헤드마다 값이 그대로 나옵니다.",
    explained=sections.TWO_HEADS,
)
def score_for_weight() -> dict[str, Any]:
    return {"head_1": 1.5**3, "head_2": 0.9**3}


@mistake(
    "2.4 is the sum of the two heads. Concatenating lays them side by side, so that both numbers survive: the answer "
    "is a pair.",
    "2.4는 두 헤드를 더한 값입니다. 이어 붙인다는 것은 나란히 놓는다는 뜻이어서 두 수가 모두 남습니다. 답은 수 두 "
    "개입니다.",
    explained=sections.TWO_HEADS,
)
def heads_added() -> dict[str, Any]:
    return {"concatenated": 2.4}


TASK = Said(
    """\
Take pencil and paper, and put your numbers in place of the dots. Fractions such as 1 / 7 are welcome, and three
decimals are exact enough.

1. Three words have the scores 0, 1, 2, and every point doubles the share. What shares do they get?
2. The same with e in place of 2, which is softmax.
3. The scores 100, 101, 102, with powers of two again.
4. Four words have the scores 3, 1, 1, 0 and the values 13, 0, 13, 26. Powers of two: what is the mixture?
5. One word, X = (1, 2), and two heads of width 1. In head 1 all numbers of W_Q, W_K and W_V are 0.5, in head 2 they
   are 0.3. What does each head give, and what are the two concatenated? (Heads come in note 03. For now: a head
   makes a query, a key and a value of X by a dot product with each of its matrices and attends with them, and to
   concatenate is to lay side by side.)

    shares_of_two, shares_of_e, shares_shifted  three numbers each, in the order of the scores
    mixture, head_1, head_2                     one number each
    concatenated                                two numbers""",
    """\
종이와 연필로 계산하고, 점 세 개 자리에 답을 적으세요. 1 / 7처럼 분수로 적어도 되고, 소수는 셋째 자리까지면 됩니다.

1. 세 단어의 점수가 0, 1, 2이고 1점 오를 때마다 비율이 두 배가 됩니다. 비율은 각각 얼마일까요?
2. 2 대신 e를 쓰면 얼마일까요? 이것이 소프트맥스입니다.
3. 점수가 100, 101, 102이고 다시 2의 거듭제곱을 쓰면 얼마일까요?
4. 네 단어의 점수가 3, 1, 1, 0이고 값이 13, 0, 13, 26입니다. 2의 거듭제곱을 쓰면 섞은 값은 얼마일까요?
5. 단어는 X = (1, 2) 하나이고, 폭이 1인 헤드가 둘 있습니다. 헤드 1에서는 W_Q, W_K, W_V의 모든 수가 0.5이고 헤드
   2에서는 0.3입니다. 헤드의 출력은 각각 얼마이고, 둘을 이어 붙이면 무엇일까요? (헤드는 03번 노트에서 배웁니다.
   여기서는 이것만 알면 됩니다. 헤드마다 X와 자기 행렬의 점곱으로 쿼리, 키, 값을 만들어 어텐션을 계산하고, 이어
   붙인다는 것은 나란히 놓는다는 뜻입니다.)

    shares_of_two, shares_of_e, shares_shifted  수 세 개씩, 점수의 순서대로
    mixture, head_1, head_2                     수 하나씩
    concatenated                                수 두 개""",
)

STUB = """\
def weights_by_hand():
    return {
        "shares_of_two": (..., ..., ...),
        "shares_of_e": (..., ..., ...),
        "shares_shifted": (..., ..., ...),
        "mixture": ...,
        "head_1": ...,
        "head_2": ...,
        "concatenated": (..., ...),
    }
"""

HINTS = (
    Said(
        "Always the same two steps: a power of each score, then each divided by the sum of the powers.",
        "늘 같은 두 단계입니다. 점수마다 거듭제곱을 구하고, 각각을 거듭제곱의 합으로 나누세요.",
    ),
    Said(
        "In 3, 2¹⁰⁰ is a factor of every power. In 4, the powers sum to 13, so 13 divides well. In 5, there is one "
        "word to listen to, so its weight is 1.",
        "3번에서는 모든 거듭제곱에 2¹⁰⁰이 곱해져 있습니다. 4번에서는 거듭제곱의 합이 13이라 나누기 좋습니다. 5번에서는 "
        "들을 단어가 하나뿐이므로 그 가중치는 1입니다.",
    ),
    Said(
        "The powers are 1, 2, 4 of 7; then 1, 2.718, 7.389 of 11.107; then as in 1; then 8, 2, 2, 1 of 13. Head 1 "
        "gives 0.5 · 1 + 0.5 · 2.",
        "거듭제곱은 1번이 7 가운데 1, 2, 4이고 2번이 11.107 가운데 1, 2.718, 7.389입니다. 3번은 1번과 같고, 4번은 13 "
        "가운데 8, 2, 2, 1입니다. 헤드 1의 출력은 0.5 · 1 + 0.5 · 2입니다.",
    ),
)

EXERCISE = Exercise(
    name="weights_by_hand",
    note="01",
    section=Said("By hand", "손으로 계산하기"),
    title=Said("Weights with pencil and paper", "종이와 연필로 구하는 가중치"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=weights_by_hand,
            judge=by_definition,
            stub=STUB,
            tolerance=2e-3,
            mistakes=(
                scores_divided_as_they_are,
                powers_not_divided,
                shares_in_reverse,
                powers_of_two_for_e,
                powers_of_e_not_divided,
                shift_counted,
                best_value_or_plain_average,
                mixed_by_powers,
                mixed_by_scores,
                score_for_weight,
                heads_added,
            ),
        ),
    ),
)
