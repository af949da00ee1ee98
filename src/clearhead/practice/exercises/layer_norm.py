"""layer_norm: every position on the same scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    normal: np.ndarray = centred / np.sqrt(variance + eps)
    return gamma * normal + beta


def by_definition(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    """Mean and variance of each position, number by number."""
    d = x.shape[-1]
    y = np.empty(x.shape)
    for place in product(*map(range, x.shape[:-1])):
        numbers = [float(number) for number in x[place]]
        mean = sum(numbers) / d
        variance = sum((number - mean) ** 2 for number in numbers) / d
        for i, number in enumerate(numbers):
            y[(*place, i)] = gamma[i] * (number - mean) / math.sqrt(variance + eps) + beta[i]
    return y


def along(axis: int, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float) -> np.ndarray:
    """The same with mean and variance along any one axis."""
    return gamma * (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(x.var(axis=axis, keepdims=True) + eps) + beta


@mistake(
    "(1, 0, 0, 0) gives 1.5 instead of 1.732: the variance was divided by d - 1. Layer normalisation divides by d, "
    "as np.var does by itself (torch.var and ddof=1 do not).",
    "(1, 0, 0, 0)이 1.732가 아니라 1.5가 됩니다. 분산을 d - 1로 나누었기 때문입니다. 층 정규화는 d로 나눕니다. "
    "np.var는 그대로 쓰면 되고 ddof=1이나 torch.var의 기본값은 다릅니다.",
    explained=sections.BLOCKS_AND_DECODING,
)
def variance_by_one_less(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.sum(centred**2, axis=-1, keepdims=True) / np.float64(x.shape[-1] - 1)
    return gamma * centred / np.sqrt(variance + eps) + beta


@mistake(
    "Nearly right, and far off where a position hardly varies: eps was added to the standard deviation. It belongs "
    "under the root, to the variance.",
    "거의 맞지만 숫자가 거의 같은 위치에서 크게 어긋납니다. eps를 표준 편차에 더했기 때문입니다. eps는 루트 안에서 "
    "분산에 더하세요.",
)
def eps_outside_the_root(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / (x.std(axis=-1, keepdims=True) + eps) + beta


@mistake(
    "NaN where all numbers of a position are equal, and a little too large elsewhere: eps is missing. Add it to the "
    "variance before the root.",
    "한 위치의 숫자가 모두 같으면 NaN이고 다른 곳에서는 조금 큽니다. eps가 빠졌습니다. 루트를 씌우기 전에 분산에 "
    "더하세요.",
)
def eps_forgotten(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True) + beta


@mistake(
    "A later position changes the earlier ones: mean and variance were taken over the positions. Take them over the "
    "d numbers of each position, axis -1.",
    "뒤의 위치를 바꾸면 앞의 출력이 달라집니다. 평균과 분산을 위치 방향으로 구했기 때문입니다. 위치마다 그 안의 숫자 "
    "d개로, 곧 축 -1을 따라 구하세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def over_the_positions(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return along(-2 if x.ndim > 1 else -1, x, gamma, beta, eps)


@variant_of(over_the_positions)
def always_over_axis_minus_two(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return along(-2, x, gamma, beta, eps)


@variant_of(over_the_positions)
def always_over_axis_one(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return along(1, x, gamma, beta, eps)


@mistake(
    "Another text of the batch changes this one: mean and variance were taken along axis 0. Take them over the d "
    "numbers of each position, axis -1.",
    "배치의 다른 글을 바꾸면 이 글의 출력이 달라집니다. 평균과 분산을 축 0을 따라 구했기 때문입니다. 위치마다 그 안의 "
    "숫자 d개로, 곧 축 -1을 따라 구하세요.",
)
def over_the_batch(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return along(0, x, gamma, beta, eps)


@mistake(
    "Right for a single position and for no more: one mean and one variance were taken of the whole array. Every "
    "position has its own; give mean and var axis=-1 and keepdims=True.",
    "위치가 하나일 때만 맞습니다. 배열 전체에서 평균 하나와 분산 하나를 구했기 때문입니다. 위치마다 따로 구해야 하니 "
    "mean과 var에 axis=-1과 keepdims=True를 주세요.",
)
def over_everything(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta


@mistake(
    "Adding 1 to every number of a position changes the answer: the mean was not taken off. Dividing x alone by its "
    "size is RMS norm.",
    "한 위치의 모든 숫자에 1을 더하면 답이 달라집니다. 평균을 빼지 않았기 때문입니다. 크기로 나누기만 하면 RMS "
    "정규화가 됩니다.",
)
def mean_not_taken_off(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta


@mistake(
    "The larger a position's numbers, the smaller its output: it was divided by the variance. Divide by the root of "
    "it.",
    "숫자가 큰 위치일수록 출력이 작아집니다. 분산으로 나누었기 때문입니다. 분산의 제곱근으로 나누세요.",
)
def no_root(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.var(axis=-1, keepdims=True) + eps) + beta


@mistake(
    "The shift came before the stretch, so beta was multiplied too: gamma · (normal + beta). Multiply by gamma "
    "first, then add beta.",
    "더하기를 먼저 해서 beta까지 곱해졌습니다. gamma · (정규화한 값 + beta)가 아니라, gamma를 먼저 곱하고 beta를 "
    "더하세요.",
)
def shifted_before_stretched(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float = 1e-5) -> np.ndarray:
    return layer_norm(x, gamma, gamma * beta, eps=eps)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    x = 1 + 2 * rng.standard_normal(tuple(sizes.values()))
    return Call((x, rng.uniform(0.5, 2, sizes["d"]), rng.standard_normal(sizes["d"])))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((np.array([1.0, 0, 0, 0]), np.ones(4), np.zeros(4)))
    yield Call((np.array([[3.0, 3, 3], [1, 2, 3]]), np.ones(3), np.array([0.0, 1, 2])))
    yield Call((1e-3 * rng.standard_normal((2, 5)), np.full(5, 2.0), np.zeros(5)))
    yield Call((1e4 * rng.standard_normal((2, 3)), np.ones(3), np.zeros(3)))
    yield Call((rng.standard_normal((2, 4)), np.ones(4), np.zeros(4)), {"eps": 0.1})


TASK = Said(
    """\
