"""Everything practice says to a learner, in English and in Korean: as a patient teacher would say it.

Tasks, hints and what is said of an exercise's own mistakes stand with the exercise.
"""

from __future__ import annotations

from clearhead.languages import Said

# What is found, in the order in which it is looked for. {name} is the learner's function, {output} says which output.

FOUND = {
    "unwritten": Said(
        "`{name}` is not written yet. The task is above it in the file, and `return` hands the answer back.",
        "`{name}` 함수는 아직 비어 있습니다. 파일에서 함수 위에 과제가 있습니다. 답은 `return`으로 돌려주세요.",
    ),
    "blank": Said(
        "{output} is still blank: put your answer in the place of `...`.",
        "{output} 자리가 아직 비어 있습니다. `...` 대신 답을 적으세요.",
    ),
    "nothing": Said(
        "`{name}` runs, but hands nothing back: its result is None. Is `return` missing?",
        "`{name}` 함수가 실행되지만 돌려주는 값이 없습니다(None). `return`을 빠뜨리지 않았나요?",
    ),
    "nothing_there": Said(
        "{output} is None. Something must be handed back there too.",
        "{output} 자리에 None이 왔습니다. 그 자리에도 값을 돌려주어야 합니다.",
    ),
    "missing": Said(
        "There is no function `{name}` in the file. Keep the name as the task gives it.",
        "파일에 `{name}` 함수가 없습니다. 과제에 적힌 이름을 그대로 쓰세요.",
    ),
    "names": Said(
        "The answers lack {output}. Keep every name that the task asks for.",
        "답에 {output} 항목이 없습니다. 과제가 묻는 이름을 모두 남겨 두세요.",
    ),
    "type": Said(
        "{output} should be {expected}, and is {got}.",
        "{output}에는 종류가 다른 값이 왔습니다. 와야 할 것: {expected}, 온 것: {got}",
    ),
    "shape": Said(
        "{output} should have the shape {expected}, and has {got}.",
        "{output}의 모양이 다릅니다. 와야 할 모양: {expected}, 온 모양: {got}",
    ),
    "dtype": Said(
        "{output} should hold {expected}, and holds {got}.",
        "{output}에는 {expected} 값이 들어야 하는데 {got} 값이 들어 있습니다.",
    ),
    "nan": Said(
        "{output} holds {strange} where there should be a number.",
        "{output}에 수가 아니라 {strange} 값이 들어 있는 칸이 있습니다.",
    ),
    "values": Said(
        "{output} has the right shape, but {wrong} of its {total} numbers are not right.",
        "{output}의 모양은 맞지만, 수 {total}개 가운데 {wrong}개가 맞지 않습니다.",
    ),
    "value": Said(
        "{output} is not right yet.",
        "{output} 값이 아직 맞지 않습니다.",
    ),
    "changed": Said(
        "The answer is right, but `{name}` wrote into its argument {arguments}: whoever called it loses their numbers. "
        "Work on a copy, or use operations that make a new array.",
        "답은 맞지만 `{name}` 함수가 인자 {arguments}의 내용을 바꾸어 놓았습니다. 부른 쪽의 값이 사라집니다. 복사본을 "
        "쓰거나, 새 배열을 만드는 연산을 쓰세요.",
    ),
    "random": Said(
        "The same call gave two different answers. Does something random, or kept from the call before, decide?",
        "같은 인자로 두 번 불렀는데 답이 서로 다릅니다. 난수나 앞선 호출에서 남은 값을 쓰고 있지 않나요?",
    ),
    "loop": Said(
        "The numbers are right. The task asks for an answer without Python loops, and line {line} has one: {loop}. "
        "Let NumPy work on the whole array at once.",
        "값은 맞습니다. 그런데 과제는 파이썬 반복문 없이 쓰라고 했고, {line}번째 줄에 {loop} 반복이 있습니다. NumPy가 "
        "배열 전체를 한 번에 계산하게 하세요.",
    ),
}

