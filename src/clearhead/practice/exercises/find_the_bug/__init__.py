"""find_the_bug: eight functions that run, give the right shapes, and are wrong. Each has a file of its own."""

from __future__ import annotations

from clearhead.languages import Said
from clearhead.practice.exercise import Exercise
from clearhead.practice.exercises.find_the_bug import (
    allowed_keys,
    attend,
    attend_causally,
    hide_padding,
    join_heads,
    normalise,
    place_code,
    teacher_forcing,
)

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

BUGS = (
    attend,
    attend_causally,
    join_heads,
    allowed_keys,
    hide_padding,
    place_code,
    normalise,
    teacher_forcing,
)

EXERCISE = Exercise(
    name="find_the_bug",
    note="08",
    section=Said("Mistakes people make", "자주 하는 실수"),
    title=Said("Eight bugs", "버그 여덟 개"),
    task=TASK,
    hints=HINTS,
    parts=tuple(bug.PART for bug in BUGS),
)
