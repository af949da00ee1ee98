"""name_the_head: which of the known patterns is this?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def name_the_head(weights: np.ndarray) -> str:
    query, last = np.arange(len(weights)), len(weights) - 1
    keys = {
        "self": query,
        "previous_token": np.maximum(query - 1, 0),
        "next_token": np.minimum(query + 1, last),
        "first_token": np.zeros_like(query),
    }
    scores = {name: weights[query, key].mean() for name, key in keys.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] >= 0.5:
        return best
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)
    return "uniform" if np.exp(entropy).mean() >= len(weights) / 2 else "mixed"


def by_definition(weights: np.ndarray) -> str:
    """Query by query, with the patterns in the order in which they win."""
    n = len(weights)
    sums = {"self": 0.0, "previous_token": 0.0, "next_token": 0.0, "first_token": 0.0}
    in_use = 0.0
    for i, row in enumerate(weights):
        sums["self"] += float(row[i])
        sums["previous_token"] += float(row[i - 1 if i > 0 else i])
        sums["next_token"] += float(row[i + 1 if i + 1 < n else i])
        sums["first_token"] += float(row[0])
        in_use += math.exp(-sum(weight * math.log(weight) for weight in map(float, row) if weight > 0))
    for name in sums:
        if sums[name] >= n / 2 and sums[name] == max(sums.values()):
            return name
    return "uniform" if in_use / n >= n / 2 else "mixed"


# What the mistakes below are put together from.

PATTERNS = ("self", "previous_token", "next_token", "first_token")


def keys_of(n: int) -> dict[str, np.ndarray]:
    """The key of each query in each pattern."""
    query = np.arange(n)
    ends = np.maximum(query - 1, 0), np.minimum(query + 1, n - 1)
    return dict(zip(PATTERNS, (query, *ends, np.zeros_like(query)), strict=True))


def best_of(weights: np.ndarray, keys: Mapping[str, np.ndarray]) -> tuple[str, float]:
    scores = {name: float(weights[np.arange(len(weights)), key].mean()) for name, key in keys.items()}
    best = max(scores, key=lambda name: scores[name])
    return best, scores[best]


def spread(weights: np.ndarray, base: float = math.e) -> str:
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1) / math.log(base)
    return "uniform" if np.exp(entropy).mean() >= len(weights) / 2 else "mixed"


@mistake(
    "Rows and columns are exchanged: a head that looks at the next token was called previous_token. A row is a query "
    "and shares itself out among the columns.",
    "행과 열을 바꾸어 읽었습니다. 다음 토큰을 보는 헤드를 previous_token이라고 했습니다. 행이 쿼리이고, 한 행을 열에 "
    "나누어 줍니다.",
)
def columns_taken_for_queries(weights: np.ndarray) -> str:
    return name_the_head(weights.T)


@mistake(
    "previous_token and next_token are exchanged, everything else is right. Left of the diagonal lies what came "
    "before: key i - 1 for query i.",
    "previous_token과 next_token만 서로 바뀌었습니다. 대각선의 왼쪽이 앞에 온 것입니다. i번 쿼리의 바로 앞은 i - 1번 "
    "키입니다.",
)
def previous_and_next_exchanged(weights: np.ndarray) -> str:
    exchanged = {"previous_token": "next_token", "next_token": "previous_token"}
    name = name_the_head(weights)
    return exchanged.get(name, name)


@mistake(
    "At the edge the head goes round: the first query's previous token was taken to be the last one, as np.roll or "
    "the index -1 has it. A query without such a neighbour looks at itself.",
    "가장자리에서 한 바퀴 돌았습니다. np.roll이나 인덱스 -1처럼, 첫 쿼리의 앞 토큰을 마지막 토큰으로 보았습니다. "
    "그런 이웃이 없는 쿼리는 자기 자신을 봅니다.",
)
def round_the_edge(weights: np.ndarray) -> str:
    n, keys = len(weights), keys_of(len(weights))
    keys |= {"previous_token": np.arange(-1, n - 1), "next_token": np.arange(1, n + 1) % n}
    name, score = best_of(weights, keys)
    return name if score >= 0.5 else spread(weights)


@mistake(
    "Every head gets the name of the nearest pattern, however far away it is. A pattern names a head only if it "
    "explains at least half of its weight; otherwise look at how far the rows are spread.",
    "아무리 닮지 않았어도 가장 가까운 패턴의 이름을 붙입니다. 가중치의 절반 이상을 설명하는 패턴만 이름이 됩니다. "
    "그렇지 않으면 행이 얼마나 퍼져 있는지 보세요.",
)
def always_a_pattern(weights: np.ndarray) -> str:
    return best_of(weights, keys_of(len(weights)))[0]


@mistake(
    "Only the largest weight of each row was looked at: a row of 0.3, 0.2, 0.2, … counts as much as one of 0.9. Take "
    "the mean of the weights on the pattern's keys.",
    "행마다 가장 큰 가중치의 자리만 보았습니다. 0.3, 0.2, 0.2, …인 행도 0.9인 행과 똑같이 셉니다. 패턴의 키에 놓인 "
    "가중치를 평균하세요.",
)
def largest_weights_counted(weights: np.ndarray) -> str:
    choices = np.zeros(weights.shape)
    choices[np.arange(len(weights)), weights.argmax(axis=-1)] = 1
    name, score = best_of(choices, keys_of(len(weights)))
    return name if score >= 0.5 else spread(weights)


@mistake(
    "Heads that look everywhere alike are called mixed. Where no pattern has half the weight, ask for the keys in "
    "use: if they are at least half of all keys, the head is uniform.",
    "모든 곳을 고르게 보는 헤드를 mixed라고 했습니다. 가중치의 절반을 차지하는 패턴이 없으면 쓰이는 키의 개수를 "
    "구하세요. 전체 키의 절반 이상이면 uniform입니다.",
)
def uniform_unknown(weights: np.ndarray) -> str:
    name = name_the_head(weights)
    return "mixed" if name == "uniform" else name


@mistake(
    "Too many heads are uniform: the entropy was taken with log2, and then exp of it. With the natural logarithm "
    "exp(H) is the number of keys; with log2 it is 2**H.",
    "uniform이 너무 많이 나옵니다. 엔트로피를 log2로 구하고 exp를 취했기 때문입니다. 자연로그면 키의 개수는 "
    "exp(H)이고, log2면 2**H입니다.",
    explained=sections.NATS,
)
def bits_taken_for_nats(weights: np.ndarray) -> str:
    name, score = best_of(weights, keys_of(len(weights)))
    return name if score >= 0.5 else spread(weights, base=2)


def head(rng: np.random.Generator, n: int, pattern: str, noise: float) -> np.ndarray:
    """A head (n, n) that is a pattern but for some noise; mixed is a choice of keys at random."""
    if pattern == "uniform":
        return rng.dirichlet(np.full(n, 30), n)
    keys = rng.integers(0, n, n) if pattern == "mixed" else keys_of(n)[pattern]
    return (1 - noise) * np.eye(n)[keys] + noise * rng.dirichlet(np.ones(n), n)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    pattern = rng.choice([*PATTERNS, "uniform", "mixed"])
    return Call((head(rng, sizes["n"], str(pattern), rng.uniform(0.05, 0.6)),))


def further(rng: np.random.Generator) -> Iterable[Call]:
    for pattern in (*PATTERNS, "uniform", "mixed"):
        yield Call((head(rng, 5, pattern, 0.3),))
    for pattern in (*PATTERNS, "mixed"):
        yield Call((head(rng, 7, pattern, 0.6),))
    yield Call((np.array([[0.9, 0.1, 0.0], [0.6, 0.1, 0.3], [0.3, 0.4, 0.3]]),))
    yield Call((np.array([[0.3, 0.4, 0.3], [0.3, 0.1, 0.6], [0.0, 0.1, 0.9]]),))
    yield Call((np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]),))  # half the weight, and no more
    yield Call((np.vstack([np.eye(5)[[3, 3, 4]], np.full((2, 5), 0.2)]),))  # few rows use all keys, most of them one


TASK = Said(
    """\
