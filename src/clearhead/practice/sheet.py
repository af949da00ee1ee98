"""The file a learner finds: the task, examples with their results, and the function to write."""

from __future__ import annotations

import inspect

import numpy as np

from clearhead import advice
from clearhead.practice import words
from clearhead.practice.exercise import Exercise, Part


def sheet(exercise: Exercise) -> str:
    """The text of the file, in the language that is spoken."""
    program = f"{advice.program()} practice"
    top = [
        f"{exercise.name} · {exercise.title()}",
        exercise.task(),
        *filter(None, [examples(exercise)]),
        words.command.SHEET(
            check=f"{program} check {exercise.name}",
            hint=f"{program} hint {exercise.name}",
            learn=f"{advice.program()} learn {exercise.note}",
            section=exercise.section(),
        ),
    ]
    text = "\n\n".join(top)
    quotes = 'r"""' if "\\" in text else '"""'
    code = "\n\n\n".join(stub(part) for part in exercise.parts)
    return f'{quotes}{text}\n"""\n\n{exercise.imports}\n\n\n{code}\n'


def stub(part: Part) -> str:
    """The code to begin with: the function without its body, unless the exercise gives more."""
    if part.stub is not None:
        return part.stub.strip("\n")
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in part.signature.parameters.values()]
    signature = part.signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    return f"def {part.name}{signature}:\n    ..."


def examples(exercise: Exercise) -> str:
    """The worked examples, each with what the solution gives."""
    lines = []
    for part in exercise.parts:
        for expression in part.examples:
            lines += [f">>> {expression}", worked(exercise, expression)]
    return "\n".join(f"    {line}" for shown in lines for line in shown.split("\n"))


def worked(exercise: Exercise, expression: str) -> str:
    """What an example gives, as Python would show it."""
    names = {part.name: part.solution for part in exercise.parts}
    scope: dict[str, object] = {}
    exec(exercise.imports, scope)
    with np.printoptions(precision=4, suppress=True):
        return repr(eval(expression, scope | names))
