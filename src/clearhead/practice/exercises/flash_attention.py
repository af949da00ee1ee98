"""flash_attention: tile by tile, with the online softmax, and only a tile of scores at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake
from clearhead.practice.exercises.memory_efficient_attention import ask, by_definition as query_by_query


def flash_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    n_q, n_k = Q.shape[-2], K.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for i in range(0, n_q, block_size):
        rows = slice(i, i + block_size)
        q = Q[..., rows, :]
        top = np.full((*q.shape[:-1], 1), -np.inf)
        total, mixed = np.zeros(top.shape), np.zeros(output[..., rows, :].shape)
        for j in range(0, n_k, block_size):
            keys = slice(j, j + block_size)
            scores = q @ K[..., keys, :].swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
            scores = np.where(allowed[..., rows, keys], scores, -np.inf)
            new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
            reference = np.where(np.isneginf(new_top), 0, new_top)
            shrink, powers = np.exp(top - reference), np.exp(scores - reference)
            total = total * shrink + powers.sum(axis=-1, keepdims=True)
            mixed = mixed * shrink + powers @ V[..., keys, :]
            top = new_top
        output[..., rows, :] = mixed / np.where(total == 0, 1, total)
    return output


def by_definition(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    """Each query over all its keys at once, whatever the block."""
    return query_by_query(Q, K, V, mask=mask)


def tiles(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None, block_size: int, columns: int | None = None
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """The scores of each block of keys, with −inf where the mask forbids, and its values; `columns` of the mask."""
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    for j in range(0, K.shape[-2], block_size):
        keys = slice(j, j + block_size)
        scores = Q @ K[..., keys, :].swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
        seen = allowed[..., keys] if columns is None else allowed[..., columns : columns + scores.shape[-1]]
        yield np.where(seen, scores, -np.inf), V[..., keys, :]


def shares(scores: np.ndarray) -> np.ndarray:
    """Softmax over the keys, 0 where none is left."""
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def by_blocks_of_queries(
    attended: Callable[[np.ndarray, np.ndarray], np.ndarray],
    Q: np.ndarray,
    K: np.ndarray,
    mask: np.ndarray | None,
    block_size: int,
) -> np.ndarray:
    """Rows that are computed a block at a time, so that the whole matrix is never there: attended(Q, mask)."""
    allowed = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    blocks = [slice(i, i + block_size) for i in range(0, Q.shape[-2], block_size)]
    return np.concatenate([attended(Q[..., rows, :], allowed[..., rows, :]) for rows in blocks], axis=-2)


def over(mixed: np.ndarray, total: np.ndarray) -> np.ndarray:
    return mixed / np.where(total == 0, 1, total)


@mistake(
    "The answer is right, but the whole matrix of scores was held at once, which is what tiles are there to avoid. "
    "Go through the keys block by block, and keep the largest score, the total and the mix in between.",
    "답은 맞지만 점수 행렬 전체를 한꺼번에 만들었습니다. 타일로 나누는 까닭이 바로 그것을 피하려는 것입니다. 키를 "
    "블록마다 훑으면서 최댓값, 합계, 섞은 값만 남기세요.",
    explained=sections.WHY_NO_MATRIX,
)
def the_whole_matrix(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    return flash_attention(Q, K, V, mask, block_size=max(Q.shape[-2], K.shape[-2]))


@mistake(
    "Each block of keys was divided by its own total and the blocks averaged: a block of hardly any weight counts as "
    "much as the best. Keep the mix and the total apart, and divide once, after the last block.",
    "키 블록마다 자기 합계로 나눈 다음 블록끼리 평균했습니다. 가중치가 거의 없는 블록도 똑같이 셉니다. 섞은 값과 "
    "합계를 따로 두고, 마지막 블록 다음에 한 번만 나누세요.",
    explained=sections.BLOCK_MISTAKES,
)
def blocks_averaged(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    return np.mean([shares(scores) @ values for scores, values in tiles(Q, K, V, mask, block_size)], axis=0)


@mistake(
    "Right if the largest score is in the first block. When a later block brings a larger one, multiply the total "
    "and the mix so far by exp(old top - new top).",
    "가장 큰 점수가 첫 블록에 있을 때만 맞습니다. 뒤의 블록에 더 큰 점수가 있으면 지금까지의 합계와 섞은 값에 exp(옛 "
    "최댓값 - 새 최댓값)을 곱하세요.",
)
def nothing_scaled_down(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    top, total, mixed = np.full((*Q.shape[:-1], 1), -np.inf), np.zeros(1), np.zeros(1)
    for scores, values in tiles(Q, K, V, mask, block_size):
        top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
        total, mixed = total + powers.sum(axis=-1, keepdims=True), mixed + powers @ values
    return over(mixed, total)


@mistake(
    "The mix was scaled down when a larger score came, and the total was not. Both need the same factor.",
    "더 큰 점수가 왔을 때 섞은 값만 줄이고 합계는 줄이지 않았습니다. 둘 다 같은 수를 곱하세요.",
)
def total_not_scaled_down(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    top, total, mixed = np.full((*Q.shape[:-1], 1), -np.inf), np.zeros(1), np.zeros(1)
    for scores, values in tiles(Q, K, V, mask, block_size):
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        reference = np.where(np.isneginf(top), 0, top)
        powers = np.exp(scores - reference)
        total = total + powers.sum(axis=-1, keepdims=True)
        mixed = mixed * np.exp(old - reference) + powers @ values
    return over(mixed, total)


@mistake(
    "The last keys are left out where the blocks do not come out even: n_k // block_size counts whole blocks only. "
    "Let range(0, n_k, block_size) make the starts.",
    "블록이 딱 나누어떨어지지 않으면 마지막 키가 빠집니다. n_k // block_size는 꽉 찬 블록만 셉니다. 시작 위치를 "
    "range(0, n_k, block_size)로 만드세요.",
)
def last_block_lost(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    whole = np.arange(K.shape[-2]) < K.shape[-2] // block_size * block_size
    return flash_attention(Q, K, V, whole if mask is None else whole & mask, block_size=block_size)


@mistake(
    "The mix was not divided by the total: rows are too large wherever several keys count. Divide after the last "
    "block.",
    "섞은 값을 합계로 나누지 않아, 여러 키를 보는 행이 너무 큽니다. 마지막 블록 다음에 나누세요.",
)
def not_divided(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    def attended(Q: np.ndarray, mask: np.ndarray) -> np.ndarray:
        scores = np.concatenate([scores for scores, _ in tiles(Q, K, V, mask, block_size)], axis=-1)
        top = scores.max(axis=-1, keepdims=True)
        return np.exp(scores - np.where(np.isneginf(top), 0, top)) @ V

    return by_blocks_of_queries(attended, Q, K, mask, block_size)


@mistake(
    "NaN where a query's first block is masked entirely: -inf - (-inf) is no number. While nothing has been seen, "
    "take the differences to 0; such a block then leaves everything as it was.",
    "쿼리의 첫 블록이 전부 가려지면 NaN이 나옵니다. -inf - (-inf)는 수가 아닙니다. 아직 아무 키도 보지 못한 동안에는 "
    "0을 기준으로 빼세요. 그러면 그런 블록은 아무것도 바꾸지 않습니다.",
    explained=sections.BLOCK_MISTAKES,
)
def masked_block_is_nan(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    top, total, mixed = np.full((*Q.shape[:-1], 1), -np.inf), np.zeros(1), np.zeros(1)
    for scores, values in tiles(Q, K, V, mask, block_size):
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        powers, shrink = np.exp(scores - top), np.exp(old - top)
        total, mixed = total * shrink + powers.sum(axis=-1, keepdims=True), mixed * shrink + powers @ values
    return over(mixed, total)


@mistake(
    "Every block of keys was masked by the first columns of the mask. Cut the mask like the tile: its rows as the "
    "queries, its columns as the keys.",
    "키 블록마다 마스크의 첫 열들을 썼습니다. 마스크도 타일처럼 자르세요. 행은 쿼리와 같게, 열은 키와 같게 자릅니다.",
)
def first_columns_of_the_mask(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    def attended(Q: np.ndarray, mask: np.ndarray) -> np.ndarray:
        scores = np.concatenate([scores for scores, _ in tiles(Q, K, V, mask, block_size, columns=0)], axis=-1)
        return shares(scores) @ V

    return by_blocks_of_queries(attended, Q, K, mask, block_size)


@mistake(
    "Only what the mask forbids was mixed: the mask was read the wrong way round. True means may attend, so keep the "
    "score there and put −inf elsewhere: np.where(mask, scores, -np.inf).",
    "마스크가 막은 키의 값만 섞였습니다. 마스크를 거꾸로 읽은 것입니다. True는 볼 수 있다는 뜻이므로, "
    "np.where(mask, scores, -np.inf)처럼 True인 점수는 그대로 두고 나머지를 −inf로 바꾸세요.",
    explained=sections.MASK_MISTAKES,
)
def mask_inverted(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    return flash_attention(Q, K, V, None if mask is None else ~mask, block_size=block_size)


@mistake(
    "The attention is too sharp: the scores were not divided by √d.",
    "어텐션이 너무 뾰족합니다. 점수를 √d로 나누지 않았습니다.",
    explained=sections.WHY_SCALE,
)
def no_scaling(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None, *, block_size: int = 16
) -> np.ndarray:
    return flash_attention(Q * np.sqrt(Q.shape[-1]), K, V, mask, block_size=block_size)


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n_q, n_k, d, d_v = sizes.values()
    arrays = (
        2 * rng.standard_normal((b, n_q, d)),
        rng.standard_normal((b, n_k, d)),
        rng.standard_normal((b, n_k, d_v)),
    )
    masks = (None, rng.random((n_q, n_k)) < 0.5, np.arange(n_k) < rng.integers(1, n_k + 1, (b, 1, 1)))
    return Call((*arrays, masks[rng.integers(3)]), {"block_size": int(rng.integers(1, n_k + 1))})


def further(rng: np.random.Generator) -> Iterable[Call]:
    Q, K, V = (rng.standard_normal(shape) for shape in ((2, 5, 3), (2, 7, 3), (2, 7, 4)))
    yield Call((Q, K, V), {"block_size": 3})
    yield Call((Q[0], K[0], V[0], np.tri(5, 7, -1, dtype=bool)), {"block_size": 2})
    yield Call((Q, K, V, np.arange(7) >= 4), {"block_size": 2})
    yield Call((500 * Q, K, V), {"block_size": 8})
    yield Call((Q[:, :1], K, V, np.arange(7) == 6), {"block_size": 7})
    yield Call((Q, K, V))
    yield Call(tuple(rng.standard_normal((160, width)) for width in (2, 2, 3)), {"block_size": 8})


TASK = Said(
    """\
