// What is told in words: what a head does and how sure that is, and what is under the pointer.

import { counted, figure } from "./strings.js";
import { inSentence } from "./tokens.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {(name: string, values?: Record<string, string | number>) => string} Say */

/**
 * What a head does, and how sure that is.
 * @param {import("./headmap.js").HeadInfo} info
 * @param {Say} say
 * @returns {string}
 */
export function headSentence(info, say) {
  const score = (/** @type {string} */ name) => figure(info.scores[name] ?? 0, 2);
  if (info.pattern === "none") return say("tells_none");
  if (info.pattern === "mixed") {
    const [first, second] = info.closest;
    const names = { first: say(`pattern_${first}`), second: say(`pattern_${second}`), a: score(first), b: score(second) };
    return say("tells_mixed", names);
  }
  const sure = (info.score ?? 0) >= 0.75 ? "very" : (info.score ?? 0) >= 0.5 ? "fairly" : "barely";
  return `${say(`tells_${info.pattern}`)} ${say(`sure_${sure}`, { score: figure(info.score ?? 0, 2) })}`;
}

/**
 * The weight of a place in words: exact with its rank, or what is known instead.
 * @param {import("./headmap.js").HeadMap} map
 * @param {{ q: number, k: number }} place
 * @param {Say} say
 */
export function weightText(map, { q, k }, say) {
  const { value, kind } = map.weight(q, k);
  if (kind === "masked") return say("is_masked");
  if (kind === "nan") return say("is_nan");
  const ranked = rankText(map, { q, k }, say);
  if (kind === "exact") return `${say("weight")} ${figure(value)}${ranked}`;
  if (map.place(q, k) >= 0) return `${say("weight")} ${say("is_estimate", { weight: figure(value) })}${ranked}`;
  const near = map.single ? say("is_near", { weight: figure(value) }) : say("is_mean", { weight: figure(value), by_q: map.by_q, by_k: map.by_k });
  return `${say("weight")} ${near}${ranked}`;
}

/**
 * Which of its query's keys a key is, as far as that is known.
 * @param {import("./headmap.js").HeadMap} map
 * @param {{ q: number, k: number }} place
 * @param {Say} say
 */
function rankText(map, { q, k }, say) {
  const rank = map.rank(q, k);
  if (rank !== null) {
    const count = map.visible(q); // masked keys have no rank, and count for none
    return ` · ${count === null ? say("rank_only", { rank: counted(rank) }) : say("rank", { rank: counted(rank), count: counted(count) })}`;
  }
  return map.place(q, k) >= 0 ? "" : ` · ${say("rank_beyond", { keys: map.keys })}`;
}

/**
 * The weights of a place in two heads, and what the first has more.
 * @param {import("./headmap.js").HeadMap} map
 * @param {import("./headmap.js").HeadMap} other
 * @param {{ q: number, k: number }} place
 * @param {Say} say
 */
export function comparedText(map, other, { q, k }, say) {
  const [a, b] = [map.weight(q, k), other.weight(q, k)];
  const told = (/** @type {import("./headmap.js").Weight} */ { value, kind }) => (kind === "masked" ? say("masked") : `${kind === "mean" ? "≈ " : ""}${figure(value)}`);
  const near = [a, b].some(({ kind }) => kind === "mean") ? "≈ " : "";
  const difference = a.value - b.value;
  return `A ${told(a)} · B ${told(b)} · A − B ${near}${difference > 0 ? "+" : ""}${figure(difference)}`;
}

/**
 * The line that says what is pointed at, else what is chosen.
 * @param {Context} context
 * @returns {(Node | string)[]}
 */
export function statusLine(context) {
  const { map, otherMap, hover, state, say } = context;
  if (context.failure) return [say("not_opened", { why: context.failure })];
  if (!map || !context.isOpen) return [say("loading")];
  const place = hover ?? (state.query !== null && state.key !== null ? { q: state.query, k: state.key } : null);
  if (place && place.q < map.n_q && place.k < map.n_k) {
    return [
      `${say("query")} ${counted(place.q)} `, ...inText(context, "query", place.q), " → ",
      `${say("key")} ${counted(place.k)} `, ...inText(context, "key", place.k), " · ",
      bold(otherMap ? comparedText(map, otherMap, place, say) : weightText(map, place, say)),
    ];
  }
  if (state.query === null || state.query >= map.n_q) return [say("hint")];
  const list = map.strongest(state.query, "from", 3).map(({ position, weight }) => `${context.labels("key")[position]} ${figure(weight, 2)}`);
  const entropy = map.entropy[Math.floor(state.query / map.by_q)];
  const token = context.labels("query")[state.query];
  return [say(map.by_q > 1 ? "query_among" : "query_only", { by: map.by_q, q: counted(state.query), token, entropy: figure(entropy, 2), list: list.join(", ") || "–" })];
}

/**
 * A token among its neighbours.
 * @param {Context} context
 * @param {"query" | "key"} side
 * @param {number} at
 */
function inText(context, side, at) {
  const [before, token, after] = inSentence(context.pieces(side), at);
  const quiet = document.createElement("bdi");
  quiet.className = "around";
  const strong = document.createElement("mark");
  strong.textContent = token;
  quiet.append(before, strong, after);
  return ["“", quiet, "”"];
}

/** @param {string} text */
function bold(text) {
  const made = document.createElement("b");
  made.textContent = text;
  return made;
}
