# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention, from three words to a translator
#
# Three Korean words, 고양이가 쥐를 잡았다, *the cat caught the mouse*. You will compute by hand how they listen to
# each other, build everything that goes around that, and at the end train a small translator that has never seen this
# sentence and translates it anyway, while you watch which word it looks at.
#
# You need Python and a little NumPy. Run the cells from top to bottom (Shift + Enter); all of it together takes less
# than a minute, without a network. Whenever a cell makes you wonder *what if*, change it and run it again. That is
# what a notebook is for.
#
# Each part goes with a note of the course, which tells the same at more leisure: `clearhead learn` lists them.

# %% [markdown]
# ## 0. Before you start
#
# The next cell looks whether clearhead is installed, and PyTorch, which part 12 trains with. What is missing it
# installs from the clone that this notebook lies in. In Colab, clone the repository first and open the notebook there.

# %%
import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    # pinned: a later one may bring gigabytes for GPUs
    get_ipython().run_line_magic("pip", "install --quiet torch==2.13.0")
if not all(map(importlib.util.find_spec, ("clearhead", "babel", "sacrebleu", "tokenizers"))):
    get_ipython().run_line_magic("pip", 'install --quiet --editable "..[translate]"')
    # a kernel that starts anew finds what is installed like this; this one looks here
    sys.path.insert(0, "../src")

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

import clearhead as ch
from clearhead.figures.lettering import families

os.environ["CLEARHEAD_LANG"] = "en"  # what figures say
plt.rcParams.update({"font.family": list(families()), "figure.dpi": 72, "figure.figsize": (8, 2.6)})
np.set_printoptions(precision=2, suppress=True)

words = ["고양이가", "쥐를", "잡았다"]  # the cat, the mouse, caught

# %% [markdown]
# ## 1. Three words
#
# A word carries three rows of numbers. Its **query** says what it looks for, its **key** what it has to offer, its
# **value** what it passes on to whoever listens. Queries and keys share their columns, here *someone who acts*,
# *someone it happens to*, *an action*, and one spare.
#
# The two nouns look for an action. The verb looks for its nouns, and for the one who acts twice as hard.

# %%
K = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], float)
Q = np.array([[0, 0, 4, 0], [0, 0, 4, 0], [4, 2, 0, 0]], float)
V = np.array([[7, 0], [0, 7], [7, 7]], float)

scores = Q @ K.T
print(scores)

# %% [markdown]
# Row by row: who asks. Column by column: who is asked. The last row is 잡았다: it scores the cat with 4, the mouse
# with 2 and itself with 0.
#
# Scores are divided by $\sqrt{4}$, the root of the width (part 3 measures why), and then turned into **shares**:
# positive numbers that sum to 1. Try it on paper with powers of two first. The scores 2, 1, 0 give 4, 2, 1, and so
# the shares 4/7, 2/7, 1/7. Softmax does the same with $e$ in place of 2.

# %%
halves = 2 ** np.array([2.0, 1, 0])
print("powers of two", halves / halves.sum())

exponentials = np.exp(scores[2] / np.sqrt(4))
print("powers of e  ", exponentials / exponentials.sum())

# %% [markdown]
# With these shares the values are mixed, and the mixture is what the word means *here*. That is all of attention, and
# it fits into four lines. The one thing not to forget is to take the largest score away before the exponential: it
# changes nothing, since only differences count, and it keeps large scores from overflowing.


# %%
def my_attention(Q, K, V):
    """Q (n_q, d), K (n_k, d), V (n_k, d_v) → output (n_q, d_v), weights (n_q, n_k)"""
    scores = Q @ K.T / np.sqrt(K.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V, weights


output, weights = my_attention(Q, K, V)
print(weights)
print(output)

# %% [markdown]
# Is it right? clearhead has a textbook of such functions, written to be read and tested against others. Whatever you
# write in this notebook, hold it against the textbook.

# %%
expected, expected_weights = ch.scaled_dot_product_attention(Q, K, V)
assert np.allclose(output, expected)
assert np.allclose(weights, expected_weights)

ch.visualize_attention(weights, words, title="Who listens to whom")

# %% [markdown]
# **Try it.** Make the verb look for the mouse twice as hard as for the cat: swap the 4 and the 2 in `Q` and run the
# cells again. Then give all three words the same query. Which rows of the picture are now equal?

# %% [markdown]
# ## 2. Self-attention
#
# Who writes the queries, keys and values? Three matrices, the same for every word. A word comes as a vector, and each
# matrix makes another vector of it. Training changes these matrices and nothing else of what you have seen so far.
#
# Our words as vectors: *acts*, *is acted upon*, *is an action*, *is a noun*. The matrices below were chosen so that
# the queries, keys and values of part 1 come out.

# %%
X = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]], float)
W_Q = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [4, 2, 0, 0], [0, 0, 4, 0]], float)
W_K = np.diag([1.0, 1, 1, 0])
W_V = np.array([[7, 0], [0, 7], [7, 7], [0, 0]], float)