# How many things, as one counts them aloud; more are written as digits.
HOW_MANY = {
    1: Said("1", "한"),
    2: Said("2", "두"),
    3: Said("3", "세"),
    4: Said("4", "네"),
    5: Said("5", "다섯"),
}
COUNT = Said(
    "`{name}` should return {count} things ({names}), and returned {got}.",
    "`{name}` 함수는 {count} 가지({names})를 돌려주어야 하는데 {got} 가지를 돌려주었습니다.",
)
ONE_THING = Said(
    "`{name}` should return {count} things ({names}), and returned one: {got}.",
    "`{name}` 함수는 {count} 가지({names})를 돌려주어야 하는데 한 가지만 돌려주었습니다: {got}",
)
# An exception: {what} is the function or the file that it came from. By the name of its class; "" is any other.

CALLED = Said("`{name}`", "`{name}` 함수")
LOADING = Said("`{name}`", "`{name}` 파일")
FAILURES = {
    "": Said("{what} stopped with an error. {error}", "{what}에서 오류가 났습니다. {error}"),
    "SystemExit": Said(
        "{what} calls exit(), which ends the whole program. Use `return` to leave a function.",
        "{what}에서 exit()를 부릅니다. 프로그램 전체가 끝나 버리니, 함수에서 나올 때는 `return`을 쓰세요.",
    ),
    "RecursionError": Said(
        "{what} calls itself again and again, without end. Something must tell it when to stop.",
        "{what}에서 자기 자신을 끝없이 다시 부릅니다. 언제 멈출지를 정해 주어야 합니다.",
    ),
    "MemoryError": Said(
        "{what} asked for more memory than a check may use. Look at the shapes: is one array far too large? {error}",
        "{what}에서 쓸 수 있는 것보다 많은 메모리를 요구했습니다. 지나치게 큰 배열이 없는지 모양을 살펴보세요. {error}",
    ),
    "EOFError": Said(
        "{what} waits for input(), and nobody can type during a check. All it needs comes in its arguments.",
        "{what}에서 input()으로 입력을 기다립니다. 채점 중에는 입력할 수 없습니다. 필요한 값은 모두 인자로 들어옵니다.",
    ),
    "SyntaxError": Said(
        "Python cannot read {what} yet: {error}. The marked line, or the one before it, is not finished.",
        "{what}에 파이썬이 읽을 수 없는 곳이 있습니다. {error}. 표시한 줄이나 그 앞줄을 살펴보세요.",
    ),
    "KeyboardInterrupt": Said("{what} was interrupted.", "{what} 실행이 중단되었습니다."),
}
FAILURES["IndentationError"] = FAILURES["TabError"] = Said(
    "Python cannot read {what} yet: {error}. The marked line does not begin in the column that Python expects.",
    "{what}의 들여쓰기가 맞지 않습니다. {error}. 표시한 줄이 시작하는 칸을 살펴보세요.",
)

# What can happen to the process that a learner's file runs in.

