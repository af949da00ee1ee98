"""What figures say, in English and in Korean: axes, colour bars, strips, notes, and the names of patterns."""

from __future__ import annotations

from clearhead.languages import Said

QUERY = Said("query", "쿼리")
KEY = Said("key", "키")
TARGET = Said("target", "타깃")
SOURCE = Said("source", "소스")
LAYER = Said("layer", "층")
HEAD = Said("head", "헤드")
OUTPUT_POSITION = Said("output position", "출력 위치")
INPUT_POSITION = Said("input position", "입력 위치")
NUMBERED_HEAD = Said("head {number}", "헤드 {number}")
WITH_TEXT = Said("{side}: {text}", "{side}: {text}")

# What colours mean

WEIGHT = Said("attention weight", "어텐션 가중치")
POOLED_WEIGHT = {
    "mean": Said("mean attention weight", "평균 어텐션 가중치"),
    "max": Said("largest attention weight", "최대 어텐션 가중치"),
}
ROLLOUT_SHARE = Said("share of the output (rollout)", "출력에서 차지하는 몫(롤아웃)")
OF_MEAN_HEAD = Said("{what}, mean of {count} heads", "{what}, 헤드 {count}개의 평균")
BY_ROW = Said("{what} ÷ largest in its row", "{what} ÷ 행의 최댓값")
ON_LOG_SCALE = Said("{what} (log scale)", "{what} (로그 눈금)")
FITTED = {
    "linear": Said(
        "The colours are on a linear scale up to {high:.2g}, fitted to the data.",
        "색은 데이터에 맞춘 선형 눈금이며 {high:.2g}에서 끝납니다.",
    ),
    "log": Said(
        "The colours are on a log scale from {low:.2g} to {high:.2g}, fitted to the data.",
        "색은 데이터에 맞춘 로그 눈금이며 범위는 {low:.2g}~{high:.2g}입니다.",
    ),
}
PAST_THE_END = Said(
    "{count:,} of {total:,} cells lie above it, the largest at {largest:.2g}.",
    "셀 {total:,}개 중 {count:,}개가 그보다 크며, 최댓값은 {largest:.2g}입니다.",
)

# What a map shows

WINDOW = Said(
    "Queries {first_query:,} … {last_query:,} and keys {first_key:,} … {last_key:,} of {n_q:,} × {n_k:,}.",
    "전체 {n_q:,} × {n_k:,} 중 쿼리 {first_query:,} … {last_query:,}, 키 {first_key:,} … {last_key:,}입니다.",
)
POOLED = {
    "mean": Said(
        "Pooled: each cell is the mean of {by_q} × {by_k} weights (queries × keys); the map is {n_q:,} × {n_k:,}, more "
        "than the pixels can show.",
        "픽셀보다 위치가 많아({n_q:,} × {n_k:,}) 셀 하나에 가중치 {by_q} × {by_k}개(쿼리 × 키)의 평균을 그렸습니다.",
    ),
    "max": Said(
        "Pooled: each cell is the largest of {by_q} × {by_k} weights (queries × keys); the map is {n_q:,} × {n_k:,}, "
        "more than the pixels can show.",
        "픽셀보다 위치가 많아({n_q:,} × {n_k:,}) 셀 하나에 가중치 {by_q} × {by_k}개(쿼리 × 키)의 최댓값을 그렸습니다.",
    ),
}
MASKED = Said("Grey: masked, no weight is possible.", "회색: 마스크로 가려져 가중치가 있을 수 없는 자리입니다.")
SMALL_VALUES = Said("{dot} means below {limit:g}.", "{dot} 표시는 {limit:g} 미만입니다.")
NARROW_KEYS = Said(
    "▾ marks keys that get over {share:.0%} of their head's attention.",
    "▾ 표시는 헤드의 어텐션 중 {share:.0%} 넘게 받는 키입니다.",
)
ZERO_VALUES = Said("No number means exactly 0.", "숫자가 없는 칸은 정확히 0입니다.")
COLOURS = Said("colours", "색")
LINES = Said("lines", "선")
HIDDEN_KEY = Said(
    "Key {keys} is hidden, and the {what} are scaled to the others.",
    "키 {keys}번을 숨기고 나머지 키에 {what}의 눈금을 맞췄습니다.",
)
HIDDEN_KEYS = Said(
    "Keys {keys} are hidden, and the {what} are scaled to the others.",
    "키 {keys}번을 숨기고 나머지 키에 {what}의 눈금을 맞췄습니다.",
)
HIDDEN_CELL = Said(
    "Key {keys} is hidden with its neighbours in the same cell, and the {what} are scaled to the others.",
    "키 {keys}번을 같은 셀의 이웃과 함께 숨기고 나머지 키에 {what}의 눈금을 맞췄습니다.",
)
HIDDEN_CELLS = Said(
    "Keys {keys} are hidden with their neighbours in the same cells, and the {what} are scaled to the others.",
    "키 {keys}번을 같은 셀의 이웃과 함께 숨기고 나머지 키에 {what}의 눈금을 맞췄습니다.",
)

