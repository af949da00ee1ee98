// The model: every head as a small map or a number, in layers or sorted, with the pattern it follows. Some can be chosen.

import { button } from "./bar.js";
import { goesWith, nameOf, toggled } from "./choosing.js";
import { codeValues } from "./codec.js";
import { element, fillMenu, menu } from "./context.js";
import { colourAt, css, inkOn, lookup, scaleOf } from "./palettes.js";
import { grouped, keptOf, numberOf, numbersOf, sorted, spanOf } from "./ranking.js";
import { STRINGS, figure } from "./strings.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./ranking.js").Entry} Entry */
/** @typedef {import("./state.js").State} State */

const WIDEST = 16; // heads of a layer that stand side by side
const REDRAWN = ["show", "sort", "filter", "where", "bound", "limit", "language", "palette", "theme", "scale"];
const STEPS = 100; // of the slider

export class ModelView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    const { store } = context;
    this.show = menu((value) => store.set({ show: value }));
    this.sort = menu((value) => store.set({ sort: value }));
    this.filter = menu((value) => store.set({ filter: value }));
    this.where = menu((value) => this.startFrom(value));
    this.bound = button(() => store.set({ bound: context.state.bound === "least" ? "most" : "least" }));
    this.limit = element("input", { type: "range", min: "0", max: String(STEPS) });
    this.limit.addEventListener("input", () => this.slide());
    this.limited = element("output", { class: "quiet" });
    this.bounds = element("span", { class: "menu bounds" }, this.bound, this.limit, this.limited);
    this.grid = element("div", { class: "heads", role: "listbox", "aria-multiselectable": "true", tabindex: "-1" });
    this.title = element("h2");
    const controls = element("div", { class: "controls" }, this.show.whole, this.sort.whole, this.filter.whole, this.where.whole, this.bounds);
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
    this.grid.addEventListener("click", (event) => this.click(event));
    this.grid.addEventListener("keydown", (event) => this.press(event));
    store.listen((changed) => {
      if (REDRAWN.some((name) => changed.has(/** @type {keyof State} */ (name)))) this.render();
      else if (["layer", "head", "choice", "other", "view"].some((name) => changed.has(/** @type {keyof State} */ (name)))) this.mark();
    });
    this.render();
  }

  /** A statistic in words; one that the page does not know is shown as it is called. @param {string} name */
  nameOf(name) {
    const known = [name, `pattern_${name}`].find((key) => Object.hasOwn(STRINGS, key));
    return known ? this.context.say(known) : name;
  }

  render() {
    const { say, state } = this.context;
    this.title.textContent = say("model");
    const { statistics, scores } = numbersOf(this.entries);
    const named = (/** @type {string[]} */ names) => names.map((name) => /** @type {[string, string]} */ ([name, this.nameOf(name)]));
    const numbers = named([...statistics, "score", ...scores.filter((name) => !statistics.includes(name))]);
    fillMenu(this.show, say("show"), [["maps", say("maps")], ...numbers], state.show);
    fillMenu(this.sort, say("sort"), [["layer", say("by_layer")], ["telling", say("telling")], ...numbers], state.sort);
    const patterns = [...new Set(this.entries.map(({ info }) => info.pattern))].sort();
    const count = (/** @type {string} */ name) => this.entries.filter(({ info }) => info.pattern === name).length;
    fillMenu(this.filter, say("filter"), [
      ["all", say("all", { count: this.entries.length })],
      ...patterns.map((name) => /** @type {[string, string]} */ ([name, say("some", { name: say(`pattern_${name}`), count: count(name) })])),
    ], patterns.includes(state.filter) ? state.filter : "all");
    fillMenu(this.where, say("where"), [["", say("anywhere")], ...numbers], state.where);
    this.nameBounds();
    this.fill();
  }

  nameBounds() {
    const { say, state } = this.context;
    this.bounds.hidden = !state.where;
    if (!state.where) return;
    const { low, high } = spanOf(this.entries, state.where);
    this.bound.textContent = state.bound === "least" ? "≥" : "≤";
    this.bound.setAttribute("aria-label", say(state.bound));
    this.bound.title = say(state.bound);
    this.limit.value = String(Math.round(((state.limit - low) / (high - low)) * STEPS));
    this.limit.setAttribute("aria-label", `${this.nameOf(state.where)} ${say(state.bound)}`);
    this.limit.setAttribute("aria-valuetext", numberText(state.limit));
    this.limited.textContent = numberText(state.limit);
  }

  /** A limit by another number begins where all heads are kept. @param {string} where */
  startFrom(where) {
    const { low, high } = spanOf(this.entries, where);
    this.context.store.set({ where, limit: where ? (this.context.state.bound === "least" ? low : high) : 0 });
  }

  slide() {
    const { low, high } = spanOf(this.entries, this.context.state.where);
    const limit = low + (Number(this.limit.value) / STEPS) * (high - low);
    this.context.store.set({ limit: Number(limit.toPrecision(4)) });
  }

  fill() {
    const { say, state, layers } = this.context;
    const filter = [...this.filter.select.options].some(({ value }) => value === state.filter) ? state.filter : "all";
    const entries = sorted(keptOf(this.entries, { ...state, filter }), state.sort);
    this.watcher.disconnect();
    this.tiles.clear();
    this.grid.setAttribute("aria-label", say("model"));
    this.grid.classList.toggle("in-layers", state.sort === "layer");
    this.span = spanOf(this.entries, state.show);
    this.grid.style.setProperty("--heads", String(Math.min(Math.max(...layers.map(({ heads }) => heads.length)), WIDEST)));
    if (!entries.length) this.grid.replaceChildren(element("p", { class: "quiet", role: "option" }, say("nothing_left")));
    else if (state.sort === "layer") this.grid.replaceChildren(...this.inLayers(entries));
    else this.grid.replaceChildren(element("div", { class: "row" }, ...entries.map((entry) => this.tile(entry))));
    this.mark();
    for (const tile of this.tiles.keys()) this.watcher.observe(tile);
  }

  /**
   * Rows of layers, under the names of their traces and stacks where there are several.
   * @param {Entry[]} entries
   */
  inLayers(entries) {
    const { layers, say, source } = this.context;
    const groups = grouped(layers);
    return groups.flatMap(({ trace, stack, layers: numbers }) => {
      const rows = numbers.flatMap((i) => {
        const own = entries.filter((entry) => entry.layer === i);
        if (!own.length) return [];
        const name = element("span", { class: "layer-name", title: layers[i].name, "aria-hidden": "true" }, layers[i].name);
        return [element("div", { class: "layer", role: "group", "aria-label": layers[i].name }, name, element("div", { class: "row" }, ...own.map((entry) => this.tile(entry))))];
      });
      if (groups.length === 1 || !rows.length) return rows;
      const names = [source.header.traces.length > 1 ? source.header.traces[trace] : "", stack ? say(`stack_${stack}`) : ""].filter(Boolean);
      return [element("h3", { class: "stack", "aria-hidden": "true" }, names.join(" · ") || say("stack_other")), ...rows];
    });
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
    const short = state.sort === "layer" ? String(entry.head) : `${shortName(layers[entry.layer].name)}·${entry.head}`;
    const beside = state.show === "maps" ? [short, shown, pattern] : [number, short, pattern];
    const plain = state.show === "maps" && state.sort === "layer"; // then the name of the head ends with what is seen
    const label = plain ? `${where} ${shown} ${pattern}` : `${where}, ${state.show === "maps" ? "" : `${this.nameOf(state.show)} `}${beside.join(" ")}`;
    const tile = element("button", { type: "button", role: "option", tabindex: "-1", "aria-label": label, title: `${where}\n${pattern} ${score}` },
      state.show === "maps" ? element("canvas", { "aria-hidden": "true" }) : element("span", { class: "number" }, number), " ",
      element("span", { class: "check", "aria-hidden": "true", title: say("choose_head") }),
      element("span", { class: "badge" }, element("b", {}, short), " ", element("span", { class: "score" }, state.show === "maps" ? shown : ""), " ", element("span", { class: "pattern" }, pattern)),
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
    if (state.show !== "maps") return this.colour(/** @type {HTMLElement} */ (tile.firstChild), numberOf(entry.info, state.show));
    let stamps = this.stamps.get(entry.layer);
    if (!stamps) {
      this.stamps.set(entry.layer, (stamps = source.stamps(entry.layer)));
      stamps.catch(() => this.stamps.delete(entry.layer)); // to be asked for again when the heads are next laid out
    }
    const codes = (await stamps.catch(() => null))?.[entry.head];
    if (!codes) return undefined;
    const [rows, columns] = source.header.layers[entry.layer].stamped;
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
    return pen.putImageData(image, 0, 0);
  }

  /**
   * A number's colour; where some are below zero, of the palette for differences.
   * @param {HTMLElement} tile
   * @param {number | null} value
   */
  colour(tile, value) {
    const { state, theme } = this.context;
    const { low, high } = this.span ?? { low: 0, high: 1 };
    if (value === null) return;
    const most = Math.max(-low, high);
    const colour = low < 0 ? colourAt("difference", theme, 0.5 + value / most / 2) : colourAt(state.palette, theme, value / high);
    tile.style.background = css(colour);
    tile.style.color = inkOn(colour);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const tile = event.target instanceof Element ? event.target.closest("button") : null;
    const entry = tile && this.tiles.get(tile);
    if (!entry) return;
    const box = event.target instanceof Element && event.target.classList.contains("check");
    if (event.altKey) this.compare(entry);
    else if (event.shiftKey || event.ctrlKey || event.metaKey || box) this.toggle(entry);
    else this.context.store.set({ layer: entry.layer, head: entry.head, choice: [], tab: "head" });
  }

  /** A head joins those whose mean is shown, or leaves them. @param {Entry} entry */
  toggle(entry) {
    const { state, store, layers } = this.context;
    if (goesWith(layers, entry, state.layer)) store.set(toggled(state, entry));
    else store.set({ layer: entry.layer, head: entry.head, choice: [] });
  }

  /** A head is compared with the one that is open. @param {Entry} entry */
  compare(entry) {
    const { state, store, layers } = this.context;
    if (goesWith(layers, entry, state.layer)) store.set({ view: "compare", other: [nameOf(entry)], tab: "head" });
  }

  /** Arrows go from head to head; x, or shift with Enter, chooses the one that has the focus. @param {KeyboardEvent} event */
  press(event) {
    const tile = event.target instanceof Element ? event.target.closest("button") : null;
    const entry = tile && this.tiles.get(tile);
    if (!entry || event.altKey || event.ctrlKey || event.metaKey) return;
    const tiles = [...this.tiles.keys()];
    const by = this.stride(/** @type {HTMLElement} */ (tile));
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -by, ArrowDown: by }[event.key];
    if (event.key === "x" || (event.shiftKey && event.key === "Enter")) this.toggle(entry);
    else if (move === undefined || event.shiftKey) return;
    else /** @type {HTMLElement} */ (tiles[Math.min(Math.max(tiles.indexOf(tile) + move, 0), tiles.length - 1)]).focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** How many tiles stand side by side where one does. @param {HTMLElement} tile */
  stride(tile) {
    const row = [...(tile.parentElement?.children ?? [])];
    return Math.max(row.filter((other) => /** @type {HTMLElement} */ (other).offsetTop === tile.offsetTop).length, 1);
  }

  mark() {
    const { chosen, state, view } = this.context;
    const names = chosen.map(nameOf);
    let focused = false;
    for (const [tile, entry] of this.tiles) {
      const own = nameOf(entry) === nameOf(state);
      tile.setAttribute("aria-selected", String(names.includes(nameOf(entry))));
      tile.classList.toggle("other", view === "compare" && state.other.includes(nameOf(entry)));
      tile.setAttribute("tabindex", own ? "0" : "-1");
      focused ||= own;
      if (own) tile.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (!focused) this.tiles.keys().next().value?.setAttribute("tabindex", "0");
    this.grid.classList.toggle("several", state.choice.length > 0);
  }
}

/** @param {number | null} value */
function numberText(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  return figure(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/**
 * A layer's name, short enough for a badge: its number where it has one.
 * @param {string} name
 */
function shortName(name) {
  const number = /\d+/u.exec(name)?.[0];
  return number ? `${name[0]}${number}` : name.slice(0, 4);
}
