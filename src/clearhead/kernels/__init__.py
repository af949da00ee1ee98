"""The fast path: attention kernels in Python, compiled by numba, with vectors written as LLVM IR.

From Python, with a checked call in hand:

    launch       attention                                  plan         how a call is cut into tasks
    gradients    from an output's gradient to its inputs'   schedule     who does the work; Ctrl-C
    observation  what is seen of a call on the way          forecast     what a call would do, without doing it
    recompute    any weight once more, and windows pooled   explanation  the same, as data and in words
    parts        what parts of the keys gave, joined        sums         what weights are computed from again
    description  a call's arrays, as a kernel is told them   known        calls like one before
    backward_pass  the same for its backward pass           known_gradients  and backward passes
    known_call   what is the same in all of them            relatives    and calls that differ in little
    teams        torch's threads, and how late they are     crew         threads of our own, awake for a moment
    machine_code  kernels from the disk, or compiled        target       what is compiled for: how wide vectors are
    announcement  telling who waits for that                remembering  what was worked out before
    layout       how arrays with heads lie in memory

Kernels, each of which takes tasks from a queue:

    forward      panels of queries against blocks of keys
    backward     blocks of keys against panels of queries
    observe      the forward pass, with statistics read off every tile
    windows      weights of some queries on some keys, computed again
    join         what parts of the keys gave, as one

What they are made of:

    job          a call as a kernel reads it                structs      such a description in memory
    backward_job, watch, window_job  the same for others    struct_types  how a kernel reads it by name
    scores       from a call's arrays to a tile of scores   tasks        the queue
    rounds       what the threads of a call share           serving      how each of them does its part
    atomics      words that several threads write           storage      how the caller's numbers are stored
    gemm         the product that lives in registers        thin         the same for a handful of queries
    pairs        the same of pairs of bfloat16              paired       a tile whose products are those
    tile         a tile of scores, and walking over it      shaping      softmax, masks, bias, dropout on a tile
    weighing     weights made of scores once more           statistics   what is read off a tile of weights
    formats      reading and writing the caller's arrays    memory       numbers and flags at addresses
    places       which places of a tile are masked          strange      keys and values that are not finite
    backward_rows  what backward takes in and gives out
    vector       vector arithmetic as LLVM IR               compiler     from Python to machine code, by numba

Nothing here checks its arguments; `clearhead.call` has done so.
The doors in are loaded when they are first used, and numba only where something has to be compiled: the kernels and
what they are made of are the files that load it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules={
        "forecast",
        "gradients",
        "known",
        "known_call",
        "known_gradients",
        "launch",
        "observation",
        "recompute",
        "sums",
    },
)
