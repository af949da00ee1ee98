"""What the command says: help, the folder of a learner, hints, keys and what cannot be done."""

from __future__ import annotations

from clearhead.languages import Said

DESCRIPTION = Said(
    """\
Exercises from softmax to a whole decoder, checked on your machine: write a
function, and hear what went wrong in words when it is not right yet.

Each exercise is a file in a folder of yours. Without an action, practice shows
the next one and where to write.""",
    """\
소프트맥스에서 디코더까지, 직접 짜 보고 바로 채점받는 연습 문제입니다.
함수를 쓰고 채점하면, 틀렸을 때 무엇이 잘못되었는지 말로 알려 줍니다.

문제마다 파일이 하나씩 작업 폴더에 생깁니다. ACTION을 주지 않으면 다음 문제와
답을 쓸 파일을 알려 줍니다.""",
)
EXAMPLES = Said(
    """\
actions:
  start      the next exercise, or the one that is named; a name alone will do
  list       every exercise, and which are done
  check      check an exercise, by default the current one
  watch      check again whenever the file is saved
  hint       a hint, and one more each time, three in all
  solution   our solution, after passing or with --give-up
  reset      begin an exercise anew; a copy of yours is kept
  check-all  check everything

examples:
  {program}
  {program} softmax
  {program} check softmax
  {program} watch
  {program} hint softmax
  {program} check softmax --file mine.py
""",
    """\
ACTION:
  start      다음 문제나 이름을 준 문제를 엽니다. 문제 이름만 주어도 됩니다
  list       모든 문제와 푼 문제를 보여 줍니다
  check      문제 하나를 채점합니다 (기본값: 지금 풀 문제)
  watch      파일을 저장할 때마다 다시 채점합니다
  hint       힌트를 보여 줍니다. 볼 때마다 하나씩 늘어 모두 셋입니다
  solution   모범 답안을 보여 줍니다. 통과한 뒤에, 또는 --give-up을 주면 볼 수 있습니다
  reset      문제를 처음부터 다시 풉니다. 쓰던 답은 사본으로 남습니다
  check-all  모든 문제를 채점합니다

예:
  {program}
  {program} softmax
  {program} check softmax
  {program} watch
  {program} hint softmax
  {program} check softmax --file mine.py
""",
)
OPTIONS = {
    "action": Said(
        "start, list, check, watch, hint, solution, reset or check-all; without one, the next exercise",
        "start, list, check, watch, hint, solution, reset, check-all 가운데 하나. 없으면 다음 문제를 보여 줍니다",
    ),
    "name": Said(
        "an exercise, as `list` shows it (default: the current one)",
        "문제 이름. `list`에서 볼 수 있습니다 (기본값: 지금 풀 문제)",
    ),
    "file": Said("check this file instead of the workspace's", "작업 폴더의 파일 대신 이 파일을 채점합니다"),
    "give_up": Said("show the solution without having passed", "통과하지 않았어도 모범 답안을 봅니다"),
    "workspace": Said("the folder of your files (default: {default})", "파일을 두는 작업 폴더 (기본값: {default})"),
}
DOES: dict[str, Said] = {
    "check": Said("check it", "채점합니다"),
    "watch": Said("check it whenever you save", "저장할 때마다 채점합니다"),
    "hint": Said("a hint", "힌트를 봅니다"),
    "solution": Said("how we would write it", "모범 답안을 봅니다"),
    "": Said("the next exercise", "다음 문제로 갑니다"),
}
WELCOME = Said(
    "Welcome. Your files are in {folder}, one for each exercise. Begin with the first:\n",
    "반갑습니다. {folder} 폴더에 문제마다 파일을 하나씩 만들었습니다. 첫 문제부터 시작하세요.\n",
)
NEW_HERE = Said(
    "{folder} is new: nobody has practised here yet. If you have practised elsewhere, go there or give --workspace.\n",
    "{folder} 폴더를 새로 만들었습니다. 다른 곳에서 풀던 문제가 있으면 그 폴더로 가거나 --workspace로 알려 주세요.\n",
)
WHAT_TO_DO = Said("Write it in {file}. Then:", "{file} 파일에 답을 쓰세요. 그다음에는 아래 명령을 쓸 수 있습니다.")
WRITE_THERE = Said("Write it in {file}.", "{file} 파일에 답을 쓰세요.")
WHEN_WRONG = Said("If you are stuck:", "막히면 힌트를 볼 수 있습니다.")
WHEN_RIGHT = Said("What next?", "이제 무엇을 할까요?")
HINT = Said("Hint {number} of {total}", "힌트 {number}/{total}")
MORE_HINTS = Said("There is more:", "힌트가 더 있습니다.")
RESET = Said("{file} is as it was in the beginning.", "{file} 파일을 처음 상태로 되돌렸습니다.")
KEPT = Said("Yours is kept in {file}.", "쓰던 답은 {file} 파일에 남겨 두었습니다.")
RESET_SURE = Said(
    "Begin {name} anew? A copy of yours is kept. [y/n]",
    "{name} 문제를 처음부터 다시 풀까요? 쓰던 답은 사본으로 남습니다. [y/n]",
)
NOT_RESET = Said("Nothing was changed.", "바꾼 것이 없습니다.")
CHECKING = Said("Checking", "채점 중")
HOW_FAR = Said("{passed} of {total} done.", "{total}문제 가운데 {passed}문제를 풀었습니다.")
ALL_DONE = Said(
    "All {total} exercises are done. You have written every part of a Transformer yourself.",
    "{total}문제를 모두 풀었습니다. 트랜스포머의 모든 부분을 직접 만든 것입니다.",
)
KEYS = Said("h hint · n next · l list · r reset · q quit", "h 힌트 · n 다음 문제 · l 목록 · r 처음부터 · q 끝내기")
KEYS_WHEN_RIGHT = Said(
    "Press n for the next exercise · h hint · l list · r reset · q quit",
    "n을 누르면 다음 문제로 갑니다 · h 힌트 · l 목록 · r 처음부터 · q 끝내기",
)
NO_KEYS = Said(
    "This is no terminal, so there are no keys here. The file is checked whenever it is saved; Ctrl-C ends it.",
    "터미널이 아니어서 키를 쓸 수 없습니다. 파일을 저장할 때마다 채점하며, Ctrl-C로 끝냅니다.",
)
GOODBYE = Said("Your progress is kept. Until next time.", "진도를 저장했습니다. 다음에 또 만나요.")
DAMAGED = Said(
    "{file} could not be read. It was set aside as {aside}, and your progress begins anew; your answers are untouched. "
    "`practice check-all` notes again what is right.",
    "{file} 파일을 읽을 수 없어 {aside} 이름으로 옮겨 두었습니다. 진도는 처음부터 다시 셉니다. 쓴 답은 그대로 "
    "있습니다. `practice check-all`을 실행하면 맞은 문제가 다시 기록됩니다.",
)
NOT_KEPT = Said(
    "Your progress could not be written to {folder}: {error}. May you write there?",
    "{folder} 폴더에 진도를 저장하지 못했습니다. {error}. 이 폴더에 쓸 수 있는지 확인하세요.",
)
CANNOT = Said("That could not be done. {error}", "할 수 없었습니다. {error}")
NOT_PASSED = Said(
    "The solution of {name} is shown when yours is right. To see it now: {command}",
    "{name} 문제의 모범 답안은 통과한 뒤에 볼 수 있습니다. 지금 보려면 이렇게 하세요: {command}",
)
NEEDS = Said(
    "The exercise {name} needs {module}, which is not installed: {command}",
    "{name} 문제에는 {module} 패키지가 필요한데 설치되어 있지 않습니다: {command}",
)
NEEDS_WATCHFILES = Said(
    "`watch` needs watchfiles, which is not installed: {command}",
    "`watch`에는 watchfiles 패키지가 필요한데 설치되어 있지 않습니다: {command}",
)
UNKNOWN = Said(
    "there is no exercise {name}; `list` shows them all",
    "{name} 문제는 없습니다. `list`로 모든 문제를 볼 수 있습니다",
)
UNKNOWN_NEAR = Said(
    "there is no exercise {name}; did you mean {near}?",
    "{name} 문제는 없습니다. {near} 아닌가요?",
)
TAKES_NO_NAME = Said(
    "{action} takes no name of an exercise. To open one: `{open}`; to check it: `{check}`",
    "{action}에는 문제 이름을 주지 않습니다. 문제를 열려면 `{open}`, 채점하려면 `{check}` 명령을 쓰세요",
)
NO_ACTION = Said(
    "there is no action {action}; there are {actions}. An exercise's name alone opens it",
    "{action} 명령은 없습니다. 쓸 수 있는 명령: {actions}. 문제 이름만 주면 그 문제를 엽니다",
)
NO_ACTION_NEAR = Said(
    "there is no action {action}; did you mean {near}? There are {actions}",
    "{action} 명령은 없습니다. {near} 아닌가요? 쓸 수 있는 명령: {actions}",
)
GOES_WITH = Said("{option} goes with {action} alone", "{option} 옵션은 {action}에만 쓸 수 있습니다")
NO_FOLDER = Said("{folder} is a file, and a workspace is a folder", "{folder} 이름은 파일입니다. 작업 폴더를 주세요")
SHEET = Said(
    """\
Check:  {check}
Hint:   {hint}
Read:   {learn}  (“{section}”)""",
    """\
채점:  {check}
힌트:  {hint}
노트:  {learn}  (“{section}”)""",
)
