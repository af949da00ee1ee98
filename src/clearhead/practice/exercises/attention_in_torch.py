"""attention_in_torch: the same attention on tensors, with gradients that flow."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clearhead import tensors
from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.answers import Tensor
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of
from clearhead.practice.exercises import scaled_dot_product_attention as arrays
from clearhead.practice.exercises.masked_attention import scaled
from clearhead.practice.exercises.softmax import unguarded
from clearhead.practice.lazy import Lazy

if TYPE_CHECKING:
    import torch
else:
    torch = Lazy("torch")

Array = np.ndarray
Mask = np.ndarray | None
Tensors = tuple[Tensor, ...]


def attention_in_torch(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    scores = Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        nothing_left = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask, -torch.inf).masked_fill(nothing_left, 0.0)
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights @ V, weights


def attention_gradients(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, ...] | None:
    answer = attention_in_torch(Q, K, V, mask)
    if answer is None:
        return None
    output = answer[0]
    if not output.requires_grad:  # the way back is cut
        return tuple(torch.zeros_like(tensor) for tensor in (Q, K, V))
    coming = torch.arange(1.0, output.numel() + 1, dtype=output.dtype).view_as(output)
    return torch.autograd.grad(output, (Q, K, V), grad_outputs=coming, materialize_grads=True)


def on_tensors(function: Callable[..., Any], *, learned: bool = False) -> Callable[..., Any]:
    """A function of tensors as one of arrays; the tensors share their memory, so that what is written into shows.

    learned   whether gradients are asked for: then Q, K and V are to be learned
    """

    def on_arrays(*given: Array, mask: Mask = None) -> Any:
        handed = [tensors.to_torch(array).requires_grad_(learned) for array in given]
        return function(*handed) if mask is None else function(*handed, mask=tensors.to_torch(mask))

    return on_arrays


def to_be_learned(function: Callable[..., Any]) -> Callable[..., Any]:
    return on_tensors(function, learned=True)


# What is right and what goes wrong is worked out with arrays: the grader has no need of torch.


def handed_back(*answers: Array) -> Tensors:
    return tuple(map(Tensor, answers))


def by_definition(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    """One query at a time, over the keys that it may attend to and no others."""
    return handed_back(*arrays.by_definition(Q, K, V, mask))


def mixed(weights: Array, V: Array) -> Tensors:
    return handed_back(weights @ V, weights)


def gradients(weights: Array, Q: Array, K: Array, V: Array) -> tuple[Array, Array, Array]:
    """By the chain rule, for the gradient that attention_gradients sends: weights (…, n_q, n_k)."""
    coming = np.arange(1.0, weights[..., 0].size * V.shape[-1] + 1).reshape(*Q.shape[:-1], V.shape[-1])
    of_weights = np.einsum("...iv,...jv->...ij", coming, V)
    of_scores = weights * (of_weights - np.einsum("...ij,...ij->...i", weights, of_weights)[..., None])
    of_scores = of_scores / math.sqrt(K.shape[-1])
    of_queries, of_keys = np.einsum("...ij,...jd->...id", of_scores, K), np.einsum("...ij,...id->...jd", of_scores, Q)
    return of_queries, of_keys, np.einsum("...ij,...iv->...jv", weights, coming)


def judged_gradients(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return handed_back(*gradients(arrays.by_definition(Q, K, V, mask)[1], Q, K, V))


@mistake(
    "The weights are too sharp: the scores were not divided by √d.",
    "가중치가 너무 뾰족합니다. 점수를 √d로 나누지 않았습니다.",
    explained=sections.WHY_SCALE,
)
def no_scaling(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return by_definition(Q * K.shape[-1] ** 0.5, K, V, mask)


@mistake(
    "The columns sum to 1 and the rows do not: softmax ran over the queries. Each query shares itself out among the "
    "keys: dim=-1.",
    "행이 아니라 열의 합이 1입니다. 소프트맥스를 쿼리 방향으로 계산했습니다. 쿼리마다 키에 나누어 주어야 하므로 "
    "dim=-1을 쓰세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return mixed(unguarded(arrays.hidden(scaled(Q, K), mask), axis=-2), V)


@mistake(
    "The mask is inverted: masked_fill fills where its mask is True, and here True means may attend. Fill where "
    "~mask is.",
    "마스크가 뒤집혔습니다. masked_fill은 True인 곳을 채우는데 여기서 True는 볼 수 있다는 뜻입니다. ~mask인 곳을 "
    "채우세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return by_definition(Q, K, V, None if mask is None else ~mask)


@variant_of(mask_inverted)
def mask_inverted_unguarded(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return mixed(unguarded(arrays.hidden(scaled(Q, K), None if mask is None else ~mask)), V)


@mistake(
    "Rows sum to less than 1 where something is masked: the mask came after the softmax, and what it hides was "
    "counted in the denominator. Mask the scores.",
    "가린 곳이 있으면 행의 합이 1보다 작습니다. 소프트맥스 뒤에 마스크를 씌워, 가린 키가 이미 분모에 들어갔습니다. "
    "점수를 가리세요.",
    explained=sections.LEAKS,
)
def masked_after_the_softmax(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    weights = unguarded(scaled(Q, K))
    return mixed(weights if mask is None else np.where(mask, weights, 0.0), V)


@mistake(
    "A query with no key left looks at all keys alike: with a large negative number instead of -inf every score of "
    "the row is equal. Such a row must be 0.",
    "볼 키가 없는 쿼리가 모든 키를 고르게 봅니다. -inf 대신 아주 작은 수를 쓰면 그 행의 점수가 모두 같아지기 "
    "때문입니다. 그런 행은 0이어야 합니다.",
    explained=sections.NO_KEY_LEFT,
)
def a_large_number_for_infinity(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    scores = scaled(Q, K)
    return mixed(unguarded(scores if mask is None else np.where(mask, scores, -1e9)), V)


@mistake(
    "NaN where a query has no key left: a softmax of nothing but -inf. Give such a row ordinary scores before the "
    "softmax and the weight 0 after it.",
    "볼 키가 하나도 없는 쿼리에서 NaN이 나옵니다. -inf뿐인 행의 소프트맥스이기 때문입니다. 그런 행은 소프트맥스 "
    "앞에서 평범한 점수로 바꾸고 뒤에서 가중치를 0으로 만드세요.",
    explained=sections.NO_KEY_LEFT,
)
def nothing_left_is_nan(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return mixed(unguarded(arrays.hidden(scaled(Q, K), mask)), V)


@mistake(
    "The keys were reshaped to (d, n_k), not transposed: that fits and scrambles them. Use K.transpose(-1, -2).",
    "키를 전치하지 않고 (d, n_k)로 reshape했습니다. 모양은 맞지만 숫자가 뒤섞입니다. K.transpose(-1, -2)를 쓰세요.",
)
def reshaped_not_transposed(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    scrambled = K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]).swapaxes(-1, -2)
    return by_definition(Q, scrambled, V, mask)


@mistake(
    "The way back is cut: the computation went through NumPy or detach(), and no gradient arrives. Use torch's "
    "functions from beginning to end.",
    "되돌아가는 길이 끊겼습니다. NumPy나 detach()를 거쳐 계산해서 그래디언트가 오지 않습니다. 처음부터 끝까지 "
    "torch의 함수를 쓰세요.",
)
def through_numpy(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    return handed_back(*map(np.zeros_like, (Q, K, V)))


@mistake(
    "Only the values get a gradient: the weights were detached, so queries and keys would never learn where to look. "
    "Mix with the weights as they are.",
    "값에만 그래디언트가 옵니다. 가중치를 detach해서 쿼리와 키가 어디를 볼지 배우지 못합니다. 가중치를 그대로 써서 "
    "섞으세요.",
)
def weights_detached(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    of_values = judged_gradients(Q, K, V, mask)[2]
    return (*handed_back(np.zeros_like(Q), np.zeros_like(K)), of_values)


@mistake(
    "The output is right and the gradient NaN: -inf was added to a row without keys, its softmax was NaN, and "
    "replacing that afterwards does not help the way back. Give such rows finite scores before the softmax.",
    "출력은 맞지만 그래디언트가 NaN입니다. 볼 키가 없는 행에 -inf를 더해 소프트맥스가 NaN이 되었고, 나중에 0으로 "
    "바꾸어도 되돌아오는 길에는 남습니다. 소프트맥스 앞에서 그런 행의 점수를 유한한 수로 바꾸세요.",
    explained=sections.NO_KEY_LEFT,
)
def nan_on_the_way_back(Q: Array, K: Array, V: Array, mask: Mask = None) -> Tensors:
    weights = unguarded(arrays.hidden(scaled(Q, K), mask))
    of_values = judged_gradients(Q, K, V, mask)[2]  # its weights were mended before they were used
    return (*handed_back(*gradients(weights, Q, K, V)[:2]), of_values)


def drawn(rng: np.random.Generator, *shapes: tuple[int, ...]) -> tuple[Array, ...]:
    return tuple(rng.standard_normal(shape) for shape in shapes)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, h, n_q, n_k, d, d_v = sizes.values()
    given = drawn(rng, (b, h, n_q, d), (b, h, n_k, d), (b, h, n_k, d_v))
    mask = np.arange(n_k) < rng.integers(1, n_k + 1, (b, 1, 1, 1))
    return Call(given, {"mask": mask} if rng.random() < 0.5 else {})


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = drawn(rng, (3, 2), (4, 2), (4, 5))
    yield Call((Q, K, V))
    yield Call((Q, K, V), {"mask": np.array([[True, False, True, True], [False] * 4, [False, True, False, False]])})
    yield Call((500 * Q, K, V), {"mask": np.array([True, True, False, False])})
    yield Call((Q[:1], np.zeros_like(K), V))


def draw_learned(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, n_k, d, d_v = sizes.values()
    return Call(drawn(rng, (b, n_q, d), (b, n_k, d), (b, n_k, d_v)))


def further_learned(rng: np.random.Generator) -> Iterable[Call]:
    given = drawn(rng, (3, 2), (4, 2), (4, 5))
    yield Call(given, {"mask": np.tri(3, 4, dtype=bool)})
    yield Call(given, {"mask": np.array([[True] * 4, [False] * 4, [False, True, True, False]])})


TASK = Said(
    """\
