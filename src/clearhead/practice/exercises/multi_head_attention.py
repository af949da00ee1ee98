"""multi_head_attention: project, split, attend in every head, merge, project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of
from clearhead.practice.exercises import scaled_dot_product_attention as one_head
from clearhead.practice.exercises.merge_heads import merge_heads
from clearhead.practice.exercises.softmax import softmax, unguarded
from clearhead.practice.exercises.split_heads import split_heads

Array = np.ndarray
Both = tuple[np.ndarray, np.ndarray]
Mask = np.ndarray | None


def multi_head_attention(
    X: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    W_O: np.ndarray,
    num_heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    def split(x: np.ndarray) -> np.ndarray:
        return x.reshape(*x.shape[:-1], num_heads, -1).swapaxes(-3, -2)

    Q, K, V = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    heads = weights @ V
    return heads.swapaxes(-3, -2).reshape(X.shape) @ W_O, weights


def by_definition(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None) -> Both:
    """Sentence by sentence and head by head, each head with its own columns of the recipes and its own rows of W_O."""
    *leading, n, d_model = X.shape
    d = d_model // num_heads
    output, weights = np.zeros(X.shape), np.zeros((*leading, num_heads, n, n))
    allowed = np.broadcast_to(True if mask is None else mask, weights.shape)
    for *sentence, head in product(*map(range, (*leading, num_heads))):
        words, mine = X[tuple(sentence)], slice(head * d, (head + 1) * d)
        answer, shares = one_head.by_definition(
            words @ W_Q[:, mine], words @ W_K[:, mine], words @ W_V[:, mine], allowed[(*sentence, head)]
        )
        output[tuple(sentence)] += answer @ W_O[mine]
        weights[(*sentence, head)] = shares
    return output, weights


def layer(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array | None,
    num_heads: int,
    mask: Mask = None,
    *,
    split: Callable[[Array, int], Array] = split_heads,
    merge: Callable[[Array], Array] = merge_heads,
    root: float | None = None,
    axis: int = -1,
    soften: Callable[[Array, int], Array] = unguarded,
) -> Both:
    """The layer as it should be, unless told otherwise in one place."""
    Q, K, V = (split(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-1, -2) / (Q.shape[-1] ** 0.5 if root is None else root)
    weights = soften(one_head.hidden(scores, mask), axis)
    merged = merge(weights @ V)
    return merged if W_O is None else merged @ W_O, weights


@mistake(
    "Right for one head, and too even for several: the scores were divided by √d_model. Each head's dot product sums "
    "d_model / h products, so divide by the root of a head's width.",
    "헤드가 하나이면 맞지만 여럿이면 가중치가 지나치게 고릅니다. 점수를 √d_model로 나눈 것입니다. 헤드의 점곱은 곱 "
    "d_model / h개를 더하므로 헤드 하나의 폭의 제곱근으로 나누세요.",
    explained=sections.WIDTH_OF_A_HEAD,
)
def root_of_d_model(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, root=X.shape[-1] ** 0.5)


@mistake(
    "Right for one head only, although every row of the weights sums to 1: the heads were split by reshape alone, "
    "which deals out whole words. Reshape to (…, n, h, d), then swap the words and the heads.",
    "가중치의 행마다 합은 1이지만 헤드가 하나일 때만 맞습니다. reshape만으로 헤드를 나누면 단어를 통째로 나누어 주게 "
    "됩니다. (…, n, h, d)로 reshape한 다음 단어 축과 헤드 축을 바꾸세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def split_without_swapping(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    def cut(x: Array, h: int) -> Array:
        return x.reshape(*x.shape[:-2], h, x.shape[-2], -1)

    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, split=cut)


@mistake(
    "The weights are right and the output is not: the heads were joined by reshape alone, so that a row mixes several "
    "words. Swap the heads and the words back first.",
    "가중치는 맞지만 출력이 틀렸습니다. reshape만으로 헤드를 합쳐서 한 행에 여러 단어가 섞였습니다. 먼저 헤드 축과 "
    "단어 축을 되돌리세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def merged_without_swapping(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, merge=lambda heads: heads.reshape(X.shape))


@mistake(
    "This is the concatenation of the heads: W_O was left out, so that their answers lie side by side and never meet. "
    "Multiply by W_O at the end.",
    "헤드를 이어 붙이기만 한 값입니다. W_O를 빠뜨려서 헤드들의 답이 나란히 있을 뿐 서로 만나지 못합니다. 마지막에 "
    "W_O를 곱하세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def no_output_projection(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    return layer(X, W_Q, W_K, W_V, None, num_heads, mask)


@mistake(
    "The scores were not scaled: these are the weights for queries √d_k times as long. Divide the scores by the root "
    "of a head's width.",
    "스케일링을 하지 않아 쿼리가 √d_k배 길 때의 가중치가 나왔습니다. 점수를 헤드 하나의 폭의 제곱근으로 나누세요.",
    explained=sections.WHY_SCALE,
)
def not_scaled(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, root=1.0)


@mistake(
    "In every head the columns sum to 1 and the rows do not: softmax ran over the queries. Run it over the keys, the "
    "last axis.",
    "헤드마다 열의 합이 1이고 행의 합은 1이 아닙니다. 소프트맥스를 쿼리 방향으로 한 것입니다. 키 방향, 곧 마지막 축을 "
    "따라 하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, axis=-2)


@mistake(
    "Right for small scores, NaN for large ones: exp overflows to infinity. Take the largest score of each row off "
    "before exp.",
    "점수가 작으면 맞지만 크면 NaN이 됩니다. exp가 무한대로 넘치기 때문입니다. exp를 계산하기 전에 행마다 가장 큰 "
    "점수를 빼세요.",
    explained=sections.LARGE_SCORES,
)
def no_maximum_subtracted(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    def overflowing(scores: Array, axis: int) -> Array:
        return np.exp(scores) / np.exp(scores).sum(axis=axis, keepdims=True)

    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask, soften=overflowing)


@mistake(
    "Right for one sentence, and in a batch some heads got the mask of another sentence: it was tiled over the heads "
    "as if they came first. All heads of sentence 0 come before those of sentence 1, so repeat it or let it broadcast "
    "as (b, 1, n, n).",
    "문장이 하나이면 맞지만, 배치에서는 일부 헤드가 다른 문장의 마스크를 받았습니다. 헤드가 앞에 오는 순서로 마스크를 "
    "이어 붙인 것입니다. 문장 0의 모든 헤드가 문장 1의 헤드보다 먼저 오므로 문장마다 되풀이하거나, (b, 1, n, n) 그대로 "
    "브로드캐스팅하세요.",
    explained=sections.SPLIT_AND_MERGE,
)
def mask_in_the_wrong_order(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    if mask is not None and X.ndim == 3:
        b, n, _ = X.shape
        of_each = np.broadcast_to(mask, (b, 1, n, n))[:, 0]
        mask = np.tile(of_each, (num_heads, 1, 1)).reshape(b, num_heads, n, n)
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, mask)


@mistake(
    "Right without a mask, and with one the masked keys keep their weight. Set their scores to −inf before softmax.",
    "마스크가 없으면 맞지만, 있어도 가려야 할 키의 가중치가 그대로입니다. 소프트맥스를 하기 전에 가려진 점수를 −inf로 "
    "바꾸세요.",
    explained=sections.MINUS_INFINITY,
)
def mask_ignored(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads)


@mistake(
    "All weight is on the keys that the mask forbids: it was read the wrong way round. True means may attend, so keep "
    "the score there and put −inf elsewhere: np.where(mask, scores, -np.inf).",
    "마스크가 막은 키에 가중치가 모두 몰렸습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, "
    "np.where(mask, scores, -np.inf)처럼 True인 점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, None if mask is None else ~mask)


@variant_of(mask_inverted)
def mask_inverted_guarded(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    return layer(X, W_Q, W_K, W_V, W_O, num_heads, None if mask is None else ~mask, soften=softmax)


@mistake(
    "The output is right, and of the weights only the average over the heads is left. Return them as they are, (…, h, "
    "n, n): that heads look at different things is what one wants to see.",
    "출력은 맞지만 가중치는 헤드의 평균만 남았습니다. (…, h, n, n) 그대로 돌려주세요. 헤드마다 다른 곳을 본다는 것이 "
    "바로 보고 싶은 것입니다.",
)
def weights_averaged(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, num_heads: int, mask: Mask = None
) -> Both:
    output, weights = layer(X, W_Q, W_K, W_V, W_O, num_heads, mask)
    return output, weights.mean(axis=-3)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, h, n, d = sizes.values()
    X, recipes = rng.standard_normal((b, n, h * d)), rng.standard_normal((4, h * d, h * d)) / np.sqrt(h * d)
    mask = one_head.random_mask(rng, (b, 1, n, n)) if rng.random() < 0.5 else None
    return Call((X, *recipes, h, mask))


def further(rng: np.random.Generator) -> Iterable[Call]:
    X, *recipes, h, _ = draw(rng, {"b": 2, "h": 3, "n": 4, "d": 2}).arguments
    yield Call((X[0], *recipes, h))
    yield Call((X, *recipes, h, one_head.random_mask(rng, (2, 1, 4, 4))))
    yield Call((X, *recipes, h, np.tri(4, dtype=bool)))
    yield Call((X[:1], *recipes, h, np.array([True, True, True, False])))
    yield Call((X, *recipes, 1))
    yield Call((X[:, :1], *recipes, 6))
    yield Call((60 * X, *recipes, h))


TASK = Said(
    """\
