"""costs: what one layer of multi-head attention takes, counted by hand."""

from __future__ import annotations

from typing import Any

from clearhead.languages import Said
from clearhead.practice.exercise import Exercise, Part, mistake


def costs() -> dict[str, Any]:
    return {
        "d_k": 512 // 8,
        "parameters": 4 * (512 * 512 + 512),
        "parameters_with_16_heads": 4 * (512 * 512 + 512),
        "score_flops": 8 * 1000 * 1000 * 2 * 64,
        "flops": 4 * 1000 * 2 * 512 * 512 + 2 * 8 * 1000 * 1000 * 2 * 64,
        "weight_bytes": 8 * 1000 * 1000 * 4,
        "weight_bytes_at_2000": 8 * 2000 * 2000 * 4,
    }


def by_counting() -> dict[str, Any]:
    """Head by head and product by product: (a, b) @ (b, c) takes a · c dot products of b products and b sums."""

    def product_flops(a: int, b: int, c: int) -> int:
        return sum(b + b for _ in range(c)) * a

    def learned(heads: int) -> int:
        into_heads = 3 * sum(512 * (512 // heads) + 512 // heads for _ in range(heads))
        return into_heads + 512 * 512 + 512

    n, heads = 1000, 8
    scores = sum(product_flops(n, 512 // heads, n) for _ in range(heads))
    mixtures = sum(product_flops(n, n, 512 // heads) for _ in range(heads))
    projections = 4 * product_flops(n, 512, 512)
    return {
        "d_k": 512 // heads,
        "parameters": learned(8),
        "parameters_with_16_heads": learned(16),
        "score_flops": scores,
        "flops": projections + scores + mixtures,
        "weight_bytes": sum(n * n * 4 for _ in range(heads)),
        "weight_bytes_at_2000": sum((2 * n) ** 2 * 4 for _ in range(heads)),
    }


@mistake(
    "d_k = 512 would give each head the whole width. The heads share it: 512 / 8.",
    "d_k = 512이면 헤드마다 폭을 다 쓰는 셈입니다. 헤드들이 폭을 나누어 쓰므로 512 / 8입니다.",
)
def head_as_wide_as_the_model() -> dict[str, Any]:
    return {"d_k": 512}


@mistake(
    "1,048,576 is 4 · 512²: the biases are missing. Each of the four projections adds one number to every one of its "
    "512 columns.",
    "1,048,576은 4 · 512²으로, 편향이 빠졌습니다. 투영 네 개가 저마다 열 512개에 수를 하나씩 더합니다.",
)
def biases_forgotten() -> dict[str, Any]:
    return {"parameters": 4 * 512 * 512}


@mistake(
    "787,968 is three projections: the output projection W_O is missing. It is learned too, and as large as the "
    "others.",
    "787,968은 투영 세 개의 파라미터입니다. 출력 투영 W_O가 빠졌습니다. W_O도 학습하며 크기도 다른 투영과 같습니다.",
)
def output_projection_forgotten() -> dict[str, Any]:
    return {"parameters": 3 * (512 * 512 + 512)}


@mistake(
    "8,404,992 counts the four matrices once for every head. A head has only 64 of their columns; all eight together "
    "have 512.",
    "8,404,992는 헤드마다 행렬 네 개를 통째로 센 것입니다. 헤드 하나는 열 64개만 쓰고, 여덟 개를 합해야 512개입니다.",
)
def counted_for_every_head() -> dict[str, Any]:
    return {"parameters": 8 * 4 * (512 * 512 + 512)}


@mistake(
    "2,101,248 is twice as much. With twice the heads each is half as wide, so that the matrices stay as they are.",
    "2,101,248은 두 배로 늘린 수입니다. 헤드가 두 배가 되면 폭이 반이 되므로 행렬의 크기는 그대로입니다.",
)
def more_heads_more_parameters() -> dict[str, Any]:
    return {"parameters_with_16_heads": 2 * 4 * (512 * 512 + 512)}


@mistake(
    "512,000,000 counts the multiplications alone. Every product is also added to a sum: 2 FLOPs each.",
    "512,000,000은 곱셈만 센 것입니다. 곱마다 합에 더하는 덧셈이 하나씩 있으므로 2 FLOP입니다.",
)
def additions_forgotten() -> dict[str, Any]:
    return {"score_flops": 8 * 1000 * 1000 * 64}


@mistake(
    "128,000,000 are the scores of one head. There are 8 of them.",
    "128,000,000은 헤드 하나의 점수를 계산하는 FLOP 수입니다. 헤드가 8개입니다.",
)
def scores_of_one_head() -> dict[str, Any]:
    return {"score_flops": 1000 * 1000 * 2 * 64}


@mistake(
    "2,048,000,000 counts scores and mixtures, and leaves out the four projections. At this length they cost as much: "
    "1,000 · 2 · 512² each.",
    "2,048,000,000은 점수와 섞기만 센 것이고 투영 네 개가 빠졌습니다. 이 길이에서는 투영도 그만큼 듭니다. 하나에 1,000 "
    "· 2 · 512²입니다.",
)
def projections_forgotten() -> dict[str, Any]:
    return {"flops": 2 * 8 * 1000 * 1000 * 2 * 64}


@mistake(
    "3,121,152,000 counts the projections and the scores, and leaves out weights @ V, which costs as much as the "
    "scores.",
    "3,121,152,000은 투영과 점수만 센 것이고 weights @ V가 빠졌습니다. 섞는 데에는 점수를 구할 때만큼 듭니다.",
)
def mixture_forgotten() -> dict[str, Any]:
    return {"flops": 4 * 1000 * 2 * 512 * 512 + 8 * 1000 * 1000 * 2 * 64}


@mistake(
    "4,000,000 bytes is one table of 1,000 × 1,000. Every head has its own: 8 of them.",
    "4,000,000바이트는 1,000 × 1,000 표 하나의 크기입니다. 헤드마다 표가 따로 있어 8개입니다.",
)
def weights_of_one_head() -> dict[str, Any]:
    return {"weight_bytes": 1000 * 1000 * 4}


@mistake(
    "8,000,000 is how many weights there are. In float32 each takes 4 bytes.",
    "8,000,000은 가중치의 개수입니다. float32에서는 하나가 4바이트입니다.",
)
def numbers_for_bytes() -> dict[str, Any]:
    return {"weight_bytes": 8 * 1000 * 1000}


@mistake(
    "64,000,000 is twice as much as at 1,000 tokens. Twice as many rows and twice as many columns make four times as "
    "many weights: this is the n² that note 07 is about.",
    "64,000,000은 토큰이 1,000개일 때의 두 배입니다. 행도 두 배, 열도 두 배이니 가중치는 네 배가 됩니다. 07번 노트에서 "
    "다루는 n²이 이것입니다.",
)
def twice_the_tokens_twice_the_bytes() -> dict[str, Any]:
    return {"weight_bytes_at_2000": 8 * 2000 * 1000 * 4}


TASK = Said(
    """\
One layer of multi-head attention, d_model = 512 with 8 heads, reads 1,000 tokens. Count what it takes, and put your
numbers in place of the dots; Python may do the multiplying, so that 8 * 1000 is an answer too.

W_Q, W_K, W_V and W_O are 512 × 512, each with a bias. A multiplication and an addition are 2 FLOPs, and only matrix
products are counted. Weights are kept in float32, for all heads.

    d_k                       the width of a head
    parameters                all that is learned
    parameters_with_16_heads  the same with 16 heads
    score_flops               Q Kᵀ in all heads
    flops                     the four projections, the scores, and weights @ V
    weight_bytes              the attention weights of all heads
    weight_bytes_at_2000      the same for 2,000 tokens""",
    """\
d_model = 512이고 헤드가 8개인 멀티 헤드 어텐션 층 하나가 토큰 1,000개를 읽습니다. 무엇이 얼마나 드는지 세어 점 세 개
자리에 적으세요. 곱셈은 파이썬에 맡겨 8 * 1000처럼 적어도 됩니다.

W_Q, W_K, W_V, W_O는 512 × 512이고 저마다 편향이 있습니다. 곱셈 하나와 덧셈 하나를 2 FLOP으로 세고, 행렬 곱만 셉니다.
가중치는 모든 헤드의 것을 float32로 저장합니다.

    d_k                       헤드 하나의 폭
    parameters                학습하는 모든 수
    parameters_with_16_heads  헤드가 16개일 때의 파라미터 수
    score_flops               모든 헤드의 Q Kᵀ
    flops                     투영 네 개, 점수, weights @ V
    weight_bytes              모든 헤드의 어텐션 가중치
    weight_bytes_at_2000      토큰이 2,000개일 때의 바이트 수""",
)

STUB = """\
def costs():
    return {
        "d_k": ...,
        "parameters": ...,
        "parameters_with_16_heads": ...,
        "score_flops": ...,
        "flops": ...,
        "weight_bytes": ...,
        "weight_bytes_at_2000": ...,
    }
"""

HINTS = (
    Said(
        "A product (a, b) @ (b, c) has a · c results, each a sum of b products: 2 · a · b · c FLOPs.",
        "행렬 곱 (a, b) @ (b, c)의 결과는 a · c개이고 하나하나가 곱 b개의 합입니다. 그래서 2 · a · b · c FLOP입니다.",
    ),
    Said(
        "More heads are narrower heads: wherever h · d_k stands, it is 512. Only the number of n × n tables grows with "
        "h.",
        "헤드가 늘면 그만큼 좁아집니다. h · d_k가 나오는 곳은 언제나 512입니다. h를 따라 늘어나는 것은 n × n 표의 "
        "개수뿐입니다.",
    ),
    Said(
        "Parameters: 4 · (512² + 512). Scores: 2 · 8 · 1,000² · 64, and weights @ V the same. A projection: 2 · 1,000 "
        "· 512². Bytes: 4 · 8 · n².",
        "파라미터는 4 · (512² + 512)입니다. 점수는 2 · 8 · 1,000² · 64이고 weights @ V도 같습니다. 투영 하나는 2 · "
        "1,000 · 512²입니다. 바이트는 4 · 8 · n²입니다.",
    ),
)

EXERCISE = Exercise(
    name="costs",
    note="03",
    section=Said("Measured: what heads cost", "재어 보기: 헤드의 비용"),
    title=Said("What does it cost?", "비용은 얼마일까"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=costs,
            judge=by_counting,
            stub=STUB,
            mistakes=(
                head_as_wide_as_the_model,
                biases_forgotten,
                output_projection_forgotten,
                counted_for_every_head,
                more_heads_more_parameters,
                additions_forgotten,
                scores_of_one_head,
                projections_forgotten,
                mixture_forgotten,
                weights_of_one_head,
                numbers_for_bytes,
                twice_the_tokens_twice_the_bytes,
            ),
        ),
    ),
)
