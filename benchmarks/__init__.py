"""How fast, how lean and how exact `clearhead.attention` is, beside others on the same arrays: `make bench`.

Nothing here is a test. The goals are ratios taken in one run, so they hold for the machine they are measured on.

    cases      the table: what is measured, and what it should reach
    peers      how each library is asked for the same attention
    gradients  and for its gradients
    training   a small GPT, trained on either
    rows       what a measurement is, and whether it reaches its goals
    measure    time and memory, all peers in turn
    accuracy   errors against float64
    machine    what it was measured on
    report     the printed table and the JSON file
    plot       the picture

To add a group, write a function in `cases` that turns a size into the calls of each library, and rows that use it.
"""
