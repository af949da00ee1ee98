"""encoder_block: every position looks at every other, then each thinks for itself. Post-norm, as in 2017."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake

Block = Mapping[str, np.ndarray]


def encoder_block(x: np.ndarray, block: Mapping[str, np.ndarray], num_heads: int) -> np.ndarray:
    def split(y: np.ndarray) -> np.ndarray:
        return y.reshape(*y.shape[:-1], num_heads, -1).swapaxes(-3, -2)

    def norm(y: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
        centred = y - y.mean(axis=-1, keepdims=True)
        return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) + beta

    Q, K, V = split(x @ block["W_Q"]), split(x @ block["W_K"]), split(x @ block["W_V"])
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    heard = (weights @ V).swapaxes(-3, -2).reshape(x.shape) @ block["W_O"]
    x = norm(x + heard, block["gamma_1"], block["beta_1"])
    thought = np.maximum(x @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"]
    return norm(x + thought, block["gamma_2"], block["beta_2"])


def by_definition(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    """One text, one head and one position at a time."""
    *leading, n, d_model = x.shape
    d = d_model // num_heads
    output = np.empty(x.shape)
    for text in product(*map(range, leading)):
        Q, K, V = (np.einsum("ni,ij->nj", x[text], block[name]) for name in ("W_Q", "W_K", "W_V"))
        for i in range(n):
            heard = np.zeros(d_model)
            for head in range(num_heads):
                own = slice(head * d, (head + 1) * d)
                scores = [float(np.dot(Q[i, own], K[j, own])) / math.sqrt(d) for j in range(n)]
                powers = [math.exp(score - max(scores)) for score in scores]
                heard[own] = sum(power / sum(powers) * V[j, own] for j, power in enumerate(powers))
            y = row_norm(x[(*text, i)] + heard @ block["W_O"], block["gamma_1"], block["beta_1"])
            hidden = [max(0.0, float(number)) for number in y @ block["W_1"] + block["b_1"]]
            y = y + np.array(hidden) @ block["W_2"] + block["b_2"]
            output[(*text, i)] = row_norm(y, block["gamma_2"], block["beta_2"])
    return output


def row_norm(row: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Layer normalisation of one position (d_model,)."""
    mean = sum(row) / len(row)
    variance = sum((number - mean) ** 2 for number in row) / len(row)
    return np.array([(number - mean) / math.sqrt(variance + 1e-5) for number in row]) * gamma + beta


# What the mistakes below are put together from.


def norm(y: np.ndarray, block: Block, number: int, axis: int = -1) -> np.ndarray:
    gamma, beta = block[f"gamma_{number}"], block[f"beta_{number}"]
    return gamma * (y - y.mean(axis=axis, keepdims=True)) / np.sqrt(y.var(axis=axis, keepdims=True) + 1e-5) + beta