# By the name of the exception that reading it raised; "" is any other.
UNREADABLE = {
    "FileNotFoundError": Said(
        "There is no file {file}. Look at its name, and at the folder you are in.",
        "{file} 파일이 없습니다. 파일 이름과 지금 있는 폴더를 확인하세요.",
    ),
    "IsADirectoryError": Said(
        "{file} is a folder. Give the file in it that holds your answer.",
        "{file} 이름은 폴더입니다. 답이 들어 있는 파일을 주세요.",
    ),
    "PermissionError": Said(
        "The file {file} may not be read. Look at its permissions.",
        "{file} 파일을 읽을 권한이 없습니다. 파일의 권한을 확인하세요.",
    ),
    "": Said("The file {file} cannot be read: {error}", "{file} 파일을 읽을 수 없습니다: {error}"),
}
ACCIDENTS = {
    "endless": Said(
        "Stopped after {seconds} s. Is there a loop that never ends? What is asked takes far less than a second.",
        "{seconds}초가 지나 멈추었습니다. 끝나지 않는 반복문이 있지 않나요? 원래는 1초도 걸리지 않는 계산입니다.",
    ),
    "slow_start": Said(
        "Python took more than {seconds} seconds to start. Is the machine very busy? Try once more.",
        "파이썬을 시작하는 데 {seconds}초가 넘게 걸렸습니다. 컴퓨터가 몹시 바쁘지 않나요? 다시 해 보세요.",
    ),
    "printed": Said(
        "Stopped: the code printed more than {megabytes} MB. Take the print out of its loop.",
        "출력이 {megabytes}MB를 넘어 멈추었습니다. 반복문 안의 print를 빼세요.",
    ),
    "replaced": Said(
        "The file replaces {names}, and everybody who uses NumPy would get the replacement. Give your own function "
        "another name, without `np.` before it.",
        "{names} 함수를 다른 것으로 바꾸어 놓았습니다. 그러면 NumPy를 쓰는 모든 코드가 바뀐 함수를 쓰게 됩니다. "
        "직접 만든 함수에는 `np.`를 붙이지 말고 다른 이름을 주세요.",
    ),
    "ended": Said(
        "The code ended the whole process (exit status {code}) instead of returning, as os._exit() does.",
        "값을 돌려주는 대신 프로세스 전체를 끝냈습니다(종료 상태 {code}). os._exit()를 부르지 않았나요?",
    ),
    "killed": Said(
        "The system ended the process, most likely because it used too much memory. Is one array far too large?",
        "운영체제가 프로세스를 끝냈습니다. 메모리를 너무 많이 썼을 가능성이 큽니다. 지나치게 큰 배열이 "
        "없는지 살펴보세요.",
    ),
    "told_to_end": Said(
        "The process was told to end ({signal}) before it could answer, by the code itself or by somebody else. If it "
        "was not the code, check again.",
        "답이 나오기 전에 프로세스가 종료 신호({signal})를 받았습니다. 코드가 직접 보낸 신호가 아니라면 다시 "
        "채점하세요.",
    ),
    "crashed": Said(
        "Python itself crashed ({signal}). That takes recursion without end, or memory written to by its address.",
        "파이썬 자체가 비정상 종료되었습니다({signal}). 끝없는 재귀나 메모리 주소에 직접 쓰는 코드가 "
        "없는지 살펴보세요.",
    ),
}
PUT_BACK = Said(
    "The code deleted its own file {file}; it has been put back as it was.",
    "코드가 자기 자신의 파일({file})을 지웠습니다. 지우기 전 내용으로 되돌려 놓았습니다.",
)
THREADS = Said(
    "A thread was still running when the answer came, and was stopped. Nothing here needs one.",
    "답이 나온 뒤에도 스레드가 돌고 있어 멈추었습니다. 이 문제에는 스레드가 필요하지 않습니다.",
)

THE_OUTPUT = Said("the output", "출력")
OUTPUT = Said("`{name}`", "`{name}`")
KINDS = {
    "array": Said("an array", "배열"),
    "tensor": Said("a tensor", "텐서"),
    "number": Said("a number", "수"),
    "truth": Said("True or False", "True나 False"),
    "text": Said("text", "문자열"),
    "sequence": Said("a tuple or list", "튜플이나 리스트"),
    "dict": Said("a dict", "딕셔너리"),
    "nothing": Said("None", "None"),
    "foreign": Said("an object of another kind", "다른 종류의 객체"),
}
DTYPES = {
    "b": Said("True and False", "True와 False"),
    "i": Said("whole numbers", "정수"),
    "f": Said("{name} numbers", "{name}"),
    "c": Said("complex numbers", "복소수"),
    "U": Said("text", "문자열"),
}
RIGHT = Said("Right.", "맞았습니다.")

# What a wrong output shows, where no mistake of the exercise explains it.