output, weights = ch.self_attention(X, W_Q, W_K, W_V)
for W, part in ((W_Q, Q), (W_K, K), (W_V, V)):
    assert np.array_equal(X @ W, part)
print(output)

# %% [markdown]
# **Query, key and value are three things for a reason.** Use one matrix for queries and keys, and the scores become
# symmetric: every word finds exactly those who find it, and itself best of all. The verb no longer hears of the cat.

# %%
same = ch.attention_scores(X @ W_K, X @ W_K)
print(same)
print("symmetric:", np.array_equal(same, same.T))

# %% [markdown]
# A whole batch of sentences goes through the same call. Only the last two axes take part; all axes before them are
# carried along.

# %%
batch = np.stack([X, X[::-1]])
batch_output, batch_weights = ch.self_attention(batch, W_Q, W_K, W_V)
print(batch.shape, "->", batch_weights.shape, batch_output.shape)

# %% [markdown]
# ## 3. Why divide by √d?
#
# Everybody writes $\sqrt{d_k}$ and few have seen what it does. A score is a sum of $d$ products. If the numbers are
# as good as random, as they are when training begins, each product adds its own variance, and so the variance of the
# score **is** $d$. Measure it, together with two consequences: how much of the weight the best of 16 keys gets, and
# how strongly the weights still react when a score changes (the slope of a weight $w$ against its score is $w(1-w)$).


# %%
def measure(d, scale):
    """Variance of the scores, largest weight, and the sum of slopes of a row, over 200 random queries."""
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((200, 1, d)), rng.standard_normal((200, 16, d))
    scores = ch.attention_scores(q, k, scale=scale)
    weights = ch.softmax(scores)
    return scores.var(), weights.max(axis=-1).mean(), (weights * (1 - weights)).sum(axis=-1).mean()


widths = [1, 4, 16, 64, 256, 1024]
bare = np.array([measure(d, scale=1.0) for d in widths])
scaled = np.array([measure(d, scale=None) for d in widths])
print("    d   variance  largest  slope  | divided by √d")
for d, before, after in zip(widths, bare, scaled):
    numbers = "{:10.1f} {:8.2f} {:6.2f}  | {:6.1f} {:8.2f} {:6.2f}".format(*before, *after)
    print(f"{d:5} {numbers}")

# %%
figure, axes = plt.subplots(1, 3, layout="constrained")
for column, name in enumerate(["variance of scores", "largest of 16 weights", "slope"]):
    axes[column].plot(widths, bare[:, column], "o-", color="#D55E00", label="not scaled")
    axes[column].plot(widths, scaled[:, column], "o-", color="#0072B2", label="divided by √d")
    axes[column].set(xscale="log", title=name, xlabel="d", yscale="log" if column == 0 else "linear")
axes[0].legend(frameon=False)
plt.show()

# %% [markdown]
# At $d = 64$, a usual width, the unscaled softmax has all but decided for one key by pure chance, and its slope is
# down to a fifth: it can hardly be taught otherwise. Divided by $\sqrt d$, nothing depends on the width any more.

# %% [markdown]
# ## 4. Several heads
#
# 잡았다 wants to know two things, who caught and who was caught, and has only one set of shares to give. Averaging
# cat and mouse tells it neither. So it asks several times: several **heads**, each with its own three matrices.
#
# The smallest example, by hand. One word, X = (1, 2), two heads of width 1. Every number of head 1 is 0.5, every
# number of head 2 is 0.3. With one word the only weight is 1, so each head returns its value: 0.5 · 1 + 0.5 · 2 =
# **1.5** and 0.3 · 1 + 0.3 · 2 = **0.9**.

