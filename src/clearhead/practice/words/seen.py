"""What a wrong output shows, where no mistake of the exercise explains it."""

from __future__ import annotations

from clearhead.languages import Said

NOT_ALONE = Said(
    "That explains this call. In others something more is wrong: mend this first, and check again.",
    "이 호출은 이것으로 설명됩니다. 다른 호출에는 또 다른 문제가 있으니, 이것부터 고치고 다시 채점하세요.",
)
COLUMNS_SUM_TO_ONE = Said(
    "The columns sum to 1 and the rows do not: each key hands out its weight over the queries. Softmax should run over "
    "the keys, along the last axis.",
    "열의 합이 1이고 행의 합은 1이 아닙니다. 키마다 쿼리들에게 가중치를 나누어 준 것입니다. 소프트맥스는 마지막 축, "
    "곧 키 방향으로 계산해야 합니다.",
)
NEGATIVE_WEIGHTS = Said("Some weights are negative.", "음수인 가중치가 있습니다.")
ROWS_DO_NOT_SUM = Said(
    "Each row of weights should sum to 1, and one sums to {sum}.",
    "가중치는 행마다 합이 1이어야 하는데, 합이 {sum}인 행이 있습니다.",
)
LEAK = Said(
    "Query {query} gives weight {weight} to key {key}, which the mask hides from it.",
    "마스크로 가려져 있어야 할 키 {key}에 쿼리 {query}의 가중치({weight})가 남아 있습니다.",
)
FUTURE = Said(
    "Query {query} looks into the future: it gives weight {weight} to key {key}.",
    "쿼리 {query}에서 미래를 봅니다. 키 {key}의 가중치가 {weight}입니다.",
)
IGNORED = Said(
    "`{argument}` makes no difference to it, and should: with other numbers in `{argument}` it stays the same.",
    "`{argument}` 인자가 쓰이지 않습니다. 다른 수를 넣어도 이 출력이 그대로입니다.",
)
REACHES = Said(
    "Changing `{argument}` at {letter} = {place} changes it at {letter} = {other}, which must not depend on that.",
    "`{argument}` 인자를 {letter} = {place}에서 바꾸었더니, 상관없어야 할 {letter} = {other}의 출력이 달라집니다.",
)
MISSES = Said(
    "Changing `{argument}` at {letter} = {place} should change it at {letter} = {other}, and does not.",
    "`{argument}` 인자를 {letter} = {place}에서 바꾸면 {letter} = {other}의 출력도 달라져야 하는데 그대로입니다.",
)
OTHER_ORDER = Said(
    "All of it is right, and in another order: {got}. Return {expected}.",
    "값은 모두 맞지만 순서가 다릅니다. 지금 순서: {got}. 돌려줄 순서: {expected}",
)
OTHERS_RIGHT = Said(
    "{names} is right, so what is wrong comes after it.",
    "{names} 값은 맞습니다. 그다음 단계를 살펴보세요.",
)
EXCHANGED = Said("True and False are exchanged everywhere.", "True와 False가 모두 서로 바뀌었습니다.")
TOO_MANY_AND_TOO_FEW = Said(
    "True where it should be False: {extra} times, False where it should be True: {missing} times.",
    "False여야 하는데 True인 칸이 {extra}개, True여야 하는데 False인 칸이 {missing}개입니다.",
)
ROW_FACTORS = Said(
    "Each row is right but for a factor of its own: what each row was divided by, or multiplied with, is wrong.",
    "행마다 서로 다른 수가 곱해진 것만 빼면 맞습니다. 행마다 나누거나 곱한 수가 틀렸습니다.",
)
ROW_SHIFTS = Said(
    "Each row is right but for a number of its own that was added to all of it.",
    "행마다 서로 다른 수가 더해진 것만 빼면 맞습니다.",
)
NEGATED = Said("Every number has the wrong sign.", "모든 수의 부호가 반대입니다.")
FACTOR = Said(
    "Every number is {factor} times what it should be.",
    "모든 수가 맞는 값의 {factor}배입니다.",
)
ADDED = Said(
    "Every number is off by the same amount, {added}.",
    "모든 수가 맞는 값에서 똑같이 {added}만큼 벗어나 있습니다.",
)
COLUMNS_PERMUTED = Said(
    "These are the right columns, in another order.",
    "열 하나하나는 맞지만 순서가 다릅니다.",
)
ROWS_PERMUTED = Said(
    "These are the right rows, in another order.",
    "행 하나하나는 맞지만 순서가 다릅니다.",
)
FIRST_ALONE = Said(
    "Along {letter}, the first place is right and all others are wrong.",
    "{letter} 축에서 첫 번째만 맞고 나머지는 모두 틀립니다.",
)
ONE_PLACE_WRONG = Said(
    "Along {letter}, only place {place} is wrong.",
    "{letter} 축에서 {place}번 자리만 틀립니다. 나머지는 맞습니다.",
)
ONLY_WHEN_ONE = Said(
    "It is right when {letter} = 1, and wrong otherwise.",
    "{letter} = 1이면 맞고, 그렇지 않으면 틀립니다.",
)
ONLY_ONE = {
    "h": Said(
        "It is right for one head alone: with h = 1 nothing is wrong. Look at how heads are split and merged.",
        "헤드가 하나일 때만 맞습니다(h = 1). 헤드를 나누고 합치는 부분을 살펴보세요.",
    ),
    "b": Said(
        "It is right for a batch of one alone: with b = 1 nothing is wrong. Look at what is done to the first axis.",
        "배치 크기가 1일 때만 맞습니다(b = 1). 첫 번째 축을 다루는 부분을 살펴보세요.",
    ),
}
ONLY_WHEN_EQUAL = Said(
    "It is right where {a} = {b}, and wrong where they differ. Are the two mixed up?",
    "{a} = {b}이면 맞고, 서로 다르면 틀립니다. 둘을 바꾸어 쓰지 않았나요?",
)
ONLY_FURTHER = Said(
    "Ordinary calls are right. This one is not:",
    "보통의 호출에서는 맞습니다. 아래 호출에서 틀립니다.",
)
AXES_TURNED = Said(
    "The axes are there, in another order: {got}.",
    "축은 모두 있지만 순서가 다릅니다. 지금 순서: {got}",
)
AXIS_MISSING = Said("The axis {letters} is missing.", "없는 축: {letters}")
AXIS_ADDED = Said("There is an axis too many, of size {size}.", "축이 하나 더 있습니다. 그 크기는 {size}입니다.")