The whole layer in about ten lines: project X with W_Q, W_K and W_V, split queries, keys and values into heads, attend
in every head, merge the heads and project with W_O. The projections of all heads stand side by side: the first d_k
columns of W_Q belong to head 0. Where `mask` is given, a query attends only where it is True, and has at least one key.
Return the output and the weights of all heads.

    X                   (…, n, d_model)
    W_Q, W_K, W_V, W_O  (d_model, d_model)
    num_heads           h, with d_k = d_model / h
    mask                broadcasts to (…, h, n, n), boolean, True = may attend; (b, 1, n, n) is one for each sentence
    →                   output (…, n, d_model), weights (…, h, n, n)""",
    """\
층 전체를 열 줄 정도로 쓰세요. X를 W_Q, W_K, W_V로 투영하고, 쿼리와 키와 값을 헤드로 나누고, 헤드마다 어텐션을 하고,
헤드를 합친 다음 W_O로 투영합니다. 모든 헤드의 투영 행렬은 나란히 있어서 W_Q의 처음 d_k개 열이 헤드 0의 것입니다.
`mask`를 주면 쿼리는 마스크가 True인 키만 보며, 그런 키가 적어도 하나 있습니다. 출력과 모든 헤드의 가중치를 돌려주세요.

    X                   (…, n, d_model)
    W_Q, W_K, W_V, W_O  (d_model, d_model)
    num_heads           h, 여기서 d_k = d_model / h
    mask                (…, h, n, n)으로 브로드캐스팅되는 참·거짓 배열, True는 볼 수 있음. (b, 1, n, n)은 문장마다 하나
    →                   출력 (…, n, d_model), 가중치 (…, h, n, n)""",
)

HINTS = (
    Said(
        "You have written every piece: `split_heads`, `scaled_dot_product_attention`, `merge_heads`. Heads are just "
        "one more leading axis.",
        "필요한 조각은 모두 만들어 보았습니다. `split_heads`, `scaled_dot_product_attention`, `merge_heads`입니다. "
        "헤드는 앞에 있는 축이 하나 더 생긴 것일 뿐입니다.",
    ),
    Said(
        "After splitting, Q is (…, h, n, d_k), so Q.shape[-1] is the width to take the root of, and a mask (b, 1, n, "
        "n) broadcasts over the heads by itself.",
        "나누고 나면 Q는 (…, h, n, d_k)이므로 제곱근을 구할 폭은 Q.shape[-1]이고, 마스크 (b, 1, n, n)은 저절로 헤드 "
        "방향으로 브로드캐스팅됩니다.",
    ),
    Said(
        "Q, K, V = (split_heads(X @ W, num_heads) for W in (W_Q, W_K, W_V)); attend; then merge_heads(heads) @ W_O, "
        "and return the weights beside it.",
        "Q, K, V = (split_heads(X @ W, num_heads) for W in (W_Q, W_K, W_V))로 나누고 어텐션을 한 다음, "
        "merge_heads(heads) @ W_O와 가중치를 함께 돌려주세요.",
    ),
)

EXERCISE = Exercise(
    name="multi_head_attention",
    note="03",
    section=Said("In code", "코드로"),
    title=Said("The whole layer", "층 전체"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=multi_head_attention,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "h": 3, "n": 4, "d": 5},
            further=further,
            outputs={"output": "b n h·d", "weights": "b h n n"},
            weights="weights",
            examples=(
                "multi_head_attention(np.array([[1.0, 2.0], [2.0, 1.0]]), *[np.eye(2)] * 4, num_heads=2)[0]",
                "multi_head_attention(np.array([[1.0, 2.0], [2.0, 1.0]]), *[np.eye(2)] * 4, num_heads=2)[1]",
            ),
            mistakes=(
                root_of_d_model,
                split_without_swapping,
                merged_without_swapping,
                no_output_projection,
                not_scaled,
                softmax_over_queries,
                no_maximum_subtracted,
                mask_in_the_wrong_order,
                mask_ignored,
                mask_inverted,
                mask_inverted_guarded,
                weights_averaged,
            ),
        ),
    ),
)
