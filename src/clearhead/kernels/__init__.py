"""The fast path: attention kernels in Python, compiled by numba, with vectors written as LLVM IR.

From Python, with a checked call in hand:

    launch       attention                                  plan         how a call is cut into tasks
    gradients    from an output's gradient to its inputs'   schedule     who does the work; Ctrl-C
    observation  what is seen of a call on the way          forecast     what a call would do, without doing it
    recompute    any weight once more, and windows pooled   explanation  the same, as data and in words
    join         joining what parts of the keys gave        sums         what weights are computed from again
    description  a call's arrays, as a kernel is told them   known        calls like one before
    teams        torch's threads, and how late they are     crew         threads of our own, awake for a moment

Kernels, each of which takes tasks from a queue:

    forward      panels of queries against blocks of keys
    backward     blocks of keys against panels of queries
    observe      the forward pass, with statistics read off every tile
    windows      weights of some queries on some keys, computed again

What they are made of:

    job          a call as a kernel reads it                structs      such a description in memory, read by name
    scores       from a call's arrays to a tile of scores   tasks        the queue
    rounds       what the threads of a call share           atomics      words that several threads write
    gemm         the product that lives in registers        thin         the same for a handful of queries
    pairs        the same of pairs of bfloat16              paired       a tile whose products are those
    tile         a tile of scores, and walking over it      shaping      softmax, masks, bias, dropout on a tile
    weighing     weights made of scores once more           statistics   what is read off a tile of weights
    formats      reading and writing the caller's arrays    memory       numbers and flags at addresses
    places       which places of a tile are masked          strange      keys and values that are not finite
    backward_rows  what backward takes in and gives out
    target       how wide this machine's vectors are        vector       vector arithmetic as LLVM IR
    compiler     compiling, and the cache on disk           announcement telling who waits for it
    remembering  what was worked out before

Nothing here checks its arguments; `clearhead.call` has done so.
The doors in are loaded when they are first used: whoever names a kernel does not wait for numba.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules={"forecast", "gradients", "known", "launch", "observation", "recompute", "sums"}
)
