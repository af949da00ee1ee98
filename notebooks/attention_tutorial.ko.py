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
# # 어텐션, 세 단어에서 번역기까지
#
# "고양이가 쥐를 잡았다." 단어가 셋뿐인 문장입니다. 이 단어들이 서로의 말을 어떻게 듣는지 손으로 계산하는 데서 시작해,
# 그 둘레에 필요한 것을 하나씩 만들어 갑니다. 끝에서는 작은 번역기를 직접 학습시킵니다. 번역기는 이 문장을 한 번도 본
# 적이 없는데도 영어로 옮기고, 옮기는 동안 어느 단어를 보는지도 눈으로 확인할 수 있습니다.
#
# Python과 NumPy를 조금 알면 충분합니다. 위에서부터 셀을 하나씩 실행하세요(Shift + Enter). 모두 실행해도 1분이 걸리지
# 않고 네트워크도 필요 없습니다. "이걸 바꾸면 어떻게 될까?" 하는 생각이 들면 바로 고쳐서 다시 실행해 보세요. 노트북은
# 그러라고 있는 것입니다.
#
# 장마다 짝이 되는 강의 노트가 있고, 거기서는 같은 내용을 더 차근차근 다룹니다. 목록은 `clearhead learn`으로 볼 수
# 있습니다.

# %% [markdown]
# ## 0. 시작하기 전에
#
# 다음 셀은 clearhead와, 12장에서 학습에 쓰는 PyTorch가 설치되어 있는지 확인합니다. 없으면 이 노트북이 들어 있는
# 저장소에서 설치합니다. Colab에서는 저장소를 먼저 클론한 다음 그 안의 노트북을 여세요.

# %%
import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    # 버전을 정해 두지 않으면 GPU용 파일 수 기가바이트를 내려받을 수 있습니다
    get_ipython().run_line_magic("pip", "install --quiet torch==2.13.0")
if not all(map(importlib.util.find_spec, ("clearhead", "babel", "sacrebleu", "tokenizers"))):
    get_ipython().run_line_magic("pip", 'install --quiet --editable "..[translate]"')
    # 이렇게 설치한 것은 커널을 다시 시작해야 보이므로, 이 커널에는 위치를 알려 줍니다
    sys.path.insert(0, "../src")

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

import clearhead as ch
from clearhead.figures.lettering import families

os.environ["CLEARHEAD_LANG"] = "ko"  # 그림에 쓰는 말
plt.rcParams.update({"font.family": list(families()), "figure.dpi": 72, "figure.figsize": (8, 2.6)})
np.set_printoptions(precision=2, suppress=True)

words = ["고양이가", "쥐를", "잡았다"]

# %% [markdown]
# ## 1. 세 단어
#
# 단어마다 수의 나열을 세 개씩 가지고 있습니다. **쿼리**(query)는 무엇을 찾는지, **키**(key)는 무엇을 내놓는지,
# **값**(value)은 듣는 이에게 무엇을 전하는지 나타냅니다. 쿼리와 키는 열의 뜻이 같습니다. 여기서는 차례로 '행동하는
# 쪽', '당하는 쪽', '행동'이고, 마지막 열은 비워 두었습니다.
#
# 두 명사는 행동을 찾습니다. 동사는 두 명사를 찾되, 행동하는 쪽을 두 배로 열심히 찾습니다.

# %%
K = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], float)
Q = np.array([[0, 0, 4, 0], [0, 0, 4, 0], [4, 2, 0, 0]], float)
V = np.array([[7, 0], [0, 7], [7, 7]], float)

scores = Q @ K.T
print(scores)

# %% [markdown]
# 행은 묻는 단어, 열은 질문을 받는 단어입니다. 마지막 행이 '잡았다'입니다. '고양이가'에 4점, '쥐를'에 2점, 자기
# 자신에게 0점을 주었습니다.
#
# 점수는 먼저 폭의 제곱근인 $\sqrt{4}$로 나눕니다. 까닭은 3장에서 재어 봅니다. 그다음 **비율**로 바꿉니다. 모두
# 양수이고 더하면 1이 되는 수입니다. 종이에 2의 거듭제곱으로 먼저 해 보세요. 점수 2, 1, 0은 4, 2, 1이 되고, 비율은
# 4/7, 2/7, 1/7입니다. 소프트맥스는 2 대신 $e$를 쓸 뿐 나머지는 같습니다.

# %%
halves = 2 ** np.array([2.0, 1, 0])
print("2의 거듭제곱", halves / halves.sum())

exponentials = np.exp(scores[2] / np.sqrt(4))
print("e의 거듭제곱", exponentials / exponentials.sum())

# %% [markdown]
# 이 비율대로 값을 섞은 것이 **이 문장에서** 그 단어가 갖는 뜻입니다. 어텐션은 이것이 전부이고, 코드로는 네 줄이면
# 됩니다. 잊지 말아야 할 것은 하나입니다. 지수 함수를 쓰기 전에 가장 큰 점수를 빼세요. 중요한 것은 점수의 차이뿐이라
# 결과는 달라지지 않지만, 점수가 클 때 넘치는 일을 막아 줍니다.