Bring every position to mean 0 and variance 1, then stretch it by gamma and shift it by beta, which are learned.

    y = gamma · (x − mean) / √(variance + eps) + beta

Mean and variance are those of the d numbers of one position: positions do not learn of each other here. The variance
is the mean of the squared differences. The tiny eps keeps a position of equal numbers from a division by 0.
Python loops are not needed, and not wanted here.

    x            (…, n, d), or a single position (d,)
    gamma, beta  (d,)
    →            the shape of x""",
    """\
위치마다 평균을 0, 분산을 1로 맞춘 다음, 학습하는 값인 gamma를 곱하고 beta를 더하세요.

    y = gamma · (x − 평균) / √(분산 + eps) + beta

평균과 분산은 한 위치에 있는 숫자 d개로 구합니다. 위치끼리는 서로 알지 못합니다. 분산은 평균과의 차를 제곱해 평균한
값입니다. 아주 작은 수 eps는 숫자가 모두 같은 위치에서 0으로 나누지 않게 합니다.
반복문은 쓰지 말고 작성하세요.

    x            (…, n, d), 위치 하나면 (d,)
    gamma, beta  (d,)
    →            x와 같은 모양""",
)

HINTS = (
    Said(
        "Four steps: the mean of each position, x without it, the mean of its squares, and the division.",
        "네 단계입니다. 위치마다 평균을 구하고, x에서 빼고, 그 제곱을 평균하고, 나누세요.",
    ),
    Said(
        "x.mean(axis=-1, keepdims=True) has the shape (…, n, 1), which lines up with x. Without keepdims it does not.",
        "x.mean(axis=-1, keepdims=True)의 모양은 (…, n, 1)이어서 x와 맞습니다. keepdims가 없으면 맞지 않습니다.",
    ),
    Said(
        "centred = x - x.mean(axis=-1, keepdims=True); variance = (centred**2).mean(axis=-1, keepdims=True); then "
        "gamma * centred / np.sqrt(…) + beta.",
        "centred = x - x.mean(axis=-1, keepdims=True), variance = (centred**2).mean(axis=-1, keepdims=True)로 두면 "
        "답은 gamma * centred / np.sqrt(…) + beta입니다.",
    ),
)

EXERCISE = Exercise(
    name="layer_norm",
    note="06",
    section=Said("The formula", "수식"),
    title=Said("Every position on the same scale", "모든 위치를 같은 눈금으로"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=layer_norm,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n": 3, "d": 5},
            further=further,
            outputs={"y": "b n d"},
            loops=False,
            examples=(
                "layer_norm(np.array([1.0, 0.0, 0.0, 0.0]), np.ones(4), np.zeros(4))",
                "layer_norm(np.array([[1.0, 3.0], [5.0, 5.0]]), np.array([1.0, 2.0]), np.array([0.0, 10.0]))",
            ),
            mistakes=(
                variance_by_one_less,
                eps_outside_the_root,
                eps_forgotten,
                over_the_positions,
                always_over_axis_minus_two,
                always_over_axis_one,
                over_the_batch,
                over_everything,
                mean_not_taken_off,
                no_root,
                shifted_before_stretched,
            ),
        ),
    ),
)
