"""train_a_copier: a small model that learns to copy, graded by what it writes and never by its loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clearhead import tensors
from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake
from clearhead.practice.lazy import Lazy

if TYPE_CHECKING:
    import torch
    from torch.nn import functional
else:
    torch, functional = Lazy("torch"), Lazy("torch.nn.functional")

Array = np.ndarray
Model = Callable[[np.ndarray], np.ndarray]
NUM_WORDS, WORDS, STEPS, BATCH = 10, 5, 160, 32
TEXTS = 64  # new ones, that a model is examined on


def train_a_copier(texts: torch.Tensor, num_words: int) -> Callable[[torch.Tensor], torch.Tensor]:
    _, b, n = texts.shape
    bar, width = num_words, 32
    words = (0.5 * torch.randn(num_words + 1, width)).requires_grad_()
    places = (0.5 * torch.randn(2 * n, width)).requires_grad_()
    W_Q, W_K, W_V = ((torch.randn(width, width) / width**0.5).requires_grad_() for _ in range(3))
    W_out = (torch.randn(width, num_words + 1) / width**0.5).requires_grad_()

    def model(ids: torch.Tensor) -> torch.Tensor:
        x = words[ids] + places[: ids.shape[1]]
        scores = (x @ W_Q) @ (x @ W_K).transpose(-1, -2) / width**0.5
        past = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
        return (x + weights @ (x @ W_V)) @ W_out

    optimiser = torch.optim.Adam([words, places, W_Q, W_K, W_V, W_out], lr=0.01)
    for text in texts:
        ids = torch.cat([text, torch.full((b, 1), bar), text], dim=1)
        given, wanted = ids[:, :-1], ids[:, 1:]
        logits = model(given)
        loss = functional.cross_entropy(logits[:, n:].flatten(0, 1), wanted[:, n:].flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return model


def seeded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that trains a model on tensors, as one that is given arrays; so is the model. The seed is ours."""

    def train(texts: Array, num_words: int) -> Any:
        torch.manual_seed(0)
        trained = function(tensors.to_torch(texts), num_words)
        if not callable(trained):
            return trained

        def model(ids: Array) -> Any:
            with torch.no_grad():
                logits = trained(tensors.to_torch(ids))
            return tensors.to_numpy(logits) if tensors.is_tensor(logits) else logits

        return model

    return train


# Models by rule, in NumPy, do what trained ones do, right and wrong: the grader neither trains nor needs torch.


def by_rule(choose: Callable[[list[int], int, int], int], num_words: int, n: int) -> Model:
    """A model that chooses a word at each place by a rule: choose(ids, place, n)."""

    def model(ids: Array) -> Array:
        chosen = [[choose(row, place, n) for place in range(len(row))] for row in ids.tolist()]
        return np.eye(num_words + 1)[np.array(chosen)]

    return model


def copier_by_rule(texts: Array, num_words: int) -> Model:
    """From the bar on, the word n places earlier."""
    return by_rule(lambda ids, place, n: ids[max(place - n, 0)], num_words, texts.shape[-1])


def ask(function: Callable[..., Any], call: Call) -> Any:
    """Train, and examine the model on new texts: the shape of its logits, and truths in the order they matter in.

    A model that looks ahead is not asked to write: what it would look at is not there yet.
    """
    texts, num_words = call.arguments
    n = texts.shape[-1]
    model = function(texts, num_words)
    if not callable(model):
        return model
    new = np.random.default_rng(1).integers(0, num_words, (TEXTS, n))
    ids = np.concatenate([new, np.full((TEXTS, 1), num_words), new], axis=1)
    logits = model(ids[:, :-1])
    if np.shape(logits) != (TEXTS, 2 * n, num_words + 1):
        return np.shape(logits), *(False,) * 6
    finite = bool(np.isfinite(logits).all())
    causal = finite and not looks_ahead(model, ids[:, :-1], num_words)
    chosen = logits[:, n:].argmax(axis=-1)
    right, echoed = (float((chosen == words).mean()) for words in (new, ids[:, n:-1]))
    copies = causal and np.array_equal(written(model, ids[:, : n + 1], n), new)
    truths = finite, causal, causal and echoed < 0.9, causal and right > 1.6 / num_words, causal and right > 0.6, copies
    return np.shape(logits), *truths


def looks_ahead(model: Model, ids: Array, num_words: int) -> bool:
    """Whether other words from some place on change the logits before it."""
    logits = model(ids)
    for place in range(1, ids.shape[1]):
        other = ids.copy()
        other[:, place:] = (other[:, place:] + 1) % num_words
        if not np.allclose(model(other)[:, :place], logits[:, :place], atol=1e-4):
            return True
    return False


def written(model: Model, ids: Array, n: int) -> Array:
    """What the model writes by itself, given a text and the bar: n words, each of them given back to it."""
    for _ in range(n):
        ids = np.concatenate([ids, model(ids)[:, -1:].argmax(axis=-1)], axis=1)
    return ids[:, -n:]


