"""What is found about an answer, and the words that a verdict is laid out with."""

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

# An error speaks of sizes: which letters of the task they are.
SIZES = Said("In this call {letters}.", "이 호출에서는 {letters}입니다.")

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

# How a verdict is laid out.

WITH = Said("Called with", "이렇게 불렀을 때")
EXPECTED, GOT = Said("expected", "맞는 값"), Said("yours", "나온 값")
PRINTED = Said("Your code printed:", "코드가 출력한 내용:")
READ = Said(
    "Note {note} explains it under “{section}”: {command}",
    "{note}번 노트의 “{section}” 절에서 설명합니다: {command}",
)
SEE = Said("See it at work in a trained model: {command}", "학습된 모델에서 직접 보기: {command}")
