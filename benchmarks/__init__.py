"""How fast, how lean and how exact `clearhead.attention` is, beside others on the same arrays: `make bench`.

Nothing here is a test. The goals are ratios taken in one run, so they hold for the machine they are measured on.

    table         what is measured, and what it should reach
    cases         kinds of rows, and how each is measured
    problems      what is to be computed, said once for everyone
    peers         how each library is asked for it
    runtimes      those that compile a graph first: onnxruntime, OpenVINO
    work          a problem and its calls, from a size
    situations    what else goes on: products of torch's, a busy machine
    models        whole models in place
    gradients     forward and backward
    training      a small GPT, trained on either
    translation   the translator, trained on either
    looking       looking at attention, and tiles of it
    costs         what a call costs before it starts
    first_call    and the first one of a process
    accuracy      errors against float64
    measure       time and memory, all peers in turn
    rows          what a measurement is, and whether it reaches its goals
    goals         goals one by one: those that were missed
    machine       what it was measured on
    report        the printed tables and the JSON file
    plot          the picture

To add a group, write a function in `work` that turns a size into the calls of each library, and rows in `table` that
use it.
"""
