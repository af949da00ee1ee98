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

COUNT = Said(
    "`{name}` should return {count} things ({names}), and returned {got}.",
    "`{name}` 함수는 {count}가지({names})를 돌려주어야 하는데 {got}가지를 돌려주었습니다.",
)
ONE_THING = Said(
    "`{name}` should return {count} things ({names}), and returned one: {got}.",
    "`{name}` 함수는 {count}가지({names})를 돌려주어야 하는데 한 가지만 돌려주었습니다: {got}",
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

ACCIDENTS = {
    "unreadable": Said(
        "The file {file} cannot be read: {error}. `practice reset` lays the exercise down anew.",
        "{file} 파일을 읽을 수 없습니다. {error}. `practice reset`으로 연습 문제 파일을 다시 만들 수 있습니다.",
    ),
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
