"""position_matters: shuffle the words, and measure what changes, without positions and with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake
from clearhead.practice.exercises import self_attention as words

Array = np.ndarray


def position_matters(
    X: np.ndarray, P: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray, order: np.ndarray
) -> tuple[float, float]:
    def attend(X: np.ndarray) -> np.ndarray:
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        scores = Q @ K.T / np.sqrt(Q.shape[-1])
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True) @ V

    without = attend(X[order]) - attend(X)[order]
    with_positions = attend(X[order] + P) - attend(X + P)[order]
    return float(np.abs(without).max()), float(np.abs(with_positions).max())


def by_definition(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    """Word by word: how far its output moves when it sits elsewhere."""

    def largest_change(before: Array, after: Array) -> float:
        home = words.by_definition(before, W_Q, W_K, W_V)[0]
        away = words.by_definition(after, W_Q, W_K, W_V)[0]
        changes = [abs(a - b) for seat, word in enumerate(order) for a, b in zip(away[seat], home[word], strict=True)]
        return float(max(changes))

    shuffled = np.array([X[word] for word in order])
    return largest_change(X, shuffled), largest_change(X + P, shuffled + P)


def attention(X: Array, W_Q: Array, W_K: Array, W_V: Array) -> Array:
    """The output of self-attention, (n, d_model) → (n, d_v)"""
    return words.self_attention(X, W_Q, W_K, W_V)[0]


@mistake(
    "Without positions too there is a change: the two outputs were compared row by row, although other words sit there "
    "now. Put one of them in the order of the other first.",
    "위치가 없을 때도 달라진 것으로 나왔습니다. 이제 다른 단어가 앉아 있는데도 두 출력을 같은 행끼리 비교한 것입니다. "
    "먼저 한쪽을 다른 쪽의 순서에 맞추세요.",
)
def not_put_back(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    without = attention(X[order], W_Q, W_K, W_V) - attention(X, W_Q, W_K, W_V)
    with_positions = attention(X[order] + P, W_Q, W_K, W_V) - attention(X + P, W_Q, W_K, W_V)
    return np.abs(without).max(), np.abs(with_positions).max()


@mistake(
    "Without positions too there is a change: the shuffled output was shuffled once more by `order`, which does not "
    "undo it. Shuffle the other output, attend(X)[order], or undo with np.argsort(order).",
    "위치가 없을 때도 달라진 것으로 나왔습니다. 섞은 출력을 `order`로 한 번 더 섞었는데, 그러면 되돌아오지 않습니다. "
    "다른 쪽 출력을 attend(X)[order]로 섞거나 np.argsort(order)로 되돌리세요.",
)
def shuffled_twice(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    without = attention(X[order], W_Q, W_K, W_V)[order] - attention(X, W_Q, W_K, W_V)
    with_positions = attention(X[order] + P, W_Q, W_K, W_V)[order] - attention(X + P, W_Q, W_K, W_V)
    return np.abs(without).max(), np.abs(with_positions).max()


@mistake(
    "With positions nothing changes either: the words kept their old number when they moved, (X + P)[order]. Seats are "
    "numbered, not words: shuffle the words, then add P.",
    "위치가 있는데도 달라지는 것이 없습니다. (X + P)[order]로는 단어가 옮겨 앉으면서 옛 번호를 들고 갑니다. 번호는 "
    "단어가 아니라 자리에 붙어 있으니, 단어를 먼저 섞고 P를 더하세요.",
)
def numbers_moved_along(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    without = attention(X[order], W_Q, W_K, W_V) - attention(X, W_Q, W_K, W_V)[order]
    with_positions = attention((X + P)[order], W_Q, W_K, W_V) - attention(X + P, W_Q, W_K, W_V)[order]
    return np.abs(without).max(), np.abs(with_positions).max()


@mistake(
    "The two changes are the same: P was added in both. The first number is for the words alone.",
    "두 값이 같습니다. 두 번 다 P를 더한 것입니다. 첫째 수는 P 없이 단어만으로 구하세요.",
)
def positions_in_both(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    changes = attention(X[order] + P, W_Q, W_K, W_V) - attention(X + P, W_Q, W_K, W_V)[order]
    return np.abs(changes).max(), np.abs(changes).max()


@mistake(
    "This is the average change. Asked for is the largest, so that not a single number of any word can hide: "
    "np.abs(…).max().",
    "변화의 평균이 나왔습니다. 구할 것은 가장 큰 변화입니다. 그래야 어느 단어의 수 하나도 빠져나가지 못합니다. "
    "np.abs(…).max()를 쓰세요.",
)
def average_change(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    without = attention(X[order], W_Q, W_K, W_V) - attention(X, W_Q, W_K, W_V)[order]
    with_positions = attention(X[order] + P, W_Q, W_K, W_V) - attention(X + P, W_Q, W_K, W_V)[order]
    return np.abs(without).mean(), np.abs(with_positions).mean()


@mistake(
    "Changes downwards were not seen: max was taken of differences with their sign. Take np.abs first.",
    "줄어든 변화를 놓쳤습니다. 부호가 있는 차이에서 max를 구한 것입니다. np.abs를 먼저 하세요.",
)
def sign_kept(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    without = attention(X[order], W_Q, W_K, W_V) - attention(X, W_Q, W_K, W_V)[order]
    with_positions = attention(X[order] + P, W_Q, W_K, W_V) - attention(X + P, W_Q, W_K, W_V)[order]
    return without.max(), with_positions.max()


@mistake(
    "Right for small scores, NaN for large ones: exp overflows to infinity. Take the largest score of each row off "
    "before exp; the weights stay the same.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp가 무한대로 넘치기 때문입니다. exp를 계산하기 전에 행마다 가장 큰 "
    "점수를 빼세요. 가중치는 달라지지 않습니다.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(X: Array, P: Array, W_Q: Array, W_K: Array, W_V: Array, order: Array) -> tuple[float, float]:
    def attend(X: Array) -> Array:
        powers = np.exp(X @ W_Q @ (X @ W_K).T / np.sqrt(W_Q.shape[-1]))
        return powers / powers.sum(axis=-1, keepdims=True) @ (X @ W_V)

    without, with_positions = attend(X[order]) - attend(X)[order], attend(X[order] + P) - attend(X + P)[order]
    return float(np.abs(without).max()), float(np.abs(with_positions).max())


def round_trip(rng: np.random.Generator, n: int) -> Array:
    """An order in which every word moves, and of three or more none just changes places with another: (n,)"""
    seats, order = rng.permutation(n), np.empty(n, int)
    order[seats] = np.roll(seats, 1)
    return order


def ask(function: Callable[..., Any], call: Call) -> Any:
    """An answer whose floats are rounded to twelve digits, so that a change of 1e-16 is none."""
    answer = function(*call.arguments, **call.keywords)
    if not isinstance(answer, (tuple, list)):
        return answer
    return tuple(round(float(number), 12) if isinstance(number, (float, np.floating)) else number for number in answer)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    n, d_model, d, d_v = sizes.values()
    shapes = ((n, d_model), (n, d_model), (d_model, d), (d_model, d), (d_model, d_v))
    return Call((*(rng.standard_normal(shape) for shape in shapes), round_trip(rng, n)))


def further(rng: np.random.Generator) -> Iterable[Call]:
    *arrays, _ = draw(rng, {"n": 5, "d_model": 4, "d": 3, "d_v": 2}).arguments
    yield Call((*arrays, np.array([3, 0, 4, 1, 2])))
    yield Call((*arrays, np.array([1, 0, 2, 3, 4])))
    yield Call((*arrays, np.arange(5)))
    yield Call((arrays[0][:1], arrays[1][:1], *arrays[2:], np.array([0])))
    yield Call((40 * arrays[0], 40 * arrays[1], *arrays[2:], np.array([2, 4, 1, 0, 3])))  # scores whose powers overflow


TASK = Said(
    """\
