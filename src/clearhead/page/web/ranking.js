// Heads by their numbers: what is known of each, in which order they stand, and which are kept.

/** @typedef {import("./headmap.js").HeadInfo} HeadInfo */
/** @typedef {{ layer: number, head: number, info: HeadInfo }} Entry */

const RISING = ["entropy", "distance"]; // what is small tells more

/**
 * A number of a head: a statistic, the score of its pattern, or how telling it is.
 * @param {HeadInfo} info
 * @param {string} name
 * @returns {number | null}
 */
export function numberOf(info, name) {
  if (name === "telling") return info.telling;
  if (name === "score") return info.score;
  return info.statistics[name] ?? info.scores[name] ?? null;
}

/**
 * What numbers there are, over all heads: statistics first, then the scores of patterns.
 * @param {Entry[]} entries
 */
export function numbersOf(entries) {
  const names = (/** @type {"statistics" | "scores"} */ kind) => [...new Set(entries.flatMap(({ info }) => Object.keys(info[kind])))];
  return { statistics: names("statistics"), scores: names("scores") };
}

/**
 * Heads in the order that is asked for; those without a number come last. Equal ones stay in the order of layers.
 * @param {Entry[]} entries
 * @param {string} name
 * @returns {Entry[]}
 */
export function sorted(entries, name) {
  if (name === "layer") return entries;
  const rising = RISING.includes(name);
  const value = (/** @type {Entry} */ entry) => numberOf(entry.info, name) ?? (rising ? Infinity : -Infinity);
  return [...entries].sort((a, b) => (rising ? value(a) - value(b) : value(b) - value(a)));
}

/**
 * The heads that follow a pattern, and whose number is at least, or at most, a limit.
 * @param {Entry[]} entries
 * @param {Pick<import("./state.js").State, "filter" | "where" | "bound" | "limit">} state
 */
export function keptOf(entries, { filter, where, bound, limit }) {
  return entries.filter(({ info }) => {
    if (filter !== "all" && info.pattern !== filter) return false;
    if (!where) return true;
    const value = numberOf(info, where);
    return value !== null && (bound === "least" ? value >= limit : value <= limit);
  });
}

/**
 * The smallest and the largest of a number over all heads; zero is always between them.
 * @param {Entry[]} entries
 * @param {string} name
 */
export function spanOf(entries, name) {
  const values = entries.map(({ info }) => numberOf(info, name)).filter((x) => x !== null);
  return { low: Math.min(0, ...values), high: Math.max(0, ...values) || 1e-9 };
}

/**
 * Layers in groups: by the trace and the stack that they are of, in the order in which these come.
 * @param {import("./headmap.js").LayerInfo[]} layers
 */
export function grouped(layers) {
  /** @type {Map<string, { trace: number, stack: string, layers: number[] }>} */
  const groups = new Map();
  layers.forEach(({ trace, stack }, i) => {
    const name = `${trace} ${stack}`;
    const group = groups.get(name);
    if (group) group.layers.push(i);
    else groups.set(name, { trace, stack, layers: [i] });
  });
  return [...groups.values()];
}
