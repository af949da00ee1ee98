"""Annotations that run: every call into clearhead is checked against its own signature.

jaxtyping remembers in every call what each letter of a shape stands for, and puts the arguments in order for that; it
makes the checks of a function anew whenever a `def` inside another one is reached. Where a signature has no array in
it, nothing is to be remembered, and such functions are the small ones that are called a million times. Here they have
the same checks, made by jaxtyping and beartype as ever, but made once and called at once: the sentences of the
translator are spelled in 8 s of a processor instead of 40.
"""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple, get_args

import jaxtyping
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import AbstractArray, TypeCheckError, config

_jaxtyped = jaxtyping.jaxtyped
# clearhead warns in the name of whoever called it, and looks for that one behind jaxtyping (`checks.warn`); torch's
# compiler then looks for this file under the same name.
sys.modules["jaxtyping.annotations"] = sys.modules[__name__]
__name__ = "jaxtyping.annotations"


class Checks(NamedTuple):
    """Empty functions with the signature of another one, before which calls are brought."""

    arguments: Callable[..., Any]
    answer: Callable[..., Any]
    name: str  # under which the second one takes what was answered


_known: dict[CodeType, Checks] = {}


def install(modules: list[str]) -> None:
    """Check the calls of all functions of these modules, which are yet to be imported."""
    if sys.version_info < (3, 12):  # before, what a protocol asks for was found anew for each `isinstance`
        for name in ("_get_protocol_attrs", "_is_callable_members_only"):
            setattr(typing, name, functools.cache(getattr(typing, name)))
    jaxtyping.jaxtyped = checked  # what the import hook writes above every function
    jaxtyping.install_import_hook(modules, "beartype.beartype")


def checked(function: Any = None, *, typechecker: Callable[..., Any]) -> Any:
    """What `jaxtyping.jaxtyped` makes of a function or class; of a function without arrays, a quicker one."""
    if function is None:
        return functools.partial(checked, typechecker=typechecker)
    if not isinstance(function, FunctionType):
        return _jaxtyped(function, typechecker=typechecker)
    if function.__code__ in _known:
        return _quick(function, _known[function.__code__])
    made = []

    def noted(check: FunctionType) -> Callable[..., Any]:
        made.append((check, typechecker(check)))
        return made[-1][1]

    thorough = _jaxtyped(function, typechecker=noted)
    (answer, check_answer), (_, check_arguments) = made[:2]
    if any(map(has_array, answer.__annotations__.values())):
        return thorough
    checks = Checks(check_arguments, check_answer, _last_keyword(answer))
    if _always_the_same(function, answer):
        _known[function.__code__] = checks
    return _quick(function, checks)


def _quick(function: FunctionType, checks: Checks) -> Callable[..., Any]:
    check_arguments, check_answer, name = checks

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if config.jaxtyping_disable:
            return function(*args, **kwargs)
        try:
            check_arguments(*args, **kwargs)
        except BeartypeCallHintViolation as error:
            raise TypeCheckError(str(error)) from None
        answer = function(*args, **kwargs)
        kwargs[name] = answer
        try:
            check_answer(*args, **kwargs)
        except BeartypeCallHintViolation as error:
            raise TypeCheckError(str(error)) from None
        return answer

    return call


def _last_keyword(function: FunctionType) -> str:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY][-1]


def _always_the_same(function: FunctionType, answer: FunctionType) -> bool:
    """Whether the next function of this code has the same checks: no name in its annotations is unknown as yet."""
    said, meant = function.__annotations__, answer.__annotations__
    return all(isinstance(words, str) and (meant[name] is not Any or words == "Any") for name, words in said.items())


def has_array(hint: Any) -> bool:
    """Whether an annotation has a shape in it, at any depth."""
    inside = hint if isinstance(hint, list) else get_args(hint)  # a list has what a Callable is called with
    return (isinstance(hint, type) and issubclass(hint, AbstractArray)) or any(map(has_array, inside))