def mixed(x: np.ndarray, block: Block, num_heads: int, *, width: int | None = None) -> np.ndarray:
    """What each head heard: x (…, n, d_model) → (…, h, n, d)"""
    Q, K, V = (
        (x @ block[name]).reshape(*x.shape[:-1], num_heads, -1).swapaxes(-3, -2) for name in ("W_Q", "W_K", "W_V")
    )
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(width or Q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ V


def heard(x: np.ndarray, block: Block, num_heads: int, *, width: int | None = None) -> np.ndarray:
    return mixed(x, block, num_heads, width=width).swapaxes(-3, -2).reshape(x.shape) @ block["W_O"]


def thought(x: np.ndarray, block: Block) -> np.ndarray:
    return np.maximum(x @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"]


def finished(x: np.ndarray, attended: np.ndarray, block: Block) -> np.ndarray:
    """The rest of the block, after attention."""
    x = norm(x + attended, block, 1)
    return norm(x + thought(x, block), block, 2)


@mistake(
    "This is pre-norm: it normalises before attention and feed-forward, and hands on the bare sum. Here the norm "
    "comes after each sum: norm(x + …).",
    "이것은 pre-norm입니다. 어텐션과 피드 포워드 앞에서 정규화하고 합은 그대로 내보냅니다. 여기서는 더한 다음에 "
    "정규화해야 하니 norm(x + …)로 쓰세요.",
)
def pre_norm(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = x + heard(norm(x, block, 1), block, num_heads)
    return x + thought(norm(x, block, 2), block)


@mistake(
    "What came in is lost: the output knows only what was heard and thought. Both residual connections are missing; "
    "add x before each norm.",
    "들어온 것이 사라졌습니다. 출력이 들은 것과 생각한 것만 압니다. 잔차 연결 두 개가 모두 빠졌으니 정규화하기 전에 "
    "x를 더하세요.",
    explained=sections.RESIDUAL_AND_NORM,
)
def no_residual_connections(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(heard(x, block, num_heads), block, 1)
    return norm(thought(x, block), block, 2)


@mistake(
    "After attention only what was heard is left: the first residual connection is missing. Normalise x + heard.",
    "어텐션 다음에 들은 것만 남았습니다. 첫째 잔차 연결이 빠졌습니다. x + 들은 것을 정규화하세요.",
    explained=sections.RESIDUAL_AND_NORM,
)
def first_residual_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(heard(x, block, num_heads), block, 1)
    return norm(x + thought(x, block), block, 2)


@mistake(
    "After the feed-forward only what was thought is left: the second residual connection is missing. Normalise what "
    "went into the feed-forward plus what came out of it.",
    "피드 포워드 다음에 생각한 것만 남았습니다. 둘째 잔차 연결이 빠졌습니다. 피드 포워드에 들어간 것과 나온 것을 더해 "
    "정규화하세요.",
    explained=sections.RESIDUAL_AND_NORM,
)
def second_residual_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(x + heard(x, block, num_heads), block, 1)
    return norm(thought(x, block), block, 2)


@mistake(
    "The weights are too sharp: the scores were not divided by the root of a head's width.",
    "가중치가 너무 뾰족합니다. 점수를 헤드 폭의 제곱근으로 나누지 않았습니다.",
    explained=sections.WHY_SCALE,
)
def not_scaled(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    return finished(x, heard(x, block, num_heads, width=1), block)


@mistake(
    "The output was not normalised: the second norm is missing.",
    "출력을 정규화하지 않았습니다. 둘째 정규화가 빠졌습니다.",
    explained=sections.RESIDUAL_AND_NORM,
)
def second_norm_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(x + heard(x, block, num_heads), block, 1)
    return x + thought(x, block)


@mistake(
    "What attention gave goes into the feed-forward as it is: the first norm is missing. Normalise after each sum.",
    "어텐션의 결과를 그대로 피드 포워드에 넣었습니다. 첫째 정규화가 빠졌습니다. 더할 때마다 정규화하세요.",
    explained=sections.RESIDUAL_AND_NORM,
)
def first_norm_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = x + heard(x, block, num_heads)
    return norm(x + thought(x, block), block, 2)


@mistake(
    "The second sum adds the block's input, not what came out of the first norm. The feed-forward's residual "
    "connection starts where the feed-forward starts.",
    "두 번째 합에서 첫 정규화의 결과가 아니라 블록의 입력을 더했습니다. 피드 포워드의 잔차 연결은 피드 포워드가 받은 "
    "값에서 시작합니다.",
    explained=sections.RESIDUAL_AND_NORM,
)
def residual_from_the_input(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    y = norm(x + heard(x, block, num_heads), block, 1)
    return norm(x + thought(y, block), block, 2)


@mistake(
    "The norms run over the positions, so that every position depends on all others once more. Mean and variance are "
    "those of the d_model numbers of one position, axis -1.",
    "정규화를 위치 방향으로 해서, 위치마다 다른 모든 위치의 영향을 한 번 더 받습니다. 평균과 분산은 한 위치의 숫자 "
    "d_model개로, 곧 축 -1을 따라 구하세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def norm_over_the_positions(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(x + heard(x, block, num_heads), block, 1, axis=-2)
    return norm(x + thought(x, block), block, 2, axis=-2)


@mistake(
    "Right for one head only: the scores were divided by √d_model. A head sums d_model / num_heads products, so that "
    "is the width under the root.",
    "헤드가 하나일 때만 맞습니다. 점수를 √d_model로 나누었기 때문입니다. 헤드 하나는 곱을 d_model / num_heads개만 "
    "더하므로 그 폭의 제곱근으로 나누세요.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def scaled_by_the_model_width(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    return finished(x, heard(x, block, num_heads, width=x.shape[-1]), block)


@mistake(
    "Right for one head only: the heads were merged by reshape alone, which lays positions of one head side by side. "
    "Swap the axes of heads and positions first.",
    "헤드가 하나일 때만 맞습니다. reshape만으로 헤드를 합쳐 한 헤드의 여러 위치가 나란히 놓였습니다. 먼저 헤드 축과 "
    "위치 축을 맞바꾸세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def merged_without_a_swap(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    return finished(x, mixed(x, block, num_heads).reshape(x.shape) @ block["W_O"], block)


@mistake(
    "The heads stand side by side, unmixed: W_O was left out. Multiply the merged heads by it before the sum.",
    "헤드가 섞이지 않고 나란히 놓여 있습니다. W_O가 빠졌습니다. 더하기 전에 합친 헤드에 W_O를 곱하세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def projection_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    return finished(x, mixed(x, block, num_heads).swapaxes(-3, -2).reshape(x.shape), block)


@mistake(
    "The feed-forward has no bend: without the ReLU its two products are no more than one. Take np.maximum(…, 0) "
    "between them.",
    "피드 포워드에 꺾이는 곳이 없습니다. ReLU가 없으면 행렬 곱 두 번은 한 번과 다를 바 없습니다. 둘 사이에 "
    "np.maximum(…, 0)을 쓰세요.",
)
def relu_left_out(x: np.ndarray, block: Block, num_heads: int) -> np.ndarray:
    x = norm(x + heard(x, block, num_heads), block, 1)
    return norm(x + (x @ block["W_1"] + block["b_1"]) @ block["W_2"] + block["b_2"], block, 2)


def drawn(rng: np.random.Generator, d_model: int, d_ff: int) -> dict[str, np.ndarray]:
    """The parameters of a block."""
    block = {name: rng.standard_normal((d_model, d_model)) for name in ("W_Q", "W_K", "W_V", "W_O")}
    block |= {"gamma_1": rng.uniform(0.5, 2, d_model), "beta_1": rng.standard_normal(d_model)}
    block |= {"W_1": rng.standard_normal((d_model, d_ff)), "b_1": rng.standard_normal(d_ff)}
    block |= {"W_2": rng.standard_normal((d_ff, d_model)), "b_2": rng.standard_normal(d_model)}
    return block | {"gamma_2": rng.uniform(0.5, 2, d_model), "beta_2": rng.standard_normal(d_model)}


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    d_model = sizes["d_model"]
    num_heads = int(rng.choice([h for h in range(1, d_model + 1) if d_model % h == 0]))
    x = rng.standard_normal((sizes["b"], sizes["n"], d_model))
    return Call((x, drawn(rng, d_model, sizes["d_ff"]), num_heads))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((rng.standard_normal((2, 3, 8)), drawn(rng, 8, 5), 2))
    yield Call((rng.standard_normal((4, 6)), drawn(rng, 6, 7), 3))
    yield Call((50 * rng.standard_normal((3, 4)), drawn(rng, 4, 6), 2))
    yield Call((rng.standard_normal((1, 4)), drawn(rng, 4, 6), 2))


TASK = Said(
    """\
Put an encoder block together. It is post-norm, as in the paper of 2017 and in the textbook's EncoderBlock: the norm
comes after each sum. Multi-head attention first, then a feed-forward network for each position alone, each with a
residual connection.

    x = norm(x + attention(x), gamma_1, beta_1)
    x = norm(x + max(0, x W_1 + b_1) W_2 + b_2, gamma_2, beta_2)

Attention projects x by W_Q, W_K and W_V, cuts each row into num_heads pieces of equal width, attends in each head
(scores divided by the root of a head's width), lays the heads side by side again and multiplies by W_O. The norm is
layer normalisation with eps = 1e-5. You may use other functions in this file: what you wrote before will do.

    x                          (…, n, d_model)
    block                      a dict of arrays:
      W_Q, W_K, W_V, W_O       (d_model, d_model)
      W_1, b_1                 (d_model, d_ff), (d_ff,)
      W_2, b_2                 (d_ff, d_model), (d_model,)
      gamma_1, beta_1, gamma_2, beta_2   (d_model,)
    num_heads                  divides d_model
    →                          (…, n, d_model)""",
    """\
인코더 블록을 조립하세요. 2017년 논문과 교과서의 EncoderBlock처럼 post-norm이어서, 더한 다음에 정규화합니다. 먼저 멀티
헤드 어텐션, 그다음에 위치마다 따로 계산하는 피드 포워드이고, 둘 다 잔차 연결이 있습니다.

    x = norm(x + attention(x), gamma_1, beta_1)
    x = norm(x + max(0, x W_1 + b_1) W_2 + b_2, gamma_2, beta_2)

어텐션은 x를 W_Q, W_K, W_V로 투영하고, 행마다 폭이 같은 num_heads 조각으로 나누고, 헤드마다 어텐션을 계산하고(점수는
헤드 폭의 제곱근으로 나눕니다), 헤드를 다시 나란히 놓은 다음 W_O를 곱합니다. norm은 eps = 1e-5인 층 정규화입니다. 이
파일에 다른 함수를 만들어 써도 되니, 앞에서 쓴 것을 가져오세요.

    x                          (…, n, d_model)
    block                      배열의 dict
      W_Q, W_K, W_V, W_O       (d_model, d_model)
      W_1, b_1                 (d_model, d_ff), (d_ff,)
      W_2, b_2                 (d_ff, d_model), (d_model,)
      gamma_1, beta_1, gamma_2, beta_2   (d_model,)
    num_heads                  d_model의 약수
    →                          (…, n, d_model)""",
)

HINTS = (
    Said(
        "Write three helpers first: split a row into heads, layer normalisation, softmax. The block itself is then "
        "six lines.",
        "보조 함수 세 개를 먼저 쓰세요. 헤드로 나누기, 층 정규화, 소프트맥스입니다. 그러면 블록은 여섯 줄입니다.",
    ),
    Said(
        "split: y.reshape(*y.shape[:-1], num_heads, -1).swapaxes(-3, -2), which is (…, h, n, d). Merging goes the "
        "same way back: swapaxes first, then reshape(x.shape).",
        "나누기는 y.reshape(*y.shape[:-1], num_heads, -1).swapaxes(-3, -2)이고 모양은 (…, h, n, d)입니다. 합칠 때는 "
        "거꾸로 swapaxes를 먼저 하고 reshape(x.shape)를 하세요.",
    ),
    Said(
        "heard = (weights @ V).swapaxes(-3, -2).reshape(x.shape) @ block['W_O']; x = norm(x + heard, …); then the "
        "feed-forward of this new x, added to this new x, and the second norm.",
        "heard = (weights @ V).swapaxes(-3, -2).reshape(x.shape) @ block['W_O'], x = norm(x + heard, …)까지 쓰고, 이 "
        "새 x의 피드 포워드를 이 새 x에 더한 다음 두 번째로 정규화하세요.",
    ),
)

EXERCISE = Exercise(
    name="encoder_block",
    note="06",
    section=Said("In code", "코드로"),
    title=Said("A whole encoder block", "인코더 블록 하나"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=encoder_block,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n": 3, "d_model": 6, "d_ff": 5},
            further=further,
            outputs={"output": "b n d_model"},
            examples=(
                "encoder_block(\n"
                "    np.eye(3),\n"
                "    dict.fromkeys('W_Q W_K W_V W_O W_1 W_2'.split(), np.eye(3))\n"
                "    | dict.fromkeys('b_1 b_2 beta_1 beta_2'.split(), np.zeros(3))\n"
                "    | dict.fromkeys('gamma_1 gamma_2'.split(), np.ones(3)),\n"
                "    num_heads=1,\n"
                ")",
            ),
            mistakes=(
                pre_norm,
                no_residual_connections,
                first_residual_left_out,
                second_residual_left_out,
                residual_from_the_input,
                first_norm_left_out,
                second_norm_left_out,
                not_scaled,
                norm_over_the_positions,
                scaled_by_the_model_width,
                merged_without_a_swap,
                projection_left_out,
                relu_left_out,
            ),
        ),
    ),
)
