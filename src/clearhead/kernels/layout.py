"""How a call is described to a kernel: two tables of integers and one of numbers.

A kernel that took its arrays as numba arrays would be compiled again for every mixture of types and layouts. Handed
addresses and strides, it is compiled twice, for float32 and for float64, and takes whatever comes.
"""

from __future__ import annotations

# Rows of the table of arrays.
QUERY, KEY, VALUE, OUTPUT, LSE, ALLOWED, BIAS, LOW, HIGH, SINK = range(10)
ARRAYS = 10
# And those of the backward pass besides: what comes in, what goes out.
GRADIENT, DELTA, D_QUERY, D_KEY, D_VALUE, D_BIAS = range(10, 16)
BACKWARD_ARRAYS = 16

# And those of an observation: what is found of each query (the table of best keys has a row per query, a map one per
# cell of queries), of each key, and how much of each query's weights counts in the latter.
ENTROPY, PEAK, FAR, BEST, BEST_KEYS, RECEIVED, SHARE, MAP_SUM, MAP_PEAK, MAP_COUNT = range(10, 20)
OBSERVED_ARRAYS = 20

# Its columns: where the array starts, the bytes from one row and from one column to the next, how its numbers are
# stored, and the bytes from one step to the next along each leading axis (0 where it is broadcast).
ADDRESS, ROW, COLUMN, STORED = range(4)
LEADING = 4
LEADING_AXES = 8
FIELDS = LEADING + LEADING_AXES

# The table of sizes. HEADS counts (batch entry, key head, and query head unless folded); FOLDED is how many query
# heads lie behind one another in a panel. SPLIT is how many keys a task looks at. TOGETHER is how many heads one task
# of the backward pass does in turn, because they share a gradient. The leading axes' lengths follow at SHAPE: first
# the splits, then the batch, the key heads, and the query heads that share one.
TASKS, PANELS, VECTORS, HEADS, FOLDED, SPLIT, N_Q, N_K, D, D_V = range(10)
RANGES, BIAS_FORM, DROPPING, SEED, FIRST_QUERY, TOGETHER = range(10, 16)
SHAPE = 16
SIZES = SHAPE + LEADING_AXES
GROUP = LEADING + LEADING_AXES - 1  # the column with the bytes from one query head to the next that shares its keys

# The table of an observation: into how many parts the panels are dealt, and how many each has; how many of each query's
# best keys are kept; cells of the map, and the queries there are in all, of which FIRST_QUERY is the first here; the
# position of that one among the keys; how scores are counted; bytes from one part's sums over queries to the next's.
# For each part follows the first row of the map that is its own.
PARTS, PART_PANELS, KEPT, QUERY_CELLS, KEY_CELLS, ALL_QUERIES, POSITION, COUNTING, PART_STEP = range(9)
PART_ROWS = 9

# What COUNTING says: scores are not counted, for the first head only as all have the same mask, for every head.
NO_COUNT, ONE_COUNT, EVERY_COUNT = range(3)

# What BIAS_FORM says: no bias, one number per query and key, one number per distance query − key.
NO_BIAS, FULL_BIAS, RELATIVE_BIAS = range(3)

# The table of numbers. SCALE is what the queries are multiplied by: the scale, and what makes their scores exponents
# of two or, with a softcap, arguments of tanh. TRUE_SCALE is the scale alone.
SCALE, SOFTCAP, KEEP, TRUE_SCALE = range(4)

# The shared progress of a call: the next task to be taken, and whether to stop taking them.
NEXT, STOP = range(2)
