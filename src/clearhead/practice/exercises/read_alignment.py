"""read_alignment: which source word each target word looked at, from a translator's cross-attention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from clearhead.languages import Said
from clearhead.practice import sections
from clearhead.practice.exercise import Call, Exercise, Part, mistake

# Thousandths of the last layer's cross-attention, which `clearhead translate "고양이가 쥐를 잡았다"` reads:
#   seen = clearhead.Translator.load().attention("고양이가 쥐를 잡았다")
#   (1000 * seen.cross[2]).round(), from the pieces of seen.source (columns) to those of seen.written (rows)
# 고양이 · 가 · 쥐 · 를 · 잡 · 았 · 다 · <end>   →   The cat caught the mouse <end>
SEEN = (
    (
        (0, 975, 0, 13, 3, 8, 1, 0),
        (999, 0, 1, 0, 0, 0, 0, 0),
        (0, 0, 0, 2, 0, 12, 3, 983),
        (0, 18, 0, 950, 0, 23, 1, 9),
        (1, 0, 999, 0, 0, 0, 0, 0),
        (0, 2, 0, 16, 8, 25, 672, 276),
    ),
    (
        (15, 877, 0, 4, 1, 4, 1, 98),
        (999, 0, 1, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 1000, 0, 0, 0),
        (0, 3, 0, 1, 0, 5, 3, 988),
        (1, 0, 997, 2, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 0, 1, 999),
    ),
    (
        (995, 3, 0, 0, 0, 0, 0, 0),
        (1000, 0, 0, 0, 0, 0, 0, 0),
        (0, 0, 0, 3, 989, 7, 1, 1),
        (1, 11, 947, 31, 2, 3, 4, 3),
        (1, 0, 998, 1, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 0, 0, 1000),
    ),
    (
        (0, 0, 0, 0, 1, 19, 4, 975),
        (1000, 0, 0, 0, 0, 0, 0, 0),
        (0, 1, 0, 18, 926, 40, 14, 0),
        (0, 0, 0, 0, 0, 1, 0, 999),
        (0, 1, 984, 14, 1, 0, 0, 0),
        (0, 0, 0, 0, 0, 6, 1, 993),
    ),
)
SOURCE_WORDS, TARGET_WORDS = (0, 0, 1, 1, 2, 2, 2), (0, 1, 2, 3, 4)


def read_alignment(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    pieces = weights.mean(axis=0)[: len(target_words), : len(source_words)]
    into_source = source_words[:, None] == np.arange(source_words.max() + 1)
    into_target = target_words[:, None] == np.arange(target_words.max() + 1)
    between_words = (into_target / into_target.sum(axis=0)).T @ pieces @ into_source
    return between_words.argmax(axis=-1)


def by_definition(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    """A sum for each pair of words, weight by weight."""
    found = []
    for word in range(max(target_words) + 1):
        rows = [row for row, its_word in enumerate(target_words) if its_word == word]
        looked = [0.0] * (max(source_words) + 1)
        for head in weights:
            for row in rows:
                for column, source_word in enumerate(source_words):
                    looked[source_word] += float(head[row][column]) / len(weights) / len(rows)
        found.append(looked.index(max(looked)))
    return np.array(found)


# What the mistakes below are put together from.


def groups(words: np.ndarray) -> list[np.ndarray]:
    """The places of each word's pieces."""
    return [np.flatnonzero(words == word) for word in range(words.max() + 1)]


