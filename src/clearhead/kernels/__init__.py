"""The fast path: attention kernels in Python, compiled by numba, with vectors written as LLVM IR.

    target     how wide this machine's vectors are          launch       from a checked call to a running kernel
    vector     vector arithmetic as LLVM IR                 schedule     threads, the queue of tasks, Ctrl-C, fork
    gemm       the matrix product that lives in registers   layout       how a call is described to a kernel
    tile       softmax, masks, bias, dropout on a tile      forward      panels of queries against blocks of keys
    memory     reading and writing the caller's arrays      join         joining what parts of the keys gave
    compiler   compiling, and the cache on disk             explanation  what a call would do, in words
    backward   blocks of keys against panels of queries     gradients    from an output's gradient to its inputs'

Nothing here checks its arguments; `clearhead.call` has done so.
The doors in are loaded when they are first used: whoever names a kernel does not wait for numba.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules={"gradients", "launch", "observation"})