# %%
def my_attention(Q, K, V):
    """Q (n_q, d), K (n_k, d), V (n_k, d_v) → 출력 (n_q, d_v), 가중치 (n_q, n_k)"""
    scores = Q @ K.T / np.sqrt(K.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V, weights


output, weights = my_attention(Q, K, V)
print(weights)
print(output)

# %% [markdown]
# 제대로 만든 것일까요? clearhead에는 이런 함수를 모은 교과서가 있습니다. 읽으라고 쓴 코드이고, 다른 구현과 견주어
# 검증했습니다. 이 노트북에서 무엇을 만들든 교과서와 비교해 보세요.

# %%
expected, expected_weights = ch.scaled_dot_product_attention(Q, K, V)
assert np.allclose(output, expected)
assert np.allclose(weights, expected_weights)

ch.visualize_attention(weights, words, title="누가 누구의 말을 듣는가")

# %% [markdown]
# **해 보기.** 동사가 고양이보다 쥐를 두 배로 열심히 찾게 해 보세요. `Q`에서 4와 2를 맞바꾸고 셀을 다시 실행하면
# 됩니다. 그다음에는 세 단어에 똑같은 쿼리를 주어 보세요. 그림에서 어느 행들이 같아질까요?

# %% [markdown]
# ## 2. 셀프 어텐션
#
# 쿼리와 키와 값은 누가 만들까요? 모든 단어가 함께 쓰는 행렬 세 개가 만듭니다. 단어는 벡터로 들어오고, 행렬마다 그
# 벡터를 다른 벡터로 바꿉니다. 지금까지 본 것 가운데 학습으로 바뀌는 것은 이 행렬들뿐입니다.
#
# 우리 단어를 벡터로 적으면 차례로 '행동한다', '당한다', '행동이다', '명사이다'입니다. 아래 행렬은 1장의 쿼리와 키와
# 값이 그대로 나오도록 골랐습니다.

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
# **쿼리와 키와 값을 따로 두는 데는 까닭이 있습니다.** 쿼리와 키에 같은 행렬을 쓰면 점수가 대칭이 됩니다. 단어마다
# 자기를 찾는 단어만 찾게 되고, 그중에서도 자기 자신을 가장 잘 찾습니다. 동사는 더 이상 고양이의 말을 듣지 못합니다.

# %%
same = ch.attention_scores(X @ W_K, X @ W_K)
print(same)
print("대칭인가:", np.array_equal(same, same.T))

# %% [markdown]
# 여러 문장을 묶은 배치도 똑같이 호출합니다. 계산에 쓰이는 축은 마지막 두 개뿐이고, 그 앞의 축은 그대로 따라옵니다.

# %%
batch = np.stack([X, X[::-1]])
batch_output, batch_weights = ch.self_attention(batch, W_Q, W_K, W_V)
print(batch.shape, "->", batch_weights.shape, batch_output.shape)

# %% [markdown]
# ## 3. 왜 √d로 나눌까요?
#
# 누구나 $\sqrt{d_k}$라고 쓰지만, 그것이 하는 일을 직접 본 사람은 많지 않습니다. 점수는 곱 $d$개를 더한 값입니다.
# 학습을 시작할 때처럼 수가 난수와 다름없으면 곱마다 분산이 하나씩 더해지므로, 점수의 분산이 **곧** $d$입니다. 이것을
# 재고, 그 결과 두 가지도 함께 재어 봅니다. 키 16개 가운데 1등이 가중치를 얼마나 가져가는지, 그리고 점수가 바뀔 때
# 가중치가 아직 얼마나 반응하는지입니다. 가중치 $w$가 자기 점수에 반응하는 정도는 $w(1-w)$입니다.


# %%
def measure(d, scale):
    """난수 쿼리 200개에 대한 점수의 분산, 가장 큰 가중치, 한 행이 반응하는 정도의 합."""
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((200, 1, d)), rng.standard_normal((200, 16, d))
    scores = ch.attention_scores(q, k, scale=scale)
    weights = ch.softmax(scores)
    return scores.var(), weights.max(axis=-1).mean(), (weights * (1 - weights)).sum(axis=-1).mean()


widths = [1, 4, 16, 64, 256, 1024]
bare = np.array([measure(d, scale=1.0) for d in widths])
scaled = np.array([measure(d, scale=None) for d in widths])
print("    d       분산     최대   반응  | √d로 나누면")
for d, before, after in zip(widths, bare, scaled):
    numbers = "{:10.1f} {:8.2f} {:6.2f}  | {:6.1f} {:8.2f} {:6.2f}".format(*before, *after)
    print(f"{d:5} {numbers}")

# %%
figure, axes = plt.subplots(1, 3, layout="constrained")
for column, name in enumerate(["점수의 분산", "16개 중 가장 큰 가중치", "반응하는 정도"]):
    axes[column].plot(widths, bare[:, column], "o-", color="#D55E00", label="나누지 않음")
    axes[column].plot(widths, scaled[:, column], "o-", color="#0072B2", label="√d로 나눔")
    axes[column].set(xscale="log", title=name, xlabel="d", yscale="log" if column == 0 else "linear")
axes[0].legend(frameon=False)
plt.show()

# %% [markdown]
# 흔히 쓰는 폭인 $d = 64$에서, 나누지 않은 소프트맥스는 아무것도 배우기 전에 순전히 우연으로 키 하나를 거의 골라
# 버립니다. 반응하는 정도도 5분의 1로 줄어서 다른 것을 가르치기가 어렵습니다. $\sqrt d$로 나누면 어느 것도 폭에 따라
# 달라지지 않습니다.

# %% [markdown]
# ## 4. 여러 헤드
#
# '잡았다'는 두 가지를 알고 싶습니다. 누가 잡았는지와 누가 잡혔는지입니다. 그런데 나누어 줄 비율은 한 벌뿐이고,
# 고양이와 쥐를 평균하면 어느 쪽도 알 수 없습니다. 그래서 여러 번 묻습니다. 행렬 세 개를 저마다 따로 가진
# **헤드**(head)를 여러 개 두는 것입니다.
#
# 가장 작은 예를 손으로 계산해 봅시다. 단어는 X = (1, 2) 하나이고, 폭이 1인 헤드가 둘입니다. 헤드 1의 수는 모두 0.5,
# 헤드 2의 수는 모두 0.3입니다. 단어가 하나뿐이니 가중치는 1이고, 헤드마다 자기 값을 그대로 내놓습니다. 0.5 · 1 + 0.5
# · 2 = **1.5**, 0.3 · 1 + 0.3 · 2 = **0.9**입니다.

# %%
one_word = np.array([[1.0, 2.0]])
answers = []
for number in (0.5, 0.3):
    W = np.full((2, 1), number)
    answer, weight = ch.self_attention(one_word, W, W, W)
    answers.append(answer)
print(np.concatenate(answers, axis=-1), "가중치", weight)

# %% [markdown]
# 이번에는 층 하나를 통째로 만듭니다. 폭은 16이고, 폭이 4인 헤드가 넷입니다. 먼저 설명하기 좋은 대로 **반복문으로**
# 합니다. 헤드마다 세 행렬에서 자기 몫의 열 네 개를 가져와 따로 어텐션을 하고, 답 네 개를 나란히 이어 붙인 다음 마지막
# 행렬 $W_O$로 섞습니다.

# %%
layer = ch.MultiHeadAttention(d_model=16, num_heads=4, bias=False, seed=0)
x = np.random.default_rng(1).standard_normal((3, 16))

heads = []
for i in range(4):
    columns = slice(4 * i, 4 * (i + 1))
    head, _ = ch.self_attention(x, layer.W_Q[:, columns], layer.W_K[:, columns], layer.W_V[:, columns])
    heads.append(head)
by_loop = np.concatenate(heads, axis=-1) @ layer.W_O
print(f"모양이 {heads[0].shape}인 헤드 {len(heads)}개 -> {by_loop.shape}")

# %% [markdown]
# 다음은 모두가 실제로 하는 대로 **한꺼번에** 합니다. 큰 곱셈 세 번으로 모두 만들고, 행을 조각으로 자르고, 헤드를 맨
# 앞의 축으로 돌립니다. 눈여겨볼 곳은 `swapaxes`가 있는 줄입니다. `reshape`만으로 (4, 3, 4)를 만들어도 코드는 돌아가고
# 합도 1이지만, 첫 '헤드'에는 첫 단어만 들어가고 다른 단어는 하나도 들어가지 않습니다.


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
print("반복문, 한꺼번에, ch.MultiHeadAttention이 모두 같습니다:", at_once.shape)

# %% [markdown]
# ## 5. 그림으로 보는 네 헤드
#
# 학습을 마친 헤드는 무엇을 볼까요? clearhead에는 한국어를 영어로 옮기는 작은 번역기가 들어 있습니다. 그 인코더는
# 조사와 어미를 떼어 우리 문장을 조각으로 읽고, 헤드 네 개가 동시에 봅니다.

# %% tags=["measured"]
translator = ch.Translator.load()
seen = translator.attention("고양이가 쥐를 잡았다")
four = seen.encoder[0][:4]
ch.visualize_attention(four, seen.source, title="인코더의 네 헤드")

# %% [markdown]
# 눈만 믿지 않도록 수로도 적어 봅니다. 헤드마다 자기 조각, 바로 앞 조각, 바로 뒤 조각, 나머지 조각에 가중치를 얼마씩
# 주는지, 그리고 키를 몇 개나 쓰는지(엔트로피의 지수)입니다. 어느 헤드가 무엇을 하는지는 학습할 때마다 달라지므로,
# 버전에 따라 표가 다를 수 있습니다.

# %% tags=["measured"]
n = four.shape[-1]
distance = np.arange(n) - np.arange(n)[:, None]
print("헤드    자기     앞     뒤 나머지     쓰는 키")
for number, head in enumerate(four):
    shares = [head[distance == 0], head[distance == -1], head[distance == 1], head[abs(distance) > 1]]
    entropy = -(head * np.log(np.maximum(head, 1e-12))).sum(axis=-1)
    print(f"{number:4} ", " ".join(f"{share.sum() / n:6.2f}" for share in shares), f"{np.exp(entropy).mean():11.1f}")
for head in four:
    ch.validate_attention(head)

# %% [markdown]
# ## 6. 헤드는 몇 개가 좋을까요?
#
# 헤드가 많으면 비용이 많이 들 것 같습니다. 세어 봅시다. 폭이 512인 단어 1,000개를 처리할 때의 파라미터 수, 곱셈 수,
# 가중치의 크기입니다.

# %%
print(" 헤드  d_k    파라미터  GFLOPs     가중치(MB)")
for h in (1, 2, 4, 8, 16):
    cost = ch.attention_cost(1000, d_model=512, num_heads=h)
    megabytes = cost.attention_bytes / 1e6
    print(f"{h:5} {cost.d_k:4} {cost.parameters:11,} {cost.flops / 1e9:7.2f} {megabytes:14.0f}")

# %% [markdown]
# 파라미터와 곱셈은 그대로입니다. 헤드가 두 배가 되면 폭이 반이 되기 때문입니다. 늘어나는 것은 마지막 열뿐입니다.
# 헤드마다 비율을 담은 행렬이 하나씩 있고, 누군가는 그 칸을 채워야 합니다. 교과서처럼 가중치를 모두 보관하는
# 구현에서는 그것이 시간으로 드러납니다. 시간은 컴퓨터마다 다르니 배수를 비교하세요.

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
print(f"헤드 1, 4, 16개의 시간은 헤드 하나의 {factors}배입니다")

# %% [markdown]
# 그러면 헤드를 여러 개 두어 얻는 것은 무엇일까요? 두 명사를 함께 찾는 쿼리 하나는 둘의 평균을 듣습니다. 쿼리가 둘이면
# 둘을 따로 듣습니다.

# %%
said = np.array([[1.0], [2.0], [0.0]])  # 고양이는 1, 쥐는 2, 동사는 0을 말함
both, who, whom = np.array([[9.0, 9, 0, 0]]), np.array([[9.0, 0, 0, 0]]), np.array([[0, 9.0, 0, 0]])
print("헤드 하나", ch.scaled_dot_product_attention(both, K, said)[0][0].round(1))
print("헤드 둘 ", *(ch.scaled_dot_product_attention(q, K, said)[0][0].round(1) for q in (who, whom)))

# %% [markdown]
# ## 7. 누가 어디에 앉았을까요?
#
# 지금까지는 아무것도 단어의 순서를 모릅니다. 단어를 뒤섞으면 출력도 그대로 뒤섞일 뿐 내용은 같습니다. 어텐션이 보는
# 것은 문장이 아니라 단어의 집합입니다. 이대로라면 *The cat caught the mouse*와 *The mouse caught the cat*은 같은 뜻이
# 됩니다.

# %%
rng = np.random.default_rng(2)
x, (A, B, C) = rng.standard_normal((3, 16)), rng.standard_normal((3, 16, 16)) / 4
shuffled = [2, 0, 1]


def knows_order(seated):
    """단어를 뒤섞으면 출력이 순서 말고도 달라지는지. `seated`는 위치를 더합니다."""
    output, _ = ch.self_attention(seated(x), A, B, C)
    other, _ = ch.self_attention(seated(x[shuffled]), A, B, C)
    return not np.allclose(output[shuffled], other)


print("위치 없이, 순서를 아는가:", knows_order(lambda x: x))
print("위치를 더하면, 순서를 아는가:", knows_order(ch.add_positional_encoding))

# %% [markdown]
# 방금 더한 사인파는 시곗바늘과 같습니다. 열 두 개가 바늘 하나이고, 첫 바늘은 빠르게, 마지막 바늘은 아주 느리게
# 돕니다. 같은 시각을 가리키는 자리는 없고, 가까운 자리끼리는 비슷한 시각을 가리킵니다.

# %%
P = ch.positional_encoding(64, 32)
figure, (left, right) = plt.subplots(1, 2, layout="constrained", width_ratios=[2, 1])
left.imshow(P.T, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
left.set(xlabel="위치", ylabel="열", title="사인파")
right.plot(P[30] @ P.T / 16, color="#0072B2")
right.set(xlabel="위치", title="위치 30과 닮은 정도")
plt.show()

# %% [markdown]
# 요즘 모델은 자리를 다른 곳에 적습니다. **RoPE**는 쿼리와 키를 자리만큼 회전시켜서 점수가 **거리**에만 달려 있게
# 합니다. **ALiBi**는 멀수록 점수를 깎는데, 많이 깎는 헤드도 있고 조금 깎는 헤드도 있습니다.

# %%
q, k = rng.standard_normal((2, 1, 8))
for seat in (3, 100, 5000):
    print(f"RoPE, 세 자리 떨어진 {seat:4}번 자리:", (ch.rope(q, [seat]) @ ch.rope(k, [seat - 3]).T).round(4)[0, 0])
print("ALiBi, 다섯 단어 가운데 마지막, 여덟 헤드 가운데 첫째와 넷째:")
print(ch.alibi(1, 5, 8)[[0, 3], 0])

# %% [markdown]
# ## 8. 누가 누구를 볼 수 있을까요?
#
# 문장을 왼쪽부터 써 나가는 쪽은 아직 쓰지 않은 단어를 보아서는 안 됩니다. **코잘 마스크**(causal mask)가 그것을
# 막습니다. True는 '보아도 된다'는 뜻이고, 막은 점수는 $-\infty$가 되어 가중치가 정확히 0이 됩니다.

# %%
written = ["<begin>", "The", "cat", "caught", "the", "mouse"]
causal = ch.create_causal_mask(len(written))
x = rng.standard_normal((6, 16))
_, causal_weights = ch.causal_self_attention(x, A, B, C)
ch.visualize_attention(causal_weights, written, mask=causal, title="아무도 앞질러 보지 않는다")

# %% [markdown]
# 이 약속은 검사할 수 있습니다. 마지막 단어를 바꾸어도 그 앞의 출력은 한 비트도 달라지지 않아야 합니다. 소프트맥스
# **다음에** 마스크를 씌우면 그림은 거의 같아 보이지만 약속은 깨집니다.

# %%
later = x.copy()
later[-1] += 1.0


def moved(attend):
    """마지막 단어가 바뀔 때 그 앞의 출력이 얼마나 움직이는지."""
    return np.abs(attend(x) - attend(later))[:-1].max()


def masked_too_late(x):
    weights = ch.self_attention(x, A, B, C)[1]
    return np.where(causal, weights, 0) @ (x @ C)


print("소프트맥스 전에 마스크:", moved(lambda x: ch.causal_self_attention(x, A, B, C)[0]))
print("소프트맥스 뒤에 마스크:", moved(masked_too_late).round(2))

# %% [markdown]
# 길이가 다른 문장을 한데 묶을 때는 패딩으로 채우는데, 패딩의 말은 아무도 듣지 말아야 합니다. 막아야 하는 것은
# **키**입니다. 그리고 볼 수 있는 키가 하나도 없는 쿼리에서는 NaN이 아니라 0이 나옵니다.

# %%
ids = np.array([[11, 12, 13], [14, 0, 0]])
padding = ch.create_padding_mask(ids)[:, 0]  # (2, 1, 3): 모든 쿼리가 한 행을 함께 씀
_, padded_weights = ch.scaled_dot_product_attention(*np.zeros((3, 2, 3, 4)), padding)
print(padded_weights[1])
print("볼 키가 없을 때:", ch.scaled_dot_product_attention(*np.ones((3, 1, 2)), np.array([[False]]))[0])

# %% [markdown]
# ## 9. 셀프 어텐션과 크로스 어텐션
#
# 셀프 어텐션에서는 묻는 단어와 질문을 받는 단어가 같습니다. **크로스 어텐션**(cross-attention)에서는 다릅니다. 지금
# 쓰고 있는 영어 문장이 한국어 문장에게 묻습니다. 계산은 똑같고, 계산하는 객체까지 같습니다. 쿼리와 키가 어디서
# 오는지만 다르고, 그에 따라 모양이 달라집니다. 행은 묻는 단어의 수만큼 생깁니다.

# %%
korean, english = rng.standard_normal((3, 16)), rng.standard_normal((5, 16))
layer = ch.MultiHeadAttention(d_model=16, num_heads=2, seed=0)
for name, arguments in {"셀프  ": (english,), "크로스": (english, korean), "뒤바뀜": (korean, english)}.items():
    output, weights = layer(*arguments)
    print(f"{name} 출력 {output.shape}  가중치 {weights.shape}")

# %% [markdown]
# 둘을 맞바꾸는 것은 흔한 실수인데, 모양을 보면 드러납니다. 영어 단어는 다섯인데 행이 셋입니다. 아래는 학습을 마친
# 번역기가 우리 문장을 옮길 때의 실제 크로스 어텐션입니다. 한국어는 동사가 맨 뒤에 오고 영어는 두 번째에 오므로, 짙은
# 칸이 서로 엇갈립니다.

# %% tags=["measured"]
(found,) = translator.translate(["고양이가 쥐를 잡았다"])
print(found.text)
aligned = found.aligned()
ch.visualize_cross_attention(
    aligned.between_words(translator.reader),
    [found.text[a:b] for a, b in aligned.target_words],
    [found.source[a:b] for a, b in aligned.source_words],
    title="정렬이 가장 정확한 어텐션",
)

# %% [markdown]
# ## 10. 패턴, 그리고 이 행렬은 정말 어텐션일까요?
#
# 헤드가 보는 방식은 모델이 달라도 되풀이되고, 흔한 것에는 이름이 있습니다. 정확한 행렬로 그려 보면 이렇습니다.

# %%
zoo = {
    "자기": ch.patterns.diagonal(6),
    "바로 앞": ch.patterns.previous_token(6),
    "첫 토큰": ch.patterns.first_token(6),
    "가까이": ch.patterns.local(6, radius=1),
    "고르게": ch.patterns.uniform(6),
    "코잘, 고르게": ch.patterns.causal_uniform(6),
}
ch.visualize_attention(np.stack(list(zoo.values())), head_names=list(zoo), values=False)

# %% [markdown]
# 거꾸로도 됩니다. 행렬을 주면 가장 닮은 패턴의 이름과 닮은 정도를 알려 줍니다. 잡음을 섞으면 점수가 내려가지만 이름은
# 한동안 그대로입니다.

# %%
noise = ch.softmax(np.random.default_rng(0).standard_normal((6, 6)))
for share in (0.0, 0.3, 0.6):
    match = ch.patterns.name_pattern((1 - share) * zoo["바로 앞"] + share * noise)
    print(f"잡음 {share:.0%}: {match.name}, 점수 {match.score:.2f}")

# %% [markdown]
# 그림을 믿기 전에 이 행렬이 어텐션이 맞는지 물어보세요. 가중치는 모두 0과 1 사이이고, 행마다 더하면 1이어야 합니다.
# `validate_attention`은 문제가 없으면 아무 말도 하지 않고, 있으면 처음으로 잘못된 행을 알려 줍니다. 아래 세 행렬은
# 모두 오류 없이 돌아가는 실수에서 나온 것입니다. (예외 메시지는 검색하기 좋도록 영어로 나옵니다.)

# %%
scores = np.array([[2.0, 1, 0], [0, 3, 1], [1, 1, 1]])
mistakes = {
    "소프트맥스의 축이 틀림": ch.softmax(scores, axis=0),
    "소프트맥스 뒤에 마스크": np.where(ch.create_causal_mask(3), ch.softmax(scores), 0),
    "소프트맥스를 빠뜨림": scores,
}
ch.validate_attention(ch.softmax(scores))
for name, wrong in mistakes.items():
    try:
        ch.validate_attention(wrong)
    except ValueError as error:
        print(f"{name}: {error}")

# %% [markdown]
# ## 11. n²의 비용
#
# 모두가 모두에게 물으므로 단어가 두 배면 일은 네 배가 됩니다. 게다가 평범한 방법은 그것을 모두 적어 둡니다. float32,
# 헤드 8개일 때는 이렇습니다.

# %%
for n in (1_000, 10_000, 100_000):
    cost = ch.attention_cost(n, d_model=512, num_heads=8)
    share = (cost.steps["scores"].flops + cost.steps["mix"].flops) / cost.flops
    print(f"단어 {n:7,}개: 가중치 {cost.attention_bytes / 1e9:7.2f} GB, FLOPs 가운데 n²이 {share:.0%}")

# %% [markdown]
# 적은 것을 꼭 보관해야 하는 것은 아닙니다. 쿼리 몇 개만 떼어 낸 **청크**(chunk)는 자기 행에 필요한 것을 다 가지고
# 있습니다. 그 행만 계산해서 출력은 남기고 가중치는 버리면 됩니다.


# %%
def chunked_attention(Q, K, V, size):
    """`my_attention`과 같지만, 가중치는 한 번에 `size`행까지만 만듭니다."""
    parts = [my_attention(Q[start : start + size], K, V)[0] for start in range(0, len(Q), size)]
    return np.concatenate(parts)


Q, K, V = np.random.default_rng(0).standard_normal((3, 600, 32))
whole, _ = ch.scaled_dot_product_attention(Q, K, V)
print(np.allclose(chunked_attention(Q, K, V, 64), whole))
print(np.allclose(ch.memory_efficient_attention(Q, K, V, chunk_size=64), whole))

# %% [markdown]
# **키**를 자르려면 요령이 하나 더 필요합니다. 소프트맥스에는 행 전체가 있어야 하기 때문입니다. 쿼리마다 세 가지만
# 기억하세요. 지금까지 가장 큰 점수, 그 점수를 기준으로 한 지수의 합, 그리고 같은 기준으로 섞은 값입니다. 더 큰 점수가
# 나오면 기억해 둔 것을 그만큼 줄입니다. 이것이 **온라인 소프트맥스**이고, 플래시 어텐션은 이 방법으로 한 번에 블록
# 하나만 들고 있습니다.

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
# 이제 재어 봅니다. 위치가 512개일 때와 2,048개일 때 한꺼번에 붙잡고 있는 메모리의 최댓값입니다. 길이가 네 배가 되면
# 행렬은 메모리가 열여섯 배로 늘고, 나머지는 네 배쯤 늡니다. `ch.attention`은 같은 온라인 소프트맥스를 컴파일한
# 것입니다. 처음 부를 때는 몇 초 걸릴 수 있습니다.

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
    way(q)  # 컴파일과 준비를 마침
    tracemalloc.start()
    way(q)
    bytes_held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_held / 2**20


for name, way in ways.items():
    small, large = peak(way, 512), peak(way, 2048)
    print(f"{name:14} {small:6.2f} MiB {large:7.2f} MiB   x{large / small:.0f}")

# %% [markdown]
# 어텐션에 밀려난 경쟁자들은 비용이 더 천천히 늘어납니다. 어텐션이 n²을 내고 얻는 것은 마지막 두 열에 있습니다. 차례를
# 기다릴 필요가 없고, 어느 단어에서 어느 단어로든 한 걸음에 갑니다.

# %%
print("     n  층            GFLOPs   이어지는 스텝    가장 먼 길")
for cost in ch.compare_layers([100, 10_000], d_model=512).layers:
    if cost.layer in ("attention", "recurrent", "convolution"):
        gflops = cost.mixing_flops / 1e9
        print(f"{cost.n:6,}  {cost.layer:12} {gflops:7.2f} {cost.sequential_steps:15,} {cost.path_length:13,}")

# %% [markdown]
# ## 12. 직접 만드는 번역기
#
# 필요한 것은 다 갖추었습니다. 읽을 때 쓰는 셀프 어텐션, 쓸 때 쓰는 코잘 어텐션, 그리고 둘을 잇는 크로스 어텐션입니다.
# 이제 학습시켜 봅시다. 아주 작은 언어입니다. 동물 여덟, 동사 다섯으로 '누가 누구를 어떻게 했다'고만 말합니다.
# 한국어는 조사로 역할을 표시하므로 주어와 목적어의 순서를 바꾸어도 되고, 영어에는 순서밖에 없습니다.

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
print(f"문장 {len(examples)}개, 예를 들면 {min(examples)[:2]}")

# %% [markdown]
# 뜻 아홉 개 가운데 하나는 두 어순 모두 학습에서 빼 둡니다. '고양이가 쥐를 잡았다'도 그 가운데 있습니다. 이 문장들을
# 맞힌다면 문장을 통째로 외운 것이 아닙니다.

# %%
meanings = sorted({example.target for example in examples})
kept = set(meanings[::9]) | {"The cat caught the mouse"}
unseen = sorted(example for example in examples if example.target in kept)
training = sorted(example for example in examples if example.target not in kept)
print(f"{len(training)}개로 학습하고 {len(unseen)}개는 빼 둡니다")

# %% [markdown]
# 모델은 읽는 층 하나와 쓰는 층 하나에 헤드가 네 개씩 있는 트랜스포머입니다. `advance`는 한 스텝을 나아갑니다. 문장 몇
# 개를 뽑아 손실과 그래디언트를 구하고 모든 행렬을 조금씩 바꿉니다. torch가 필요하고 몇 초 걸립니다. 정답을 일부러
# 조금 흐려 두었기 때문에 손실이 0까지 내려가지는 않습니다.

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
        print(f"스텝 {moment.step:3}  손실 {moment.loss:.2f}  따로 떼어 둔 문장의 {moment.exact:.0%}가 맞음")

# %% [markdown]
# 이제 한 번도 본 적 없는 문장들을 한 단어씩 스스로 써 보게 합니다.

# %%
mine = ch.Translator(trainer.model.to_textbook(), vocabulary, "animals", trainer.corpus.longest)
right = [answer.text == example.target for answer, example in zip(mine.translate([e.source for e in unseen]), unseen)]
assert np.mean(right) > 0.9
for text in ("고양이가 쥐를 잡았다", "쥐를 고양이가 잡았다", "쥐가 고양이를 잡았다"):
    print(text, "->", mine.translate([text])[0].text)

# %% [markdown]
# 두 번째 문장은 순서가 달라도 뜻이 같고, 세 번째 문장은 조사가 달라서 뜻이 반대입니다. 조사를 제대로 듣고 있습니다.
#
# 어디를 보고 썼을까요? 학습하는 동안 우리 문장에 대한 크로스 어텐션을 이따금 남겨 두었습니다. 처음에는 아무 뜻이
# 없다가, 점점 영어 단어마다 제짝인 한국어를 찾아갑니다. 동사는 누가 했는지 몰라도 옮길 수 있으므로 *caught*가 가장
# 먼저 찾습니다. 헤드마다 쓰고 남은 가중치는 `<end>`에 버려 둡니다. 그 열이 **싱크**(sink)입니다. 행은 영어 단어, 열은
# 한국어 단어입니다.

# %% tags=["measured"]
steps = sorted(trainer.film)
chosen = [steps[0], *(min(steps, key=lambda step: abs(step - wanted)) for wanted in (40, 80)), steps[-1]]
maps = np.stack([trainer.film[step][0].mean(axis=0) for step in chosen])
ch.visualize_attention(
    maps,
    ["The", "cat", "caught", "the", "mouse", "<end>"],
    key_tokens=[*words, "<end>"],
    head_names=[f"스텝 {step}" for step in chosen],
    title="학습하는 동안의 크로스 어텐션 (네 헤드의 평균)",
)

# %% [markdown]
# ## 13. '어디'는 '왜'가 아닙니다
#
# 번역기는 '잡았다'를 보고 *caught*라고 썼습니다. 거기를 **보았기 때문에** 그렇게 썼을까요? 그림으로는 알 수 없고,
# 실험을 하면 알 수 있습니다. 헤드를 하나씩 침묵시켜 봅시다. $W_O$에서 그 헤드의 행을 0으로 두면, 헤드는 여전히 똑같이
# 보지만 아무도 그 말을 듣지 못합니다. 학습에서 뺀 문장을 얼마나 맞히는지, 그 헤드가 얼마나 한곳을 또렷이 보았는지
# 나란히 적습니다.

# %% tags=["measured"]
model = mine.model
parts = {"셀프  ": model.decoder[0].self_attention, "크로스": model.decoder[0].cross_attention}
seen = mine.attention("고양이가 쥐를 잡았다")
sharpness = {"셀프  ": seen.decoder[0].max(axis=-1).mean(axis=-1), "크로스": seen.cross[0].max(axis=-1).mean(axis=-1)}
sources = [example.source for example in unseen]
print("헤드           또렷함      없을 때 정답")
for name, part in parts.items():
    for head in range(4):
        rows, kept_rows = slice(8 * head, 8 * (head + 1)), part.W_O.copy()
        part.W_O[rows] = 0
        answers = mine.translate(sources)
        part.W_O[:] = kept_rows
        share = np.mean([answer.text == example.target for answer, example in zip(answers, unseen)])
        print(f"{name} {head} {sharpness[name][head]:12.2f} {share:17.0%}")

# %% [markdown]
# 두 열을 견주어 보세요. 또렷이 보는 헤드라고 반드시 중요한 것은 아니고, 두루 보는 헤드라고 반드시 노는 것도 아닙니다.
# 가중치는 헤드가 어디를 보았는지 말해 주고, 침묵시켜 보면 무엇이 그 헤드에 달려 있는지 알 수 있습니다. '때문에'라고
# 말하기 전에 먼저 침묵시켜 보세요.

# %% [markdown]
# ## 14. 긴 글
#
# 마지막으로 행렬로는 할 수 없는 일을 봅니다. 위치가 수천 개면 가중치를 모두 보관할 수도, 그릴 수도 없습니다. `look`은
# 타일이 지나갈 때 통계를 읽어 두고, 어느 가중치든 물어보면 그때 정확하게 계산합니다. 위치 4,096개 위에 헤드 둘을
# 손으로 만들었습니다. 하나는 바로 앞 단어를, 하나는 맨 처음 단어를 봅니다.

# %%
n, d = 4096, 64
angles = np.arange(n)[:, None] / 10000 ** (np.arange(d // 2) / (d // 2))
place = 5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
first = np.where(np.arange(n)[:, None] == 0, 3.0, 0.0) * np.ones((1, d))
q = np.stack([np.roll(place, 1, axis=0), np.ones((n, d))]).astype(np.float32)
k = np.stack([place, first]).astype(np.float32)

view = ch.look(q, k, mask=ch.masks.causal())
print(view.patterns().labels, "쓰는 키:", np.exp(view.entropy).mean(axis=-1).round(1))
print("쿼리 2,000과 그 둘레의 키:", view.weights(head=0, rows=2000, cols=slice(1997, 2002)).round(2))

# %%
view.plot(scale="row", reduce="max")

# %% [markdown]
# ## 15. 돌아가는 모델 전체
#
# 지금까지는 쿼리와 키를 직접 건넸습니다. 이미 있는 모델은 그냥 지켜보면 됩니다. `trace`는 블록이 끝날 때까지 모든 층의
# 모든 헤드가 하는 일을 기록합니다. 여기서는 함께 들어 있는 번역기를 봅니다. 표의 한 줄이 층 하나이고, 줄에 있는 단어
# 하나가 헤드 하나입니다.

# %%
with ch.trace(translator) as trace:
    translator.translate(["고양이가 쥐를 잡았다"])
whole = trace.calls[0].sequences[0]
print(whole)
print(whole.patterns())

# %%
whole.plot()

# %% [markdown]
# 그림은 멈춰 있지만 페이지는 그렇지 않습니다. 다음 줄은 네트워크 없이 어느 브라우저에서나 열리는 파일 하나를 씁니다.
# 헤드를 고르고, 단어를 눌러 무엇을 보았는지 확인하고, 가중치 하나까지 확대하고, 번역이 쓰이는 과정을 한 단계씩 따라가
# 보세요.

# %%
print(whole.to_html("translator.html"))

# %% [markdown]
# `whole.cross[0]`은 위에서 본 것과 같은 뷰이고, 모든 가중치가 그 안에 있습니다. transformers의 모델도 같은 두 줄로
# 지켜볼 수 있습니다. 단어가 여덟 개일 때도, 32,768개일 때도 됩니다.
#
# 헤드가 없으면 어떻게 될까요? 13절에서는 행렬에 0을 썼다가 되돌려 놓았습니다. torch 모델을 지켜볼 때는 블록이 끝날
# 때까지만 헤드를 뺄 수 있고(`ch.trace(model, ablate={(layer, head): "zero"})`), `effects`는 헤드를 하나씩 빼 가며
# 잽니다. 여기서는 직접 학습한 작은 번역기가 우리 문장에서 내는 손실을 봅니다. 0보다 크면 그 헤드가 필요했다는 뜻입니다.

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
# 헤드를 평균이나 다른 문장에서 나온 값으로 바꿀 수도 있고, 눈길 하나만 끊을 수도 있습니다. 그다음은
# *모델의 모든 헤드 보기*에서 이어집니다.

# %% [markdown]
# ## 이제 할 수 있는 것
#
# 어텐션을 손으로 계산하고 네 줄로 썼습니다. 헤드로 나누고, 마스크를 씌우고, 단어의 순서를 알려 주고, 답을 바꾸지
# 않으면서 조각으로 잘랐습니다. 그리고 아무도 짝지어 주지 않은 단어를 스스로 정렬하는 번역기를 학습시켰습니다.
#
# - `clearhead learn`은 이 모든 것의 바탕이 되는 강의 노트를 질문, 연습 문제와 함께 보여 줍니다.
# - `clearhead translate "고양이가 쥐를 잡았다" --figure cat.png`는 더 큰 번역기의 헤드를 모두 그립니다.
# - 이 노트북에서 쓴 함수는 모두 짧습니다. 직접 읽어 보세요. `src/clearhead/textbook/attention.py`부터 시작하면
#   좋습니다.