@mistake(
    "The logits are NaN. Most often a mask forbids each word even itself, so that the first row has no key at all, "
    "and one NaN spoils every parameter. Keep the diagonal: tril(), not tril(-1).",
    "로짓이 NaN입니다. 대개 마스크가 자기 자신까지 가려 첫 행에 볼 키가 하나도 없기 때문이고, NaN 하나가 모든 "
    "파라미터를 망칩니다. 대각선을 남기세요. tril(-1)이 아니라 tril()입니다.",
    explained=sections.NO_KEY_LEFT,
)
def own_word_masked(texts: Array, num_words: int) -> Model:
    return lambda ids: np.full((*ids.shape, num_words + 1), np.nan)


@mistake(
    "The future changes the past: other words later on change earlier logits, so the model reads the answer instead "
    "of learning it, and its loss looks splendid. Mask the scores with the lower triangle before the softmax; if you "
    "have several heads, check also that merging them swaps the axes.",
    "미래가 과거를 바꿉니다. 뒤의 단어를 바꾸면 앞의 로짓이 달라지니, 모델은 배우지 않고 답을 읽으며 손실만 근사하게 "
    "보입니다. 소프트맥스 앞에서 아래쪽 삼각형으로 점수를 가리세요. 헤드가 여럿이면 합칠 때 축을 맞바꾸는지도 "
    "확인하세요.",
    explained=sections.LEAKS,
)
def the_future_is_seen(texts: Array, num_words: int) -> Model:
    return by_rule(lambda ids, place, n: ids[min(place + 1, len(ids) - 1)], num_words, texts.shape[-1])


@mistake(
    "The model answers each word with that very word: it was given what it was to write, and learned to echo it. "
    "Shift by one: given ids[:, :-1], it is to write ids[:, 1:].",
    "모델이 받은 단어를 그대로 되풀이합니다. 써야 할 것을 그대로 주어 메아리만 배웠습니다. 한 칸 미세요. ids[:, "
    ":-1]을 주고 ids[:, 1:]을 쓰게 합니다.",
)
def target_not_shifted(texts: Array, num_words: int) -> Model:
    return by_rule(lambda ids, place, n: ids[place], num_words, texts.shape[-1])


@mistake(
    "The model is no better than chance: nothing was learned. Every round needs all three: optimiser.zero_grad(), "
    "loss.backward(), optimiser.step(); and the optimiser must hold every parameter.",
    "모델이 찍는 것과 다를 바 없습니다. 아무것도 배우지 못했습니다. 매번 optimiser.zero_grad(), loss.backward(), "
    "optimiser.step()이 모두 필요하고, 옵티마이저가 모든 파라미터를 가지고 있어야 합니다.",
)
def no_step_taken(texts: Array, num_words: int) -> Model:
    return by_rule(lambda ids, place, n: 0, num_words, texts.shape[-1])


@mistake(
    "The model knows which words there are and not their order: it does better than chance and cannot copy. Without "
    "positions attention sees a bag of words; add one vector for each place. If you have done so, it has learned too "
    "little.",
    "모델이 어떤 단어가 있는지는 알지만 순서를 모릅니다. 찍는 것보다는 낫지만 베껴 쓰지 못합니다. 위치가 없으면 "
    "어텐션에는 단어의 주머니일 뿐이니, 자리마다 벡터를 하나씩 더하세요. 이미 더했다면 아직 덜 배운 것입니다.",
    explained=sections.BLIND_TO_ORDER,
)
def order_unknown(texts: Array, num_words: int) -> Model:
    return by_rule(lambda ids, place, n: ids[0], num_words, texts.shape[-1])


@mistake(
    "Nearly: most words are right, and not yet all. It has learned too little. Take the loss from the bar on only, "
    "as the words before it cannot be known; a learning rate of 0.01 to 0.02, or a second round through texts, does "
    "the rest.",
    "거의 다 왔습니다. 대부분 맞지만 모두 맞지는 않습니다. 아직 덜 배웠습니다. 칸막이 앞의 단어는 알 수 없으니 "
    "손실은 칸막이부터만 계산하세요. 학습률을 0.01에서 0.02로 하거나 texts를 한 번 더 돌면 나머지도 배웁니다.",
)
def stopped_early(texts: Array, num_words: int) -> Model:
    return by_rule(lambda ids, place, n: ids[place - n] if n <= place < 2 * n - 1 else 0, num_words, texts.shape[-1])


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    return Call((rng.integers(0, NUM_WORDS, (STEPS, BATCH, WORDS)), NUM_WORDS))


