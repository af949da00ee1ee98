// The model: every head as a small map or a statistic, in layers or sorted, with the pattern it follows.

import { element, fillMenu, menu } from "./context.js";
import { codeValues } from "./codec.js";
import { colourAt, css, inkOn, lookup, scaleOf } from "./palettes.js";
import { figure } from "./strings.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./headmap.js").HeadInfo} HeadInfo */
/** @typedef {{ layer: number, head: number, info: HeadInfo }} Entry */

const WIDEST = 16; // heads of a layer that stand side by side
const STATISTICS = ["entropy", "max_weight", "distance", "on_first", "on_self"];

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
 * Heads in the order that is asked for; those without a number come last. Equal ones stay in the order of layers.
 * @param {Entry[]} entries
 * @param {string} name
 * @returns {Entry[]}
 */
export function sorted(entries, name) {
  if (name === "layer") return entries;
  const rising = name === "entropy" || name === "distance"; // what is small tells more
  const value = (/** @type {Entry} */ entry) => numberOf(entry.info, name) ?? (rising ? Infinity : -Infinity);
  return [...entries].sort((a, b) => (rising ? value(a) - value(b) : value(b) - value(a)));
}

export class ModelView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { store } = context;
    this.show = menu((value) => store.set({ show: value }));
    this.sort = menu((value) => store.set({ sort: value }));
    this.filter = menu((value) => store.set({ filter: value }));
    this.grid = element("div", { class: "heads", role: "listbox" });
    this.title = element("h2");
    const controls = element("div", { class: "controls" }, this.show.whole, this.sort.whole, this.filter.whole);
    this.root = element("section", { class: "panel model" }, element("header", {}, this.title, controls), this.grid);
    /** @type {Map<number, Promise<Uint8Array[]>>} */
    this.stamps = new Map();
    /** @type {Entry[]} */
    this.entries = context.layers.flatMap((layer, i) => layer.heads.map((info, head) => ({ layer: i, head, info })));
    /** @type {Map<Element, Entry>} */
    this.tiles = new Map();
    this.watcher = new IntersectionObserver(
      (seen) => {
        for (const { target, isIntersecting } of seen) if (isIntersecting) this.draw(target);
      },
      { root: this.grid, rootMargin: "200px" },
    );
    this.grid.addEventListener("click", (event) => {
      const tile = event.target instanceof Element ? event.target.closest("button") : null;
      const entry = tile && this.tiles.get(tile);
      if (entry) store.set({ layer: entry.layer, head: entry.head, tab: "head" });
    });
    const redraw = ["show", "sort", "filter", "language", "palette", "theme", "scale"];
    store.listen((changed) => {
      if (redraw.some((name) => changed.has(/** @type {keyof import("./state.js").State} */ (name)))) this.render();
      else if (changed.has("layer") || changed.has("head")) this.mark();
    });
    this.render();
  }

  render() {
    const { say, state } = this.context;
    this.title.textContent = say("model");
    const scores = [...new Set(this.entries.flatMap(({ info }) => Object.keys(info.scores)))];
    const numbers = /** @type {[string, string][]} */ ([
      ...STATISTICS.map((name) => [name, say(name)]),
      ["score", say("score")],
      ...scores.map((name) => [name, say(`pattern_${name}`)]),
    ]);
    fillMenu(this.show, say("show"), [["maps", say("maps")], ...numbers], state.show);
    fillMenu(this.sort, say("sort"), [["layer", say("by_layer")], ["telling", say("telling")], ...numbers], state.sort);
    const patterns = [...new Set(this.entries.map(({ info }) => info.pattern))].sort();
    const count = (/** @type {string} */ name) => this.entries.filter(({ info }) => info.pattern === name).length;
    fillMenu(this.filter, say("filter"), [
      ["all", say("all", { count: this.entries.length })],
      ...patterns.map((name) => /** @type {[string, string]} */ ([name, say("some", { name: say(`pattern_${name}`), count: count(name) })])),
    ], patterns.includes(state.filter) ? state.filter : "all");
    this.fill();
  }

  fill() {
    const { say, state } = this.context;
    const chosen = this.entries.filter(({ info }) => !this.filter.select.value || ["all", info.pattern].includes(this.filter.select.value));
    const entries = sorted(chosen, state.sort);
    this.watcher.disconnect();
    this.tiles.clear();
    this.grid.setAttribute("aria-label", say("model"));
    this.grid.classList.toggle("in-layers", state.sort === "layer");
    this.range = this.rangeOf(state.show);
    this.grid.style.setProperty("--heads", String(Math.min(Math.max(...this.context.layers.map(({ heads }) => heads.length)), WIDEST)));
    if (state.sort === "layer") {
      const rows = this.context.layers.map((layer, i) => {
        const own = entries.filter((entry) => entry.layer === i);
        return own.length
          ? element("div", { class: "layer" }, element("span", { class: "layer-name", title: layer.name }, layer.name), element("div", { class: "row" }, ...own.map((entry) => this.tile(entry))))
          : "";
      });
      this.grid.replaceChildren(...rows);
    } else this.grid.replaceChildren(element("div", { class: "row" }, ...entries.map((entry) => this.tile(entry))));
    if (!entries.length) this.grid.replaceChildren(element("p", { class: "quiet" }, say("nothing_left")));
    this.mark();
    for (const tile of this.tiles.keys()) this.watcher.observe(tile);
  }

  /**
   * The smallest and the largest of a statistic over all heads.
   * @param {string} name
   */
  rangeOf(name) {
    const values = this.entries.map(({ info }) => numberOf(info, name)).filter((x) => x !== null);
    return { low: Math.min(0, ...values), high: Math.max(...values, 1e-9) };
  }

  /** @param {Entry} entry */
  tile(entry) {
    const { say, layers, state } = this.context;
    const { info } = entry;
    const pattern = say(`pattern_${info.pattern}`);
    const score = info.score === null ? "–" : figure(info.score, 2);
    const where = say("head_of", { layer: layers[entry.layer].name, head: entry.head });
    const shown = state.sort === "layer" || state.sort === "score" ? score : numberText(numberOf(info, state.sort));
    const number = state.show === "maps" ? shown : numberText(numberOf(info, state.show));
    const tile = element("button", { type: "button", role: "option", "aria-label": `${where}, ${pattern} ${score}`, title: `${where}\n${pattern} ${score}` },
      state.show === "maps" ? element("canvas", { "aria-hidden": "true" }) : element("span", { class: "number" }, number),
      element("span", { class: "badge" }, element("b", {}, state.sort === "layer" ? String(entry.head) : `${shortName(layers[entry.layer].name)}·${entry.head}`), element("span", { class: "score" }, state.show === "maps" ? shown : ""), element("span", { class: "pattern" }, pattern)),
    );
    this.tiles.set(tile, entry);
    return tile;
  }

  /**
   * A tile that has come into sight: only now its layer's small maps are opened.
   * @param {Element} tile
   */
  async draw(tile) {
    this.watcher.unobserve(tile);
    const entry = this.tiles.get(tile);
    if (!entry) return;
    const { state, theme, source, layers } = this.context;
    if (state.show !== "maps") {
      const value = numberOf(entry.info, state.show);
      const { low, high } = this.range ?? { low: 0, high: 1 };
      const colour = colourAt(state.palette, theme, value === null ? 0 : (value - low) / (high - low));
      const number = /** @type {HTMLElement} */ (tile.firstChild);
      number.style.background = css(colour);
      number.style.color = inkOn(colour);
      return;
    }
    let stamps = this.stamps.get(entry.layer);
    if (!stamps) this.stamps.set(entry.layer, (stamps = source.stamps(entry.layer)));
    const codes = (await stamps)[entry.head];
    const [, rows, columns] = source.header.chunks[`${entry.layer}.stamps`][0][2];
    const canvas = /** @type {HTMLCanvasElement} */ (tile.firstChild);
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.aspectRatio = `${Math.min(Math.max(layers[entry.layer].n_k / layers[entry.layer].n_q, 0.6), 1.8)}`;
    const [low, high] = entry.info.stamp;
    const colours = lookup(codeValues(low, high), scaleOf(state.scale, low, high), state.palette, theme);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = pen.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = colours[codes[i]];
    pen.putImageData(image, 0, 0);
  }

  mark() {
    const { layer, head } = this.context.state;
    for (const [tile, entry] of this.tiles) {
      const chosen = entry.layer === layer && entry.head === head;
      tile.setAttribute("aria-selected", String(chosen));
      if (chosen) tile.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
}

/** @param {number | null} value */
function numberText(value) {
  return value === null ? "–" : figure(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/**
 * A layer's name, short enough for a badge: its number where it has one.
 * @param {string} name
 */
function shortName(name) {
  const number = /\d+/u.exec(name)?.[0];
  return number ? `${name[0]}${number}` : name.slice(0, 4);
}
