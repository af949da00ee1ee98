"""Whatever a learner's file does, there is a sentence for it, and the check after it works as if nothing were."""

from __future__ import annotations

import dataclasses
import os
import textwrap
import time
from pathlib import Path

import pytest

from clearhead.languages import LANGUAGES
from clearhead.practice import exercises, words
from clearhead.practice.process import PRINTED, Process, check_file

SOFTMAX = exercises.load("softmax")
RIGHT = """
top = np.maximum(x.max(axis=axis, keepdims=True), -1e300)
powers = np.exp(x - top)
total = powers.sum(axis=axis, keepdims=True)
return powers / np.where(total == 0, 1, total)
"""


@pytest.fixture
def checked(tmp_path):
    """The verdict on a file whose function softmax has a given body, after given lines at the top."""

    def check(body: str, top: str = "", seconds: float = SOFTMAX.seconds):
        file = tmp_path / "softmax.py"
        body = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        file.write_text(f"import numpy as np\n{top}\ndef softmax(x, axis=-1):\n{body}\n", encoding="utf-8")
        return check_file("softmax", file, lambda name: dataclasses.replace(SOFTMAX, seconds=seconds))

    return check


def marked(verdict):
    return [line.text.strip() for line in verdict.trace if line.marked]


def test_a_right_answer(checked):
    verdict = checked(RIGHT)
    assert verdict.right, verdict.said
    assert (verdict.printed, verdict.remarks) == ("", ())


def test_a_mistake_is_named_across_processes(checked):
    assert checked("return np.exp(x - x.max())").mistake is None
    assert checked("return np.exp(x - x.max(axis=axis, keepdims=True))").mistake == "not_divided"


@pytest.mark.parametrize(
    ("body", "failure", "line"),
    [
        ("exit()", "SystemExit", "exit()"),
        ("return softmax(x, axis)", "RecursionError", "return softmax(x, axis)"),
        ("return input('?')", "EOFError", "return input('?')"),
        ("return np.ones((10**6, 10**5))", "MemoryError", "return np.ones((10**6, 10**5))"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "raise KeyboardInterrupt"),
        ("y = x.T\nreturn y[100]", "", "return y[100]"),
    ],
)
def test_exceptions_get_a_sentence_and_the_line(checked, body, failure, line):
    verdict = checked(body)
    assert verdict.kind == "exception"
    assert marked(verdict)[-1] == line
    start = words.accidents.FAILURES[failure].filled(what=words.accidents.CALLED.filled(name="softmax"), error="|")
    for language in LANGUAGES:
        assert verdict.said[0](language).startswith(start(language).partition("|")[0])


@pytest.mark.parametrize(
    ("top", "failure", "line"),
    [
        ("1 / 0", "", "1 / 0"),
        ("raise SystemExit(3)", "SystemExit", "raise SystemExit(3)"),
        ("x = (1,", "SyntaxError", "x = (1,"),
        ("if True:\nx = 1", "IndentationError", "x = 1"),
        ("import no_such_module", "", "import no_such_module"),
    ],
)
def test_exceptions_at_import(checked, top, failure, line):
    verdict = checked(RIGHT, top)
    assert verdict.kind == "loading"
    assert marked(verdict) == [line]
    start = words.accidents.FAILURES[failure].filled(what=words.accidents.LOADING.filled(name="softmax.py"), error="|")
    assert verdict.said[0].en.startswith(start.en.partition("|")[0])


def test_only_the_learners_lines_are_shown(checked):
    verdict = checked("return np.linalg.inv(x.reshape(-1))")
    assert verdict.kind == "exception"
    assert {line.text.strip() for line in verdict.trace} <= {
        "import numpy as np", "", "def softmax(x, axis=-1):", "return np.linalg.inv(x.reshape(-1))",
    }  # fmt: skip


@pytest.mark.parametrize(
    "body", ["while True:\n    pass", "while True:\n    try:\n        pass\n    except Exception: 0"]
)
def test_an_endless_loop_is_stopped_where_it_is(checked, body):
    began = time.monotonic()
    verdict = checked(body, seconds=0.3)
    assert verdict.kind == "endless"
    assert marked(verdict)
    assert time.monotonic() - began < 10


def test_a_loop_that_cannot_be_interrupted_is_ended(checked):
    body = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    assert checked(body, seconds=0.3).kind == "endless"


def test_imports_do_not_count(checked):
    assert checked(RIGHT, "import time\ntime.sleep(0.5)", seconds=0.4).right


def test_megabytes_printed_end_a_check(checked):
    verdict = checked("while True: print('x' * 1000)")
    assert verdict.kind == "printed"
    assert len(verdict.printed) < PRINTED


def test_a_little_printed_is_shown(checked):
    verdict = checked("print('안녕', x.shape)" + RIGHT)
    assert verdict.right
    assert verdict.printed == "안녕 (2, 3, 5)\n"


