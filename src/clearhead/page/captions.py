"""What is said of the pictures of `clearhead visualize`, in English and in Korean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from clearhead.translate.alignment import Reader

LANGUAGES = ("en", "ko")


def in_language(texts: tuple[str, ...], language: str) -> str:
    """What is said in all languages, in one of them."""
    return texts[LANGUAGES.index(language)]


class Words(NamedTuple):
    """Each in every language: the heading, what the picture shows, and how it is read."""

    heading: tuple[str, str]
    shows: tuple[str, str]
    reading: tuple[str, str]

    def filled(self, **fields: object) -> Words:
        """With what was found put in; one value for all languages, or one for each as a tuple."""

        def fill(texts: tuple[str, str]) -> tuple[str, str]:
            of_each = [{k: v[i] if isinstance(v, tuple) else v for k, v in fields.items()} for i in range(2)]
            return texts[0].format(**of_each[0]), texts[1].format(**of_each[1])

        return Words(*map(fill, self))


def reader_name(reader: Reader) -> tuple[str, str]:
    """A head of a layer, or the mean of all of them where there is None, in every language."""
    layer, head = reader
    if layer is None:
        return str(reader), "모든 헤드의 평균"
    if head is None:
        return str(reader), f"레이어 {layer}, 헤드 평균"
    return str(reader), f"레이어 {layer}, 헤드 {head}"


SELF_ATTENTION = Words(
    (
        "Self-attention: the encoder, layer {layer}, head {head}",
        "셀프 어텐션(self-attention): 인코더 레이어 {layer}, 헤드 {head}",
    ),
    (
        "each piece looks at all others; of all looks at another piece the strongest is {query} → {key} ({weight:.2f})",
        "각 조각이 다른 모든 조각을 봅니다. 다른 조각을 보는 것 가운데 가장 강한 것: {query} → {key} ({weight:.2f})",
    ),
    (
        "A row is a piece that looks, a column one that is looked at, and each row sums to 1. The last piece, <end>, "
        "says that the sentence is over; it looks and is looked at like any other. The bars at the right say how "
        "undecided each piece is (entropy), those above how much attention each one gets.",
        "행은 보는 조각, 열은 보이는 조각이며, 각 행의 합은 1입니다. 마지막 조각 <end>는 문장이 끝났다는 표시로, 다른 "
        "조각처럼 보고 보입니다. 오른쪽 막대는 각 조각이 얼마나 망설이는지(엔트로피)를, 위쪽 막대는 각 조각이 얼마나 "
        "주목받는지를 나타냅니다.",
    ),
)
CAUSAL_ATTENTION = Words(
    (
        "Causal attention: the decoder, layer {layer}, head {head}",
        "인과적 어텐션(causal attention): 디코더 레이어 {layer}, 헤드 {head}",
    ),
    (
        "a piece looks at itself and those before it; every later one gets exactly {future:g}; "
        "of all looks at another piece the strongest is {query} → {key} ({weight:.2f})",
        "각 조각은 자신과 앞의 조각만 보며, 뒤 조각의 가중치는 정확히 {future:g}입니다. "
        "다른 조각을 보는 것 가운데 가장 강한 것: {query} → {key} ({weight:.2f})",
    ),
    (
        "The translation is written from left to right, so what comes later cannot be looked at: everything right of "
        "the diagonal is empty, and the first row can look only at the beginning. A head that finds nothing to look "
        "for often rests there.",
        "번역문은 왼쪽에서 오른쪽으로 쓰이므로 뒤에 올 조각은 볼 수 없습니다. 그래서 대각선 오른쪽은 모두 비어 있고, "
        "첫 행은 시작 기호만 볼 수 있습니다. 찾을 것이 없는 헤드는 흔히 시작 기호에 머뭅니다.",
    ),
)
HEADS = Words(
    (
        "Head by head: all {count} heads of the encoder",
        "헤드별 비교(multi-head): 인코더의 헤드 {count}개 전체",
    ),
    (
        "the same sentence as each of the {count} heads sees it, and what they are most like looking at: {found}",
        "같은 문장을 헤드 {count}개가 저마다 다르게 봅니다. 가장 가까운 패턴: {found}",
    ),
    (
        "All maps share one colour scale. Heads start out alike and part during training: some count positions, others "
        "pick out words.",
        "모든 그림의 색 눈금은 같습니다. 처음에는 비슷하던 헤드들이 학습하면서 갈라져, 어떤 헤드는 위치를 세고 어떤 "
        "헤드는 낱말을 골라냅니다.",
    ),
)
CROSS_ATTENTION = Words(
    (
        "Cross-attention: the translation looks at the sentence, {reader}",
        "크로스 어텐션(cross-attention): 번역문이 원문을 봅니다, {reader}",
    ),
    (
        "which word each word of the translation looked at most when it was written: {pairs}",
        "번역문의 각 단어를 쓸 때 가장 많이 본 원문의 단어: {pairs}",
    ),
    (
        "The sentence runs across the top, the translation down the left. The frame in each row marks the word that "
        "was looked at most. Pieces are merged into words: summed over those looked at, averaged over those that look.",
        "위쪽이 원문, 왼쪽이 번역문입니다. 각 행의 테두리는 가장 많이 본 단어를 표시합니다. 조각은 단어로 합쳤습니다. "
        "보이는 쪽은 더하고, 보는 쪽은 평균을 냈습니다.",
    ),
)
LINES = Words(
    ("Cross-attention as lines", "선으로 본 크로스 어텐션"),
    (
        "the same weights as lines, which cross where the two languages order their words differently",
        "같은 가중치를 선으로 그렸습니다. 두 언어의 어순이 다른 곳에서 선이 엇갈립니다",
    ),
    (
        "At the left the translation, at the right the sentence; the thicker a line, the larger its weight.",
        "왼쪽이 번역문, 오른쪽이 원문이며, 선이 굵을수록 가중치가 큽니다.",
    ),
)
EVERY_HEAD = Words(
    ("Every head at a glance", "한눈에 보는 모든 헤드"),
    (
        "how undecided each head is on this sentence; the most decided is {name}, head {head} ({least:.2f} nats)",
        "이 문장에서 각 헤드가 얼마나 망설이는지 보여 줍니다. "
        "가장 확신하는 헤드: {name}, 헤드 {head} ({least:.2f} nats)",
    ),
    (
        "Entropy is 0 for a head that looks at a single piece, and grows as it spreads its attention: over n pieces "
        "alike it is ln n.",
        "한 조각만 보는 헤드의 엔트로피는 0이고, 어텐션이 퍼질수록 커집니다. n개의 조각을 고르게 보면 ln n입니다.",
    ),
)
PAGE = ("What a translator looks at", "번역기는 무엇을 보는가")
WARNING = (
    "Attention shows where a model looked, not why it decided: a large weight is a hint and no proof.",
    "어텐션은 모델이 어디를 보았는지 보여 줄 뿐, 왜 그렇게 결정했는지는 말해 주지 않습니다. 큰 가중치는 단서이지 "
    "증거가 아닙니다.",
)
ON_ONE_PAGE = ("all of them on one page", "모든 그림을 한 쪽에 모았습니다")
PATTERNS = {
    "self": ("itself", "자기 자신"),
    "previous_token": ("the piece before", "바로 앞 조각"),
    "first_token": ("the first piece", "첫 조각"),
    "uniform": ("all alike", "모두 고르게"),
    "local": ("its neighbours", "이웃한 조각"),
    "mixed": ("no one thing", "뚜렷한 패턴 없음"),
    "none": ("nothing", "없음"),
}