# %%
one_word = np.array([[1.0, 2.0]])
answers = []
for number in (0.5, 0.3):
    W = np.full((2, 1), number)
    answer, weight = ch.self_attention(one_word, W, W, W)
    answers.append(answer)
print(np.concatenate(answers, axis=-1), "weight", weight)

# %% [markdown]
# Now a whole layer: width 16, four heads of width 4. First **by a loop**, as one would explain it. Each head takes
# its four columns of the three matrices, attends by itself, and the four answers are laid side by side and mixed by a
# last matrix, $W_O$.

# %%
layer = ch.MultiHeadAttention(d_model=16, num_heads=4, bias=False, seed=0)
x = np.random.default_rng(1).standard_normal((3, 16))

heads = []
for i in range(4):
    columns = slice(4 * i, 4 * (i + 1))
    head, _ = ch.self_attention(x, layer.W_Q[:, columns], layer.W_K[:, columns], layer.W_V[:, columns])
    heads.append(head)
by_loop = np.concatenate(heads, axis=-1) @ layer.W_O
print(f"{len(heads)} heads of shape {heads[0].shape} -> {by_loop.shape}")

# %% [markdown]
# Then **all at once**, as everybody computes it: three large products, rows cut into pieces, and the heads turned
# into a leading axis. The line to look at is the one with `swapaxes`. A `reshape` to (4, 3, 4) alone runs too, sums
# to 1 too, and gives the first "head" the first word and nothing of the others.


# %%
def split_heads(x, h):
    """(n, h·d_k) → (h, n, d_k)"""
    n, width = x.shape
    return x.reshape(n, h, width // h).swapaxes(0, 1)


def merge_heads(x):
    """(h, n, d_k) → (n, h·d_k)"""
    h, n, d_k = x.shape
    return x.swapaxes(0, 1).reshape(n, h * d_k)


queries, keys, values = (split_heads(x @ W, 4) for W in (layer.W_Q, layer.W_K, layer.W_V))
mixed, head_weights = ch.scaled_dot_product_attention(queries, keys, values)
at_once = merge_heads(mixed) @ layer.W_O

assert np.allclose(by_loop, at_once)
assert np.allclose(by_loop, layer(x)[0])
print("loop, all at once and ch.MultiHeadAttention agree:", at_once.shape)

# %% [markdown]
# ## 5. Four heads, drawn
#
# What do heads look at once they have been trained? clearhead brings a small translator from Korean to English. Its
# encoder reads our sentence in pieces, stem and ending apart, with four heads at once.

# %% tags=["measured"]
translator = ch.Translator.load()
seen = translator.attention("고양이가 쥐를 잡았다")
four = seen.encoder[0][:4]
ch.visualize_attention(four, seen.source, title="Four heads of the encoder")

# %% [markdown]
# And in numbers, so that nobody has to trust their eyes: how much each head gives to its own piece, to the one
# before, to the one after and to all others; and how many keys it uses (the exponential of its entropy). Which head
# does what depends on the training, so the next table may look different in your version.

# %% tags=["measured"]
n = four.shape[-1]
distance = np.arange(n) - np.arange(n)[:, None]
print("head    self before  after others keys in use")
for number, head in enumerate(four):
    shares = [head[distance == 0], head[distance == -1], head[distance == 1], head[abs(distance) > 1]]
    entropy = -(head * np.log(np.maximum(head, 1e-12))).sum(axis=-1)
    print(f"{number:4} ", " ".join(f"{share.sum() / n:6.2f}" for share in shares), f"{np.exp(entropy).mean():11.1f}")
for head in four:
    ch.validate_attention(head)

# %% [markdown]
# ## 6. How many heads?
#
# More heads sound expensive. Count: parameters, multiplications and the bytes of the weights, for 1,000 words of
# width 512.

# %%
print("heads  d_k  parameters  GFLOPs  weights in MB")
for h in (1, 2, 4, 8, 16):
    cost = ch.attention_cost(1000, d_model=512, num_heads=h)
    megabytes = cost.attention_bytes / 1e6
    print(f"{h:5} {cost.d_k:4} {cost.parameters:11,} {cost.flops / 1e9:7.2f} {megabytes:14.0f}")

# %% [markdown]
# Parameters and products stay the same, because twice as many heads are half as wide. Only the last column grows:
# every head has its own matrix of shares, and someone has to fill it. That shows in the time of an implementation
# that keeps all of them, as the textbook does. Times are those of one machine; compare the factors.

# %% tags=["measured"]
import time

sample = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)


