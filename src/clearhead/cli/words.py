"""What the command line says by itself: what argparse says of usage, and what is the same for all commands."""

from __future__ import annotations

from clearhead.languages import Said

DESCRIPTION = Said(
    "Exact attention, and every weight of it to look at.",
    "정확한 어텐션을 계산하고, 그 가중치를 하나하나 들여다봅니다.",
)
USAGE = Said(
    "{program} [-h] [--version] [--language {{en,ko}}] COMMAND …",
    "{program} [-h] [--version] [--language {{en,ko}}] COMMAND …",
)
MISUSED = Said(
    "{program}: error: {message}\n`{program} --help` shows how it is used.\n",
    "{program}: 오류: {message}\n사용법은 `{program} --help`로 볼 수 있습니다.\n",
)
NO_LANGUAGE = Said(
    "{program}: CLEARHEAD_LANG is {value!r}, which is none of {known}; going on in English",
    "{program}: CLEARHEAD_LANG={value!r}: 쓸 수 있는 언어({known})가 아닙니다. 한국어로 계속합니다",
)
EPILOG = Said(
    "commands:\n{commands}\n\n`{program} COMMAND --help` says more about one of them.",
    "명령:\n{commands}\n\n명령마다 자세한 설명은 `{program} COMMAND --help`로 볼 수 있습니다.",
)
COMMAND = Said("one of those below", "아래 명령 가운데 하나")
VERSION = Said("show the version and exit", "버전을 보여 주고 끝냅니다")
LANGUAGE = Said(
    "speak Korean or English (default: CLEARHEAD_LANG, else the locale)",
    "한국어(ko)나 영어(en)로 말합니다 (기본값: CLEARHEAD_LANG, 없으면 로캘)",
)
FAILED = Said("{program}: {message}", "{program}: 오류: {message}")

SUMMARIES = {
    "visualize": Said("draw what a trained translator looks at", "학습을 마친 번역기가 무엇을 보는지 그립니다"),
    "translate": Said(
        "translate sentences and dates, or train a translator", "문장과 날짜를 번역하거나 번역기를 학습시킵니다"
    ),
    "trace": Said(
        "run a model of transformers, and keep what every head of it looks at",
        "transformers의 모델을 실행하고, 모든 헤드가 무엇을 보는지 기록합니다",
    ),
    "view": Said("walk through a trace in the browser", "기록한 어텐션을 브라우저에서 살펴봅니다"),
    "census": Said(
        "run a model over a corpus, and gather what every head of it does",
        "말뭉치 전체를 모델로 읽고, 모든 헤드가 무엇을 하는지 모읍니다",
    ),
    "learn": Said(
        "read the notes of the course, and see what you have read", "강의 노트를 읽고, 무엇을 읽었는지 봅니다"
    ),
    "practice": Said("exercises that name your mistake", "틀린 곳을 짚어 주는 연습 문제를 풉니다"),
}

# Whatever argparse says to the user of a command; its English is what it looks a text up by.
ARGPARSE = (
    Said("usage: ", "사용법: "),
    Said("positional arguments", "인자"),
    Said("options", "옵션"),
    Said("show this help message and exit", "이 도움말을 보여 주고 끝냅니다"),
    Said("argument %(argument_name)s: %(message)s", "%(argument_name)s: %(message)s"),
    Said("unrecognized arguments: %s", "알 수 없는 인자입니다: %s"),
    Said("unexpected option string: %s", "여기에 올 수 없는 옵션입니다: %s"),
    Said("not allowed with argument %s", "다음과 함께 쓸 수 없습니다: %s"),
    Said("ignored explicit argument %r", "값을 받지 않는 옵션에 값이 주어졌습니다: %r"),
    Said("the following arguments are required: %s", "다음 인자가 필요합니다: %s"),
    Said("one of the arguments %s is required", "다음 인자 가운데 하나가 필요합니다: %s"),
    Said("expected one argument", "값이 하나 필요합니다"),
    Said("expected at most one argument", "값은 하나까지만 줄 수 있습니다"),
    Said("expected at least one argument", "값이 하나 이상 필요합니다"),
    Said("expected %s argument", "값이 %s개 필요합니다"),
    Said("expected %s arguments", "값이 %s개 필요합니다"),
    Said(
        "ambiguous option: %(option)s could match %(matches)s",
        "어느 옵션인지 알 수 없습니다: %(option)s (후보: %(matches)s)",
    ),
    Said("invalid %(type)s value: %(value)r", "%(type)s 값으로 읽을 수 없습니다: %(value)r"),
    Said(
        "invalid choice: %(value)r (choose from %(choices)s)",
        "고를 수 없는 값입니다: %(value)r (고를 수 있는 값: %(choices)s)",
    ),
    Said(
        "invalid choice: %(value)r, maybe you meant %(maybe)r? (choose from %(choices)s)",
        "고를 수 없는 값입니다: %(value)r. %(maybe)r 아닌가요? (고를 수 있는 값: %(choices)s)",
    ),
)