Attention with memory for one tile of scores at a time. Cut the queries into blocks of block_size, and for each of
them go through the keys in blocks of block_size, keeping the three notes of the online softmax: the largest score so
far, the total and the mix relative to it. After the last block of keys, mix / total are the rows of the output.

The answer is the one of scaled dot-product attention. Lengths need not be multiples of block_size. What the mask
forbids adds nothing, also where it fills a whole block; a query with no key left gets 0.

    Q           (…, n_q, d)
    K, V        (…, n_k, d), (…, n_k, d_v)
    mask        broadcasts to (…, n_q, n_k), True = may attend
    block_size  queries and keys in a tile
    →           output (…, n_q, d_v)""",
    """\
점수 타일 하나만큼의 메모리로 어텐션을 계산하세요. 쿼리를 block_size개씩 나누고, 쿼리 블록마다 키를 block_size개씩
훑으면서 온라인 소프트맥스의 세 가지를 남깁니다. 지금까지의 최댓값, 그 값을 기준으로 한 합계, 그 값을 기준으로 섞은
값입니다. 마지막 키 블록 다음에 섞은 값 / 합계가 출력의 행이 됩니다.

답은 한꺼번에 계산한 어텐션과 같습니다. 길이가 block_size의 배수가 아니어도 됩니다. 마스크가 가린 키는 블록 전체가
가려질 때에도 아무것도 보태지 않으며, 볼 키가 하나도 없는 쿼리의 출력은 0입니다.

    Q           (…, n_q, d)
    K, V        (…, n_k, d), (…, n_k, d_v)
    mask        (…, n_q, n_k)로 브로드캐스트, True = 볼 수 있음
    block_size  타일 하나의 쿼리 수와 키 수
    →           출력 (…, n_q, d_v)""",
)

HINTS = (
    Said(
        "Two loops, queries outside and keys inside. The notes begin anew for each block of queries: -inf, 0 and 0.",
        "반복문 두 개입니다. 바깥은 쿼리, 안쪽은 키입니다. 쿼리 블록마다 -inf, 0, 0에서 새로 시작하세요.",
    ),
    Said(
        "The inside is online_softmax: new top, shrink = exp(top - reference), powers = exp(scores - reference), "
        "where reference is the new top, or 0 while that is -inf.",
        "안쪽은 online_softmax와 같습니다. 새 최댓값, shrink = exp(top - reference), powers = exp(scores - "
        "reference)를 구하세요. reference는 새 최댓값이고, 그것이 -inf인 동안에는 0입니다.",
    ),
    Said(
        "total = total * shrink + powers.sum(axis=-1, keepdims=True); mixed = mixed * shrink + powers @ V[..., keys, "
        ":]; after the inner loop output[..., rows, :] = mixed / np.where(total == 0, 1, total).",
        "total = total * shrink + powers.sum(axis=-1, keepdims=True), mixed = mixed * shrink + powers @ V[..., keys, "
        ":]이고, 안쪽 반복문이 끝나면 output[..., rows, :] = mixed / np.where(total == 0, 1, total)입니다.",
    ),
)

EXERCISE = Exercise(
    name="flash_attention",
    note="07",
    section=Said("The formula", "수식"),
    title=Said("Tile by tile", "타일 하나씩"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=flash_attention,
            judge=by_definition,
            ask=ask,
            draw=draw,
            sizes={"b": 2, "n_q": 5, "n_k": 7, "d": 3, "d_v": 4},
            further=further,
            outputs={"output": "b n_q d_v", "little_memory": ""},
            examples=(
                "flash_attention(np.zeros((1, 2)), np.zeros((4, 2)), np.array([[8.0], [4.0], [2.0], [8.0]]), "
                "block_size=2)",
            ),
            mistakes=(
                the_whole_matrix,
                blocks_averaged,
                nothing_scaled_down,
                total_not_scaled_down,
                last_block_lost,
                not_divided,
                masked_block_is_nan,
                first_columns_of_the_mask,
                mask_inverted,
                no_scaling,
            ),
        ),
    ),
)
