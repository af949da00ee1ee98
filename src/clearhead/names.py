"""Names that are not there: what is answered to an option, an argument or a function that is called by another one.

Many come here from other libraries, and call things as they are called there. They are told what to write instead.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# What others call an option, or have one for, and what is written here instead.
MAY_ATTEND = "in which True = may attend"
BACK_TO_WINDOW = "mask=masks.window(w): the query's own key and the w - 1 before it"
WEIGHTS = (
    "clearhead.scaled_dot_product_attention returns all weights, and weights() of clearhead.look(q, k, v) any of "
    "them without the others"
)
INSTEAD = {
    "causal": "mask=masks.causal()",
    "is_causal": "mask=masks.causal()",
    "use_causal_mask": "mask=masks.causal()",
    "attn_mask": f"mask=attn_mask, {MAY_ATTEND}",
    "attention_mask": f"mask=attention_mask[:, None, None, :] as booleans, {MAY_ATTEND}, or mask=masks.key_lengths(…)",
    "key_padding_mask": f"mask=~key_padding_mask[:, None, None, :], {MAY_ATTEND}, or mask=masks.key_lengths(…)",
    "window": BACK_TO_WINDOW,
    "window_size": BACK_TO_WINDOW,
    "sliding_window": BACK_TO_WINDOW,
    "attn_bias": "bias=attn_bias",
    "position_bias": "bias=position_bias",
    "alibi_slopes": "bias=biases.alibi(…)",
    "softmax_scale": "scale=softmax_scale",
    "scaling": "scale=scaling",
    "logits_soft_cap": "softcap=logits_soft_cap",
    "dropout_p": "dropout=dropout_p, with a seed=",
    "s_aux": "sinks=s_aux",
    "query": "q=query",
    "key": "k=key",
    "value": "v=value",
    "need_weights": WEIGHTS,
    "output_attentions": WEIGHTS,
    "return_weights": WEIGHTS,
    "return_attn_probs": WEIGHTS,
    "enable_gqa": "key/value heads that are fewer are shared as they are",
}


def own_options(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """For a function whose options are known elsewhere by other names: one of those is answered with what to write."""
    listed = tuple(inspect.signature(function).parameters)
    known = frozenset(listed)

    @functools.wraps(function)
    def called(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        if not known.issuperset(options):
            said = ", and no ".join(_instead(name, listed) for name in options if name not in known)
            raise TypeError(f"{function.__name__} has no {said}")
        return function(*arguments, **options)

    return called


def check_options(caller: str, options: Iterable[str], function: Callable[..., object]) -> None:
    """Refuse options that are handed on to a function which has none of that name, in the words of `own_options`."""
    known = tuple(x.name for x in inspect.signature(function).parameters.values() if x.kind is x.KEYWORD_ONLY)
    if unknown := [name for name in options if name not in known]:
        raise TypeError(f"{caller} has no {', and no '.join(_instead(name, known) for name in unknown)}")


def _instead(name: str, known: tuple[str, ...]) -> str:
    """An option that is not there, and the one that does its work, or those that are spelled much like it, or all."""
    instead = INSTEAD.get(name, "")
    option, is_option, _ = instead.partition("=")
    if instead and (option in known or not is_option):
        rooms = " and ".join(room for room in ("masks", "biases") if f"{room}." in instead)
        source = f" (from clearhead import {rooms})" if rooms else ""
        return f"{name}=; {'write' if is_option else 'leave it out:'} {instead}{source}"
    near = difflib.get_close_matches(name, known, n=2)
    meant = f"did you mean {' or '.join(f'{word}=' for word in near)}?" if near else f"it takes {', '.join(known)}"
    return f"{name}=; {meant}"


def by_name_only(cure: str) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """For a function that takes keywords only: an argument without its name is answered with the cure."""

    def decorated(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def named(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
            if arguments:
                given = ", ".join(repr(argument) for argument in arguments)
                raise TypeError(f"{function.__name__}({given}): {cure}")
            return function(*arguments, **options)

        return named

    return decorated


def no_such_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """What a module answers to a name it has not: the ones that are spelled much like it."""
    spelled = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1 if name.lower() in spelled else 3, cutoff=0.7)
    meant = " or ".join(spelled[word] for word in near)
    hint = f"; did you mean {meant}?" if meant else f" (dir({module}) lists what it has)"
    # The name without its object: Python would look for likely ones too, and say them a second time.
    return AttributeError(f"{module} has no {name}{hint}", name=name)