Which pattern is this? You get the weights of one head, a row for each query. Four patterns say where a query looks:

    self             at its own position
    previous_token   at the one before it; the first has none and looks at itself
    next_token       at the one after it; the last has none and looks at itself
    first_token      at position 0

A pattern's score is the weight that lies on its key, averaged over the queries. If the best score is at least 1/2,
its name is the answer (of equal ones the first in this list). Otherwise ask how many keys are in use, exp(entropy) of
a row with the natural logarithm, averaged over the rows: if that is at least n/2 the head is "uniform", and else
"mixed".

    weights  (n, n), n ≥ 3; rows sum to 1, and 0 log 0 is 0
    →        one of the six names, as text""",
    """\
이 패턴의 이름은 무엇일까요? 헤드 하나의 가중치를 받습니다. 한 행이 쿼리 하나입니다. 쿼리가 보는 곳에 따라 패턴이 네
가지입니다.

    self             자기 위치
    previous_token   바로 앞 위치. 첫 쿼리는 앞이 없으므로 자기를 봄
    next_token       바로 뒤 위치. 마지막 쿼리는 뒤가 없으므로 자기를 봄
    first_token      0번 위치

패턴의 점수는 그 패턴의 키에 놓인 가중치를 쿼리끼리 평균한 값입니다. 가장 높은 점수가 1/2 이상이면 그 이름이 답이고,
점수가 같으면 위에서 먼저 나온 것입니다. 1/2보다 낮으면 쓰이는 키의 개수, 곧 자연로그로 구한 행의 exp(엔트로피)를
행끼리 평균하세요. 그 값이 n/2 이상이면 "uniform", 아니면 "mixed"입니다.

    weights  (n, n), n ≥ 3. 행의 합은 1이고 0 log 0은 0
    →        여섯 이름 가운데 하나(str)""",
)

HINTS = (
    Said(
        "For each pattern write down the key of every query as an array: [0, 1, 2, …] for self, [0, 0, 1, …] for "
        "previous_token.",
        "패턴마다 모든 쿼리의 키를 배열로 쓰세요. self는 [0, 1, 2, …]이고 previous_token은 [0, 0, 1, …]입니다.",
    ),
    Said(
        "weights[np.arange(n), keys] picks one weight from each row; its mean is the score.",
        "weights[np.arange(n), keys]는 행마다 가중치를 하나씩 고릅니다. 그 평균이 점수입니다.",
    ),
    Said(
        "scores = {name: weights[np.arange(n), key].mean() for …}; best = max(scores, key=scores.get). The entropy: "
        "-(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1).",
        "scores = {name: weights[np.arange(n), key].mean() for …}, best = max(scores, key=scores.get)입니다. "
        "엔트로피는 -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)입니다.",
    ),
)

EXERCISE = Exercise(
    name="name_the_head",
    note="08",
    section=Said("In code", "코드로"),
    title=Said("Which pattern is this?", "이 패턴의 이름은?"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=name_the_head,
            judge=by_definition,
            draw=draw,
            sizes={"n": 6},
            smallest={"n": 3},
            further=further,
            outputs={"name": ""},
            examples=(
                "name_the_head(np.eye(4))",
                "name_the_head(np.full((4, 4), 0.25))",
                "name_the_head(np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.9, 0.0]]))",
            ),
            mistakes=(
                columns_taken_for_queries,
                previous_and_next_exchanged,
                round_the_edge,
                always_a_pattern,
                largest_weights_counted,
                uniform_unknown,
                bits_taken_for_nats,
            ),
        ),
    ),
)
