"""shapes: what comes out of each step of attention, said before it is run."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Exercise, Part, mistake


def shapes() -> dict[str, Any]:
    return {
        "Q": (2, 16, 64),
        "K": (2, 16, 64),
        "V": (2, 16, 32),
        "scores": (2, 16, 16),
        "weights": (2, 16, 16),
        "output": (2, 16, 32),
        "heads_Q": (2, 8, 16, 64),
        "heads_weights": (2, 8, 16, 16),
        "concatenated": (2, 16, 512),
        "heads_output": (2, 16, 512),
    }


def by_running() -> dict[str, Any]:
    """Attention over zeros, step by step, and the shape of what each step makes."""
    X = np.zeros((2, 16, 512))
    Q, K, V = X @ np.zeros((512, 64)), X @ np.zeros((512, 64)), X @ np.zeros((512, 32))
    scores = np.einsum("bqd,bkd->bqk", Q, K)
    heads = np.stack([X @ np.zeros((512, 64)) for _ in range(8)], axis=1)
    heads_weights = np.einsum("bhqd,bhkd->bhqk", heads, heads)
    concatenated = np.concatenate([heads_weights[:, head] @ heads[:, head] for head in range(8)], axis=-1)
    made = {
        "Q": Q,
        "K": K,
        "V": V,
        "scores": scores,
        "weights": np.exp(scores),
        "output": np.exp(scores) @ V,
        "heads_Q": heads,
        "heads_weights": heads_weights,
        "concatenated": concatenated,
        "heads_output": concatenated @ np.zeros((512, 512)),
    }
    return {name: array.shape for name, array in made.items()}


@mistake(
    "scores (2, 64, 64) compare column with column: that is Qᵀ K. Hold every word against every word, Q Kᵀ: the 64 is "
    "what the dot product sums away.",
    "scores (2, 64, 64)는 열과 열을 비교한 Qᵀ K의 모양입니다. 단어와 단어를 맞추어 보는 것은 Q Kᵀ이고, 64는 점곱에서 "
    "더해져 사라집니다.",
)
def columns_compared() -> dict[str, Any]:
    return {"scores": (2, 64, 64)}


@mistake(
    "scores (16, 16) has lost the batch. Each of the 2 sentences has a table of its own; axes in front are carried "
    "along.",
    "scores (16, 16)에는 배치 축이 없습니다. 두 문장에 표가 하나씩 따로 있습니다. 앞에 있는 축은 그대로 따라옵니다.",
    explained=sections.BATCHES,
)
def batch_lost() -> dict[str, Any]:
    return {"scores": (16, 16)}


@mistake(
    "weights (2, 16, 64) has a column for every column of a key. A word shares out its attention among words, so a row "
    "has 16 weights, one for each word.",
    "weights (2, 16, 64)에는 열이 키의 폭만큼 있습니다. 단어는 어텐션을 단어에게 나누어 주므로 한 행의 가중치는 "
    "단어마다 하나씩 16개입니다.",
)
def weights_as_wide_as_keys() -> dict[str, Any]:
    return {"weights": (2, 16, 64)}


@mistake(
    "output (2, 16, 64) is as wide as the queries and keys. What is mixed is the values, so the output has their "
    "width, 32.",
    "output (2, 16, 64)의 폭은 쿼리와 키의 폭입니다. 섞는 것은 값이므로 출력의 폭은 값의 폭인 32입니다.",
)
def output_as_wide_as_queries() -> dict[str, Any]:
    return {"output": (2, 16, 64)}


@mistake(
    "output (2, 16, 512) is as wide as the words. The words themselves are not mixed, their values are: 32 wide.",
    "output (2, 16, 512)의 폭은 단어의 폭입니다. 섞는 것은 단어 자체가 아니라 폭이 32인 값입니다.",
)
def output_as_wide_as_words() -> dict[str, Any]:
    return {"output": (2, 16, 512)}


@mistake(
    "heads_Q (2, 16, 8, 64) has the heads behind the words: cut, but not yet swapped. Attention works on the last two "
    "axes, so the heads come before the words: (2, 8, 16, 64).",
    "heads_Q (2, 16, 8, 64)에서는 헤드가 단어 뒤에 있습니다. 나누기만 하고 축을 바꾸지 않은 것입니다. 어텐션은 마지막 "
    "두 축으로 계산하므로 헤드가 단어 앞에 와야 합니다. (2, 8, 16, 64)입니다.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def heads_behind_words() -> dict[str, Any]:
    return {"heads_Q": (2, 16, 8, 64)}


@mistake(
    "heads_Q (2, 8, 16, 512) gives each head the whole width. Eight heads share the 512 columns, 64 each, and so cost "
    "no more than one.",
    "heads_Q (2, 8, 16, 512)는 헤드마다 폭을 다 준 것입니다. 헤드 여덟 개가 열 512개를 64개씩 나누어 쓰므로 비용이 "
    "헤드 하나일 때와 같습니다.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def whole_width_for_each_head() -> dict[str, Any]:
    return {"heads_Q": (2, 8, 16, 512)}


@mistake(
    "heads_weights (2, 16, 16) is one table for all heads. Every head looks in its own way, so there are 8 tables for "
    "each sentence.",
    "heads_weights (2, 16, 16)은 모든 헤드가 표 하나를 함께 쓰는 모양입니다. 헤드마다 보는 곳이 다르므로 문장마다 표가 "
    "8개씩 있습니다.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def one_table_for_all_heads() -> dict[str, Any]:
    return {"heads_weights": (2, 16, 16)}


@mistake(
    "concatenated (2, 16, 64) has the width of one head. The heads are laid side by side, not added up: 8 · 64 "
    "columns.",
    "concatenated (2, 16, 64)의 폭은 헤드 하나의 폭입니다. 헤드의 출력은 더하지 않고 나란히 이어 붙입니다. 열은 8 · "
    "64개입니다.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def heads_added() -> dict[str, Any]:
    return {"concatenated": (2, 16, 64)}


TASK = Said(
    """\