Now in PyTorch: scaled dot-product attention on tensors, with every operation torch's own, so that gradients flow.
Write it out, without Python loops; F.scaled_dot_product_attention would not give you the weights.

True in the mask means may attend. A query with no key left gets weights 0 and output 0, and its gradient must be 0
too, not NaN: what was NaN on the way forward easily is NaN on the way back.

The second function, attention_gradients, is given. It sends a gradient back through yours; leave it as it is.

    Q     (…, n_q, d)
    K, V  (…, n_k, d), (…, n_k, d_v)
    mask  boolean, broadcasts to (…, n_q, n_k)
    →     output (…, n_q, d_v), weights (…, n_q, n_k)""",
    """\
이번에는 PyTorch입니다. 텐서로 어텐션을 계산하되, 그래디언트가 흐르도록 모든 연산을 torch의 것으로 하세요.
F.scaled_dot_product_attention은 가중치를 돌려주지 않으니 반복문 없이 직접 쓰세요.

마스크의 True는 볼 수 있다는 뜻입니다. 볼 키가 하나도 없는 쿼리는 가중치도 출력도 0이고, 그래디언트도 NaN이 아니라
0이어야 합니다. 갈 때 NaN이었던 것은 되돌아올 때도 NaN이 되기 쉽습니다.

