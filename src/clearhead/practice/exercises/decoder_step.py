"""decoder_step: one new word through a decoder block, with the keys and values of earlier ones from a cache."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake

Block = Mapping[str, np.ndarray]
Arrays = tuple[np.ndarray, np.ndarray]
Answer = tuple[np.ndarray, np.ndarray, np.ndarray]


def decoder_step(
    x: np.ndarray,
    cache: tuple[np.ndarray, np.ndarray],
    memory: tuple[np.ndarray, np.ndarray],
    block: Mapping[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def attend(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
        scores = (K @ q[:, :, None])[:, :, 0] / np.sqrt(q.shape[-1])
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return (weights[:, None, :] @ V)[:, 0]

    def norm(y: np.ndarray) -> np.ndarray:
        centred = y - y.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)

    K = np.concatenate([cache[0], (x @ block["W_K"])[:, None]], axis=1)
    V = np.concatenate([cache[1], (x @ block["W_V"])[:, None]], axis=1)
    y = norm(x + attend(x @ block["W_Q"], K, V) @ block["W_O"])
    y = norm(y + attend(y @ block["cross_W_Q"], *memory) @ block["cross_W_O"])
    y = norm(y + np.maximum(y @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"])
    return y, K, V


def by_definition(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    """One text at a time, and in it one key at a time."""
    b, n_past, d = cache[0].shape
    K, V = np.zeros((b, n_past + 1, d)), np.zeros((b, n_past + 1, cache[1].shape[-1]))
    output = np.zeros(x.shape)
    for text in range(b):
        row = x[text]
        K[text, :n_past], K[text, n_past] = cache[0][text], np.einsum("i,ij->j", row, block["W_K"])
        V[text, :n_past], V[text, n_past] = cache[1][text], np.einsum("i,ij->j", row, block["W_V"])
        row = row_norm(row + heard(row @ block["W_Q"], K[text], V[text]) @ block["W_O"])
        asked = heard(row @ block["cross_W_Q"], memory[0][text], memory[1][text])
        row = row_norm(row + asked @ block["cross_W_O"])
        hidden = np.array([max(0.0, float(number)) for number in row @ block["W_1"] + block["b_1"]])
        output[text] = row_norm(row + hidden @ block["W_2"] + block["b_2"])
    return output, K, V


def heard(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """What one query (d,) hears from keys (n, d) and values (n, d_v)."""
    scores = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K]
    powers = [math.exp(score - max(scores)) for score in scores]
    return np.sum([power / sum(powers) * v for power, v in zip(powers, V, strict=True)], axis=0)


def row_norm(row: np.ndarray) -> np.ndarray:
    mean = sum(row) / len(row)
    variance = sum((number - mean) ** 2 for number in row) / len(row)
    return np.array([(number - mean) / math.sqrt(variance + 1e-5) for number in row])


# What the mistakes below are put together from.


def attend(q: np.ndarray, K: np.ndarray, V: np.ndarray, scale: float | None = None) -> np.ndarray:
    scores = np.einsum("bd,bnd->bn", q, K) * (q.shape[-1] ** -0.5 if scale is None else scale)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    return np.einsum("bn,bnv->bv", powers / powers.sum(axis=-1, keepdims=True), V)


def norm(y: np.ndarray) -> np.ndarray:
    return (y - y.mean(axis=-1, keepdims=True)) / np.sqrt(y.var(axis=-1, keepdims=True) + 1e-5)


def grown(x: np.ndarray, cache: Arrays, block: Block) -> Arrays:
    new = x @ block["W_K"], x @ block["W_V"]
    K, V = (np.concatenate([old, row[:, None]], axis=1) for old, row in zip(cache, new, strict=True))
    return K, V


def thought(y: np.ndarray, block: Block) -> np.ndarray:
    return np.maximum(y @ block["W_1"] + block["b_1"], 0) @ block["W_2"] + block["b_2"]


def finished(y: np.ndarray, memory: Arrays, block: Block) -> np.ndarray:
    """The rest of the step, after self-attention and its norm."""
    y = norm(y + attend(y @ block["cross_W_Q"], *memory) @ block["cross_W_O"])
    return norm(y + thought(y, block))


@mistake(
    "The cache that is handed back is right, but the new word did not look at itself: its own key joined too late. "
    "Add key and value to the cache first, then attend.",
    "돌려준 캐시는 맞지만 새 단어가 자기 자신을 보지 못했습니다. 자기 키를 너무 늦게 더했기 때문입니다. 키와 값을 "
    "캐시에 먼저 더하고 나서 어텐션을 계산하세요.",
)
def own_key_too_late(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    y = norm(x + attend(x @ block["W_Q"], *cache) @ block["W_O"])
    return finished(y, memory, block), *grown(x, cache, block)


@mistake(
    "The word looked only at itself, and the cache came back with one key: what was written before is forgotten. Put "
    "the new key and value behind those of the cache.",
    "단어가 자기만 보았고 돌려준 캐시에는 키가 하나뿐입니다. 앞에서 쓴 것을 잊었습니다. 새 키와 값을 캐시에 있던 것 "
    "뒤에 이어 붙이세요.",
)
def past_forgotten(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    empty = cache[0][:, :0], cache[1][:, :0]
    return decoder_step(x, empty, memory, block)


@mistake(
    "The output is right, but the cache came back as it went in: the next word will not see this one. Return the "
    "longer K and V.",
    "출력은 맞지만 캐시가 들어온 그대로 돌아왔습니다. 그러면 다음 단어가 이 단어를 보지 못합니다. 길어진 K와 V를 "
    "돌려주세요.",
)
def cache_not_grown(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    return decoder_step(x, cache, memory, block)[0], *cache


@mistake(
    "The output is right, since attention does not care for the order of keys, but the new word stands in front of "
    "the cache. New rows go behind: np.concatenate([old, new]).",
    "어텐션은 키의 순서를 따지지 않으므로 출력은 맞지만, 새 단어가 캐시의 맨 앞에 있습니다. 새 행은 뒤에 놓아야 하니 "
    "np.concatenate([옛것, 새것]) 순서로 쓰세요.",
)
def new_row_in_front(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    output, K, V = decoder_step(x, cache, memory, block)
    return output, np.roll(K, 1, axis=1), np.roll(V, 1, axis=1)


@mistake(
    "The word sees only as many positions of the memory as have been written: a causal mask lies on the "
    "cross-attention. The sentence to translate is there as a whole; look at all of it.",
    "단어가 메모리에서 지금까지 쓴 수만큼만 봅니다. 크로스 어텐션에 코잘 마스크를 씌운 것입니다. 번역할 문장은 "
    "처음부터 통째로 있으니 모두 보세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def causal_mask_on_the_memory(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    n = cache[0].shape[1] + 1
    return decoder_step(x, cache, (memory[0][:, :n], memory[1][:, :n]), block)


@mistake(
    "The cross-attention asked with x, which has not heard anything yet. Its query comes from the sum after the "
    "first norm.",
    "크로스 어텐션이 아직 아무것도 듣지 않은 x로 물었습니다. 쿼리는 첫 정규화를 거친 값으로 만드세요.",
)
def cross_attention_asks_with_x(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    K, V = grown(x, cache, block)
    y = norm(x + attend(x @ block["W_Q"], K, V) @ block["W_O"])
    y = norm(y + attend(x @ block["cross_W_Q"], *memory) @ block["cross_W_O"])
    return norm(y + thought(y, block)), K, V


@mistake(
    "This is pre-norm: each part is given a normalised row and the sums stay as they are. Here the norm comes after "
    "each of the three sums: norm(y + …).",
    "이것은 pre-norm입니다. 각 부분에 정규화한 행을 주고 합은 그대로 둡니다. 여기서는 합 세 개를 각각 더한 다음에 "
    "정규화하세요. norm(y + …)입니다.",
)
def pre_norm(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    K, V = grown(norm(x), cache, block)
    y = x + attend(norm(x) @ block["W_Q"], K, V) @ block["W_O"]
    y = y + attend(norm(y) @ block["cross_W_Q"], *memory) @ block["cross_W_O"]
    return y + thought(norm(y), block), K, V


@mistake(
    "The attention is too sharp in both places: the scores were not divided by √d.",
    "두 어텐션이 모두 너무 뾰족합니다. 점수를 √d로 나누지 않았습니다.",
    explained=sections.WHY_SCALE,
)
def no_scaling(x: np.ndarray, cache: Arrays, memory: Arrays, block: Block) -> Answer:
    K, V = grown(x, cache, block)
    y = norm(x + attend(x @ block["W_Q"], K, V, scale=1) @ block["W_O"])
    y = norm(y + attend(y @ block["cross_W_Q"], *memory, scale=1) @ block["cross_W_O"])
    return norm(y + thought(y, block)), K, V


def drawn(rng: np.random.Generator, b: int, n: int, n_s: int, d_model: int, d: int, d_v: int, d_ff: int) -> Call:
    names: dict[str, tuple[int, ...]] = dict.fromkeys(("W_Q", "W_K", "cross_W_Q"), (d_model, d))
    names |= {"W_V": (d_model, d_v), "W_O": (d_v, d_model), "cross_W_O": (d_v, d_model)}
    names |= {"W_1": (d_model, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d_model), "b_2": (d_model,)}
    block = {name: rng.standard_normal(shape) for name, shape in names.items()}
    cache = rng.standard_normal((b, n - 1, d)), rng.standard_normal((b, n - 1, d_v))
    memory = rng.standard_normal((b, n_s, d)), rng.standard_normal((b, n_s, d_v))
    return Call((rng.standard_normal((b, d_model)), cache, memory, block))


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return drawn(rng, **sizes)


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield drawn(rng, 1, 1, 4, 3, 2, 5, 6)
    yield drawn(rng, 2, 4, 1, 6, 3, 2, 5)
    call = drawn(rng, 1, 3, 2, 4, 5, 2, 3)
    yield Call((1e3 * call.arguments[0], *call.arguments[1:]))


TASK = Said(
    """\