def test_only_what_the_shown_call_printed_is_shown(checked):
    verdict = checked("print(x.shape)\nreturn x**3", "print('loaded')")
    assert (verdict.kind, verdict.example is None) == ("values", False)
    assert verdict.printed == "loaded\n(1, 1, 1)\n"
    assert checked("print(x.shape)\nexit()").printed == "(2, 3, 5)\n"
    assert checked("print(x.shape, flush=True)\nimport os; os._exit(3)").printed == "(2, 3, 5)\n"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import os; os._exit(3)", "ended"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("import os; os.kill(os.getpid(), 9)", "killed"),
        ("import os; os.kill(os.getpid(), 15)", "told_to_end"),
        ("np.exp = np.sin\nreturn x", "replaced"),
        ("np.random.default_rng = 3\nreturn x", "replaced"),
    ],
)
def test_other_ends(checked, body, kind):
    assert checked(body).kind == kind


def test_replaced_at_import(checked):
    verdict = checked(RIGHT, "np.exp = np.sin")
    assert verdict.kind == "replaced"
    assert "`np.exp`" in verdict.said[0].en


def test_a_thread_left_running_is_remarked(checked):
    verdict = checked("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()" + RIGHT)
    assert verdict.right
    assert verdict.remarks == (words.accidents.THREADS,)


def test_what_it_started_ends_with_it(checked):
    verdict = checked("import subprocess\nprint(subprocess.Popen(['sleep', '97']).pid, flush=True)\nreturn x")
    pid = int(verdict.printed.split()[0])
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.02)
    pytest.fail("it is still running")


def test_a_file_that_deletes_itself_is_put_back(checked, tmp_path):
    verdict = checked("import os\nif os.path.exists(__file__): os.remove(__file__)" + RIGHT)
    assert verdict.right
    assert "put back" in verdict.remarks[0].en
    assert "os.remove" in (tmp_path / "softmax.py").read_text()


def test_what_is_deleted_by_a_bare_name_is_nobodys(checked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "progress.json").write_text("{}")
    verdict = checked("import os\nos.remove('progress.json')")
    assert verdict.kind == "exception"
    assert (tmp_path / "progress.json").exists()


def test_a_file_that_is_not_there(tmp_path):
    verdict = check_file("softmax", tmp_path / "softmax.py")
    assert verdict.kind == "unreadable"
    for language, said in zip(LANGUAGES, ("There is no file", "파일이 없습니다"), strict=True):
        assert said in verdict.said[0](language)
        assert "reset" not in verdict.said[0](language)
        assert "No such file" not in verdict.said[0](language)


def test_a_folder_in_place_of_a_file(tmp_path):
    verdict = check_file("softmax", tmp_path)
    assert verdict.kind == "unreadable"
    assert "is a folder" in verdict.said[0].en


def test_a_function_that_is_not_there(checked, tmp_path):
    file = tmp_path / "other.py"
    file.write_text("def soft_max(x): return x\n")
    assert check_file("softmax", file).kind == "missing"


def test_an_earlier_exercise_can_be_imported(tmp_path, checked):
    (tmp_path / "mine.py").write_text("base = 2.718281828459045")
    assert checked(RIGHT.replace("np.exp(x - top)", "mine.base ** (x - top)"), "import mine").right


def test_nothing_is_left_open(tmp_path):
    file = tmp_path / "softmax.py"
    file.write_text("def softmax(x, axis=-1): return x")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        check_file("softmax", file)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_the_child_runs_without_what_is_heavy(tmp_path):
    file = tmp_path / "softmax.py"
    names = "numba", "matplotlib", "torch", "rich"
    file.write_text(f"import sys\nprint([n for n in {names} if n in sys.modules])\ndef softmax(x, axis=-1): ...\n")
    with Process("softmax", file) as process:
        process.start(1.0)
    assert process.printed() == "[]\n"


@pytest.mark.parametrize(
    "accident", ["time.sleep(99)", "import os; os._exit(3)", "np.exp = np.sin", "while True: print('x' * 1000)"]
)
def test_an_accident_while_a_finding_is_explained_does_not_replace_it(checked, accident):
    verdict = checked(
        f"calls.append(1)\nif len(calls) > 1:\n    {accident}\nreturn x**3", "import time\ncalls = []", 1.0
    )
    assert (verdict.kind, verdict.mistake) == ("values", None)


def test_a_slow_function_hears_what_is_wrong(checked):
    verdict = checked("import time; time.sleep(0.2)\nreturn x**3", seconds=1.5)
    assert verdict.kind == "values"


@pytest.mark.parametrize("replacement", ["None", "type('Log', (), {'write': lambda self, text: None})()"])
def test_another_standard_output_is_no_accident(checked, replacement):
    assert checked(RIGHT, f"import sys\nsys.stdout = {replacement}").right
