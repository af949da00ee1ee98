"""online_softmax: one page more, and the notes so far scaled down to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake

Notes = tuple[np.ndarray, np.ndarray, np.ndarray]


def online_softmax(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    new_top = np.maximum(top, scores.max(axis=-1))
    reference = np.where(np.isneginf(new_top), 0, new_top)
    shrink = np.exp(top - reference)
    powers = np.exp(scores - reference[:, None])
    return new_top, total * shrink + powers.sum(axis=-1), mixed * shrink[:, None] + powers @ values


def by_definition(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    """Query by query, key by key; what has weight 0 is left out."""
    new_top, new_total, new_mixed = np.array(top), np.zeros(total.shape), np.zeros(mixed.shape)
    for i, row in enumerate(scores):
        new_top[i] = max(float(top[i]), *map(float, row))
        if top[i] > -math.inf:
            shrink = math.exp(top[i] - new_top[i])
            new_total[i], new_mixed[i] = total[i] * shrink, [number * shrink for number in mixed[i]]
        for score, value in zip(row, values, strict=True):
            if score > -math.inf:
                new_total[i] += math.exp(score - new_top[i])
                new_mixed[i] += math.exp(score - new_top[i]) * value
    return new_top, new_total, new_mixed


def noted(
    top: np.ndarray,
    shrunk: tuple[np.ndarray, np.ndarray],
    scores: np.ndarray,
    values: np.ndarray,
    reference: np.ndarray | None = None,
) -> Notes:
    """The notes with a page added to sums that are already shrunk, or are not."""
    reference = np.where(np.isneginf(top), 0, top) if reference is None else reference
    powers = np.exp(scores - reference[:, None])
    return top, shrunk[0] + powers.sum(axis=-1), shrunk[1] + powers @ values


def shrinking(top: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The new largest score, and by how much old sums shrink."""
    new_top = np.maximum(top, scores.max(axis=-1))
    return new_top, np.exp(top - np.where(np.isneginf(new_top), 0, new_top))


