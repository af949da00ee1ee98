// What is being looked at, and the same as the end of an address, so that a link shows a colleague the same thing.

/** @typedef {"map" | "lines" | "step" | "image" | "compare"} ViewName */
/**
 * @typedef {object} State
 * @property {number} layer
 * @property {number} head
 * @property {string[]} choice  heads whose mean is shown, such as "2.3" for layer 2, head 3; none shows the head alone
 * @property {string[]} other  the head, or the heads whose mean, everything is compared with
 * @property {number | null} query  the chosen query
 * @property {number | null} key  the pinned key
 * @property {"from" | "to"} direction  what the query looks at, or what looks at it
 * @property {"linear" | "log"} scale
 * @property {import("./palettes.js").PaletteName} palette
 * @property {boolean} first  whether the first token is shown
 * @property {ViewName} view
 * @property {"model" | "head" | "text"} tab  which part a narrow screen shows
 * @property {[number, number, number] | null} window  key, query and pixels for each position; null shows all
 * @property {string} sort
 * @property {string} show  small maps, or a statistic
 * @property {string} filter  a pattern, or all
 * @property {string} where  a statistic by which heads are kept; all heads are where it is empty
 * @property {"least" | "most"} bound
 * @property {number} limit  what the statistic is at least, or at most
 * @property {"en" | "ko"} language
 * @property {"light" | "dark" | "system"} theme
 */

/** @type {Record<string, keyof State>} */
const SHORT = {
  l: "layer", h: "head", mean: "choice", with: "other", q: "query", k: "key", d: "direction", s: "scale", p: "palette",
  first: "first", v: "view", tab: "tab", w: "window", sort: "sort", show: "show", f: "filter", where: "where",
  bound: "bound", limit: "limit", lang: "language", theme: "theme",
};
/** @type {Partial<Record<keyof State, string[]>>} */
const CHOICES = {
  direction: ["from", "to"],
  scale: ["linear", "log"],
  palette: ["plum", "sea", "ember", "grey"],
  view: ["map", "lines", "step", "image", "compare"],
  bound: ["least", "most"],
  tab: ["model", "head", "text"],
  language: ["en", "ko"],
  theme: ["light", "dark", "system"],
};
const NUMBERS = ["layer", "head", "query", "key"];
const WORDS = ["sort", "show", "filter", "where"];
const LISTS = ["choice", "other"];
const HEAD = /^\d{1,6}\.\d{1,6}$/u;
const MOST = 4096; // heads in a choice

/**
 * The end of an address: only what is not as it was at first.
 * @param {State} state
 * @param {State} start
 */
export function toAddress(state, start) {
  const parts = [];
  for (const [short, name] of Object.entries(SHORT)) {
    const value = state[name];
    if (value === start[name] || String(value) === String(start[name])) continue;
    const said = Array.isArray(value) ? value.map((x) => (typeof x === "number" ? Number(x.toFixed(3)) : x)).join(",") : String(value ?? "");
    parts.push(`${short}=${encodeURIComponent(said).replaceAll("%2C", ",")}`);
  }
  return parts.join("&");
}

/**
 * What an address says. What makes no sense in it is passed over: an address is not to be trusted.
 * @param {string} address
 * @param {State} start
 * @returns {State}
 */
export function fromAddress(address, start) {
  /** @type {Record<string, unknown>} */
  const state = { ...start };
  for (const [short, said] of new URLSearchParams(address.replace(/^#/u, ""))) {
    if (!Object.hasOwn(SHORT, short)) continue;
    const name = SHORT[short];
    const value = readValue(name, said);
    if (value !== undefined) state[name] = value;
  }
  return /** @type {State} */ (state);
}

/**
 * @param {keyof State} name
 * @param {string} said
 */
function readValue(name, said) {
  if (NUMBERS.includes(name)) {
    if (said === "" && (name === "query" || name === "key")) return null;
    return /^\d{1,9}$/u.test(said) ? Number(said) : undefined;
  }
  if (name === "first") return said === "true" || (said === "false" ? false : undefined);
  if (name === "window") {
    const numbers = said.split(",").map(Number);
    return numbers.length === 3 && numbers.every((x) => Number.isFinite(x) && x >= 0) && numbers[2] > 0 ? numbers : undefined;
  }
  if (LISTS.includes(name)) {
    const heads = said ? said.split(",") : [];
    return heads.length <= MOST && heads.every((head) => HEAD.test(head)) ? heads : undefined;
  }
  if (name === "limit") return /^-?[\d.]{1,20}(e-?\d{1,2})?$/u.test(said) && Number.isFinite(Number(said)) ? Number(said) : undefined;
  if (WORDS.includes(name)) return /^[\p{L}\p{N}_ -]{0,60}$/u.test(said) ? said : undefined;
  return CHOICES[name]?.includes(said) ? said : undefined;
}

/** The state, and who wants to hear of changes. */
export class Store {
  /** @param {State} start */
  constructor(start) {
    this.start = start;
    this.state = start;
    /** @type {((changed: Set<keyof State>) => void)[]} */
    this.listeners = [];
  }

  /** @param {(changed: Set<keyof State>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<State>} changes */
  set(changes) {
    const next = { ...this.state, ...changes };
    const names = /** @type {(keyof State)[]} */ (Object.keys(changes));
    const changed = new Set(names.filter((name) => String(next[name]) !== String(this.state[name])));
    if (!changed.size) return;
    this.state = next;
    this.tell(changed);
  }

  /** @param {Set<keyof State>} changed */
  tell(changed) {
    for (const listener of this.listeners) listener(changed);
  }
}
