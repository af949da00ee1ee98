// Everything the page says, in English and in Korean. Values go where braces are.

/** @typedef {"en" | "ko"} Language */

/** @type {Record<string, [en: string, ko: string]>} */
export const STRINGS = {
  // parts of the page
  model: ["Model", "모델"],
  head: ["Head", "헤드"],
  text: ["Text", "글"],
  parts: ["Parts of the page", "페이지 구성"],
  size: ["{count} tokens", "토큰 {count}개"],
  size_cross: ["{queries} queries × {keys} keys", "쿼리 {queries}개 × 키 {keys}개"],
  head_of: ["{layer} · head {head}", "{layer} · 헤드 {head}"],
  loading: ["opening …", "여는 중 …"],
  not_opened: ["This head could not be opened: {why}", "이 헤드를 열지 못했습니다: {why}"],
  failed: ["This page cannot be shown: {why}", "페이지를 표시할 수 없습니다: {why}"],
  no_tokens: ["The positions have no tokens; their numbers stand in.", "토큰이 없어 위치 번호로 표시합니다."],

  layer_layer: ["layer {number}", "층 {number}"],
  layer_encoder: ["encoder {number}", "인코더 {number}"],
  layer_decoder: ["decoder {number}", "디코더 {number}"],
  layer_cross: ["cross {number}", "크로스 {number}"],

  // controls
  search: ["find a token", "토큰 찾기"],
  search_none: ["no such token", "찾는 토큰이 없습니다"],
  search_count: ["{at} of {count}", "{count}개 중 {at}번째"],
  scale: ["Scale", "눈금"],
  linear: ["linear", "선형"],
  log: ["log", "로그"],
  palette: ["Colours", "색"],
  plum: ["plum", "자두"],
  sea: ["sea", "바다"],
  ember: ["ember", "불씨"],
  grey: ["grey", "회색"],
  first: ["First token", "첫 토큰"],
  theme: ["Light or dark", "밝게 또는 어둡게"],
  language: ["한국어", "English"],
  help: ["Help", "도움말"],
  export: ["Save", "저장"],
  export_png: ["Picture (PNG)", "그림 (PNG)"],
  export_svg: ["Drawing (SVG)", "벡터 그림 (SVG)"],
  export_csv: ["Weights in view (CSV)", "보이는 가중치 (CSV)"],
  export_link: ["Copy a link to this view", "지금 화면의 링크 복사"],
  copied: ["Copied.", "복사했습니다."],
  saved: ["Saved as {name}.", "{name} 파일로 저장했습니다."],
  map: ["Map", "히트맵"],
  lines: ["Lines", "선"],
  as: ["View", "보기"],
  fit: ["Show all", "전체 보기"],
  zoom_in: ["Zoom in", "확대"],
  zoom_out: ["Zoom out", "축소"],

  step: ["Step", "단계"],
  image: ["Image", "이미지"],
  compare: ["Compare", "비교"],
  zooms: ["Zoom", "확대와 축소"],
  over: ["Of", "대상"],
  over_one: ["this head", "이 헤드"],
  over_layer: ["mean of the layer ({count})", "이 층의 평균 ({count})"],
  over_all: ["mean of all heads ({count})", "모든 헤드의 평균 ({count})"],
  over_some: ["mean of {count} chosen", "고른 {count}개의 평균"],
  mean_of: ["mean of {count} heads", "헤드 {count}개의 평균"],
  mean_of_layer: ["{layer} · mean of all heads", "{layer} · 모든 헤드의 평균"],
  every_head: ["all heads", "모든 헤드"],
  tells_choice: ["Mean of {list}.", "다음 헤드의 평균입니다. {list}."],

  // model
  where: ["Keep", "조건"],
  anywhere: ["all heads", "모든 헤드"],
  least: ["at least", "이상"],
  most: ["at most", "이하"],
  choose_head: ["Add to the mean, or take out of it", "평균에 넣거나 빼기"],
  stack_encoder: ["encoder", "인코더"],
  stack_decoder: ["decoder", "디코더"],
  stack_cross: ["cross-attention", "크로스 어텐션"],
  stack_other: ["other layers", "그 밖의 층"],
  effect: ["effect of ablation", "제거 효과"],
  sink_share: ["sink share", "싱크 비율"],
  sort: ["Sort", "정렬 기준"],
  show: ["Show", "표시"],
  filter: ["Pattern", "패턴"],
  by_layer: ["layer and head", "층과 헤드"],
  maps: ["small maps", "작은 히트맵"],
  all: ["all ({count})", "전체 ({count})"],
  some: ["{name} ({count})", "{name} ({count})"],
  nothing_left: ["No head follows this pattern.", "이 패턴을 따르는 헤드가 없습니다."],
  telling: ["most telling", "두드러진 순"],
  score: ["pattern score", "패턴 점수"],
  entropy: ["entropy", "엔트로피"],
  max_weight: ["largest weight", "최대 가중치"],
  distance: ["distance", "거리"],
  on_first: ["weight on the first token", "첫 토큰에 둔 가중치"],
  on_self: ["weight on itself", "자신에게 둔 가중치"],

  facts: ["This head in numbers", "숫자로 본 헤드"],
  means: ["mean over queries", "쿼리 평균"],
  means_of_heads: ["mean over queries and heads", "쿼리와 헤드의 평균"],
  likeness: ["how much like each pattern (0 … 1)", "패턴마다 얼마나 닮았나 (0 … 1)"],

  // patterns
  pattern_self: ["self", "자기 자신"],
  pattern_previous_token: ["previous token", "앞 토큰"],
  pattern_next_token: ["next token", "뒤 토큰"],
  pattern_first_token: ["first token", "첫 토큰"],
  pattern_uniform: ["uniform", "고르게"],
  pattern_local: ["local", "가까운 토큰"],
  pattern_induction: ["induction", "인덕션"],
  pattern_duplicate_token: ["duplicate token", "같은 토큰"],
  pattern_separator: ["separator", "구분 기호"],
  pattern_punctuation: ["punctuation", "문장 부호"],
  pattern_mixed: ["mixed", "혼합"],
  pattern_none: ["none", "없음"],
  tells_self: ["Each query looks mostly at its own position.", "쿼리마다 주로 자기 위치를 봅니다."],
  tells_previous_token: ["Each query looks mostly at the token before it.", "쿼리마다 주로 바로 앞 토큰을 봅니다."],
  tells_next_token: ["Each query looks mostly at the token after it.", "쿼리마다 주로 바로 뒤 토큰을 봅니다."],
  tells_first_token: ["Queries rest on the first token.", "쿼리가 첫 토큰에 머뭅니다."],
  tells_uniform: ["Queries spread their attention evenly.", "쿼리가 어텐션을 고르게 나눕니다."],
  tells_local: ["Queries look at their neighbourhood.", "쿼리가 가까운 토큰을 봅니다."],
  tells_induction: ["Queries look at what followed their own token before.", "쿼리가 앞서 같은 토큰 바로 뒤에 온 것을 봅니다."],
  tells_duplicate_token: ["Queries look at earlier copies of their own token.", "쿼리가 앞에 나온 같은 토큰을 봅니다."],
  tells_separator: ["Queries look at separators.", "쿼리가 구분 기호를 봅니다."],
  tells_punctuation: ["Queries look at punctuation.", "쿼리가 문장 부호를 봅니다."],
  tells_mixed: ["No single pattern: closest are {first} ({a}) and {second} ({b}).", "뚜렷한 패턴이 없습니다. 가까운 패턴: {first} ({a}), {second} ({b})."],
  tells_none: ["No query has a key left: everything is masked.", "모든 키가 마스크로 가려져 볼 수 있는 것이 없습니다."],
  sure_very: ["That is clear: score {score} of 1.", "분명합니다: 1점 중 {score}점."],
  sure_fairly: ["That is fairly clear: score {score} of 1.", "꽤 분명합니다: 1점 중 {score}점."],
  sure_barely: ["That is a tendency only: score {score} of 1.", "그런 경향이 있는 정도입니다: 1점 중 {score}점."],
  not_why: ["Weights say where a head looks, not why.", "가중치는 헤드가 어디를 보는지 알려 줄 뿐, 이유는 알려 주지 않습니다."],

  // head
  query: ["query", "쿼리"],
  key: ["key", "키"],
  received: ["received", "받은 어텐션"],
  weight: ["weight", "가중치"],
  masked: ["masked", "마스크"],
  nan: ["not a number", "숫자 아님"],
  legend_linear: ["weight (linear)", "가중치 (선형)"],
  legend_log: ["weight (log)", "가중치 (로그)"],
  first_hidden: ["first token hidden", "첫 토큰 숨김"],
  pixel_exact: ["every weight is exact", "모든 가중치가 정확합니다"],
  strips_mean: [" · strips: means of {by_q} queries and {by_k} keys", " · 막대는 쿼리 {by_q}개, 키 {by_k}개의 평균입니다"],
  entropy_of_heads: [" · entropy: the mean of the heads' own", " · 엔트로피는 헤드마다 구한 값의 평균입니다"],
  pixel_single: ["each cell: one weight to 3 %; the {keys} strongest of each query are exact", "셀 하나가 가중치 하나입니다 (오차 3% 이내). 쿼리마다 가장 큰 {keys}개는 정확합니다"],
  pixel_mean: ["each cell: mean of {by_q} × {by_k} weights; the {keys} strongest of each query are exact", "셀 하나가 가중치 {by_q} × {by_k}개의 평균입니다. 쿼리마다 가장 큰 {keys}개는 정확합니다"],
  pixel_computed: ["each cell: mean of {by_q} × {by_k} weights, computed as you look; nearer, every weight is exact", "셀 하나가 가중치 {by_q} × {by_k}개의 평균이며, 보는 대로 계산합니다. 더 가까이 가면 모든 가중치가 정확합니다"],
  pixel_averaged: ["each cell: mean of {by_q} × {by_k} weights over the heads; entropy: the mean of the heads' own", "셀 하나가 헤드들의 가중치 {by_q} × {by_k}개의 평균입니다. 엔트로피는 헤드마다 구한 값의 평균입니다"],
  difference_linear: ["A − B (linear)", "A − B (선형)"],
  difference_log: ["A − B (log)", "A − B (로그)"],
  map_name: ["Attention map, {queries} queries by {keys} keys. Arrow keys move the query and the key.", "히트맵: 쿼리 {queries}개, 키 {keys}개. 화살표 키로 쿼리와 키를 옮깁니다."],

  // compare
  head_number: ["head {head}", "헤드 {head}"],
  compare_layer: ["Layer to compare with", "비교할 층"],
  compare_head: ["Head to compare with", "비교할 헤드"],
  compare_swap: ["Swap A and B", "A와 B 바꾸기"],
  compare_tells: ["Orange: A gives more weight there; blue: B does. All maps move together.", "주황은 A가, 파랑은 B가 더 큰 가중치를 둔 자리입니다. 히트맵은 함께 움직입니다."],
  compare_most: ["largest difference {value}: “{query}” → “{key}”", "가장 큰 차이 {value}: “{query}” → “{key}”"],
  compare_same: ["no difference", "차이 없음"],

  // step
  step_tells: ["step {at} of {count}: “{token}” looks at {list}", "{count}단계 중 {at}단계: “{token}” 쿼리가 보는 키 {list}"],
  step_play: ["Play", "재생"],
  step_stop: ["Stop", "멈춤"],
  step_back: ["One step back", "한 단계 뒤로"],
  step_on: ["One step on", "한 단계 앞으로"],
  step_source: ["what is read", "읽은 글"],
  step_written: ["what is written; under each word, what it looked at most", "쓴 글. 단어 아래는 가장 많이 본 토큰입니다"],

  // image
  image_all: ["all queries", "모든 쿼리"],
  image_from: ["weight on each patch", "패치마다 둔 가중치"],
  image_to: ["weight that each patch gives", "패치마다 주는 가중치"],
  image_received: ["received by each patch", "패치마다 받은 어텐션"],
  image_tells_from: ["Where “{token}” looks. Click a patch to see where it looks.", "“{token}” 쿼리가 보는 곳입니다. 패치를 누르면 그 패치가 보는 곳이 나타납니다."],
  image_tells_to: ["Which patches look at “{token}”.", "“{token}” 키를 보는 패치입니다."],
  image_tells_received: ["How much each patch is looked at, over all queries. Click a patch to see where it looks.", "모든 쿼리가 패치를 얼마나 보는지 나타냅니다. 패치를 누르면 그 패치가 보는 곳이 나타납니다."],
  image_rest: ["{share} of the weight is on positions that are no patch.", "가중치 {share}은 패치가 아닌 위치에 있습니다."],

  // status
  rank: ["rank {rank} of {count}", "{count}개 중 {rank}위"],
  rank_only: ["rank {rank}", "{rank}위"],
  rank_beyond: ["not among the {keys} strongest", "가장 큰 {keys}개에 들지 않음"],
  is_mean: ["≈ {weight}, mean of {by_q} × {by_k} around it", "≈ {weight}, 주변 {by_q} × {by_k}개의 평균"],
  is_near: ["≈ {weight}, to 3 %", "≈ {weight}, 오차 3% 이내"],
  is_estimate: ["≈ {weight}, not exact in every head", "≈ {weight}, 일부 헤드에서 정확하지 않음"],
  is_masked: ["masked: no weight is possible", "마스크로 가려져 가중치가 있을 수 없습니다"],
  is_nan: ["not a number", "숫자가 아닙니다"],
  hint: ["Point at the map or click a word: what is there is told here. ? shows all keys.", "히트맵을 가리키거나 단어을 누르면 여기에 내용이 나옵니다. ?를 누르면 단축키가 보입니다."],
  query_among: ["query {q} “{token}”: strongest {list}; mean entropy of {by} queries here {entropy} nats", "쿼리 {q} “{token}”: 가장 큰 가중치 {list}, 이 근처 쿼리 {by}개의 평균 엔트로피 {entropy} nats"],
  query_only: ["query {q} “{token}”: entropy {entropy} nats, strongest {list}", "쿼리 {q} “{token}”: 엔트로피 {entropy} nats, 가장 큰 가중치 {list}"],

  // text
  direction: ["Direction", "방향"],
  looks_at: ["looks at", "보는 토큰"],
  seen_by: ["seen by", "이 토큰을 보는 쿼리"],
  queries_text: ["queries", "쿼리"],
  keys_text: ["keys", "키"],
  strongest_of: ["“{token}” looks at", "“{token}” 쿼리가 보는 키"],
  strongest_to: ["“{token}” is seen by", "“{token}” 키를 보는 쿼리"],
  choose_word: ["Click a word to see what it looks at.", "단어을 누르면 무엇을 보는지 나타납니다."],
  nothing_seen: ["nothing that is known here", "알려진 것이 없습니다"],

  // help
  keys_title: ["Keys and gestures", "단축키와 동작"],
  close: ["Close", "닫기"],
  help_wheel: ["zoom at the pointer, drag to move, double click to zoom in", "포인터 자리에서 확대하고, 끌어서 옮기고, 두 번 눌러 확대"],
  help_arrows: ["move the query; left and right move the key", "쿼리 옮기기. 왼쪽·오른쪽은 키 옮기기"],
  help_heads: ["the head before or after", "앞뒤 헤드로"],
  help_layers: ["the layer before or after", "앞뒤 층으로"],
  help_fit: ["show all of the map", "히트맵 전체 보기"],
  help_play: ["step by step: play or stop", "단계 보기: 재생·멈춤"],
  help_zoom: ["zoom in, zoom out", "확대, 축소"],
  help_search: ["find a token", "토큰 찾기"],
  help_scale: ["linear or log scale", "선형 눈금과 로그 눈금 바꾸기"],
  help_first: ["hide or show the first token", "첫 토큰 숨기기·보이기"],
  help_colours: ["the next colours", "다음 색으로"],
  help_pin: ["pin the place under the pointer", "포인터 자리 고정"],
  help_direction: ["looks at, or is seen by", "보는 방향 바꾸기"],
  help_choose: ["on a head of the model: add it to the mean, or take it out (x with the keyboard)", "모델의 헤드에서: 평균에 넣거나 빼기 (키보드로는 x)"],
  help_with: ["on a head of the model: compare with it", "모델의 헤드에서: 그 헤드와 비교"],
  help_all: ["mean of the layer; with shift, of all heads", "층의 평균. Shift와 함께 누르면 모든 헤드의 평균"],
  help_map: ["the map", "히트맵"],
  help_lines: ["lines between two columns", "두 줄 사이의 선"],
  help_step: ["step by step through what was written", "쓰인 순서대로 한 단계씩"],
  help_image: ["attention over the image", "이미지 위의 어텐션"],
  help_compare: ["compare with another head", "다른 헤드와 비교"],
  help_theme: ["light or dark", "밝게·어둡게"],
  help_export: ["save what is seen", "보이는 것 저장"],
  help_escape: ["let go, close", "선택 풀기, 닫기"],
  help_help: ["this sheet", "이 도움말"],
};