Show that self-attention does not see the order of words, and that with positions it does. Shuffle the words, X[order],
attend, and compare with the output for X, word by word: by how much did any number of any word change? Do this twice,
for the words alone, and for the words with the numbers of their seats added: P holds a row for each seat, and seats do
not move. Return the largest change of each. The first should be nothing but rounding.

    X, P      (n, d_model)
    W_Q, W_K  (d_model, d)
    W_V       (d_model, d_v)
    order     (n,), which word sits on each seat after the shuffle
    →         without, with_positions: two numbers, not negative""",
    """\
셀프 어텐션이 단어의 순서를 보지 못한다는 것, 그리고 위치가 있으면 본다는 것을 보이세요. 단어를 X[order]로 섞어 어텐션을
하고, X의 출력과 단어끼리 비교해 어느 수가 얼마나 달라졌는지 봅니다. 한 번은 단어만으로, 한 번은 자리 번호를 더해서
하세요. P에는 자리마다 행이 하나씩 있고, 자리는 움직이지 않습니다. 가장 큰 변화를 각각 돌려주세요. 첫째 수는 반올림
오차뿐이어야 합니다.

    X, P      (n, d_model)
    W_Q, W_K  (d_model, d)
    W_V       (d_model, d_v)
    order     (n,), 섞은 뒤 자리마다 앉은 단어의 번호
    →         without, with_positions: 음수가 아닌 수 두 개""",
)

HINTS = (
    Said(
        "Write a small function inside, attend(X), that returns the output of self-attention. You need it four times.",
        "함수 안에 셀프 어텐션의 출력을 돌려주는 작은 함수 attend(X)를 만드세요. 네 번 쓰게 됩니다.",
    ),
    Said(
        "Row s of attend(X[order]) is about word order[s], so it belongs beside row s of attend(X)[order].",
        "attend(X[order])의 s행은 order[s]번 단어의 출력이므로 attend(X)[order]의 s행과 비교해야 합니다.",
    ),
    Said(
        "np.abs(attend(X[order]) - attend(X)[order]).max() is the first number; for the second, X[order] + P and X + "
        "P.",
        "np.abs(attend(X[order]) - attend(X)[order]).max()가 첫째 수입니다. 둘째 수는 X[order] + P와 X + P로 구하세요.",
    ),
)

EXERCISE = Exercise(
    name="position_matters",
    note="04",
    section=Said("In code", "코드로"),
    title=Said("Shuffle the words", "단어를 섞어 보기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=position_matters,
            judge=by_definition,
            draw=draw,
            sizes={"n": 5, "d_model": 6, "d": 4, "d_v": 3},
            smallest={"n": 2},
            further=further,
            ask=ask,
            outputs={"without": "", "with_positions": ""},
            examples=("position_matters(np.eye(2), 3 * np.eye(2), *[np.eye(2)] * 3, order=np.array([1, 0]))",),
            mistakes=(
                not_put_back,
                shuffled_twice,
                numbers_moved_along,
                positions_in_both,
                average_change,
                sign_kept,
                no_maximum_subtracted,
            ),
        ),
    ),
)