두 번째 함수 attention_gradients는 이미 써 두었습니다. 위의 함수를 거쳐 그래디언트를 되돌려 보내는 함수이니 그대로
두세요.

    Q     (…, n_q, d)
    K, V  (…, n_k, d), (…, n_k, d_v)
    mask  bool, (…, n_q, n_k)로 브로드캐스트
    →     출력 (…, n_q, d_v), 가중치 (…, n_q, n_k)""",
)

HINTS = (
    Said(
        "The same four steps as in NumPy: Q @ K.transpose(-1, -2), divide, mask, softmax(dim=-1), and @ V.",
        "NumPy와 똑같습니다. Q @ K.transpose(-1, -2), 나누기, 마스크, softmax(dim=-1), 그리고 @ V입니다.",
    ),
    Said(
        "scores.masked_fill(~mask, -torch.inf) hides keys. Rows without keys: ~mask.any(dim=-1, keepdim=True) finds "
        "them.",
        "scores.masked_fill(~mask, -torch.inf)로 키를 가리세요. 볼 키가 없는 행은 ~mask.any(dim=-1, keepdim=True)로 "
        "찾습니다.",
    ),
    Said(
        "scores.masked_fill(~mask, -torch.inf).masked_fill(nothing_left, 0.0).softmax(dim=-1).masked_fill(~mask, "
        "0.0) are the weights: finite before the softmax, 0 after it.",
        "가중치는 scores.masked_fill(~mask, -torch.inf).masked_fill(nothing_left, "
        "0.0).softmax(dim=-1).masked_fill(~mask, 0.0)입니다. 소프트맥스 앞에서는 유한하고 뒤에서는 0입니다.",
    ),
)

EXERCISE = Exercise(
    name="attention_in_torch",
    note="06",
    section=Said("The formula", "수식"),
    title=Said("Attention on tensors", "텐서로 어텐션 계산하기"),
    task=TASK,
    hints=HINTS,
    imports="import torch",
    parts=(
        Part(
            solution=attention_in_torch,
            judge=by_definition,
            adapt=on_tensors,
            draw=draw,
            sizes={"b": 2, "h": 3, "n_q": 4, "n_k": 5, "d": 6, "d_v": 7},
            further=further,
            outputs={"output": "b h n_q d_v", "weights": "b h n_q n_k"},
            weights="weights",
            loops=False,
            examples=("attention_in_torch(torch.eye(2), torch.eye(2), torch.tensor([[3.0], [9.0]]))",),
            mistakes=(
                no_scaling,
                softmax_over_queries,
                mask_inverted,
                mask_inverted_unguarded,
                masked_after_the_softmax,
                a_large_number_for_infinity,
                nothing_left_is_nan,
                reshaped_not_transposed,
            ),
        ),
        Part(
            solution=attention_gradients,
            judge=judged_gradients,
            adapt=to_be_learned,
            draw=draw_learned,
            sizes={"b": 2, "n_q": 3, "n_k": 5, "d": 4, "d_v": 6},
            further=further_learned,
            outputs={"gradient of Q": "b n_q d", "gradient of K": "b n_k d", "gradient of V": "b n_k d_v"},
            stub=inspect.getsource(attention_gradients),
            mistakes=(through_numpy, weights_detached, nan_on_the_way_back),
        ),
    ),
)
