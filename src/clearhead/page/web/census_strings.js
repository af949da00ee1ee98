// What the page of a census says, in English and in Korean; the names of patterns are those of strings.js.

import { counted, say } from "./strings.js";

/** @typedef {import("./strings.js").Language} Language */

/** @type {Record<string, [en: string, ko: string]>} */
export const CENSUS = {
  census: ["census of heads", "헤드 조사"],
  documents_one: ["1 document", "문서 1개"],
  documents_many: ["{count} documents", "문서 {count}개"],
  tokens_one: ["1 token", "토큰 1개"],
  tokens_many: ["{count} tokens", "토큰 {count}개"],
  shards_one: ["1 shard", "샤드 1개"],
  shards_many: ["{count} shards", "샤드 {count}개"],
  unfinished: ["{done} of {shards} so far", "{shards} 중 {done}개까지"],
  heads: ["All heads", "모든 헤드"],
  statistic: ["Show", "표시"],
  order: ["Sort", "정렬 기준"],
  by_layer: ["layer and head", "층과 헤드"],
  by_most: ["highest first", "큰 값부터"],
  by_least: ["lowest first", "작은 값부터"],
  by_spread: ["largest spread first", "편차가 큰 순"],
  group_patterns: ["patterns", "패턴"],
  group_attention: ["attention", "어텐션"],
  group_received: ["received by", "받은 어텐션"],
  entropy: ["entropy / log n", "엔트로피 / log n"],
  distance: ["distance in positions", "거리 (위치 수)"],
  sink: ["sink: received by the first token", "싱크: 첫 토큰이 받은 어텐션"],
  received_special: ["special tokens", "특수 토큰"],
  received_punctuation: ["punctuation", "문장 부호"],
  received_digit: ["numbers", "숫자"],
  received_word: ["word starts", "단어 첫머리"],
  received_piece: ["pieces of words", "단어 조각"],
  received_other: ["other tokens", "그 밖의 토큰"],
  legend_mean: ["mean over documents; the line below it is the spread between them", "문서 평균. 아래 선은 문서 사이의 표준 편차입니다"],
  legend_difference: ["A − B, means over documents", "A − B, 문서 평균의 차이"],
  no_number: ["nothing to measure", "잴 것이 없음"],
  layer_of: ["layer {number}", "층 {number}"],
  head_of: ["{layer} · head {head}", "{layer} · 헤드 {head}"],
  head_title: ["{head}: {name} {mean} ± {spread}", "{head}: {name} {mean} ± {spread}"],
  called: ["It is called “{name}” in {share} of the documents.", "문서 {share}에서 “{name}” 헤드로 불립니다."],
  tells_names: ["What it is called, by document", "문서마다 붙은 이름"],
  tells_numbers: ["Mean ± spread between documents, and their range", "평균 ± 문서 사이의 표준 편차, 그리고 범위"],
  of_tokens: ["{share} of all tokens", "전체 토큰의 {share}"],
  over_documents: ["{name}, over {documents}", "{name}, {documents}"],
  over_queries: ["entropy / log n, over all queries", "엔트로피 / log n, 모든 쿼리"],
  over_distances: ["where its attention lies", "어텐션이 놓인 거리"],
  ahead: ["ahead", "뒤쪽 토큰"],
  back: ["back", "앞쪽 토큰"],
  own_place: ["itself", "자기 자신"],
  bin: ["{from} to {to}: {share}", "{from}–{to}: {share}"],
  bin_one: ["{at}: {share}", "{at}: {share}"],
  examples: ["Strongest examples", "가장 뚜렷한 예"],
  example_of: ["of", "패턴"],
  example_place: ["{file}, document {document}", "{file}, {document}번 문서"],
  example_offset: ["character {offset}", "글자 위치 {offset}"],
  example_token: ["token {query}", "토큰 위치 {query}"],
  example_score: ["score in this document {score}", "이 문서에서의 점수 {score}"],
  example_keys: ["“{token}” looks at", "“{token}” 쿼리가 보는 키"],
  no_examples: ["No document shows this pattern in this head.", "이 헤드에서 이 패턴이 보이는 문서가 없습니다."],
  compared: ["Model", "모델"],
  model_a: ["A: {name}", "A: {name}"],
  model_b: ["B: {name}", "B: {name}"],
  difference: ["A − B", "A − B"],
  not_alike: ["B has no such head.", "B에는 이 헤드가 없습니다."],
  beside: ["B: {mean} ± {spread}", "B: {mean} ± {spread}"],
  problems: ["{documents} not counted", "세지 못한 {documents}"],
  cut: ["{documents} cut off after {tokens}", "{documents}를 {tokens}에서 잘랐습니다"],
  reason_unreadable: ["cannot be read", "읽을 수 없음"],
  reason_empty: ["is empty", "비어 있음"],
  reason_too_long: ["is too long", "너무 김"],
  reason_failed: ["ended in an error", "처리 중 오류"],
  more: ["… and {count} more, in problems.parquet", "… 그 밖에 {count}개. problems.parquet에 모두 있습니다"],
  not_why: ["Weights say where a head looks, not why.", "가중치는 헤드가 어디를 보는지 알려 줄 뿐, 이유는 알려 주지 않습니다."],
};

/**
 * A text in a language, with values put in.
 * @param {Language} language
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function tell(language, name, values = {}) {
  const said = CENSUS[name];
  if (!said) return say(language, name, values);
  return said[language === "ko" ? 1 : 0].replace(/\{(\w+)\}/gu, (whole, place) => String(values[place] ?? whole));
}

/**
 * How many there are of something: English has a form for one, and one for any other number.
 * @param {Language} language
 * @param {"documents" | "tokens" | "shards"} what
 * @param {number} count
 */
export function amount(language, what, count) {
  return tell(language, `${what}_${count === 1 ? "one" : "many"}`, { count: counted(count) });
}

/**
 * What a measure is called.
 * @param {Language} language
 * @param {string} measure
 */
export function measureName(language, measure) {
  return CENSUS[measure] ? tell(language, measure) : say(language, `pattern_${measure}`);
}

/**
 * A share as a percentage.
 * @param {number} share
 */
export function percent(share) {
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 0.1) return "<0.1%";
  return `${hundredths.toFixed(hundredths < 10 && hundredths > 0 ? 1 : 0)}%`;
}
