"""What `clearhead visualize` says: its help, what is said of its pictures, and the words of its page."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.languages import Said

DESCRIPTION = Said(
    """\
Draw what a trained translator looks at: self-attention, causal attention, head
by head, and cross-attention.

A sentence is read and translated by the model that comes with clearhead, or by
one of yours. The figures go into a folder, with a page, index.html, to look
through them, and a page to walk through every head and weight, explore.html,
which is opened where there is a screen. Of a model of transformers, a folder or
a name, that page is made.""",
    """\
학습을 마친 번역기가 무엇을 보는지 그립니다. 셀프 어텐션, 코잘 어텐션, 헤드별 비교,
크로스 어텐션을 볼 수 있습니다.

clearhead에 들어 있는 모델이나 직접 학습시킨 모델이 문장을 읽고 번역합니다. 그림은 폴더에
저장되고, 그림을 한데 모아 보는 페이지 index.html과, 모든 헤드와 가중치를 하나하나 살펴보는
페이지 explore.html이 함께 생깁니다. 화면이 있으면 explore.html을 열어 줍니다. transformers의
모델(폴더나 이름)을 주면 그 모델의 explore.html을 만듭니다.""",
)
EXAMPLES = Said(
    """\
examples:
  {program}
  {program} 고양이가 쥐를 잡았다
  {program} "2028년 12월 7일 목요일" --format svg
  {program} --language ko --out 그림
""",
    """\
예:
  {program}
  {program} 고양이가 쥐를 잡았다
  {program} "2028년 12월 7일 목요일" --format svg
  {program} --language en --out 그림