A decoder writes one word after the other. For each new word one row goes through the block, post-norm, and instead of
computing the keys and values of earlier words again it finds them in a cache. There is one head.

    K, V = the cache with x W_K and x W_V as its last row
    y = norm(x + attention(x W_Q, K, V) W_O)                          to what has been written
    y = norm(y + attention(y cross_W_Q, *memory) cross_W_O)           to what is being translated
    y = norm(y + max(0, y W_1 + b_1) W_2 + b_2)

The memory's keys and values were projected once, when the encoder had finished. Scores are divided by √d; the norm is
layer normalisation with eps = 1e-5 and nothing learned. Before the first word the cache has 0 rows. No mask is
needed: whatever is in the cache has been written before.

    x       (b, d_model), the new word of each text
    cache   K (b, n - 1, d), V (b, n - 1, d_v)
    memory  K (b, n_s, d), V (b, n_s, d_v)
    block   a dict: W_Q, W_K, cross_W_Q (d_model, d); W_V (d_model, d_v); W_O, cross_W_O (d_v, d_model);
            W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,)
    →       output (b, d_model), K (b, n, d), V (b, n, d_v)""",
    """\
디코더는 한 단어씩 씁니다. 새 단어마다 한 행이 post-norm 블록을 지나가고, 앞선 단어의 키와 값은 다시 계산하지 않고
캐시에서 꺼냅니다. 헤드는 하나입니다.

    K, V = 캐시의 맨 뒤에 x W_K와 x W_V를 더한 것
    y = norm(x + attention(x W_Q, K, V) W_O)                          지금까지 쓴 것을 봄
    y = norm(y + attention(y cross_W_Q, *memory) cross_W_O)           번역할 문장을 봄
    y = norm(y + max(0, y W_1 + b_1) W_2 + b_2)