TASK = Said(
    """\
Build a small causal model and train it to copy. A text of n words is followed by a bar, the word `num_words`, and
then by the same text: given `3 1 4 |` the model is to write `3 1 4`. Everything of these notes comes together:
embeddings with positions, attention with a causal mask, logits, the target shifted by one.

`texts[i]` is the batch for step i. Join text, bar and text to ids (b, 2n + 1), give the model ids[:, :-1], and let it
predict ids[:, 1:]; only what comes after the bar can be known, so take the loss from place n on. One layer with one
head and a width of 32 is enough; Adam with a learning rate of 0.01 takes a second for all steps.

Return the trained model, a function or a Module. Its loss is not looked at. It is asked whether a later word changes
earlier logits, and then has to write by itself: given a text and the bar, n words, each given back to it.

    texts      (steps, b, n), whole numbers below num_words
    num_words  the bar's number; logits are for num_words + 1 words, the bar included
    →          a model: ids (b, m), m ≤ 2n → logits (b, m, num_words + 1)""",
    """\
작은 코잘 모델을 만들고, 베껴 쓰기를 학습시키세요. 단어 n개짜리 글 뒤에 칸막이(번호가 `num_words`인 단어)가 오고, 그
뒤에 같은 글이 다시 옵니다. `3 1 4 |`를 주면 모델은 `3 1 4`를 써야 합니다. 노트에서 배운 것이 모두 모입니다. 위치를
더한 임베딩, 코잘 마스크를 씌운 어텐션, 로짓, 한 칸 민 정답입니다.

`texts[i]`는 i번 단계의 배치입니다. 글, 칸막이, 글을 이어 ids (b, 2n + 1)을 만들고, ids[:, :-1]을 주어 ids[:, 1:]을
맞히게 하세요. 알 수 있는 것은 칸막이 다음뿐이므로 손실은 n번 자리부터 계산합니다. 층 하나, 헤드 하나, 폭 32면
충분하고, 학습률이 0.01인 Adam이면 모든 단계가 1초쯤 걸립니다.

학습한 모델을 함수나 Module로 돌려주세요. 손실은 보지 않습니다. 뒤의 단어가 앞의 로짓을 바꾸는지 확인한 다음, 모델이
스스로 쓰게 합니다. 글과 칸막이를 주고 n개를 쓰게 하며, 쓴 단어를 하나씩 다시 넣어 줍니다.

    texts      (steps, b, n), num_words보다 작은 정수
    num_words  칸막이의 번호. 로짓은 칸막이까지 num_words + 1개
    →          모델: ids (b, m), m ≤ 2n → 로짓 (b, m, num_words + 1)""",
)

HINTS = (
    Said(
        "Three pieces: the parameters, a function model(ids) from ids to logits, and a loop over texts. Test the "
        "second alone: change the last id, and earlier logits must stay.",
        "세 부분입니다. 파라미터, ids에서 로짓을 계산하는 함수 model(ids), 그리고 texts를 도는 반복문입니다. 두 "
        "번째는 따로 시험해 보세요. 마지막 id를 바꾸어도 앞의 로짓은 그대로여야 합니다.",
    ),
    Said(
        "In the model: x = words[ids] + places[:m]; causal attention over x; logits = (x + heard) @ W_out. In the "
        "loop: torch.cat([text, bar, text], dim=1), logits[:, n:] against ids[:, n + 1:].",
        "모델에서는 x = words[ids] + places[:m], x의 코잘 어텐션, logits = (x + heard) @ W_out입니다. 반복문에서는 "
        "torch.cat([text, bar, text], dim=1)로 잇고 logits[:, n:]을 ids[:, n + 1:]과 비교하세요.",
    ),
    Said(
        "loss = functional.cross_entropy(logits[:, n:].flatten(0, 1), ids[:, n + 1:].flatten()); "
        "optimiser.zero_grad(); loss.backward(); optimiser.step(). The mask: torch.ones(m, m, "
        "dtype=torch.bool).tril(), masked_fill(~past, -torch.inf).",
        "loss = functional.cross_entropy(logits[:, n:].flatten(0, 1), ids[:, n + 1:].flatten()) 다음에 "
        "optimiser.zero_grad(), loss.backward(), optimiser.step()을 차례로 하세요. 마스크는 torch.ones(m, m, "
        "dtype=torch.bool).tril()이고 masked_fill(~past, -torch.inf)로 씌웁니다.",
    ),
)

EXERCISE = Exercise(
    name="train_a_copier",
    note="06",
    section=Said("In code", "코드로"),
    title=Said("A model that learns to copy", "베껴 쓰기를 배우는 모델"),
    task=TASK,
    hints=HINTS,
    imports="import torch\nfrom torch.nn import functional",
    seconds=60.0,
    parts=(
        Part(
            solution=train_a_copier,
            judge=copier_by_rule,
            ask=ask,
            adapt=seeded,
            again=False,
            draw=draw,
            outputs={
                "shape of the logits": "",
                "finite": "",
                "causal": "",
                "no_echo": "",
                "above_chance": "",
                "mostly_right": "",
                "copies": "",
            },
            mistakes=(
                own_word_masked,
                the_future_is_seen,
                target_not_shifted,
                no_step_taken,
                order_unknown,
                stopped_early,
            ),
        ),
    ),
)
