"""padding_mask: nobody listens to an empty chair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake


def padding_mask(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return (token_ids != pad_id)[..., None, None, :]


def by_definition(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    """Token by token: whether it is a word."""
    *leading, n = token_ids.shape
    mask = np.zeros((*leading, 1, 1, n), bool)
    for *sentence, j in product(*map(range, token_ids.shape)):
        mask[(*sentence, 0, 0, j)] = int(token_ids[(*sentence, j)]) != pad_id
    return mask


@mistake(
    "True stands at the padding, so that everybody would listen to empty chairs only. True means that a key may be "
    "attended to: use != in place of ==.",
    "패딩이 True여서 모두가 빈 의자의 말만 듣게 됩니다. True는 볼 수 있다는 뜻이므로 == 대신 !=를 쓰세요.",
    explained=sections.MASK_MISTAKES,
)
def inverted(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return (token_ids == pad_id)[..., None, None, :]


@mistake(
    "The mask lies along the queries, (…, 1, n, 1): it silences the rows of the empty chairs, which nobody reads, and "
    "leaves their columns open. The words go last, along the keys: (…, 1, 1, n).",
    "마스크가 쿼리 방향 (…, 1, n, 1)으로 놓였습니다. 아무도 읽지 않는 빈 의자의 행만 조용해지고 열은 그대로 열려 "
    "있습니다. 단어가 키 방향, 곧 마지막 축에 오도록 (…, 1, 1, n)으로 만드세요.",
    explained=sections.LEAKS,
)
def along_the_queries(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return (token_ids != pad_id)[..., None, :, None]


@mistake(
    "The truths are right, and without the axes of heads and queries the mask is (…, n): beside weights (b, h, n, n) "
    "the sentences would be taken for queries. Put two axes of length 1 before the last.",
    "참·거짓은 맞지만 헤드와 쿼리의 축이 없어 (…, n)입니다. 가중치 (b, h, n, n) 옆에 두면 문장을 쿼리로 여기게 됩니다. "
    "마지막 축 앞에 길이가 1인 축 두 개를 넣으세요.",
)
def no_axes_for_heads_and_queries(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return token_ids != pad_id


@mistake(
    "There is an axis for the queries and none for the heads: beside weights (b, h, n, n) the sentences would be taken "
    "for heads. Put one more axis before it: (…, 1, 1, n).",
    "쿼리의 축은 있지만 헤드의 축이 없습니다. 가중치 (b, h, n, n) 옆에 두면 문장을 헤드로 여기게 됩니다. 그 앞에 축을 "
    "하나 더 넣어 (…, 1, 1, n)으로 만드세요.",
)
def no_axis_for_heads(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return (token_ids != pad_id)[..., None, :]


@mistake(
    "Right where the padding is 0, and else words with the id 0 are hidden and the padding is not: `pad_id` was not "
    "used.",
    "패딩이 0이면 맞지만, 아니면 번호가 0인 단어를 가리고 패딩은 가리지 않습니다. `pad_id`를 쓰지 않은 것입니다.",
)
def pad_id_ignored(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    return padding_mask(token_ids)


@mistake(
    "The rows of the padding are hidden as well, (…, 1, n, n): an empty chair then has no key left, and a careless "
    "softmax makes NaN of that. Hide the columns alone; nobody reads those rows.",
    "패딩의 행까지 가려 (…, 1, n, n)이 되었습니다. 그러면 빈 의자에는 볼 키가 없고, 소프트맥스가 허술하면 NaN이 "
    "됩니다. 열만 가리세요. 그 행은 아무도 읽지 않습니다.",
    explained=sections.LEAKS,
)
def rows_hidden_too(token_ids: np.ndarray, pad_id: int = 0) -> np.ndarray:
    real = token_ids != pad_id
    return (real[..., :, None] & real[..., None, :])[..., None, :, :]


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    b, n = sizes.values()
    pad_id = int(rng.integers(4))
    ids = rng.integers(9, size=(b, n))
    ids[ids == pad_id] = (pad_id + 1) % 9
    ids[np.arange(n) >= rng.integers(1, n + 1, size=b)[:, None]] = pad_id
    return Call((ids,)) if pad_id == 0 else Call((ids,), {"pad_id": pad_id})


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((np.array([[11, 12, 13], [13, 0, 0]]),))
    yield Call((np.array([5, 0, 7, 7]), 7))
    yield Call((np.array([[1]]),))
    yield Call((np.array([[[3, 3, 9], [3, 9, 9]], [[9, 9, 9], [0, 3, 3]]]), 9))


TASK = Said(
    """\
Sentences of different lengths lie in one array, and the short ones are filled up with `pad_id`. Make the mask that
hides this padding as a key: True where a token is a word. Give it two axes of length 1, for heads and for queries, so
that it broadcasts over weights (…, h, n_q, n_k): who asks does not matter here, only who is asked.

    token_ids  (…, n), whole numbers
    pad_id     the number that stands for padding
    →          (…, 1, 1, n), boolean""",
    """\
길이가 다른 문장들이 배열 하나에 들어 있고, 짧은 문장은 `pad_id`로 채워져 있습니다. 이 패딩을 키로 쓰지 못하게 하는
마스크를 만드세요. 단어인 토큰이 True입니다. 가중치 (…, h, n_q, n_k)로 브로드캐스팅되도록 헤드와 쿼리를 위한 길이 1짜리
축을 두 개 넣으세요. 여기서는 누가 묻는지는 상관없고 누가 질문을 받는지만 중요합니다.

    token_ids  (…, n), 정수
    pad_id     패딩을 나타내는 번호
    →          (…, 1, 1, n), 참·거짓""",
)

HINTS = (
    Said(
        "A comparison of the whole array with one number gives the truths at once. Which of them is True, a word or "
        "the padding?",
        "배열 전체를 수 하나와 비교하면 참·거짓이 한 번에 나옵니다. 단어와 패딩 가운데 어느 쪽이 True여야 할까요?",
    ),
    Said(
        "`mask[..., None, :]` puts an axis of length 1 before the last. You need two of them.",
        "`mask[..., None, :]`는 마지막 축 앞에 길이가 1인 축을 넣습니다. 두 개가 필요합니다.",
    ),
    Said(
        "(token_ids != pad_id), with [..., None, None, :] behind it.",
        "(token_ids != pad_id) 뒤에 [..., None, None, :]를 붙이세요.",
    ),
)

EXERCISE = Exercise(
    name="padding_mask",
    note="05",
    section=Said("By hand", "손으로 계산하기"),
    title=Said("Empty chairs", "빈 의자"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=padding_mask,
            judge=by_definition,
            draw=draw,
            sizes={"b": 2, "n": 5},
            further=further,
            outputs={"mask": "b 1 1 n"},
            examples=("padding_mask(np.array([[11, 12, 13], [13, 0, 0]]))",),
            mistakes=(
                inverted,
                along_the_queries,
                no_axes_for_heads_and_queries,
                no_axis_for_heads,
                pad_id_ignored,
                rows_hidden_too,
            ),
        ),
    ),
)
