"""What `clearhead translate` says, and what is written on its figures, in Korean and in English.

Texts that are refused stand here too: their exceptions are English, and the command says them in its own language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearhead.languages import Said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clearhead.translate.alignment import Reader

DESCRIPTION = Said(
    """\
Translate Korean sentences and dates, and see which word came from which; or
train a translator of your own.

The model that comes with clearhead knows the words of two small worlds,
everyday sentences (Korean to English) and dates (Korean, English, French), and
says so when it is asked for another word. It needs nothing but NumPy.""",
    """\
한국어 문장과 날짜를 번역하고, 어느 단어를 보고 번역했는지 보여 줍니다.
번역기를 직접 학습시킬 수도 있습니다.

clearhead에 들어 있는 모델은 일상 문장(한국어를 영어로)과 날짜(한국어, 영어, 프랑스어),
두 분야의 정해진 단어만 알며, 모르는 단어가 나오면 모른다고 말합니다.
NumPy만 있으면 됩니다.""",
)
EXAMPLES = Said(
    """\
examples:
  {program} 고양이가 쥐를 잡았다
  {program} "고양이가 쥐를 잡았다" "2028년 12월 7일 목요일"
  {program} - < sentences.txt
  {program} --words
  {program} "2028년 12월 7일 목요일" --figure dates.png
  {program} "고양이가 쥐를 잡았다" --figure head.svg --layer 1 --head 2
  {program} --train
  {program} --train --task dates --out dates.safetensors --film learning.gif
  {program} --train --task dates --out dates.safetensors --resume
  {program} "December 7, 2028" --model dates.safetensors
  {program} --train --pairs kor.tsv --swap --out mine.safetensors
""",
    """\
예:
  {program} 고양이가 쥐를 잡았다
  {program} "고양이가 쥐를 잡았다" "2028년 12월 7일 목요일"
  {program} - < 문장.txt
  {program} --words
  {program} "2028년 12월 7일 목요일" --figure dates.png
  {program} "고양이가 쥐를 잡았다" --figure head.svg --layer 1 --head 2
  {program} --train
  {program} --train --task dates --out dates.safetensors --film learning.gif
  {program} --train --task dates --out dates.safetensors --resume
  {program} "2028년 12월 7일" --model dates.safetensors
  {program} --train --pairs kor.tsv --swap --out mine.safetensors
