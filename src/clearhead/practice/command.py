"""`clearhead practice`: what each of its actions does."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable
from pathlib import Path

from clearhead import advice
from clearhead.languages import RefusedError, Said
from clearhead.practice import exercises, words
from clearhead.practice.exercise import Exercise
from clearhead.practice.process import check_file
from clearhead.practice.reports import Report
from clearhead.practice.verdict import Verdict
from clearhead.practice.workspace import FOLDER, Workspace

RIGHT, WRONG = 0, 1
DESCRIPTION = words.command.DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.command.EXAMPLES(program=parser.prog)
    parser.add_argument("action", nargs="?", metavar="ACTION", help=words.command.OPTIONS["action"]())
    parser.add_argument("name", nargs="?", metavar="NAME", help=words.command.OPTIONS["name"]())
    parser.add_argument("--file", type=Path, metavar="FILE", help=words.command.OPTIONS["file"]())
    parser.add_argument("--give-up", action="store_true", help=words.command.OPTIONS["give_up"]())
    parser.add_argument(
        "--workspace",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help=words.command.OPTIONS["workspace"](default=FOLDER),
    )


def run(options: argparse.Namespace) -> int:
    _agree(options)
    workspace = Workspace(options.workspace)
    report = Report(workspace)
    report.warn()
    status = ACTIONS[options.action](options, workspace, report)
    report.warn()
    return status


def start(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    """Begin, or go on: the next exercise or the one that is named, what to do, and its file."""
    if workspace.is_new:
        report.say(words.command.WELCOME.filled(folder=workspace.folder))
        lay_down_all(workspace, report)
        workspace.save()
    current = options.name or workspace.current()
    if current is None:
        report.all_done()
        return RIGHT
    exercise = load(current)
    workspace.lay_down(exercise)
    report.introduce(exercise)
    return RIGHT


def lay_down_all(workspace: Workspace, report: Report) -> None:
    """A file for every exercise; those that need what is not installed are laid down when it is, and that is said."""
    for name in exercises.NAMES:
        try:
            workspace.lay_down(exercises.load(name))
        except ModuleNotFoundError as error:
            report.say(missing(name, error))


def list_all(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    report.list_all()
    return RIGHT


def check(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    """Check one exercise, and say what comes next."""
    if workspace.is_new and options.file is None:
        report.say(words.command.NEW_HERE.filled(folder=workspace.folder))
    verdict = checked(chosen_name(options, workspace), workspace, options.file)
    report.verdict(verdict)
    return RIGHT if verdict.right else WRONG


def watch(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    """Check again whenever the file is saved, until the learner leaves."""
    from clearhead.practice.watching import Watch

    return Watch(workspace, report, chosen(options, workspace)).run()


def hint(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    exercise = chosen(options, workspace)
    report.hints(exercise, workspace.next_hint(exercise.name))
    return RIGHT


def solution(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    """Show the solution to whoever has passed, or gives up."""
    exercise = chosen(options, workspace)
    if not (workspace.standing(exercise.name).passed or options.give_up):
        command = f"{advice.program()} practice solution {exercise.name} --give-up"
        raise RefusedError(words.command.NOT_PASSED.filled(name=exercise.name, command=command))
    report.solution(exercise)
    return RIGHT


def reset(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    exercise = chosen(options, workspace)
    report.was_reset(exercise, workspace.reset(exercise))
    return RIGHT


def check_all(options: argparse.Namespace, workspace: Workspace, report: Report) -> int:
    """Check every exercise; of those that need what is not installed, that is said instead."""
    verdicts = []
    for name in report.progress(exercises.NAMES):
        try:
            verdicts.append(checked(name, workspace))
        except RefusedError as refused:
            report.say(refused.said)
    report.summary(verdicts)
    return RIGHT if all(verdict.right for verdict in verdicts) else WRONG


ACTIONS: dict[str, Callable[[argparse.Namespace, Workspace, Report], int]] = {
    "start": start,
    "list": list_all,
    "check": check,
    "watch": watch,
    "hint": hint,
    "solution": solution,
    "reset": reset,
    "check-all": check_all,
}
TAKE_NAME = ("start", "check", "watch", "hint", "solution", "reset")


def checked(name: str, workspace: Workspace, file: Path | None = None) -> Verdict:
    """The verdict on the learner's file, or on another; the attempt is noted."""
    if file is None and not workspace.file(name).exists():
        workspace.lay_down(load(name))
    verdict = check_file(name, file or workspace.file(name), load)
    if verdict.kind not in ("unwritten", "unreadable"):
        workspace.note_attempt(name, verdict.right)
    return verdict


def chosen(options: argparse.Namespace, workspace: Workspace) -> Exercise:
    return load(chosen_name(options, workspace))


def chosen_name(options: argparse.Namespace, workspace: Workspace) -> str:
    """The exercise that is named, else the first that is not passed."""
    name: str = options.name or workspace.current() or exercises.NAMES[-1]
    return name


def load(name: str) -> Exercise:
    """An exercise; what it needs and is not installed is answered with the command that installs it."""
    try:
        return exercises.load(name)
    except ModuleNotFoundError as error:
        raise RefusedError(missing(name, error)) from error


def missing(name: str, error: ModuleNotFoundError) -> Said:
    """What to say of an exercise that needs what is not installed; a module of our own that is missing is a bug."""
    if error.name is None or error.name.startswith("clearhead"):
        raise error
    return words.command.NEEDS.filled(name=name, module=error.name, command=advice.install("practice"))


def _agree(options: argparse.Namespace) -> None:
    """Refuse names and options that do not go together, as errors of usage."""
    if options.action in exercises.NAMES and options.name is None:  # an exercise alone is to be opened
        options.action, options.name = "start", options.action
    options.action = options.action or "start"
    if options.action not in ACTIONS:
        raise _usage(_unknown_action(options.action))
    if options.name is not None and options.action not in TAKE_NAME:
        commands = {"open": f"{advice.program()} practice start {options.name}"}
        commands["check"] = f"{advice.program()} practice check {options.name}"
        raise _usage(words.command.TAKES_NO_NAME.filled(action=options.action, **commands))
    if options.name is not None and options.name not in exercises.NAMES:
        near = difflib.get_close_matches(options.name, exercises.NAMES, n=1, cutoff=0.5)
        said = words.command.UNKNOWN_NEAR if near else words.command.UNKNOWN
        raise _usage(said.filled(name=options.name, near=near[0] if near else ""))
    if options.file is not None and options.action != "check":
        raise _usage(words.command.GOES_WITH.filled(option="--file", action="check"))
    if options.give_up and options.action != "solution":
        raise _usage(words.command.GOES_WITH.filled(option="--give-up", action="solution"))
    if options.workspace.exists() and not options.workspace.is_dir():
        raise _usage(words.command.NO_FOLDER.filled(folder=options.workspace))


def _unknown_action(action: str) -> Said:
    """What to say of an action that there is not; it may be an exercise, misspelled."""
    near = difflib.get_close_matches(action, [*ACTIONS, *exercises.NAMES], n=1, cutoff=0.5)
    said = words.command.NO_ACTION_NEAR if near else words.command.NO_ACTION
    return said.filled(action=action, actions=", ".join(ACTIONS), near=near[0] if near else "")


def _usage(said: Said) -> argparse.ArgumentError:
    return argparse.ArgumentError(None, said())
