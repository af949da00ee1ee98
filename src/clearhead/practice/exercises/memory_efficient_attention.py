"""memory_efficient_attention: a few queries at a time, and never the whole matrix."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake, variant_of

MEASURED = 160 * 160  # weights from which on the memory is looked at


def memory_efficient_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    n_q, n_k = Q.shape[-2], K.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    outputs = []
    for start in range(0, n_q, chunk_size):
        rows = slice(start, start + chunk_size)
        scores = Q[..., rows, :] @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
        scores = np.where(allowed[..., rows, :], scores, -np.inf)
        top = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
        total = powers.sum(axis=-1, keepdims=True)
        outputs.append(powers @ V / np.where(total == 0, 1, total))
    return np.concatenate(outputs, axis=-2)


def by_definition(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    """One query at a time, whatever the chunk."""
    *leading, n_q, d = Q.shape
    seen = np.broadcast_to(True if mask is None else mask, (*leading, n_q, K.shape[-2]))
    output = np.zeros((*leading, n_q, V.shape[-1]))
    for *place, i in product(*map(range, (*leading, n_q))):
        text = tuple(place)
        keys = np.flatnonzero(seen[(*text, i)])
        if len(keys):
            scores = np.einsum("jd,d->j", K[text][keys], Q[(*text, i)]) / math.sqrt(d)
            powers = np.exp(scores - scores.max())
            output[(*text, i)] = np.einsum("j,jv->v", powers, V[text][keys]) / math.fsum(powers)
    return output


def ask(function: Callable[..., Any], call: Call) -> tuple[Any, bool]:
    """The answer, and whether it was found with less memory than half the weights would take, if there are many."""
    Q, K = call.arguments[:2]
    if Q.shape[-2] * K.shape[-2] < MEASURED:
        return function(*call.arguments, **call.keywords), True
    tracemalloc.start()
    try:
        answer = function(*call.arguments, **call.keywords)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return answer, peak < 8 * Q.shape[-2] * K.shape[-2] / 2


def attended(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, allowed: np.ndarray, *, scale: float | None = None, axis: int = -1
) -> np.ndarray:
    """Attention all at once: −inf for what is not allowed, NaN where nothing is left."""
    scores = Q @ K.swapaxes(-1, -2) * (Q.shape[-1] ** -0.5 if scale is None else scale)
    scores = np.where(allowed, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=axis, keepdims=True) @ V


def chunked(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int, mask: np.ndarray | None, axis: int = -1
) -> np.ndarray:
    """The right way but for rows without keys, which become NaN, or with the softmax along another axis."""
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    chunks = [slice(start, start + chunk_size) for start in range(0, Q.shape[-2], chunk_size)]
    return np.concatenate([attended(Q[..., c, :], K, V, allowed[..., c, :], axis=axis) for c in chunks], axis=-2)


@mistake(
    "The answer is right, but the whole matrix of weights was held at once, which is what chunks are there to avoid. "
    "Compute the scores of one chunk of queries, finish them, and only then go on to the next.",
    "답은 맞지만 가중치 행렬 전체를 한꺼번에 만들었습니다. 나누어 계산하는 까닭이 바로 그것을 피하려는 것입니다. "
    "쿼리 한 묶음의 점수를 계산해 출력까지 구한 다음에 다음 묶음으로 넘어가세요.",
    explained=sections.WHY_NO_MATRIX,
)
def the_whole_matrix(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return memory_efficient_attention(Q, K, V, Q.shape[-2], mask)


@mistake(
    "The last queries are missing where the chunks do not come out even: n_q // chunk_size counts whole chunks only. "
    "Let range(0, n_q, chunk_size) make the starts; a slice may reach past the end.",
    "묶음이 딱 나누어떨어지지 않으면 마지막 쿼리가 빠집니다. n_q // chunk_size는 꽉 찬 묶음만 셉니다. 시작 위치를 "
    "range(0, n_q, chunk_size)로 만드세요. 슬라이스는 끝을 넘어가도 됩니다.",
)
def last_chunk_lost(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    whole = Q.shape[-2] // chunk_size * chunk_size
    return memory_efficient_attention(Q, K, V, chunk_size, mask)[..., :whole, :]


@mistake(
    "Every chunk of queries looked only at the keys of the same numbers. Cut the queries alone; each of them sees "
    "all keys.",
    "쿼리 묶음마다 번호가 같은 키만 보았습니다. 쿼리만 나누고, 키는 모두 보게 하세요.",
)
def keys_cut_with_the_queries(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    same_chunk = np.arange(Q.shape[-2])[:, None] // chunk_size == np.arange(K.shape[-2]) // chunk_size
    return memory_efficient_attention(Q, K, V, chunk_size, same_chunk if mask is None else same_chunk & mask)


@mistake(
    "The keys were cut, and each chunk's softmax sums to 1 by itself, so the output is a sum of averages. The "
    "softmax of a query runs over all its keys: cut the queries instead.",
    "키를 나누고 묶음마다 따로 소프트맥스를 계산해 저마다 합이 1입니다. 그래서 출력이 평균들의 합이 되었습니다. "
    "쿼리의 소프트맥스는 모든 키에 걸쳐 계산해야 하니 키 대신 쿼리를 나누세요.",
    explained=sections.BLOCK_MISTAKES,
)
def keys_cut_instead(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for start in range(0, K.shape[-2], chunk_size):
        keys = slice(start, start + chunk_size)
        rest = (K[..., keys, :], V[..., keys, :], chunk_size, allowed[..., keys])
        output = output + memory_efficient_attention(Q, *rest)
    return output


@mistake(
    "Every chunk was masked by the first rows of the mask. Cut the mask as the queries are cut, mask[..., rows, :], "
    "once it has a row for each of them (np.broadcast_to).",
    "묶음마다 마스크의 첫 행들을 썼습니다. 마스크에 쿼리마다 한 행이 있게 하고(np.broadcast_to), 쿼리와 똑같이 "
    "mask[..., rows, :]로 자르세요.",
)
def first_rows_of_the_mask(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    return memory_efficient_attention(Q, K, V, chunk_size, allowed[..., np.arange(Q.shape[-2]) % chunk_size, :])


@mistake(
    "Only what the mask forbids was mixed: the mask was read the wrong way round. True means may attend, so keep the "
    "score there and put −inf elsewhere: np.where(mask, scores, -np.inf).",
    "마스크가 막은 키의 값만 섞였습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, "
    "np.where(mask, scores, -np.inf)처럼 True인 점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return chunked(Q, K, V, chunk_size, None if mask is None else ~mask)


@variant_of(mask_inverted)
def mask_inverted_guarded(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return memory_efficient_attention(Q, K, V, chunk_size, None if mask is None else ~mask)


@mistake(
    "The attention is too sharp: the scores were not divided by √d.",
    "어텐션이 너무 뾰족합니다. 점수를 √d로 나누지 않았습니다.",
    explained=sections.WHY_SCALE,
)
def no_scaling(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return memory_efficient_attention(Q * np.sqrt(Q.shape[-1]), K, V, chunk_size, mask)


@mistake(
    "The answer depends on chunk_size: the softmax ran over the queries of a chunk. It runs over the keys, the last "
    "axis.",
    "chunk_size를 바꾸면 답이 달라집니다. 소프트맥스를 묶음 안의 쿼리 방향으로 계산했기 때문입니다. 키 방향, 곧 "
    "마지막 축으로 계산하세요.",
    explained=sections.WHICH_AXIS,
)
def softmax_over_queries(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return chunked(Q, K, V, chunk_size, mask, axis=-2)


@mistake(
    "Right until a query has no key left, and NaN there. Such a query gets 0: divide by 1 where the total is 0, and "
    "take care that -inf - (-inf) is NaN.",
    "볼 키가 하나도 없는 쿼리에서만 NaN이 나옵니다. 그런 쿼리의 출력은 0이어야 합니다. 합이 0인 곳은 1로 나누고, "
    "-inf - (-inf)가 NaN이라는 점도 살피세요.",
    explained=sections.NO_KEY_LEFT,
)
def nothing_left_is_nan(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, chunk_size: int = 32, mask: np.ndarray | None = None
) -> np.ndarray:
    return chunked(Q, K, V, chunk_size, mask)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, n_k, d, d_v = sizes.values()
    arrays = (rng.standard_normal(shape) for shape in ((b, n_q, d), (b, n_k, d), (b, n_k, d_v)))
    masks = (None, rng.random((n_q, n_k)) < 0.6, np.arange(n_k) < rng.integers(1, n_k + 1, (b, 1, 1)))
    return Call((*arrays, int(rng.integers(1, n_q + 1))), {"mask": masks[rng.integers(3)]})


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = (rng.standard_normal(shape) for shape in ((2, 7, 3), (2, 5, 3), (2, 5, 4)))
    yield Call((Q, K, V, 3))
    yield Call((Q[0], K[0], V[0], 2), {"mask": np.tri(7, 5, -2, dtype=bool)})
    yield Call((300 * Q, K, V, 4), {"mask": np.array([True, False, True, True, False])})
    yield Call((Q[:, :1], K, V))
    yield Call((Q, K, V, 50))
    yield Call((*(rng.standard_normal((160, width)) for width in (2, 2, 3)), 8))


TASK = Said(
    """\