/**
 * A text in a language, with values put in.
 * @param {Language} language
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function say(language, name, values = {}) {
  const said = STRINGS[name];
  if (!said) return name;
  return said[language === "ko" ? 1 : 0].replace(/\{(\w+)\}/gu, (whole, place) => String(values[place] ?? whole));
}

/**
 * A layer's name in a language: one that clearhead gave is said in it, others are as they are.
 * @param {Language} language
 * @param {string} name
 */
export function layerNamed(language, name) {
  const [, word, number] = /^(\S+) (\d+)$/u.exec(name) ?? [];
  const known = ["layer", "encoder", "decoder", "cross"].find((kind) => STRINGS[`layer_${kind}`].some((said) => said === `${word} {number}`));
  return known ? say(language, `layer_${known}`, { number }) : name;
}

const COUNTS = new Intl.NumberFormat("en-US"); // made once: a number's own way to say itself makes one each time

/** @param {number} n */
export function counted(n) {
  return COUNTS.format(n);
}

/**
 * A weight to four digits behind the point; small ones as powers, so that none reads as 0 that is not.
 * @param {number} weight
 * @param {number} [digits]
 */
export function figure(weight, digits = 4) {
  if (Number.isNaN(weight)) return "NaN";
  if (weight === 0) return "0";
  return Math.abs(weight) < 0.5 * 10 ** -digits ? weight.toExponential(1) : weight.toFixed(digits);
}