COLUMNS_SUM_TO_ONE = Said(
    "The columns sum to 1 and the rows do not: each key hands out its weight over the queries. Softmax should run over "
    "the keys, along the last axis.",
    "열의 합이 1이고 행의 합은 1이 아닙니다. 키마다 쿼리들에게 가중치를 나누어 준 것입니다. 소프트맥스는 마지막 축, "
    "곧 키 방향으로 계산해야 합니다.",
)
NEGATIVE_WEIGHTS = Said("Some weights are negative.", "음수인 가중치가 있습니다.")
ROWS_DO_NOT_SUM = Said(
    "Each row of weights should sum to 1, and one sums to {sum}.",
    "가중치는 행마다 합이 1이어야 하는데, 합이 {sum}인 행이 있습니다.",
)
LEAK = Said(
    "Query {query} gives weight {weight} to key {key}, which the mask hides from it.",
    "마스크로 가려져 있어야 할 키 {key}에 쿼리 {query}의 가중치({weight})가 남아 있습니다.",
)
FUTURE = Said(
    "Query {query} looks into the future: it gives weight {weight} to key {key}.",
    "쿼리 {query}에서 미래를 봅니다. 키 {key}의 가중치가 {weight}입니다.",
)
NEGATED = Said("Every number has the wrong sign.", "모든 수의 부호가 반대입니다.")
FACTOR = Said(
    "Every number is {factor} times what it should be.",
    "모든 수가 맞는 값의 {factor}배입니다.",
)
ADDED = Said(
    "Every number is off by the same amount, {added}.",
    "모든 수가 맞는 값에서 똑같이 {added}만큼 벗어나 있습니다.",
)
COLUMNS_PERMUTED = Said(
    "These are the right columns, in another order.",
    "열 하나하나는 맞지만 순서가 다릅니다.",
)
ROWS_PERMUTED = Said(
    "These are the right rows, in another order.",
    "행 하나하나는 맞지만 순서가 다릅니다.",
)
FIRST_ALONE = Said(
    "Along {letter}, the first place is right and all others are wrong.",
    "{letter} 축에서 첫 번째만 맞고 나머지는 모두 틀립니다.",
)
ONE_PLACE_WRONG = Said(
    "Along {letter}, only place {place} is wrong.",
    "{letter} 축에서 {place}번 자리만 틀립니다. 나머지는 맞습니다.",
)
ONLY_WHEN_ONE = Said(
    "It is right when {letter} = 1, and wrong otherwise.",
    "{letter} = 1이면 맞고, 그렇지 않으면 틀립니다.",
)
ONLY_ONE = {
    "h": Said(
        "It is right for one head alone: with h = 1 nothing is wrong. Look at how heads are split and merged.",
        "헤드가 하나일 때만 맞습니다(h = 1). 헤드를 나누고 합치는 부분을 살펴보세요.",
    ),
    "b": Said(
        "It is right for a batch of one alone: with b = 1 nothing is wrong. Look at what is done to the first axis.",
        "배치 크기가 1일 때만 맞습니다(b = 1). 첫 번째 축을 다루는 부분을 살펴보세요.",
    ),
}
ONLY_WHEN_EQUAL = Said(
    "It is right where {a} = {b}, and wrong where they differ. Are the two mixed up?",
    "{a} = {b}이면 맞고, 서로 다르면 틀립니다. 둘을 바꾸어 쓰지 않았나요?",
)
ONLY_FURTHER = Said(
    "Ordinary calls are right. This one is not:",
    "보통의 호출에서는 맞습니다. 아래 호출에서 틀립니다.",
)
AXES_TURNED = Said(
    "The axes are there, in another order: {got}.",
    "축은 모두 있지만 순서가 다릅니다. 지금 순서: {got}",
)
AXIS_MISSING = Said("The axis {letters} is missing.", "없는 축: {letters}")
AXIS_ADDED = Said("There is an axis too many, of size {size}.", "축이 하나 더 있습니다. 그 크기는 {size}입니다.")

# How a verdict is laid out.

WITH = Said("Called with", "이렇게 불렀을 때")
EXPECTED, GOT = Said("expected", "맞는 값"), Said("yours", "나온 값")
PRINTED = Said("Your code printed:", "코드가 출력한 내용:")
READ = Said(
    "Note {note} explains it under “{section}”: {command}",
    "{note}번 노트의 “{section}” 절에서 설명합니다: {command}",
)

# The command

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
  list       every exercise, and which are done
  check      check an exercise, by default the current one
  watch      check again whenever the file is saved
  hint       a hint, and one more each time, three in all
  solution   our solution, after passing or with --give-up
  reset      begin an exercise anew; a copy of yours is kept
  check-all  check everything

examples:
  {program}
  {program} check softmax
  {program} watch
  {program} hint softmax
  {program} check softmax --file mine.py
""",
    """\
ACTION:
  list       모든 문제와 푼 문제를 보여 줍니다
  check      문제 하나를 채점합니다 (기본값: 지금 풀 문제)
  watch      파일을 저장할 때마다 다시 채점합니다
  hint       힌트를 보여 줍니다. 볼 때마다 하나씩 늘어 모두 셋입니다
  solution   모범 답안을 보여 줍니다. 통과한 뒤에, 또는 --give-up을 주면 볼 수 있습니다
  reset      문제를 처음부터 다시 풉니다. 쓰던 답은 사본으로 남습니다
  check-all  모든 문제를 채점합니다

예:
  {program}
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
TAKES_NO_NAME = Said("{action} takes no name of an exercise", "{action}에는 문제 이름을 주지 않습니다")
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