""",
)
OPTIONS = {
    "words": Said(
        "what to translate and look at, one sentence, in quotes or not (default: {sentence})",
        "번역하고 들여다볼 글 하나. 따옴표는 없어도 됩니다 (기본값: {sentence})",
    ),
    "text": Said("the same as TEXT", "TEXT와 같습니다"),
    "out": Said("the folder to write into (default: attention/)", "저장할 폴더 (기본값: attention/)"),
    "format": Said("of the figures (default: png)", "그림 파일의 형식 (기본값: png)"),
    "model": Said(
        "a trained translator (default: clearhead's own), or a folder or name of a model of transformers",
        "학습을 마친 번역기 (기본값: clearhead에 들어 있는 것), 또는 transformers 모델의 폴더나 이름",
    ),
    "no_browser": Said("open nothing", "브라우저를 열지 않습니다"),
}
TWO_TEXTS = Said(
    "TEXT and --text both say what to look at; leave out one of the two",
    "TEXT와 --text는 같은 뜻입니다. 둘 가운데 하나를 빼 주세요",
)
SEVERAL_TEXTS = Said(
    "one sentence is looked at, got {count}; ask for one at a time",
    "한 번에 한 문장만 볼 수 있는데 {count}개가 들어왔습니다. 하나씩 해 주세요",
)
A_FILE = Said(
    "--out {folder} is a file; name a folder, which is made if it is not there",
    "--out {folder}: 폴더가 아니라 파일입니다. 폴더 이름을 주세요. 없으면 만듭니다",
)
WRITES_NOTHING = Said(
    "the translator writes nothing for {text!r}, so nothing can be seen; try another text",
    "번역기가 {text!r}에 대해 아무것도 쓰지 않아서 볼 것이 없습니다. 다른 글로 해 보세요",
)
ANOTHER = Said("another sentence: {program} {sentence}", "다른 문장을 보려면: {program} {sentence}")


class Words(NamedTuple):
    """Of one picture: the heading, what it shows, and how it is read."""

    heading: Said
    shows: Said
    reading: Said

    def filled(self, **values: object) -> Words:
        """With what was found put in."""
        return Words(*(said.filled(**values) for said in self))


SELF_ATTENTION = Words(
    Said(
        "Self-attention: the encoder, layer {layer}, head {head}",
        "셀프 어텐션(self-attention): 인코더 층 {layer}, 헤드 {head}",
    ),
    Said(
        "each piece looks at all others; of all looks at another piece the strongest is {query} → {key} ({weight:.2f})",
        "각 조각이 다른 모든 조각을 봅니다. 다른 조각을 보는 것 가운데 가장 강한 것: {query} → {key} ({weight:.2f})",
    ),
    Said(
        "A row is a piece that looks, a column one that is looked at, and each row sums to 1. The last piece, <end>, "
        "says that the sentence is over; it looks and is looked at like any other. The bars at the right say how "
        "undecided each piece is (entropy), those above how much attention each one gets.",
        "행은 보는 조각, 열은 보이는 조각이며, 각 행의 합은 1입니다. 마지막 조각 <end>는 문장이 끝났다는 표시로, 다른 "
        "조각처럼 보고 보입니다. 오른쪽 막대는 각 조각이 얼마나 망설이는지(엔트로피)를, 위쪽 막대는 각 조각이 얼마나 "
        "주목받는지를 나타냅니다.",
    ),
)
CAUSAL_ATTENTION = Words(
    Said(
        "Causal attention: the decoder, layer {layer}, head {head}",
        "코잘 어텐션(causal attention): 디코더 층 {layer}, 헤드 {head}",
    ),
    Said(
        "a piece looks at itself and those before it; every later one gets exactly {future:g}; "
        "of all looks at another piece the strongest is {query} → {key} ({weight:.2f})",
        "각 조각은 자신과 앞의 조각만 보며, 뒤 조각의 가중치는 정확히 {future:g}입니다. "
        "다른 조각을 보는 것 가운데 가장 강한 것: {query} → {key} ({weight:.2f})",
    ),
    Said(
        "The translation is written from left to right, so what comes later cannot be looked at: everything right of "
        "the diagonal is empty, and the first row can look only at the beginning. A head that finds nothing to look "
        "for often rests there.",
        "번역문은 왼쪽에서 오른쪽으로 쓰이므로 뒤에 올 조각은 볼 수 없습니다. 그래서 대각선 오른쪽은 모두 비어 있고, "
        "첫 행은 시작 기호만 볼 수 있습니다. 찾을 것이 없는 헤드는 흔히 시작 기호에 머뭅니다.",
    ),
)
HEADS = Words(
    Said(
        "Head by head: all {count} heads of the encoder",
        "헤드별 비교(multi-head): 인코더의 헤드 {count}개 전체",
    ),
    Said(
        "the same sentence as each of the {count} heads sees it, and what they are most like looking at: {found}",
        "같은 문장을 헤드 {count}개가 저마다 다르게 봅니다. 가장 가까운 패턴: {found}",
    ),
    Said(
        "All maps share one colour scale. Heads start out alike and part during training: some count positions, others "
        "pick out words.",
        "모든 그림의 색 눈금은 같습니다. 처음에는 비슷하던 헤드들이 학습하면서 갈라져, 어떤 헤드는 위치를 세고 어떤 "
        "헤드는 단어을 골라냅니다.",
    ),
)
CROSS_ATTENTION = Words(
    Said(
        "Cross-attention: the translation looks at the sentence, {reader}",
        "크로스 어텐션(cross-attention): 번역문이 원문을 봅니다, {reader}",
    ),
    Said(
        "which word each word of the translation looked at most when it was written: {pairs}{doubt}",
        "번역문의 각 단어를 쓸 때 가장 많이 본 원문의 단어: {pairs}{doubt}",
    ),
    Said(
        "The sentence runs across the top, the translation down the left. The frame in each row marks the word that "
        "was looked at most. Pieces are merged into words: summed over those looked at, averaged over those that look. "
        "What a row lacks to 1 goes to the end of the sentence, where words look that come from no word.",
        "위쪽이 원문, 왼쪽이 번역문입니다. 각 행의 테두리는 가장 많이 본 단어를 표시합니다. 조각은 단어로 합쳤습니다. "
        "키는 더하고 쿼리는 평균을 냈습니다. 행의 합에서 1에 모자라는 만큼은 단어가 아닌 문장의 끝을 본 것으로, 원문에 "
        "없는 말이 그곳을 봅니다.",
    ),
)
DOUBT = Said("; {doubt}", ". {doubt}")
LINES = Words(
    Said("Cross-attention as lines", "선으로 본 크로스 어텐션"),
    Said(
        "the same weights as lines, which cross where the two languages order their words differently",
        "같은 가중치를 선으로 그렸습니다. 두 언어의 어순이 다른 곳에서 선이 엇갈립니다",
    ),
    Said(
        "At the left the translation, at the right the sentence; the thicker a line, the larger its weight.",
        "왼쪽이 번역문, 오른쪽이 원문이며, 선이 굵을수록 가중치가 큽니다.",
    ),
)
EVERY_HEAD = Words(
    Said("Every head at a glance", "한눈에 보는 모든 헤드"),
    Said(
        "how undecided each head is on this sentence; the most decided is {name}, head {head} ({least:.2f} nats)",
        "이 문장에서 각 헤드가 얼마나 망설이는지 보여 줍니다. "
        "가장 확신하는 헤드: {name}, 헤드 {head} ({least:.2f} nats)",
    ),
    Said(
        "Entropy is 0 for a head that looks at a single piece, and grows as it spreads its attention: over n pieces "
        "alike it is ln n.",
        "한 조각만 보는 헤드의 엔트로피는 0이고, 어텐션이 퍼질수록 커집니다. n개의 조각을 고르게 보면 ln n입니다.",
    ),
)
PAGE = Said("What a translator looks at", "번역기는 무엇을 보는가")
STACKS = {
    "encoder": Said("encoder {layer}", "인코더 {layer}"),
    "decoder": Said("decoder {layer}", "디코더 {layer}"),
    "cross": Said("cross {layer}", "크로스 {layer}"),
}
WARNING = Said(
    "Attention shows where a model looked, not why it decided: a large weight is a hint and no proof.",
    "어텐션은 모델이 어디를 보았는지 보여 줄 뿐, 왜 그렇게 결정했는지는 말해 주지 않습니다. 큰 가중치는 단서이지 "
    "증거가 아닙니다.",
)
EXPLORE = Said(
    "every head and every weight, to walk through in a browser", "모든 헤드와 가중치를 브라우저에서 하나하나 살펴봅니다"
)
MODEL_PAGE = Said("{path}: {layers} layers, {heads} heads", "{path}: 층 {layers}개, 헤드 {heads}개")
OPENED = Said("it is open in the browser", "브라우저에서 열었습니다")
ON_ONE_PAGE = Said("all of them on one page", "모든 그림을 한 페이지에 모았습니다")
PATTERNS = {
    "self": Said("itself", "자기 자신"),
    "previous_token": Said("the piece before", "바로 앞 조각"),
    "next_token": Said("the piece after", "바로 뒤 조각"),
    "first_token": Said("the first piece", "첫 조각"),
    "uniform": Said("all alike", "모두 고르게"),
    "local": Said("its neighbours", "이웃한 조각"),
    "mixed": Said("no one thing", "뚜렷한 패턴 없음"),
    "none": Said("nothing", "없음"),
}
