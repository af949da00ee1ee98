"""window_mask: each query sees itself and the few keys before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def window_mask(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    query = np.arange(n)[:, None] + n_k - n
    key = np.arange(n_k)
    return (query - window < key) & (key <= query)


def by_definition(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    """Each query's place among the keys, and a step back for every key of the window that is there."""
    n_k = n if n_k is None else n_k
    mask = np.zeros((n, n_k), bool)
    for i in range(n):
        own = n_k - n + i
        for back in range(window):
            if 0 <= own - back < n_k:
                mask[i, own - back] = True
    return mask


@mistake(
    "The rows have one key too many, window + 1: `query - window <= key` counts the query's own key and `window` "
    "more. The window includes the query's own key, so the comparison is <.",
    "행마다 키가 하나 많아 window + 1개입니다. `query - window <= key`로 비교하면 자기 키에 `window`개를 더 셉니다. "
    "윈도에는 자기 키도 들어가므로 <로 비교하세요.",
)
def one_key_too_many(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    return window_mask(n, window + 1, n_k)


@mistake(
    "The diagonal is False: no query sees its own key, only those before it. The window ends with the query itself, "
    "so `key <= query`.",
    "대각선이 False입니다. 쿼리가 앞의 키만 보고 자기 키를 보지 못합니다. 윈도는 쿼리 자신으로 끝나므로 `key <= "
    "query`로 비교하세요.",
)
def own_key_left_out(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    query, key = np.arange(n)[:, None] + n_k - n, np.arange(n_k)
    return (query - window <= key) & (key < query)


@mistake(
    "The band reaches as far to the right of the diagonal as to the left: queries see keys that come later. Only "
    "keys up to the query's own place are allowed; the distance must not be taken without its sign.",
    "띠가 대각선 오른쪽으로도 왼쪽만큼 뻗어 있어, 쿼리가 뒤에 오는 키를 봅니다. 자기 자리까지만 볼 수 있으니 거리를 "
    "절댓값으로 비교하지 마세요.",
)
def looks_both_ways(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    return np.abs(np.arange(n)[:, None] + n_k - n - np.arange(n_k)) < window


@mistake(
    "The band lies on the wrong side of the diagonal: each query sees itself and the keys after it. Rows are queries "
    "and columns are keys, and a query looks back.",
    "띠가 대각선의 반대쪽에 있습니다. 쿼리마다 자기와 뒤의 키를 봅니다. 행이 쿼리이고 열이 키이며, 쿼리는 자기보다 "
    "앞에 나온 키를 봅니다.",
)
def looks_ahead(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    query, key = np.arange(n)[:, None] + n_k - n, np.arange(n_k)
    return (query <= key) & (key < query + window)


@mistake(
    "Every query sees everything up to itself: this is the causal mask, and `window` cuts nothing off. Keys at a "
    "distance of `window` or more must be False too.",
    "쿼리마다 자기까지 모두 봅니다. 코잘 마스크일 뿐 `window`로 자른 곳이 없습니다. 거리가 `window` 이상인 키도 "
    "False여야 합니다.",
)
def window_ignored(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    return window_mask(n, n + (n if n_k is None else n_k), n_k)


@mistake(
    "Right for as many queries as keys, and otherwise the band starts in the upper left corner. With more keys than "
    "queries the queries are the last positions: query i stands at key i + n_k - n.",
    "쿼리와 키의 수가 같으면 맞지만, 다르면 띠가 왼쪽 위 구석에서 시작합니다. 키가 더 많을 때 쿼리는 마지막 "
    "위치들이므로 i번 쿼리의 자리는 i + n_k - n번 키입니다.",
    explained=sections.MORE_KEYS,
)
def in_the_upper_left_corner(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    n_k = n if n_k is None else n_k
    query, key = np.arange(n)[:, None], np.arange(n_k)
    return (query - window < key) & (key <= query)


@mistake(
    "True and False are exchanged: the keys of the window are False and all others True. Here True means that the "
    "query may attend.",
    "True와 False가 서로 바뀌었습니다. 윈도 안의 키가 False이고 나머지가 True입니다. 여기서 True는 볼 수 있다는 "
    "뜻입니다.",
    explained=sections.MASK_MISTAKES,
)
def inverted(n: int, window: int, n_k: int | None = None) -> np.ndarray:
    return ~window_mask(n, window, n_k)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((sizes["n"], sizes["window"]), {"n_k": sizes["n_k"]})


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((5, 2))
    yield Call((4, 1))
    yield Call((3, 9))
    yield Call((1, 3), {"n_k": 6})
    yield Call((1, 1))


TASK = Said(
    """\
Long texts are read through a window: each query sees its own key and those right before it, `window` keys in all, and
nothing that comes later. Near the beginning there are fewer, and the row is simply shorter. Write the mask down, True
where a query may attend.

When there are more keys than queries, the queries are the last positions: with 5 keys, the 2 queries stand at keys 3
and 4. Without `n_k` there are as many keys as queries.

    n       how many queries
    window  how many keys each of them sees, its own included
    n_k     how many keys
    →       (n, n_k), boolean""",
    """\
긴 글은 윈도로 읽습니다. 쿼리마다 자기 키와 바로 앞의 키를 합쳐 모두 `window`개를 보고, 뒤에 오는 키는 보지 않습니다.
글의 첫머리에서는 앞에 있는 키가 모자라므로 그만큼 덜 봅니다. 볼 수 있는 곳이 True인 마스크를 만드세요.

키가 쿼리보다 많으면 쿼리는 마지막 위치들입니다. 키가 5개이고 쿼리가 2개면 쿼리의 자리는 3번과 4번 키입니다. `n_k`를
주지 않으면 키의 수는 쿼리의 수와 같습니다.

    n       쿼리의 수
    window  쿼리 하나가 보는 키의 수(자기 포함)
    n_k     키의 수
    →       (n, n_k), bool""",
)

HINTS = (
    Said(
        "Two conditions joined with &: not later than the query, and not too far before it.",
        "조건 두 개를 &로 이으세요. 쿼리보다 뒤가 아니어야 하고, 너무 앞도 아니어야 합니다.",
    ),
    Said(
        "np.arange(n)[:, None] is a column of queries and np.arange(n_k) a row of keys; comparing them gives a "
        "table. Add n_k - n to the queries, so that they are the last positions.",
        "np.arange(n)[:, None]은 쿼리의 열이고 np.arange(n_k)는 키의 행이어서, 둘을 비교하면 표가 됩니다. 쿼리가 "
        "마지막 위치가 되도록 쿼리에 n_k - n을 더하세요.",
    ),
    Said(
        "query = np.arange(n)[:, None] + n_k - n; key = np.arange(n_k); then (query - window < key) & …",
        "query = np.arange(n)[:, None] + n_k - n, key = np.arange(n_k)로 두면 답은 (query - window < key) & … 입니다.",
    ),
)

EXERCISE = Exercise(
    name="window_mask",
    note="05",
    section=Said("The formula", "수식"),
    title=Said("Only the neighbours", "이웃만 보기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=window_mask,
            judge=by_definition,
            draw=draw,
            sizes={"n": 4, "window": 3, "n_k": 7},
            further=further,
            outputs={"mask": "n n_k"},
            examples=("window_mask(4, 2)", "window_mask(2, 3, n_k=5)"),
            mistakes=(
                one_key_too_many,
                own_key_left_out,
                looks_both_ways,
                looks_ahead,
                window_ignored,
                in_the_upper_left_corner,
                inverted,
            ),
        ),
    ),
)
