"""What can go wrong before there is an answer: exceptions, and what happens to the process of a learner's file."""

from __future__ import annotations

from clearhead.languages import Said

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
