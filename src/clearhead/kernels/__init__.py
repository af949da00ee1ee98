"""The fast path: attention kernels in Python, compiled by numba, with vectors written as LLVM IR.

    target     how wide this machine's vectors are        schedule   threads, the queue of tasks, Ctrl-C, fork
    vector     vector arithmetic as LLVM IR               layout     how a call is described to a kernel
    gemm       the matrix product that lives in registers forward    queries in panels against blocks of keys
    tile       softmax, masks, bias, dropout on a tile    decode     few queries against many keys
    memory     reading and writing the caller's arrays    compiler   compiling, and the cache on disk

Nothing here checks its arguments; `clearhead.dispatch` is the only caller.
"""