Attention for a few queries at a time. Each query's softmax is its own affair, so the queries can be cut into chunks
of chunk_size: compute the scores of one chunk with all keys, its weights, its rows of the output, and go on. The
answer is the one of scaled dot-product attention, and the weights of all queries are never in memory at once.

The last chunk may be shorter. A mask may have one row for all queries. A query with no key left gets 0.

    Q           (…, n_q, d)
    K, V        (…, n_k, d), (…, n_k, d_v)
    chunk_size  how many queries at a time
    mask        broadcasts to (…, n_q, n_k), True = may attend
    →           output (…, n_q, d_v)""",
    """\
쿼리를 몇 개씩 나누어 어텐션을 계산하세요. 소프트맥스는 쿼리마다 따로 계산하므로 쿼리를 chunk_size개씩 나눌 수
있습니다. 한 묶음의 쿼리와 모든 키의 점수, 그 가중치, 그 출력까지 구하고 다음 묶음으로 넘어갑니다. 답은 한꺼번에
계산한 어텐션과 같고, 모든 쿼리의 가중치가 한꺼번에 메모리에 있는 일은 없습니다.

마지막 묶음은 더 짧을 수 있습니다. 마스크는 모든 쿼리에 쓰는 한 행일 수도 있습니다. 볼 키가 하나도 없는 쿼리의 출력은
0입니다.

    Q           (…, n_q, d)
    K, V        (…, n_k, d), (…, n_k, d_v)
    chunk_size  한 번에 계산할 쿼리의 수
    mask        (…, n_q, n_k)로 브로드캐스트, True = 볼 수 있음
    →           출력 (…, n_q, d_v)""",
)

HINTS = (
    Said(
        "A loop over the starts of the chunks; inside, ordinary attention with Q[..., rows, :]; afterwards "
        "np.concatenate.",
        "묶음의 시작 위치를 도는 반복문 안에서 Q[..., rows, :]로 보통의 어텐션을 계산하고, 끝나면 np.concatenate로 "
        "이으세요.",
    ),
    Said(
        "rows = slice(start, start + chunk_size) with start in range(0, n_q, chunk_size). Broadcast the mask to all "
        "rows before the loop, so that it can be cut the same way.",
        "start를 range(0, n_q, chunk_size)에서 얻어 rows = slice(start, start + chunk_size)로 두세요. 마스크도 "
        "똑같이 자를 수 있도록 반복문 앞에서 모든 행으로 브로드캐스트하세요.",
    ),
    Said(
        "In the loop: scores of Q[..., rows, :] and all keys, np.where(allowed[..., rows, :], scores, -np.inf), "
        "softmax, @ V, append; then np.concatenate(outputs, axis=-2).",
        "반복문 안에서 Q[..., rows, :]와 모든 키의 점수를 구하고, np.where(allowed[..., rows, :], scores, -np.inf), "
        "소프트맥스, @ V를 차례로 계산해 모으세요. 마지막에 np.concatenate(outputs, axis=-2)입니다.",
    ),
)

EXERCISE = Exercise(
    name="memory_efficient_attention",
    note="07",
    section=Said("In code", "코드로"),
    title=Said("A few queries at a time", "쿼리를 나누어 계산하기"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=memory_efficient_attention,
            judge=by_definition,
            ask=ask,
            draw=draw,
            sizes={"b": 2, "n_q": 7, "n_k": 5, "d": 3, "d_v": 4},
            further=further,
            outputs={"output": "b n_q d_v", "little_memory": ""},
            examples=("memory_efficient_attention(np.eye(3), np.eye(3), np.array([[3.0], [6.0], [9.0]]), 2)",),
            mistakes=(
                the_whole_matrix,
                last_chunk_lost,
                keys_cut_with_the_queries,
                keys_cut_instead,
                first_rows_of_the_mask,
                mask_inverted,
                mask_inverted_guarded,
                no_scaling,
                softmax_over_queries,
                nothing_left_is_nan,
            ),
        ),
    ),
)