Two sentences of 16 words come as X (2, 16, 512). Before you run anything, say what shape each step has, and put it in
place of the dots.

First one head: queries and keys are d = 64 wide, values d_v = 32.
Then multi-head attention over the same X: d_model = 512, 8 heads of equal width, and an output projection. The last
four answers are about it. It is the subject of note 03: read “The formula” there first, or come back after it.

    Q, K, V        what the projections make of X
    scores         every query against every key
    weights        after softmax
    output         the values, mixed
    heads_Q        the queries of all heads, as attention wants them
    heads_weights  the weights of all heads
    concatenated   the heads' outputs side by side
    heads_output   after the output projection""",
    """\
단어 16개짜리 문장 두 개가 X (2, 16, 512)로 들어옵니다. 실행하기 전에 단계마다 모양을 짐작해서 점 세 개 자리에 적으세요.

먼저 헤드가 하나일 때입니다. 쿼리와 키의 폭은 d = 64이고 값의 폭은 d_v = 32입니다.
그다음은 같은 X로 하는 멀티 헤드 어텐션입니다. d_model = 512이고, 폭이 같은 헤드 8개와 출력 투영이 있습니다. 마지막
네 답이 여기에 해당합니다. 멀티 헤드 어텐션은 03번 노트에서 배웁니다. 그 노트의 “수식” 절을 먼저 읽거나, 읽은 뒤에
돌아와서 채우세요.

    Q, K, V        투영 행렬로 X에서 만든 것
    scores         모든 쿼리와 모든 키를 맞추어 본 점수
    weights        소프트맥스를 한 뒤
    output         값을 섞은 것
    heads_Q        모든 헤드의 쿼리, 어텐션을 할 수 있는 모양으로
    heads_weights  모든 헤드의 가중치
    concatenated   헤드의 출력을 나란히 이어 붙인 것
    heads_output   출력 투영을 한 뒤""",
)

STUB = """\
def shapes():
    return {
        "Q": (...),
        "K": (...),
        "V": (...),
        "scores": (...),
        "weights": (...),
        "output": (...),
        "heads_Q": (...),
        "heads_weights": (...),
        "concatenated": (...),
        "heads_output": (...),
    }
"""

HINTS = (
    Said(
        "In a matrix product (a, b) @ (b, c) the b disappears and (a, c) is left. Axes in front stay as they are.",
        "행렬 곱 (a, b) @ (b, c)에서는 b가 사라지고 (a, c)가 남습니다. 앞에 있는 축은 그대로입니다.",
    ),
    Said(
        "Scores and weights have a row for each word that asks and a column for each that is asked. The output has the "
        "queries' rows and the values' columns.",
        "점수와 가중치는 묻는 단어마다 행이 하나, 질문을 받는 단어마다 열이 하나입니다. 출력의 행은 쿼리를, 열은 값을 "
        "따릅니다.",
    ),
    Said(
        "One head: 512 becomes 64 or 32 in Q, K, V; 64 disappears in the scores. Eight heads: 512 = 8 · 64, the 8 goes "
        "in front of the 16, and comes back at the end.",
        "헤드가 하나이면 Q, K, V에서 512가 64나 32로 바뀌고, 점수에서 64가 사라집니다. 헤드가 여덟이면 512 = 8 · "
        "64이고, 8이 16 앞으로 갔다가 마지막에 돌아옵니다.",
    ),
)

EXERCISE = Exercise(
    name="shapes",
    note="02",
    section=Said("The formula", "수식"),
    title=Said("What shape is it?", "모양 맞히기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=shapes,
            judge=by_running,
            stub=STUB,
            mistakes=(
                columns_compared,
                batch_lost,
                weights_as_wide_as_keys,
                output_as_wide_as_queries,
                output_as_wide_as_words,
                heads_behind_words,
                whole_width_for_each_head,
                one_table_for_all_heads,
                heads_added,
            ),
        ),
    ),
)