메모리의 키와 값은 인코더가 끝났을 때 한 번 투영해 둔 것입니다. 점수는 √d로 나누고, norm은 eps = 1e-5이고 학습하는
값이 없는 층 정규화입니다. 첫 단어를 쓰기 전의 캐시는 0행입니다. 캐시에 있는 것은 모두 앞에서 쓴 것이므로 마스크는
필요하지 않습니다.

    x       (b, d_model), 글마다 새 단어 하나
    cache   K (b, n - 1, d), V (b, n - 1, d_v)
    memory  K (b, n_s, d), V (b, n_s, d_v)
    block   dict. W_Q, W_K, cross_W_Q (d_model, d); W_V (d_model, d_v); W_O, cross_W_O (d_v, d_model);
            W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,)
    →       출력 (b, d_model), K (b, n, d), V (b, n, d_v)""",
)

HINTS = (
    Said(
        "Write attend(q, K, V) for one query of each text, and norm(y); then the step is the four lines of the task.",
        "글마다 쿼리 하나를 계산하는 attend(q, K, V)와 norm(y)를 먼저 쓰세요. 그러면 과제의 네 줄이 그대로 답입니다.",
    ),
    Said(
        "x @ W_K is (b, d) and the cache (b, n - 1, d): [:, None] makes (b, 1, d) of it, and np.concatenate([…], "
        "axis=1) puts it behind.",
        "x @ W_K는 (b, d)이고 캐시는 (b, n - 1, d)입니다. [:, None]으로 (b, 1, d)를 만들고 np.concatenate([…], "
        "axis=1)로 뒤에 붙이세요.",
    ),
    Said(
        'K = np.concatenate([cache[0], (x @ block["W_K"])[:, None]], axis=1), V likewise; scores = '
        "(K @ q[:, :, None])[:, :, 0] / np.sqrt(q.shape[-1]).",
        'K = np.concatenate([cache[0], (x @ block["W_K"])[:, None]], axis=1)이고 V도 같습니다. 점수는 '
        "(K @ q[:, :, None])[:, :, 0] / np.sqrt(q.shape[-1])입니다.",
    ),
)

EXERCISE = Exercise(
    name="decoder_step",
    note="06",
    section=Said("In code", "코드로"),
    title=Said("One word more", "한 단어 더"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=decoder_step,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n": 3, "n_s": 5, "d_model": 6, "d": 4, "d_v": 7, "d_ff": 8},
            further=further,
            outputs={"output": "b d_model", "K": "b n d", "V": "b n d_v"},
            examples=(
                "decoder_step(\n"
                "    np.array([[1.0, 0.0]]),\n"
                "    cache=(np.zeros((1, 0, 2)), np.zeros((1, 0, 2))),\n"
                "    memory=(np.eye(2)[None], np.eye(2)[None]),\n"
                "    block=dict.fromkeys('W_Q W_K W_V W_O cross_W_Q cross_W_O W_1 W_2'.split(), np.eye(2))\n"
                "    | dict.fromkeys(['b_1', 'b_2'], np.zeros(2)),\n"
                ")",
            ),
            mistakes=(
                own_key_too_late,
                past_forgotten,
                cache_not_grown,
                new_row_in_front,
                causal_mask_on_the_memory,
                cross_attention_asks_with_x,
                pre_norm,
                no_scaling,
            ),
        ),
    ),
)
