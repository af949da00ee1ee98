"""What `clearhead learn` says, in Korean and in English."""

from __future__ import annotations

from clearhead.languages import Said

DESCRIPTION = Said(
    """\
The course on attention: eight notes for one afternoon, in Korean and in English.

Without a number, lists the notes with what you have read and practised. With
one, opens that note in the browser, or in the terminal with --pager.""",
    """\
한나절에 읽는 어텐션 강의 노트 여덟 편을 한국어와 영어로 봅니다.

번호를 주지 않으면 노트 목록과 함께 무엇을 읽고 무엇을 연습했는지 보여 줍니다.
번호를 주면 그 노트를 브라우저에서 열고, --pager를 더하면 터미널에서 보여 줍니다.""",
)
EXAMPLES = Said(
    """\
examples:
  {program}
  {program} 01
  {program} 02 --pager
  {program} 06 --see
  {program} 02 --language ko
""",
    """\
예:
  {program}
  {program} 01
  {program} 02 --pager
  {program} 06 --see
  {program} 02 --language en
""",
)
OPTIONS = {
    "note": Said("the number of a note, 01 to 08", "노트 번호, 01부터 08까지"),
    "pager": Said("read it in the terminal", "브라우저 대신 터미널에서 읽습니다"),
    "see": Said(
        "open a page that shows what the note speaks of, in a trained model",
        "노트에서 다룬 것을 학습된 모델에서 볼 수 있는 페이지를 엽니다",
    ),
}

# The list.
NOTE = Said("note", "노트")
READ = Said("read", "읽음")
PRACTISED = Said("practised", "연습")
MARK = Said("✓", "✓")
COUNT = Said("{passed} of {all}", "{all}개 중 {passed}개")
NEXT = Said("Next: {program} {number}", "다음 노트: {program} {number}")
ALL_READ = Said(
    "You have read all of them. {program} 01 opens the first again.",
    "모두 읽었습니다. {program} 01을 실행하면 첫 노트를 다시 엽니다.",
)

# A note.
OPENED = Said("Opened in the browser: {title}\n{page}\n", "브라우저에서 열었습니다: {title}\n{page}\n")
COUNTED = Said("It counts as read now.", "읽은 노트로 기록했습니다.")
EXERCISES = Said(
    "Its exercises: {exercises}\nPractise: {command}",
    "이 노트의 연습 문제: {exercises}\n연습하기: {command}",
)
SEE = Said("See it in a trained model: {command}", "학습된 모델에서 직접 보기: {command}")
SEEN = Said(
    "Opened in the browser, where a trained model shows it: {title}\n{address}",
    "학습된 모델에서 볼 수 있도록 브라우저에서 열었습니다: {title}\n{address}",
)
TO_BE_SEEN = Said(
    "A trained model shows it: {title}\nOpen in a browser: {address}",
    "학습된 모델에서 볼 수 있습니다: {title}\n브라우저에서 여세요: {address}",
)
NO_BROWSER = Said(
    "no browser could be opened; open {page} yourself, or read it here with {program} {number} --pager",
    "브라우저를 열 수 없습니다. {page} 파일을 직접 열거나 {program} {number} --pager로 여기에서 읽으세요",
)
FIGURE = Said("Figure", "그림")

# What is refused, and what had to be mended.
NEEDS_NOTE = Said(
    "{option} needs the number of a note: 02, for instance", "{option}에는 노트 번호가 필요합니다. 예: 02"
)
NOT_SEEN = Said(
    "note {number} has no picture in a trained model; these have: {seen}",
    "{number}번 노트는 모델에서 볼 그림이 없습니다. 있는 노트: {seen}",
)
NO_SUCH_NOTE = Said(
    "there is no note {asked!r}; they are numbered {first} to {last}",
    "{asked!r} 노트는 없습니다. {first}부터 {last}까지 있습니다",
)
NO_NOTES = Said(
    "the notes are not where they should be ({places}); install clearhead again",
    "노트가 있어야 할 곳({places})에 없습니다. clearhead를 다시 설치하세요",
)
DAMAGED = Said(
    "{path} could not be understood and was set aside as {aside}; what was read is counted anew",
    "{path} 파일을 읽을 수 없어 {aside} 이름으로 옮겨 두고, 읽은 노트를 처음부터 다시 기록합니다",
)
NO_PROGRESS = Said(
    "{path} could not be understood, so that nothing counts as practised",
    "{path} 파일을 읽을 수 없어 연습한 것이 없다고 봅니다",
)
NOT_REMEMBERED = Said(
    "that this note was read could not be remembered: {error}",
    "이 노트를 읽었다는 기록을 남기지 못했습니다: {error}",
)