def best_time(call, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


times = [best_time(lambda h=h: ch.MultiHeadAttention(256, h, dtype=np.float32)(sample)) for h in (1, 4, 16)]
factors = ", ".join(f"{t / times[0]:.1f}" for t in times)
print(f"1, 4 and 16 heads take {factors} times as long as one")

# %% [markdown]
# And what do several heads buy? One query that looks for both nouns hears their average. Two queries hear both.

# %%
said = np.array([[1.0], [2.0], [0.0]])  # the cat says 1, the mouse 2, the verb 0
both, who, whom = np.array([[9.0, 9, 0, 0]]), np.array([[9.0, 0, 0, 0]]), np.array([[0, 9.0, 0, 0]])
print("one head ", ch.scaled_dot_product_attention(both, K, said)[0][0].round(1))
print("two heads", *(ch.scaled_dot_product_attention(q, K, said)[0][0].round(1) for q in (who, whom)))

# %% [markdown]
# ## 7. Who sits where?
#
# Nothing so far knows the order of the words. Shuffle them, and the outputs are shuffled along and otherwise the
# same: attention sees a set. *The cat caught the mouse* and *the mouse caught the cat* would mean the same.

# %%
rng = np.random.default_rng(2)
x, (A, B, C) = rng.standard_normal((3, 16)), rng.standard_normal((3, 16, 16)) / 4
shuffled = [2, 0, 1]


def knows_order(seated):
    """Whether shuffled words give other outputs than the same rows in another order; `seated` adds positions."""
    output, _ = ch.self_attention(seated(x), A, B, C)
    other, _ = ch.self_attention(seated(x[shuffled]), A, B, C)
    return not np.allclose(output[shuffled], other)


print("without positions, knows the order:", knows_order(lambda x: x))
print("with positions, knows the order:   ", knows_order(ch.add_positional_encoding))

# %% [markdown]
# The sinusoids that were added are clock hands: each pair of columns is one hand, the first fast, the last very slow.
# No two seats show the same time, and seats close to each other show similar times.

# %%
P = ch.positional_encoding(64, 32)
figure, (left, right) = plt.subplots(1, 2, layout="constrained", width_ratios=[2, 1])
left.imshow(P.T, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
left.set(xlabel="position", ylabel="column", title="sinusoids")
right.plot(P[30] @ P.T / 16, color="#0072B2")
right.set(xlabel="position", title="similarity to position 30")
plt.show()

# %% [markdown]
# Newer models write the seat elsewhere. **RoPE** turns queries and keys by an angle that grows with the seat, so that
# their score depends on the *distance* alone. **ALiBi** takes points away for distance, more in some heads than in
# others.

# %%
q, k = rng.standard_normal((2, 1, 8))
for seat in (3, 100, 5000):
    print(f"RoPE, 3 seats apart, at seat {seat:4}:", (ch.rope(q, [seat]) @ ch.rope(k, [seat - 3]).T).round(4)[0, 0])
print("ALiBi, the last of five words, the first and the fourth of eight heads:")
print(ch.alibi(1, 5, 8)[[0, 3], 0])

# %% [markdown]
# ## 8. Who may look at whom?
#
# Whoever writes a sentence from left to right must not see what has not been written yet. A **causal mask** forbids
# it: True means *may attend*, and a forbidden score becomes $-\infty$, so that its weight is exactly 0.

# %%
written = ["<begin>", "The", "cat", "caught", "the", "mouse"]
causal = ch.create_causal_mask(len(written))
x = rng.standard_normal((6, 16))
_, causal_weights = ch.causal_self_attention(x, A, B, C)
ch.visualize_attention(causal_weights, written, mask=causal, title="Nobody looks ahead")

# %% [markdown]
# The promise can be tested: change the last word, and nothing before it may move, not by one bit. A mask that was
# applied *after* the softmax looks almost the same in a picture and breaks the promise.

# %%
later = x.copy()
later[-1] += 1.0


def moved(attend):
    """By how much the outputs before the last move when the last word changes."""
    return np.abs(attend(x) - attend(later))[:-1].max()


def masked_too_late(x):
    weights = ch.self_attention(x, A, B, C)[1]
    return np.where(causal, weights, 0) @ (x @ C)


print("mask before softmax:", moved(lambda x: ch.causal_self_attention(x, A, B, C)[0]))
print("mask after softmax: ", moved(masked_too_late).round(2))

# %% [markdown]
# Sentences of different lengths are filled up with padding, and nobody should listen to that. It is the **keys** that
# are masked. And a query that has no key left gets zeros, never NaN.

# %%
ids = np.array([[11, 12, 13], [14, 0, 0]])
padding = ch.create_padding_mask(ids)[:, 0]  # (2, 1, 3): one row for all queries
_, padded_weights = ch.scaled_dot_product_attention(*np.zeros((3, 2, 3, 4)), padding)
print(padded_weights[1])
print("no key left:", ch.scaled_dot_product_attention(*np.ones((3, 1, 2)), np.array([[False]]))[0])

# %% [markdown]
# ## 9. Self-attention and cross-attention
#
# In self-attention the words that ask and the words that are asked are the same. In **cross-attention** they are not:
# the English sentence that is being written asks the Korean one. The calculation is the same, down to the object that
# does it. Only the sources of query and key differ, and with them the shape: one row for each word that asks.

# %%
korean, english = rng.standard_normal((3, 16)), rng.standard_normal((5, 16))
layer = ch.MultiHeadAttention(d_model=16, num_heads=2, seed=0)
for name, arguments in {"self   ": (english,), "cross  ": (english, korean), "swapped": (korean, english)}.items():
    output, weights = layer(*arguments)
    print(f"{name} output {output.shape}  weights {weights.shape}")

# %% [markdown]
# Swapping the two is a common mistake, and the shape tells: three rows for five English words. Here is a real one,
# the cross-attention of the trained translator over our sentence. Korean puts the verb last and English puts it
# second, so the dark cells cross.

# %% tags=["measured"]
(found,) = translator.translate(["고양이가 쥐를 잡았다"])
print(found.text)
aligned = found.aligned()
ch.visualize_cross_attention(
    aligned.between_words(translator.reader),
    [found.text[a:b] for a, b in aligned.target_words],
    [found.source[a:b] for a, b in aligned.source_words],
    title="The attention that aligns best",
)

# %% [markdown]
# ## 10. Patterns, and whether a matrix is attention at all
#
# Heads repeat themselves from model to model, and the usual ways of looking have names. Here they are as exact
# matrices.

# %%
zoo = {
    "self": ch.patterns.diagonal(6),
    "previous": ch.patterns.previous_token(6),
    "first": ch.patterns.first_token(6),
    "local": ch.patterns.local(6, radius=1),
    "uniform": ch.patterns.uniform(6),
    "causal uniform": ch.patterns.causal_uniform(6),
}
ch.visualize_attention(np.stack(list(zoo.values())), head_names=list(zoo), values=False)

# %% [markdown]
# The way back works too: give a matrix, get the name of the pattern that it resembles most and how much. Mixed with
# noise the score goes down, and the name stays for a while.

# %%
noise = ch.softmax(np.random.default_rng(0).standard_normal((6, 6)))
for share in (0.0, 0.3, 0.6):
    match = ch.patterns.name_pattern((1 - share) * zoo["previous"] + share * noise)
    print(f"{share:.0%} noise: {match.name}, score {match.score:.2f}")

# %% [markdown]
# Before you believe a picture, ask whether the matrix is attention: every weight between 0 and 1, every row a sum of
# 1. `validate_attention` says nothing if all is well, and otherwise names the first bad row. Each of these three
# comes from a mistake that runs without any error.

# %%
scores = np.array([[2.0, 1, 0], [0, 3, 1], [1, 1, 1]])
mistakes = {
    "softmax over the wrong axis": ch.softmax(scores, axis=0),
    "mask after the softmax": np.where(ch.create_causal_mask(3), ch.softmax(scores), 0),
    "softmax left out": scores,
}
ch.validate_attention(ch.softmax(scores))
for name, wrong in mistakes.items():
    try:
        ch.validate_attention(wrong)
    except ValueError as error:
        print(f"{name}: {error}")

# %% [markdown]
# ## 11. What n² costs
#
# Everybody asks everybody, so twice the words are four times the work, and the plain way also writes all of it down.
# For 8 heads in float32:

# %%
for n in (1_000, 10_000, 100_000):
    cost = ch.attention_cost(n, d_model=512, num_heads=8)
    share = (cost.steps["scores"].flops + cost.steps["mix"].flops) / cost.flops
    print(f"{n:7,} words: {cost.attention_bytes / 1e9:7.2f} GB of weights, n² is {share:.0%} of the FLOPs")

# %% [markdown]
# Nobody forces us to keep the paper. A **chunk** of queries has all it needs for its own rows: compute them, keep the
# output, throw the weights away.


# %%
def chunked_attention(Q, K, V, size):
    """As `my_attention`, but never more than `size` rows of weights at a time."""
    parts = [my_attention(Q[start : start + size], K, V)[0] for start in range(0, len(Q), size)]
    return np.concatenate(parts)


Q, K, V = np.random.default_rng(0).standard_normal((3, 600, 32))
whole, _ = ch.scaled_dot_product_attention(Q, K, V)
print(np.allclose(chunked_attention(Q, K, V, 64), whole))
print(np.allclose(ch.memory_efficient_attention(Q, K, V, chunk_size=64), whole))

# %% [markdown]
# Cutting the *keys* takes one trick more, since a softmax needs its whole row. Keep three numbers for each query: the
# largest score so far, the sum of exponentials relative to it, and the mixture relative to it. When a larger score
# comes, scale the old ones down. That is the **online softmax**, and with it flash attention never holds more than
# one block.

# %%
top, total, mixture = np.full((600, 1), -np.inf), np.zeros((600, 1)), np.zeros((600, 32))
for start in range(0, 600, 100):
    block = slice(start, start + 100)
    scores = Q @ K[block].T / np.sqrt(32)
    new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
    shrink, exponentials = np.exp(top - new_top), np.exp(scores - new_top)
    total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
    mixture = mixture * shrink + exponentials @ V[block]
    top = new_top
print(np.allclose(mixture / total, whole), np.allclose(ch.flash_attention(Q, K, V), whole))

# %% [markdown]
# Now measure: the most memory that each way holds at once, at 512 and at 2,048 positions. Four times the length is
# sixteen times the memory for the matrix and about four times for everything else. `ch.attention` is the same online
# softmax, compiled; its first call may take some seconds.

# %% tags=["measured"]
import tracemalloc

ways = {
    "matrix": lambda q: ch.scaled_dot_product_attention(q, q, q)[0],
    "chunks": lambda q: ch.memory_efficient_attention(q, q, q, chunk_size=64),
    "attention": lambda q: ch.attention(q, q, q),
    "window of 128": lambda q: ch.attention(q, q, q, mask=ch.masks.causal() & ch.masks.window(128)),
}


def peak(way, n):
    q = np.random.default_rng(0).standard_normal((n, 64), dtype=np.float32)
    way(q)  # compiled and warm
    tracemalloc.start()
    way(q)
    bytes_held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_held / 2**20


for name, way in ways.items():
    small, large = peak(way, 512), peak(way, 2048)
    print(f"{name:14} {small:6.2f} MiB {large:7.2f} MiB   x{large / small:.0f}")

# %% [markdown]
# The rivals that attention replaced grow more slowly. What attention buys for its n² is in the last two columns:
# nobody has to wait, and every word reaches every other in one step.

# %%
print("     n  layer         GFLOPs  steps in a row  longest path")
for cost in ch.compare_layers([100, 10_000], d_model=512).layers:
    if cost.layer in ("attention", "recurrent", "convolution"):
        gflops = cost.mixing_flops / 1e9
        print(f"{cost.n:6,}  {cost.layer:12} {gflops:7.2f} {cost.sequential_steps:15,} {cost.path_length:13,}")

# %% [markdown]
# ## 12. A translator of your own
#
# Everything is there: self-attention for reading, causal self-attention for writing, cross-attention from one to the
# other. Let us train it. The language is tiny: eight animals, five verbs, *who did what to whom*. Korean marks the
# parts by endings and may put either first; English has nothing but the order.

# %%
from clearhead.translate.examples import Example

animals = {"고양이": "cat", "쥐": "mouse", "개": "dog", "새": "bird"}
animals |= {"곰": "bear", "여우": "fox", "오리": "duck", "말": "horse"}
verbs = {"잡았다": "caught", "보았다": "saw", "찾았다": "found", "불렀다": "called", "도왔다": "helped"}


def with_ending(noun, after_consonant, after_vowel):
    return noun + (after_consonant if (ord(noun[-1]) - ord("가")) % 28 else after_vowel)


examples = []
for who in animals:
    for whom in [other for other in animals if other != who]:
        for did in verbs:
            subject, thing = with_ending(who, "이", "가"), with_ending(whom, "을", "를")
            english = f"The {animals[who]} {verbs[did]} the {animals[whom]}"
            examples += [Example(f"{subject} {thing} {did}", english), Example(f"{thing} {subject} {did}", english)]
print(f"{len(examples)} sentences, such as {min(examples)[:2]}")

# %% [markdown]
# One meaning in nine is kept away from the training, in both word orders, and *the cat caught the mouse* is among
# them. A model that gets those right has not learned sentences by heart.

# %%
meanings = sorted({example.target for example in examples})
kept = set(meanings[::9]) | {"The cat caught the mouse"}
unseen = sorted(example for example in examples if example.target in kept)
training = sorted(example for example in examples if example.target not in kept)
print(f"{len(training)} to train on, {len(unseen)} kept away")

# %% [markdown]
# The model is a Transformer with one layer for reading and one for writing, four heads each. `advance` takes one
# step: some sentences, the loss, its gradient, a small change of every matrix. It needs torch and a few seconds. The
# loss cannot reach 0, since a little doubt is built into what it is asked for.

# %% tags=["measured"]
from clearhead.translate.batches import Corpus
from clearhead.translate.model import Shape
from clearhead.translate.training import Settings, Trainer
from clearhead.translate.vocabulary import Vocabulary

vocabulary = Vocabulary(sorted({word for e in examples for word in f"{e.source} {e.target}".split()}))
shape = Shape(d_model=32, num_heads=4, num_layers=1, num_decoder_layers=1, d_ff=64)
settings = Settings(steps=400, batch_size=64, learning_rate=1e-2, warm_up=30, held_out=32, look_every=80)
ours = Corpus.encoded([Example("고양이가 쥐를 잡았다", "The cat caught the mouse")], vocabulary)
watched = ours.sources[0], ours.targets[0]
trainer = Trainer("animals", Corpus.encoded(training, vocabulary), vocabulary, shape, settings, watched)
while not trainer.finished:
    trainer.advance()
    if trainer.due():
        moment = trainer.look()
        print(f"step {moment.step:3}  loss {moment.loss:.2f}  {moment.exact:.0%} of the held-out sentences right")

# %% [markdown]
# Now the sentences that it has never seen, each written freely, word by word.

# %%
mine = ch.Translator(trainer.model.to_textbook(), vocabulary, "animals", trainer.corpus.longest)
right = [answer.text == example.target for answer, example in zip(mine.translate([e.source for e in unseen]), unseen)]
assert np.mean(right) > 0.9
for text in ("고양이가 쥐를 잡았다", "쥐를 고양이가 잡았다", "쥐가 고양이를 잡았다"):
    print(text, "->", mine.translate([text])[0].text)

# %% [markdown]
# The second has the words in another order and means the same, the third has other endings and means the opposite. It
# heeds the endings.
#
# Where did it look? While it trained, the cross-attention over our sentence was kept now and then. At first it means
# nothing; then each English word finds its Korean one, *caught* first, since a verb can be told without knowing who
# did it. What a head does not need it leaves with `<end>`: that column is a **sink**. Rows are English words, columns
# Korean ones.

# %% tags=["measured"]
steps = sorted(trainer.film)
chosen = [steps[0], *(min(steps, key=lambda step: abs(step - wanted)) for wanted in (40, 80)), steps[-1]]
maps = np.stack([trainer.film[step][0].mean(axis=0) for step in chosen])
ch.visualize_attention(
    maps,
    ["The", "cat", "caught", "the", "mouse", "<end>"],
    key_tokens=[*words, "<end>"],
    head_names=[f"step {step}" for step in chosen],
    title="Cross-attention while it learns (mean of four heads)",
)

# %% [markdown]
# ## 13. Where is not why
#
# It looked at 잡았다 and wrote *caught*. **Because** it looked there? A picture cannot tell; an experiment can.
# Silence one head after the other by setting its rows of $W_O$ to 0: it looks as before, and nobody hears it. How
# many of the unseen sentences still come out right, and how sharply did that head look?

# %% tags=["measured"]
model = mine.model
parts = {"self ": model.decoder[0].self_attention, "cross": model.decoder[0].cross_attention}
seen = mine.attention("고양이가 쥐를 잡았다")
sharpness = {"self ": seen.decoder[0].max(axis=-1).mean(axis=-1), "cross": seen.cross[0].max(axis=-1).mean(axis=-1)}
sources = [example.source for example in unseen]
print("head       sharpness  right without it")
for name, part in parts.items():
    for head in range(4):
        rows, kept_rows = slice(8 * head, 8 * (head + 1)), part.W_O.copy()
        part.W_O[rows] = 0
        answers = mine.translate(sources)
        part.W_O[:] = kept_rows
        share = np.mean([answer.text == example.target for answer, example in zip(answers, unseen)])
        print(f"{name} {head} {sharpness[name][head]:12.2f} {share:17.0%}")

# %% [markdown]
# Compare the two columns. Heads that look sharply are not always the ones that matter, and heads that look everywhere
# are not always idle. Weights say where a head looked, silencing says what depends on it. Before you say *because*,
# silence it.

# %% [markdown]
# ## 14. Long texts
#
# One last thing that a matrix cannot do. Over thousands of positions nobody can keep or draw all weights; `look`
# reads statistics while the tiles pass by and computes any weight exactly when you ask. Two heads made by hand, over
# 4,096 positions: one looks at the word before, one at the very first.

# %%
n, d = 4096, 64
angles = np.arange(n)[:, None] / 10000 ** (np.arange(d // 2) / (d // 2))
place = 5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
first = np.where(np.arange(n)[:, None] == 0, 3.0, 0.0) * np.ones((1, d))
q = np.stack([np.roll(place, 1, axis=0), np.ones((n, d))]).astype(np.float32)
k = np.stack([place, first]).astype(np.float32)

view = ch.look(q, k, mask=ch.masks.causal())
print(view.patterns().labels, "keys in use:", np.exp(view.entropy).mean(axis=-1).round(1))
print("query 2,000 and the keys around it:", view.weights(head=0, rows=2000, cols=slice(1997, 2002)).round(2))

# %%
view.plot(scale="row", reduce="max")

# %% [markdown]
# ## 15. A whole model while it runs
#
# So far you handed queries and keys over. A model that exists already can simply be watched: `trace` keeps what every
# head of every layer does until the block ends. Here it is the translator that comes along; a line of the table is a
# layer, and each word in it a head.

# %%
with ch.trace(translator) as trace:
    translator.translate(["고양이가 쥐를 잡았다"])
whole = trace.calls[0].sequences[0]
print(whole)
print(whole.patterns())

# %%
whole.plot()

# %% [markdown]
# A figure stands still. The page does not: the next line writes one file, which opens in any browser, without a
# network. Choose a head, click a word to see what it looked at, zoom in to a single weight, and walk through the
# translation step by step.

# %%
print(whole.to_html("translator.html"))

# %% [markdown]
# `whole.cross[0]` is a view like the one above, with every weight in it. A model of transformers is watched with the
# same two lines, at 32,768 words as well as at eight.
#
# And without a head? In section 13 you wrote zeros into a matrix and put back what was there. In a torch model that is
# watched, a head is taken out for as long as the block lasts, `ch.trace(model, ablate={(layer, head): "zero"})`, and
# `effects` does so with one head after the other. Here it is the small translator that you trained, and the loss of its
# sentence: a number above 0 says that the head was needed.

# %% tags=["measured"]
import torch

from clearhead.translate.vocabulary import BEGIN, END

real, (source, target) = trainer.model.eval(), watched
given, so_far, wanted = torch.tensor([[*source, END]]), torch.tensor([[BEGIN, *target]]), [*target, END]


def loss():
    with torch.no_grad():
        return -real(given, so_far).log_softmax(dim=-1)[0, range(len(wanted)), wanted].mean()


with ch.trace(real) as trace:
    loss()
print(trace.effects(loss, progress=False))

# %% [markdown]
# A head can also be replaced by its mean, or by what it does on another sentence, and a single glance can be cut: the
# page *See every head of a model* goes on from here.

# %% [markdown]
# ## What you can do now
#
# You have computed attention by hand, written it in four lines, split it into heads, masked it, told it the order of
# its words, cut it into pieces without changing the answer, and trained a translator that aligns words nobody aligned
# for it.
#
# - `clearhead learn` lists the notes that go with all this, with questions and exercises.
# - `clearhead translate "고양이가 쥐를 잡았다" --figure cat.png` draws every head of the larger translator.
# - The functions of this notebook are short. Read them: `src/clearhead/textbook/attention.py` is a good beginning.