""",
)

TRANSLATING = Said("translating", "번역")
KNOWING = Said("what it knows", "무엇을 아는지")
TRAINING = Said("training", "학습")
OPTIONS = {
    "texts": Said(
        "what to translate: words without spaces in them are one sentence together; if one has spaces, as in quotes, "
        "each is a text of its own; - reads one text a line from standard input",
        "번역할 글. 띄어쓰기 없는 단어만 주면 모두 이어서 한 문장으로 보고, 따옴표로 묶은 글이 하나라도 있으면 각각을 "
        "따로 번역합니다. -를 주면 표준 입력에서 한 줄에 하나씩 읽습니다",
    ),
    "task": Said("what to learn, or what the model must know", "학습할 내용, 또는 모델이 알아야 할 내용"),
    "figure": Said("draw cross-attention: .png, .svg or .pdf", "크로스 어텐션을 그릴 파일: .png, .svg, .pdf"),
    "model": Said(
        "a trained translator (default: clearhead's own)", "학습을 마친 번역기 (기본값: clearhead에 들어 있는 것)"
    ),
    "plain": Said(
        "print translations only, a line each; doubts go to standard error",
        "번역문만 한 줄에 하나씩 출력합니다. 확실하지 않다는 말은 표준 오류로 나옵니다",
    ),
    "layer": Said("draw and read this layer, counted from 0", "그리고 읽을 층, 0부터 셉니다"),
    "head": Said("and of it this head, counted from 0", "그 층의 헤드, 0부터 셉니다"),
    "words": Said("list the words the model knows, with their English", "모델이 아는 단어를 영어와 함께 보여 줍니다"),
    "score": Said(
        "count how many sentences of a list come out right: by default one written by hand, on which no model was "
        "trained; FILE has a line each of a sentence, a tab and its translation, further accepted ones after more tabs",
        "목록의 문장을 몇 개나 맞게 번역하는지 셉니다. 기본값은 학습에 쓰지 않은, 손으로 쓴 목록입니다. FILE에는 "
        "한 줄에 문장, 탭, 번역문을 적고, 정답이 여럿이면 탭으로 이어 적습니다",
    ),
    "list": Said("with --score: list those that are wrong", "--score와 함께: 틀린 문장을 모두 보여 줍니다"),
    "train": Said(
        "train a translator and judge it by unseen texts; without --task one of dates and one of sentences, with "
        "pictures of both, into a folder",
        "번역기를 학습시키고 본 적 없는 글로 채점합니다. --task가 없으면 날짜와 문장 번역기를 하나씩 만들고 그림까지 "
        "폴더에 담습니다",
    ),
    "pairs": Said("learn from lines of: source, tab, target", "원문, 탭, 번역문으로 된 줄에서 배웁니다"),
    "swap": Said("with --pairs: the second column is the source", "--pairs와 함께: 둘째 칸이 원문입니다"),
    "out": Said(
        "where to write it (default: TASK.safetensors, or without --task the folder translator/)",
        "결과를 쓸 곳 (기본값: TASK.safetensors, --task가 없으면 translator/ 폴더)",
    ),
    "resume": Said("go on with a training that was stopped or killed", "멈추거나 끊긴 학습을 이어서 합니다"),
    "overwrite": Said("replace what is at --out, or begin anew", "--out에 있는 것을 덮어쓰거나 처음부터 다시 합니다"),
    "half": Said("write float16, half the size", "float16으로 써서 크기를 반으로 줄입니다"),
    "seed": Said("of weights and order (default: 0)", "가중치와 순서를 정하는 난수 시드 (기본값: 0)"),
    "steps": Said("at most so many (default: enough for the task)", "최대 스텝 수 (기본값: 학습 내용에 맞게)"),
    "film": Said(
        "how attention changed: .gif, .png, .svg or .pdf",
        "학습하면서 어텐션이 어떻게 바뀌었는지 담을 파일: .gif, .png, .svg, .pdf",
    ),
}

# Mistakes of usage.
NOT_A_NUMBER = Said(
    "expected a whole number of at least {least}, got {text!r}",
    "{least} 이상의 정수를 주세요. 들어온 값: {text!r}",
)
NOTHING_TO_DO = Said(
    "nothing to do: give a text, 고양이가 쥐를 잡았다, or --train to train a translator",
    "할 일이 없습니다. 번역할 글(예: 고양이가 쥐를 잡았다)을 주거나, 번역기를 학습시키려면 --train을 주세요",
)
NOTHING_TO_READ = Said(
    "nothing to translate: there is no text on standard input",
    "번역할 글이 없습니다. 표준 입력이 비어 있습니다",
)
NEEDS_LAYER = Said(
    "--head {head} needs --layer: which layer's head is meant?",
    "--head {head}에는 --layer가 필요합니다. 어느 층의 헤드인지 알려 주세요",
)
HALF_QUOTED = Said(
    "{word!r} stands beside a text in quotes: put quotes around each whole text, or around none; a text of one word "
    "ends with a full stop, {word}.",
    "따옴표로 묶은 글 옆에 따옴표 없는 단어가 있습니다: {word!r}. 글마다 통째로 따옴표로 묶거나, 따옴표를 모두 빼 "
    "주세요. 한 단어로 된 글이라면 끝에 마침표를 붙이세요: {word}.",
)
ONE_FIGURE = Said(
    "--figure draws one text, got {count}; ask for one at a time",
    "--figure는 글 하나만 그리는데 {count}개가 들어왔습니다. 하나씩 해 주세요",
)
NEEDS = Said("{given} goes with {with_}", "{given}: {with_}와 함께 써야 합니다")
REFUSED = Said(
    "{given} cannot be used with {what}; leave out one of the two",
    "{given}: {what}와 함께 쓸 수 없습니다. 둘 가운데 하나를 빼 주세요",
)
GOES_WITH = Said(
    "{given} cannot be used with {what}; it goes with {advice}",
    "{given}: {what}에는 쓸 수 없습니다. {advice}와 함께 쓰는 옵션입니다",
)
TRAIN_ALONE = Said("--train alone, which draws everything", "모든 그림을 그리는 --train만 쓸 때")
NO_SUCH_PART = Said(
    "--{name} must be in [0, {last}] for a decoder of {count} {name}s, got {asked}",
    "--{name} 값은 0부터 {last}까지입니다. 들어온 값: {asked}. 이 디코더에는 {count}개가 있습니다",
)
OTHER_TASK = Said(
    "{model} was trained on {known}, not on {task}; leave --task out, or name a model of that task with --model",
    "배운 것이 다릅니다: {model}, 배운 것 {known}, 찾는 것 {task}. --task를 빼거나, --model로 다른 모델을 고르세요",
)
SHIPPED_MODEL = Said("the model that comes with clearhead", "clearhead에 들어 있는 모델")
NO_MODEL = Said(
    "there is no file {path}; expected a trained translator", "{path} 파일이 없습니다. 학습을 마친 번역기를 주세요"
)
NEEDS_EXTRA = Said("training needs PyTorch and more: {install}", "학습에는 PyTorch 등이 필요합니다: {install}")

# Texts that cannot be translated, and translations that are not to be relied on.
EMPTY = Said(
    "there is nothing to translate: the text is empty; give a sentence or a date",
    "번역할 것이 없습니다. 글이 비어 있습니다. 문장이나 날짜를 주세요",
)
TOO_LONG = Said(
    "a text of {count:,} {what} is too long: the longest sentence this model has learned has {most} pieces, such as "
    "words and endings; translate one sentence at a time",
    "글이 너무 깁니다({what} {count:,}개). 이 모델이 배운 가장 긴 문장은 조각(단어나 어미)이 {most}개입니다. 한 번에 "
    "한 문장씩 번역하세요",
)
CHARACTERS = Said("characters", "글자")
PIECES = Said("pieces", "조각")
ONE_CHARACTER = Said("character {first}", "{first}번째 글자")
SOME_CHARACTERS = Said("characters {first} to {last}", "{first}–{last}번째 글자")


def place_in_text(start: int, stop: int) -> Said:
    """Where a word lies, as a reader counts: the first character is 1, and the last one is counted too."""
    said = ONE_CHARACTER if stop - start == 1 else SOME_CHARACTERS
    return said.filled(first=start + 1, last=stop)


UNKNOWN_WORD = Said(
    "the word {word!r}, {place}, is not in the vocabulary: no piece fits from {rest!r} on; {hint}",
    "배우지 않은 단어입니다: {word!r}({place}), {rest!r}부터 읽을 수 없습니다. {hint}",
)
NEAR = Said("close to it: {near}", "비슷한 단어: {near}")
NOTHING_NEAR = Said(
    "nothing close to it is known, `{program} translate --words` lists what is",
    "비슷한 단어도 없습니다. 아는 단어는 `{program} translate --words`로 볼 수 있습니다",
)
STRANGE = Said(
    "it is not sure of this: it does not know {words}",
    "이 번역은 확실하지 않습니다. 모르는 단어가 있습니다: {words}",
)
NEVER_READ = Said(
    "{word!r}, {place}, is not translated: this model translates {known}",
    "{word!r}({place}): 번역하지 않는 말입니다. 이 모델이 번역하는 것: {known}",
)
READS = {
    "dates": Said("dates, such as 2028년 12월 7일 or December 7, 2028", "날짜(예: 2028년 12월 7일 목요일)"),
    "sentences": Said("Korean sentences, such as 고양이가 쥐를 잡았다", "한국어 문장(예: 고양이가 쥐를 잡았다)"),
    "all": Said(
        "Korean sentences and dates, such as 고양이가 쥐를 잡았다 or December 7, 2028",
        "한국어 문장과 날짜(예: 고양이가 쥐를 잡았다, 2028년 12월 7일)",
    ),
}
NO_SUCH_DAY = Said(
    "there is no such day: {text}; {month} has {days} days",
    "없는 날짜입니다: {text}. {month}은 {days}일까지입니다",
)
NO_SUCH_MONTH = Said("there is no such month: {text}", "없는 달입니다: {text}. 달은 1월부터 12월까지입니다")
NO_SUCH_TIME = Said(
    "there is no such time of day: {text}; hours go up to {hours}, minutes to 59",
    "없는 시각입니다: {text}. 시는 {hours}까지, 분은 59까지입니다",
)
UNTAUGHT_DATE = Said(
    "{text} is not a date in a form that this model has learned, or a part of it is missing; it knows: {known}; years "
    "are of two digits, or from 1000 to 2999",
    "그런 형식의 날짜는 배우지 않았거나, 날짜에 빠진 것이 있습니다: {text}. 아는 형식: {known}. 연도는 두 자리이거나 "
    "1000년부터 2999년까지입니다",
)
DOUBT = Said(
    "it is not sure of this: it has learned no sentence like it",
    "이 번역은 확실하지 않습니다. 이런 문장은 배우지 않았습니다",
)

NOT_TOGETHER = Said(
    "it is not sure of this: it has not learned that these go together: {object} {verb}",
    "이 번역은 확실하지 않습니다. 함께 쓰는 말로 배우지 않았습니다: {object} {verb}",
)
NO_PREDICATE = Said(
    "it is not sure of this: there is no verb, and it has learned whole sentences, such as 고양이가 쥐를 잡았다",
    "이 번역은 확실하지 않습니다. 서술어(동사, 형용사, 이다)가 없습니다. 온전한 문장으로 써 주세요(예: 고양이가 쥐를 "
    "잡았다)",
)
TWO_SUBJECTS = Said(
    "it is not sure of this: two words say who does it: {first} {second}",
    "이 번역은 확실하지 않습니다. 주어가 둘입니다: {first} {second}",
)
NO_PAIRS = Said(
    "{path} has no pairs: line {line}: {why}; expected lines of a source text, a tab and a target text",
    "{path} 파일에 쌍이 없습니다. {line}번째 줄: {why}. 한 줄에 원문, 탭, 번역문을 차례로 써 주세요",
)
PAIRS_FOLDER = Said(
    "{path} is a directory; give the path of a tab-separated text file",
    "{path} 경로는 폴더입니다. 탭으로 나눈 텍스트 파일의 경로를 지정해 주세요",
)
NO_PAIRS_FILE = Said(
    "there is no file {path}; give the path of a tab-separated text file",
    "{path} 파일이 없습니다. 탭으로 나눈 텍스트 파일의 경로를 지정해 주세요",
)
EMPTY_PAIRS = Said(
    "{path} is empty; expected lines of a source text, a tab and a target text",
    "{path} 파일이 비어 있습니다. 한 줄에 원문, 탭, 번역문을 차례로 써 주세요",
)
PAIRS_NO_TEXT = Said(
    "{path} is not a text file: byte {place} is zero; expected UTF-8 (a UTF-16 file has to be saved as UTF-8)",
    "{path} 파일은 텍스트 파일이 아닙니다. {place}번째 바이트가 0입니다. UTF-8로 저장해 주세요(UTF-16 파일도 UTF-8로 "
    "다시 저장해야 합니다)",
)
PAIRS_NO_UTF_8 = Said(
    "{path} is not UTF-8: line {line} has the byte {byte} where no character can have it; save it as UTF-8",
    "{path} 파일은 UTF-8이 아닙니다. {line}번째 줄에 글자가 될 수 없는 바이트 {byte}가 있습니다. UTF-8로 저장해 주세요",
)
ALL_ALIKE = Said(
    "all {count} pairs share a text with each other, so none of them can be kept for the test; add pairs with "
    "other texts",
    "쌍 {count}개가 모두 서로 같은 글을 나눠 가져서 시험용으로 따로 둘 쌍이 없습니다. 다른 글로 된 쌍을 더해 주세요",
)
CUT_OFF = Said(
    "it is not sure of this: the sentence stops where another clause should follow: {word}",
    "이 번역은 확실하지 않습니다. 문장이 끝나지 않았습니다. 뒤에 절이 이어져야 합니다: {word}",
)
NO_OBJECT = Said(
    "it is not sure of this: nothing says whom or what: {verb}",
    "이 번역은 확실하지 않습니다. 목적어(누구를, 무엇을)가 나와 있지 않습니다: {verb}",
)
NOBODY_ELSE = Said(
    "it is not sure of this: nothing says who they are: {word}",
    "이 번역은 확실하지 않습니다. 누구와 누구인지 나와 있지 않습니다: {word}",
)
SEVERAL_MEANINGS = Said(
    "it is not sure of this: a word has several meanings, and more than one makes sense here: {word} ({meanings}) "
    "{predicate}",
    "이 번역은 확실하지 않습니다. 뜻이 여럿인 단어인데 어느 뜻으로 읽어도 말이 됩니다: {word}({meanings}) {predicate}",
)
OTHER_MEANING = Said(
    "it is not sure of this: it took a word in a meaning that does not go with the one beside it: {word} {predicate}",
    "이 번역은 확실하지 않습니다. 곁에 있는 말과 어울리지 않는 뜻으로 옮겼습니다: {word} {predicate}",
)
OTHER_FORM = Said(
    "it is not sure of this: it knows these words, but not in this form: {words}",
    "이 번역은 확실하지 않습니다. 아는 단어지만 이런 꼴로는 배우지 않았습니다: {words}",
)
NO_ENGLISH = Said(
    "it is not sure of this: people do not say so in English: {words}",
    "이 번역은 확실하지 않습니다. 영어로는 이렇게 쓰지 않습니다: {words}",
)
SAID_TWICE = Said(
    "it is not sure of this: the translation says more often than the sentence: {word}",
    "이 번역은 확실하지 않습니다. 원문에 나온 것보다 더 자주 옮긴 말이 있습니다: {word}",
)

NO_WORD = Said("(looked at no word of the source)", "(원문의 단어를 보지 않음)")


def doubt(strange: Sequence[str], unusual: Said | None = None) -> Said:
    """Why a translation is not to be relied on: words that are not known, or else what is unusual about others."""
    return STRANGE.filled(words=", ".join(strange)) if strange else unusual or DOUBT


WRITTEN = Said("written: {path}", "저장했습니다: {path}")
KNOWS_BOTH = Said(
    "the translator that comes with clearhead knows both and more; it is trained by: {command}",
    "clearhead에 들어 있는 번역기는 둘 다 알고 더 많이 압니다. 학습 명령: {command}",
)

# Which heads are read.
ALL_HEADS = Said("mean of all heads", "모든 헤드의 평균")
LAYER_MEAN = Said("layer {layer}, mean of its heads", "층 {layer}, 헤드 평균")
ONE_HEAD = Said("layer {layer}, head {head}", "층 {layer}, 헤드 {head}")


def reader_name(reader: Reader) -> Said:
    """A head of a layer, or the mean of those that it stands for."""
    layer, head = reader
    if layer is None:
        return ALL_HEADS
    return LAYER_MEAN.filled(layer=layer) if head is None else ONE_HEAD.filled(layer=layer, head=head)


# Figures.
HEADS_TITLE = Said("Cross-attention, head by head", "헤드별 크로스 어텐션")
READER_TITLE = Said("Cross-attention, {reader}", "크로스 어텐션, {reader}")
STRIP_TITLE = Said(
    "Cross-attention ({reader}) while training, and the share of held-out pairs translated to the letter",
    "학습하는 동안의 크로스 어텐션({reader})과, 따로 떼어 둔 글을 글자까지 똑같이 번역한 비율",
)
UNSURE = Said("not sure", "확실하지 않음")
STEP = Said("step {step}", "{step}스텝")
STEP_REACHED = Said("step {step} · {exact} right", "{step}스텝 · 정답 {exact}")

# What a model knows.
KINDS = {
    "nouns": Said("nouns and pronouns ({count})", "명사와 대명사 ({count})"),
    "verbs": Said("verbs ({count})", "동사 ({count})"),
    "adjectives": Said("adjectives ({count})", "형용사와 관형사 ({count})"),
    "places": Said("places ({count})", "장소 ({count})"),
    "times": Said("times ({count})", "때 ({count})"),
    "positions": Said("beside a thing ({count})", "위치 ({count})"),
    "adverbs": Said("adverbs ({count})", "부사 ({count})"),
    "questions": Said("question words ({count})", "묻는 말 ({count})"),
    "counters": Said("counters ({count})", "세는 말 ({count})"),
    "small": Said("small words ({count})", "그 밖의 말 ({count})"),
    "means": Said("means ({count})", "수단 ({count})"),
    "numbers": Said("numbers ({count})", "수 ({count})"),
    "dates": Said("dates, written in these ways among others ({count})", "날짜, 이렇게 쓴 것들 ({count})"),
    "pieces": Said("words and beginnings of words ({count})", "단어와 단어의 앞부분 ({count})"),
}
DATES = (
    "2028년 12월 7일 목요일",
    "1850년 1월 1일",
    "24년 3월 5일",
    "2028. 12. 7.",
    "2028-12-07",
    "20281207",
    "3/5",
    "오전 9시",
    "12/7/2028",
    "December 7, 2028",
    "7 mars 2028",
)

# How a list of sentences comes out.
NO_LIST = Said(
    "there is no file {path}; expected lines of a sentence, a tab and its translation",
    "{path} 파일이 없습니다. 문장, 탭, 번역문으로 된 줄이 담긴 파일을 주세요",
)
NO_TRANSLATION = Said(
    "{path}, line {line}: expected a sentence, a tab and its translation",
    "{path}, {line}번째 줄: 문장, 탭, 번역문이 있어야 합니다",
)
EMPTY_LIST = Said(
    "{path} has no sentences; expected lines of a sentence, a tab and its translation",
    "{path}에 문장이 없습니다. 문장, 탭, 번역문으로 된 줄이 있어야 합니다",
)
SCORE_RIGHT = Said(
    "right: {share} of {total:,} sentences, translated as one of their accepted translations",
    "맞음: 문장 {total:,}개 가운데 {share}, 정답으로 적힌 번역문과 같습니다",
)
SCORE_DOUBTED = Said(
    "doubted: {share} of the {total:,} that are wrong carry a doubt",
    "의심: 틀린 {total:,}개 가운데 {share}, 확실하지 않다고 했습니다",
)
SCORE_SURE = Said(
    "relied on: {share} of the {total:,} that carry no doubt are right",
    "확신: 확실하다고 한 {total:,}개 가운데 {share}, 실제로 맞습니다",
)
SCORE_WRONG = Said("{source} → {text}, should be {expected}", "{source} → {text}, 정답은 {expected}")

TASKS = {
    "dates": Said("dates", "날짜"),
    "sentences": Said("sentences", "문장"),
    "all": Said("all", "전체"),
    "pairs": Said("pairs", "직접 준 문장 쌍"),
}


def task_name(task: str) -> Said:
    """A task in both languages; one that has another name has that name in both."""
    return TASKS.get(task, Said(task, task))


# While a training runs.
BAR = {
    "task": Said("training on {task}", "{task} 학습 중"),
    "loss": Said("loss", "손실"),
    "held out": Said("held out", "검증"),
    "left": Said("left", "남은 시간"),
}
STEP_LINE = Said(
    "step {step} of {steps}: loss {loss:.3f}, held out {exact} exact, {seconds:.0f} s, at most {left:.0f} s left",
    "{steps}스텝 가운데 {step}: 손실 {loss:.3f}, 검증 정답 {exact}, {seconds:.0f}초 지남, 길어야 {left:.0f}초 남음",
)

STOPPED = Said(
    "stopped at step {step}, saved in {path}; the same command with --resume continues it",
    "{step}스텝에서 멈추고 {path}에 저장했습니다. 같은 명령에 --resume을 더하면 이어서 합니다",
)

# Before it begins.
FILE_FOR_FOLDER = Said(
    "--out {folder} is a file; without --task it names a folder, for several files",
    "--out {folder}: 파일입니다. --task가 없으면 여러 파일을 담을 폴더여야 합니다",
)
EXISTS = Said(
    "{path} exists; --overwrite replaces it, --out names another file",
    "{path}: 이미 있습니다. --overwrite로 덮어쓰거나 --out으로 다른 파일을 고르세요",
)
UNFINISHED = Said(
    "{path} holds a training that was not finished; --resume continues it, --overwrite begins anew",
    "{path}: 끝나지 않은 학습이 있습니다. --resume으로 이어서 하거나 --overwrite로 처음부터 다시 하세요",
)
FINISHED_BEFORE = Said("{task}: finished before, in {path}", "{task}: 이미 끝났습니다, {path}")
SKIPPED = Said("{path}, line {line}: {reason}; skipped", "{path}, {line}번째 줄: {reason}. 건너뜁니다")
MORE_SKIPPED = Said("… and {count:,} more lines skipped", "… 그 밖에 {count:,}줄을 더 건너뛰었습니다")
EMPTY_LINE = Said("it is empty", "비어 있습니다")
NO_TAB = Said("there is no tab, so there is only one text", "탭이 없어서 글이 하나뿐입니다")
SAME_PAIR = Said("the same pair as line {line}", "{line}번째 줄과 같은 쌍입니다")
SOURCE = Said("source", "원문")
TARGET = Said("target", "번역문")
EMPTY_SIDE = Said("the {side} is empty", "{side}이 비어 있습니다")
LONG_SIDE = Said(
    "the {side} has {count} characters, more than {longest}", "{side}이 {count}자로 {longest}자보다 깁니다"
)

# When it is over.
TRAINED = Said(
    "trained {task}: {parameters:,} parameters, {steps} steps in {seconds:.0f} s{load}, {processor:.0f} s of processor "
    "time",
    "{task} 학습을 마쳤습니다: 파라미터 {parameters:,}개, {steps}스텝에 {seconds:.0f}초{load}, "
    "프로세서 시간 {processor:.0f}초",
)
TRY = Said("try it: {command}", "써 보려면: {command}")
LOAD = Said(" at load {load:.1f}", " (시스템 부하 {load:.1f})")
WRONG = Said("wrong: {source} → {text} (should be {expected})", "틀림: {source} → {text} (정답: {expected})")
UNSEEN = Said(
    "unseen texts, and the source word each word looked at most:", "본 적 없는 글과, 단어마다 가장 많이 본 원문의 단어:"
)
GOALS = {
    "all": Said("goals: {goals}", "목표: {goals}"),
    "exact": Said("exact match ≥ {goal}", "완전 일치 ≥ {goal}"),
    "aligned": Said("alignment ≥ {goal}", "정렬 ≥ {goal}"),
    "seconds": Said("training ≤ {goal:g} s", "학습 ≤ {goal:g}초"),
}
MET = Said("met", "달성")
MISSED = Said("missed", "미달")
SILENCE = Said(
    "{count} of the held-out sources have characters that no training pair has; they count as silence",
    "따로 떼어 둔 원문 가운데 {count}개에는 학습에 없던 글자가 있습니다. 빈 번역으로 칩니다",
)
EXACT = Said(
    "{name}: {exact} of {total:,} unseen texts translated to the letter, written freely",
    "{name}: 본 적 없는 글 {total:,}개 가운데 {exact}를 글자까지 똑같이 번역했습니다(정답을 보여 주지 않고)",
)
ALIGNED = Said(
    "{name}: {accuracy} of {total:,} content words look at the right source word, alignment error rate {errors} "
    "({reader})",
    "{name}: 내용어 {total:,}개 가운데 {accuracy}가 원문의 올바른 단어를 봅니다. 정렬 오류율 {errors} ({reader})",
)
BEST_HEAD = Said(
    "{name}: the best single head is {reader}, with {accuracy}",
    "{name}: 헤드 하나만 볼 때 가장 정확한 헤드는 {reader}입니다({accuracy})",
)
READINGS = Said(
    "read in the row where a word is written, attention is right for {written} of the words; in the row where it is "
    "given, for {given}",
    "단어를 쓰는 행에서 읽으면 어텐션이 단어의 {written}에서 맞고, 단어가 주어지는 행에서 읽으면 {given}에서 맞습니다",
)
QUALITY = Said(
    "{name} pairs: BLEU {bleu:.1f}, chrF {chrf:.1f} ({pairs:,} pairs, written freely)",
    "{name} 쌍: BLEU {bleu:.1f}, chrF {chrf:.1f} ({pairs:,}쌍, 정답을 보여 주지 않고)",
)
HELD_OUT = Said("held-out", "따로 떼어 둔")
TRAINED_ON = Said("training", "학습에 쓴")
MEMORISES = Said(
    "it memorises: pairs it was trained on come out {apart:.1f} points of BLEU better than pairs it has never seen. "
    "That is what a few thousand pairs lead to; more of them, or a smaller model, would help",
    "외우고 있습니다. 학습에 쓴 쌍의 BLEU가 처음 보는 쌍보다 {apart:.1f}점 높습니다. 몇천 쌍으로 학습하면 흔히 이렇게 "
    "됩니다. 쌍을 늘리거나 모델을 줄이면 나아집니다",
)