def best(matrix: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    """The right way from weights between pieces (n_t, n_s or more) to words."""
    sums = np.stack([matrix[:, columns].sum(axis=-1) for columns in groups(source_words)], axis=-1)
    return np.array([sums[rows].mean(axis=0).argmax() for rows in groups(target_words)])


@mistake(
    "Read one row off: these are the rows in which each piece was given, and there the decoder looks for the next "
    "one. The row in which a piece is written is one earlier, so the rows begin with 0.",
    "한 행 어긋나게 읽었습니다. 조각을 받은 행에서는 디코더가 이미 다음 조각을 찾고 있습니다. 조각을 쓰는 행은 "
    "그보다 하나 앞이므로 0번 행부터 읽으세요.",
    explained=sections.TRANSFORMER_MISTAKES,
)
def one_row_off(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    return best(weights.mean(axis=0)[1:], source_words, target_words)


@mistake(
    "The word of the single piece with the most weight was taken. A word may get much in small parts: add up its "
    "pieces before you compare.",
    "가중치가 가장 큰 조각 하나가 속한 단어를 골랐습니다. 여러 조각에 조금씩 나누어 받은 단어도 있으니, 비교하기 "
    "전에 단어의 조각을 모두 더하세요.",
)
def largest_piece(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    pieces = weights.mean(axis=0)[:, : len(source_words)]
    return np.array([source_words[pieces[rows].mean(axis=0).argmax()] for rows in groups(target_words)])


@mistake(
    "The pieces of a source word were averaged, so that words of many pieces lose. Weights are shares of a whole: "
    "over keys they are added up; only over the queries is the mean taken.",
    "원문 단어의 조각을 평균해서 조각이 많은 단어가 손해를 봅니다. 가중치는 전체를 나눈 비율이므로 키끼리는 더하고, "
    "평균은 쿼리끼리만 하세요.",
)
def mean_over_the_keys(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    means = np.stack([weights.mean(axis=0)[:, columns].mean(axis=-1) for columns in groups(source_words)], axis=-1)
    return np.array([means[rows].mean(axis=0).argmax() for rows in groups(target_words)])


@mistake(
    "Only the first head was read. The heads of this layer share the work; take their mean.",
    "첫 헤드만 읽었습니다. 이 층의 헤드는 일을 나누어 하니 평균을 구하세요.",
)
def first_head_alone(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    return best(weights[0], source_words, target_words)


@mistake(
    "These are numbers of pieces, not of words: the largest column was taken before pieces were gathered into words.",
    "단어가 아니라 조각의 번호입니다. 조각을 단어로 모으기 전에 가장 큰 열을 골랐습니다.",
)
def pieces_not_words(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    pieces = weights.mean(axis=0)[:, : len(source_words)]
    return np.array([pieces[rows].mean(axis=0).argmax() for rows in groups(target_words)])


@mistake(
    "One answer for every target piece, where one for every target word is wanted. Take the mean of the rows of a "
    "word's pieces first.",
    "번역문의 단어가 아니라 조각마다 답이 하나씩입니다. 먼저 한 단어에 속한 조각들의 행을 평균하세요.",
)
def one_for_each_piece(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    return best(weights.mean(axis=0), source_words, np.arange(len(target_words)))


@mistake(
    "Right for words of one piece; of longer ones only the first piece was read. Take the mean over all its rows.",
    "조각이 하나인 단어에서는 맞지만, 여러 조각인 단어에서는 첫 조각만 읽었습니다. 그 단어의 행을 모두 평균하세요.",
)
def first_piece_alone(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    first = np.array([rows[0] for rows in groups(target_words)])
    return best(weights.mean(axis=0)[first], source_words, np.arange(len(first)))


@mistake(
    "Read the wrong way round: for every source word, the target word that looked at it most. Rows are target "
    "pieces; the largest is sought along each row.",
    "거꾸로 읽었습니다. 원문 단어마다 그것을 가장 많이 본 번역문 단어를 골랐습니다. 행이 번역문이니 행마다 가장 큰 "
    "것을 고르세요.",
)
def the_wrong_way_round(weights: np.ndarray, source_words: np.ndarray, target_words: np.ndarray) -> np.ndarray:
    matrix = weights.mean(axis=0)[:, : len(source_words)]
    means = np.stack([matrix[rows].mean(axis=0) for rows in groups(target_words)])
    return np.array([means[:, columns].sum(axis=-1).argmax() for columns in groups(source_words)])


def draw(rng: np.random.Generator, sizes: Mapping[str, int]) -> Call:
    h, n_t, n_s = sizes["h"], sizes["n_t"], sizes["n_s"]
    weights = rng.dirichlet(np.full(n_s + 1, 0.4), (h, n_t + 1))
    of_source, of_target = (np.cumsum(np.r_[0, rng.integers(0, 2, n - 1)]) for n in (n_s, n_t))
    return Call((weights, of_source, of_target))


def further(rng: np.random.Generator) -> Iterable[Call]:
    yield Call((np.array(SEEN) / 1000, np.array(SOURCE_WORDS), np.array(TARGET_WORDS)))
    yield Call((rng.dirichlet(np.ones(8), (3, 6)), np.array([0, 1, 1, 1, 1, 2, 3]), np.array([0, 0, 0, 1, 2])))
    yield Call((rng.dirichlet(np.ones(4), (1, 2)), np.array([0, 0, 1]), np.array([0])))


TASK = Said(
    """\
Read off a translator which word came from which. You get the weights of one layer's cross-attention, all heads, as
the decoder has them: it reads and writes pieces, and people ask about words. Of 고양이가 쥐를 잡았다 the source
pieces are 고양이 · 가 · 쥐 · 를 · 잡 · 았 · 다, and the words they belong to [0, 0, 1, 1, 2, 2, 2].

Take the mean of the heads. A target word looks at a source word with the weight that its pieces, on the average, give
to all pieces of that word: a mean over rows, a sum over columns. For each target word, which source word gets the
most?

Row t is the one in which target piece t is written. One more row at the end writes <end>, one more column at the end
is the source's <end>: neither belongs to a word.

    weights       (h, n_t + 1, n_s + 1)
    source_words  (n_s,), the number of the word of each source piece: 0, 1, 2, … in order
    target_words  (n_t,), the same of the target
    →             an array with one whole number for each target word: the source word it looked at most""",
    """\
번역기가 어느 단어를 보고 어느 단어를 썼는지 읽어 내세요. 한 층의 크로스 어텐션 가중치를 모든 헤드에 걸쳐 디코더가
계산한 그대로 받습니다. 번역기는 조각을 읽고 쓰지만 사람이 궁금한 것은 단어입니다. '고양이가 쥐를 잡았다'의 조각은
고양이 · 가 · 쥐 · 를 · 잡 · 았 · 다이고, 조각이 속한 단어는 [0, 0, 1, 1, 2, 2, 2]입니다.

먼저 헤드를 평균하세요. 번역문의 단어가 원문의 단어를 보는 정도는, 그 단어의 조각들이 상대 단어의 조각 전체에 준
가중치의 평균입니다. 곧 행끼리는 평균하고 열끼리는 더합니다. 번역문의 단어마다 가장 많이 본 원문 단어는 무엇인가요?

t번 행은 번역문의 t번 조각을 쓸 때의 행입니다. 맨 끝의 행 하나는 <end>를 쓰는 행이고 맨 끝의 열 하나는 원문의
<end>여서, 둘 다 어느 단어에도 속하지 않습니다.

    weights       (h, n_t + 1, n_s + 1)
    source_words  (n_s,), 원문 조각이 속한 단어의 번호(0, 1, 2, … 순서대로)
    target_words  (n_t,), 번역문 조각이 속한 단어의 번호
    →             번역문의 단어마다 가장 많이 본 원문 단어의 번호를 담은 정수 배열""",
)

HINTS = (
    Said(
        "First cut: the mean over heads, then the first n_t rows and n_s columns. What is left is (n_t, n_s), "
        "between pieces.",
        "먼저 자르세요. 헤드를 평균하고 앞의 n_t행, n_s열만 남기면 조각 사이의 (n_t, n_s)가 됩니다.",
    ),
    Said(
        "For word w, pieces[:, source_words == w].sum(axis=-1) is the weight on it; then the mean over the rows with "
        "target_words == v.",
        "단어 w에 준 가중치는 pieces[:, source_words == w].sum(axis=-1)입니다. 그다음 target_words == v인 행끼리 "
        "평균하세요.",
    ),
    Said(
        "pieces = weights.mean(axis=0)[:len(target_words), :len(source_words)]; fill a table (target words, source "
        "words) with a mean of sums; the answer is table.argmax(axis=-1).",
        "pieces = weights.mean(axis=0)[:len(target_words), :len(source_words)]로 자르고, 합의 평균으로 (번역문 단어, "
        "원문 단어) 표를 채우세요. 답은 table.argmax(axis=-1)입니다.",
    ),
)

EXERCISE = Exercise(
    name="read_alignment",
    note="06",
    section=Said("In code", "코드로"),
    title=Said("Which word came from which", "어느 단어를 보고 썼을까"),
    task=TASK,
    hints=HINTS,
    parts=(
        Part(
            solution=read_alignment,
            judge=by_definition,
            draw=draw,
            sizes={"h": 2, "n_t": 5, "n_s": 7},
            further=further,
            outputs={"source words": "words"},
            examples=(
                "read_alignment(\n"
                "    np.array([[[0.4, 0.3, 0.3, 0.0], [0.7, 0.1, 0.2, 0.0], [0.0, 0.0, 0.0, 1.0]]]),\n"
                "    source_words=np.array([0, 1, 1]),\n"
                "    target_words=np.array([0, 1]),\n"
                ")",
            ),
            mistakes=(
                one_row_off,
                largest_piece,
                mean_over_the_keys,
                first_head_alone,
                pieces_not_words,
                one_for_each_piece,
                first_piece_alone,
                the_wrong_way_round,
            ),
        ),
    ),
)