# Strips

STRIPS = {
    "entropy": Said("entropy (nats)", "엔트로피(nat)"),
    "received": Said("received, all queries", "모든 쿼리에서 받은 양"),
}
LONG_BARS = {
    "entropy": Said(
        "▸ bars longer than their strip: the largest entropy is {largest}, at query {place:,}.",
        "▸ 눈금보다 긴 막대: 엔트로피의 최댓값은 쿼리 {place:,}번의 {largest}입니다.",
    ),
    "received": Said(
        "▴ bars longer than their strip: the most, {largest}, is received by key {place:,}.",
        "▴ 눈금보다 긴 막대: 가장 많이 받은 키는 {place:,}번으로 {largest}입니다.",
    ),
}

# Lines

FAINT_LINES = Said(
    "Lines below {share:.0%} of the thickest are left out.", "가장 굵은 선의 {share:.0%} 미만인 선은 뺐습니다."
)
MEAN_OF_HEADS = Said("Mean of {count} heads.", "헤드 {count}개의 평균입니다.")
THIN_FAN = Said(
    "{keys}: takes over {share:.0%} of a head's attention, so the lines to it are hairs, and the others have a scale "
    "of their own.",
    "{keys}: 한 헤드의 어텐션 중 {share:.0%} 넘게 쏠린 키입니다. 이 키로 가는 선은 가늘게 그리고 나머지 선의 굵기를 "
    "따로 맞췄습니다.",
)

# Layers and heads

STATISTICS = {
    "entropy": Said("mean entropy (nats)", "평균 엔트로피(nat)"),
    "max_weight": Said("mean largest weight", "최대 가중치의 평균"),
    "distance": Said("mean distance (tokens)", "평균 거리(토큰)"),
    "on_first": Said("mean weight on the first token", "첫 토큰에 준 평균 가중치"),
    "on_self": Said("mean weight on itself", "자기 자신에 준 평균 가중치"),
}
VALUE = Said("value", "값")
NO_SUCH_HEAD = Said("Grey: this layer has no such head.", "회색: 이 층에는 그 헤드가 없습니다.")
STRENGTH = Said(
    "The stronger the colour, the better the pattern fits what the head does.",
    "색이 진할수록 헤드의 동작이 그 패턴에 잘 맞습니다.",
)
PATTERNS = {
    "self": Said("self", "자기 자신"),
    "previous_token": Said("previous token", "앞 토큰"),
    "next_token": Said("next token", "뒤 토큰"),
    "first_token": Said("first token", "첫 토큰"),
    "uniform": Said("uniform", "고르게"),
    "local": Said("local", "가까운 토큰"),
    "induction": Said("induction", "인덕션"),
    "duplicate_token": Said("duplicate token", "같은 토큰"),
    "separator": Said("separator", "구분 기호"),
    "punctuation": Said("punctuation", "문장 부호"),
    "mixed": Said("mixed", "혼합"),
    "none": Said("none", "없음"),
}

# Rollouts

ROLLOUT = Said(
    "Rollout: how much of each output position comes from each input position through all layers, residual "
    "connections included. It follows attention, not causes.",
    "롤아웃: 모든 층과 잔차 연결을 거쳐 각 출력 위치가 각 입력 위치에서 얼마나 왔는지를 보여 줍니다. 어텐션을 "
    "따라간 것이며 인과 관계는 아닙니다.",
)
APPROXIMATE_ROLLOUT = Said(
    "Approximate: each cell is {by} × {by} positions, and what arrives in a cell is taken for evenly spread.",
    "근사: 셀 하나는 위치 {by} × {by}개이며, 셀에 들어온 양은 그 안에서 고르게 퍼진다고 보았습니다.",
)

# Attention over an image

IMAGE = Said("image", "이미지")
ITS_ATTENTION = Said("its attention", "이 패치의 어텐션")
CLASS_ATTENTION = Said("attention of the class token", "클래스 토큰의 어텐션")
PATCH = Said("patch {number} (row {row}, column {column})", "패치 {number} ({row}행 {column}열)")
ON_CLASS = Said(
    "The class token, which has no place in the image, gets {weight:.2f} of the weight.",
    "클래스 토큰은 이미지에 자리가 없습니다. 클래스 토큰이 받은 가중치: {weight:.2f}.",
)

# What cannot be saved

NO_FORMAT = Said(
    "save must end in {others} or {last}, got {path!r}", "그림은 {others}, {last} 파일로만 저장할 수 있습니다: {path!r}"
)
NO_FOLDER = Said(
    "the folder {folder!r} of save={path!r} does not exist; make it first",
    "{path!r}에 저장할 수 없습니다. {folder!r} 폴더가 없으니 먼저 만들어 주세요",
)
