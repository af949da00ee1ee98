"""Attention as a memory: a d × d_v matrix that each token writes to and each query reads from.

Linear attention, taken one token at a time, is a recurrence over a state S that stands for the whole past. Written
that way, it is easy to see what else a token could do to the memory:

    linear        S ← S + k vᵀ                              add
    gated         S ← exp(g) S + k vᵀ                       forget a little, then add
    delta         S ← S + β k (v − Sᵀk)ᵀ                    replace what the memory holds under the key k
    gated_delta   S ← exp(g) S, then as delta               forget, then replace

and every query reads Sᵀq · scale. RetNet, Mamba 2 and GLA are gated, DeltaNet is delta, Gated DeltaNet is both.
The state has the same size after a million tokens as after one, which is why models use it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from clearhead import checks
from clearhead.textbook.attention import checked, share_heads

RULES = ("linear", "gated", "delta", "gated_delta")


def recurrent_attention(
    Q: Float[np.ndarray, "... n d"],
    K: Float[np.ndarray, "... n d"],
    V: Float[np.ndarray, "... n d_v"],
    *,
    rule: str = "linear",
    decay: Float[np.ndarray, "*rates"] | None = None,
    beta: Float[np.ndarray, "... n"] | None = None,
    state: Float[np.ndarray, "... d d_v"] | None = None,
    scale: float | None = None,
) -> tuple[Float[np.ndarray, "... n d_v"], Float[np.ndarray, "... d d_v"]]:
    """Write each token to the memory, then read it with the token's query.

    Q (…, n, d)  K (…, n, d)  V (…, n, d_v)
    decay g (…, n), or (…, n, d) with a rate for each row of the state; in logarithms, so 0 forgets nothing
    beta β (…, n), how much of the old is replaced  state (…, d, d_v), zeros unless given
    → output (…, n, d_v), state (…, d, d_v) after the last token, to go on from

    With a head axis, (…, h, n, d) and (…, h_kv, n, d), query head i reads the memory of key head i // (h / h_kv).
    The output has Q's type, the state that of the state given, or else Q's. Scale is 1/√d unless given.
    """
    Q, K, V = checked(Q, K, V)
    rule = checks.choice("rule", rule, RULES)
    if Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"there are {Q.shape[-2]} queries but {K.shape[-2]} keys; each token brings one of each")
    scale = 1 / np.sqrt(max(Q.shape[-1], 1)) if scale is None else checks.number("scale", scale)
    kind = checks.compute_type(Q.dtype, K.dtype, V.dtype)
    leading = np.broadcast_shapes(K.shape[:-2], V.shape[:-2])
    forget = _forget(rule, decay, (*leading, *K.shape[-2:]), kind)
    replace = _replace(rule, beta, (*leading, K.shape[-2]), kind)
    memory, state_type = _memory(state, (*leading, K.shape[-1], V.shape[-1]), Q.dtype, kind)

    rows = [np.empty((*np.broadcast_shapes(Q.shape[:-2], share_heads(memory, Q).shape[:-2]), 0, V.shape[-1]))]
    for t in range(Q.shape[-2]):
        query, key, value = (x[..., t : t + 1, :].astype(kind) for x in (Q, K, V))  # (…, 1, d) or (…, 1, d_v)
        if forget is not None:
            memory = memory * forget[..., t, :, None]
        if replace is not None:
            value = replace[..., t, None, None] * (value - key @ memory)
        memory = memory + key.swapaxes(-1, -2) @ value
        rows.append(query @ share_heads(memory, query) * kind.type(scale))
    return np.concatenate(rows, axis=-2).astype(Q.dtype), memory.astype(state_type)


def _forget(rule: str, decay: np.ndarray | None, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray | None:
    """exp(g) for each token and row of the state, (…, n, d), or None if the rule forgets nothing."""
    _refuse("decay", decay, rule, needed="gated" in rule)
    if decay is None:
        return None
    decay = checks.float_array("decay", decay, ndim=1)
    per_row = decay if decay.ndim == len(shape) else decay[..., None]
    rates: np.ndarray = np.exp(_fitted("decay", per_row, decay.shape, shape, "(…, n) or (…, n, d)").astype(kind))
    return rates


def _replace(rule: str, beta: np.ndarray | None, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray | None:
    """β for each token, (…, n), or None if the rule replaces nothing."""
    _refuse("beta", beta, rule, needed="delta" in rule)
    if beta is None:
        return None
    beta = checks.float_array("beta", beta, ndim=1)
    return _fitted("beta", beta, beta.shape, shape, "(…, n)").astype(kind)


def _memory(
    state: np.ndarray | None, shape: tuple[int, ...], default: np.dtype, kind: np.dtype
) -> tuple[np.ndarray, np.dtype]:
    """The state to begin with, and the type to give it back in."""
    if state is None:
        return np.zeros(shape, kind), default
    state = checks.float_array("state", state)
    if state.shape != shape:
        raise ValueError(f"state must have shape (…, d, d_v) = {shape}, one memory per key head, got {state.shape}")
    return state.astype(kind), state.dtype


def _refuse(name: str, value: np.ndarray | None, rule: str, *, needed: bool) -> None:
    if needed and value is None:
        raise ValueError(f"rule {rule!r} needs {name}")
    if not needed and value is not None:
        raise ValueError(f"rule {rule!r} has no use for {name}; leave it out, or choose a rule that has")


def _fitted(name: str, array: np.ndarray, given: tuple[int, ...], shape: tuple[int, ...], form: str) -> np.ndarray:
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"{name} must have shape {form} and broadcast over the key heads, got {given} where keys are {shape}"
        ) from None