@mistake(
    "Right while the largest score stays the largest. When a larger one comes, the old sums still count as if "
    "nothing had happened: multiply both by exp(top - new_top).",
    "최댓값이 그대로일 때만 맞습니다. 더 큰 점수가 와도 앞의 합이 줄지 않고 그대로입니다. 두 합에 모두 exp(top - "
    "new_top)을 곱하세요.",
)
def nothing_scaled_down(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    return noted(shrinking(top, scores)[0], (total, mixed), scores, values)


@mistake(
    "The mix was scaled down to the new largest score and the total was not. The two are divided by each other in "
    "the end, so both need the same factor.",
    "섞은 값은 새 최댓값에 맞춰 줄였지만 합계는 줄이지 않았습니다. 나중에 서로 나눌 것이므로 둘 다 같은 수를 곱하세요.",
)
def total_not_scaled_down(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top, shrink = shrinking(top, scores)
    return noted(new_top, (total, mixed * shrink[:, None]), scores, values)


@mistake(
    "The total was scaled down to the new largest score and the mix was not. The two are divided by each other in "
    "the end, so both need the same factor.",
    "합계는 새 최댓값에 맞춰 줄였지만 섞은 값은 줄이지 않았습니다. 나중에 서로 나눌 것이므로 둘 다 같은 수를 곱하세요.",
)
def mix_not_scaled_down(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top, shrink = shrinking(top, scores)
    return noted(new_top, (total * shrink, mixed), scores, values)


@mistake(
    "The old sums grow when a larger score comes, and they should shrink: the sign is the wrong way round. The "
    "factor is exp(top - new_top), at most 1.",
    "더 큰 점수가 오면 앞의 합이 줄어야 하는데 커집니다. 부호가 반대입니다. 곱할 수는 exp(top - new_top)이고 1을 "
    "넘지 않습니다.",
)
def scaled_up(top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray) -> Notes:
    new_top, shrink = shrinking(top, scores)
    return noted(new_top, (total / shrink, mixed / shrink[:, None]), scores, values)


@mistake(
    "The largest score is that of this page alone, and an earlier larger one is forgotten. Compare with the old one: "
    "np.maximum(top, …).",
    "최댓값을 이번 블록에서만 찾아, 앞에 나온 더 큰 점수를 잊었습니다. np.maximum(top, …)으로 앞의 것과도 비교하세요.",
)
def largest_of_the_page(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top = scores.max(axis=-1)
    shrink = np.exp(top - np.where(np.isneginf(new_top), 0, new_top))
    return noted(new_top, (total * shrink, mixed * shrink[:, None]), scores, values)


@mistake(
    "The new powers are exp(score) as they are, not relative to the largest score: they do not fit the old ones, and "
    "they overflow for large scores. Take exp(scores - new_top).",
    "새 거듭제곱이 최댓값을 기준으로 하지 않은 exp(점수)입니다. 앞의 합과 기준이 다르고 점수가 크면 넘칩니다. "
    "exp(scores - new_top)을 계산하세요.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top, shrink = shrinking(top, scores)
    return noted(new_top, (total * shrink, mixed * shrink[:, None]), scores, values, np.zeros(len(top)))


@mistake(
    "NaN where nothing has been allowed so far: -inf - (-inf) is no number. As long as the largest score is -inf, "
    "take the differences to 0 instead; exp(-inf - 0) is 0, as it should be.",
    "지금까지 볼 수 있는 키가 하나도 없던 쿼리에서 NaN이 나옵니다. -inf - (-inf)는 수가 아닙니다. 최댓값이 -inf인 "
    "동안에는 0을 기준으로 빼세요. exp(-inf - 0)은 0이어서 문제가 없습니다.",
    explained=sections.BLOCK_MISTAKES,
)
def nothing_yet_is_nan(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top = np.maximum(top, scores.max(axis=-1))
    shrink = np.exp(top - new_top)
    return noted(new_top, (total * shrink, mixed * shrink[:, None]), scores, values, new_top)


@mistake(
    "The mix was divided by the total already. That is the last step, after the last page; divided now, the next "
    "page cannot be added to it.",
    "섞은 값을 벌써 합계로 나누었습니다. 나누기는 마지막 블록까지 읽은 다음의 일입니다. 지금 나누면 다음 블록을 더할 "
    "수 없습니다.",
)
def divided_already(
    top: np.ndarray, total: np.ndarray, mixed: np.ndarray, scores: np.ndarray, values: np.ndarray
) -> Notes:
    new_top, new_total, new_mixed = online_softmax(top, total, mixed, scores, values)
    return new_top, new_total, new_mixed / np.where(new_total == 0, 1, new_total)[:, None]


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    n_q, n_k, d_v = sizes["n_q"], sizes["n_k"], sizes["d_v"]
    top, total, mixed = rng.standard_normal(n_q), rng.uniform(1, 3, n_q), rng.standard_normal((n_q, d_v))
    scores = 2 * rng.standard_normal((n_q, n_k))
    return Call((top, total, mixed, np.where(rng.random((n_q, n_k)) < 0.2, -np.inf, scores), rng.random((n_k, d_v))))


def further(rng: np.random.Generator) -> Iterable[Call]:
    nothing = np.full(3, -np.inf), np.zeros(3), np.zeros((3, 2))
    values = rng.standard_normal((4, 2))
    yield Call((*nothing, rng.standard_normal((3, 4)), values))
    yield Call((*nothing, np.where(np.arange(3)[:, None] == 1, -np.inf, rng.standard_normal((3, 4))), values))
    notes = np.array([5.0, -2.0, 0.0]), np.array([1.0, 2.5, 1.5]), rng.standard_normal((3, 2))
    yield Call((*notes, np.full((3, 4), -np.inf), values))
    yield Call((*notes, 1000 + rng.standard_normal((3, 4)), values))
    yield Call((notes[0] + 1000, *notes[1:], np.zeros((3, 4)), values))


TASK = Said(
    """\
Read scores page by page. Of the pages so far each query keeps three notes: `top`, the largest score; `total`, the sum
of exp(score − top); and `mixed`, the sum of exp(score − top) · value. Now a new page of scores comes with its values.
Return the three notes as they are after it.

When the page brings a larger score, what was kept is scaled down to it, the total and the mix alike, by exp(old top −
new top); then the page is added. Nothing is divided yet: output = mixed / total comes after the last page.

Before the first page top is −inf and both sums are 0. A score of −inf is a masked key and adds nothing; a page may be
masked entirely.

    top, total  (n_q,)
    mixed       (n_q, d_v)
    scores      (n_q, n_k), the new page
    values      (n_k, d_v)
    →           top (n_q,), total (n_q,), mixed (n_q, d_v)""",
    """\
점수를 한 블록씩 읽습니다. 쿼리마다 지금까지 읽은 블록에서 세 가지를 남겨 둡니다. `top`은 가장 큰 점수, `total`은
exp(점수 − top)의 합, `mixed`는 exp(점수 − top) · 값의 합입니다. 이제 새 블록의 점수와 값이 왔습니다. 이 블록까지 읽은
뒤의 세 가지를 돌려주세요.

새 블록에 더 큰 점수가 있으면 남겨 둔 합계와 섞은 값을 둘 다 exp(옛 top − 새 top)만큼 줄인 다음, 새 블록을 더합니다.
아직 나누지는 않습니다. 출력 = mixed / total은 마지막 블록 다음에 계산합니다.

첫 블록을 읽기 전에 top은 −inf이고 두 합은 0입니다. 점수가 −inf인 키는 가려진 것이어서 아무것도 보태지 않으며, 블록
전체가 가려질 수도 있습니다.

    top, total  (n_q,)
    mixed       (n_q, d_v)
    scores      (n_q, n_k), 새 블록
    values      (n_k, d_v)
    →           top (n_q,), total (n_q,), mixed (n_q, d_v)""",
)

HINTS = (
    Said(
        "Three lines in this order: the new top, by how much the old notes shrink, the powers of the page.",
        "차례로 세 줄입니다. 새 top, 앞의 것이 줄어드는 비율, 새 블록의 거듭제곱을 구하세요.",
    ),
    Said(
        "new_top = np.maximum(top, scores.max(axis=-1)). Where it is still -inf, use 0 in the differences, or they "
        "are NaN.",
        "new_top = np.maximum(top, scores.max(axis=-1))입니다. 이것이 아직 -inf인 곳에서는 0을 기준으로 빼야 NaN이 "
        "나오지 않습니다.",
    ),
    Said(
        "shrink = np.exp(top - reference); powers = np.exp(scores - reference[:, None]); total * shrink + "
        "powers.sum(axis=-1), and for mixed the same with @ values.",
        "shrink = np.exp(top - reference), powers = np.exp(scores - reference[:, None])로 두면 합계는 total * shrink "
        "+ powers.sum(axis=-1)이고, mixed는 @ values로 똑같이 계산합니다.",
    ),
)

EXERCISE = Exercise(
    name="online_softmax",
    note="07",
    section=Said("The formula", "수식"),
    title=Said("One page more", "한 블록 더 읽기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=online_softmax,
            judge=by_definition,
            draw=draw,
            sizes={"n_q": 3, "n_k": 5, "d_v": 2},
            further=further,
            outputs={"top": "n_q", "total": "n_q", "mixed": "n_q d_v"},
            examples=(
                "online_softmax(\n"
                "    np.array([-np.inf]), np.zeros(1), np.zeros((1, 1)),\n"
                "    scores=np.log([[1.0, 2.0]]), values=np.array([[8.0], [4.0]]),\n"
                ")",
                "online_softmax(\n"
                "    np.log([2.0]), np.array([1.5]), np.array([[8.0]]),\n"
                "    scores=np.log([[4.0, 1.0]]), values=np.array([[2.0], [8.0]]),\n"
                ")",
            ),
            mistakes=(
                nothing_scaled_down,
                total_not_scaled_down,
                mix_not_scaled_down,
                scaled_up,
                largest_of_the_page,
                no_maximum_subtracted,
                nothing_yet_is_nan,
                divided_already,
            ),
        ),
    ),
)
