// What all views share: the data, the state, the head that is open, and what is under the pointer.

import { averaged } from "./averaged.js";
import { headOf, nameOf, together } from "./choosing.js";
import { layerNamed, say } from "./strings.js";
import { asText, numbered } from "./tokens.js";

/** @typedef {import("./headmap.js").HeadMap} HeadMap */
/** @typedef {import("./state.js").State} State */
/** @typedef {{ q: number, k: number }} Place */

export class Context {
  /**
   * @param {import("./data.js").Source} source
   * @param {import("./state.js").Store} store
   * @param {string[][]} tables  every list of labels
   */
  constructor(source, store, tables) {
    this.source = source;
    this.store = store;
    this.tables = tables;
    /** @type {HeadMap | null} the head that was opened last, or the mean of several */
    this.openMap = null;
    /** @type {HeadMap | null} what it is compared with */
    this.otherMap = null;
    this.asked = "";
    this.opened = ""; // what openMap is of
    this.failure = ""; // why what was asked for could not be opened
    /** @type {Place | null} */
    this.hover = null;
    /** @type {(() => void)[]} */
    this.onHover = [];
    /** @type {(() => void)[]} */
    this.onMap = [];
    /** @type {Map<string, import("./tokens.js").Piece[]>} */
    this.texts = new Map();
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.given = source.header.layers.map(({ name }) => name); // what the layers were called when the page was made
    this.nameLayers();
    store.listen((changed) => changed.has("language") && this.nameLayers()); // before any view hears of it
    source.onNews.push(() => this.onHover.forEach((listener) => listener()));
  }

  /** Layers speak the page's language. */
  nameLayers() {
    this.layers.forEach((layer, i) => (layer.name = layerNamed(this.state.language, this.given[i])));
  }

  get state() {
    return this.store.state;
  }

  get layers() {
    return this.source.header.layers;
  }

  get layer() {
    return this.layers[this.state.layer];
  }

  get info() {
    return this.layer.heads[this.state.head];
  }

  /** The head that is chosen, or the mean of those that are; null until it is open, while the last one has another shape. */
  get map() {
    const { openMap, layer } = this;
    return openMap && openMap.n_q === layer.n_q && openMap.n_k === layer.n_k ? openMap : null;
  }

  /** Whether that is what is chosen: until it is, the last one may be seen, but nothing is told of it. */
  get isOpen() {
    return this.map !== null && this.opened === this.wanted;
  }

  /** What is chosen, and what it is compared with, by name. */
  get wanted() {
    const compared = this.view === "compare" ? this.state.other.map(headOf) : [];
    return `${this.chosen.map(nameOf)} ${compared.map(nameOf)}`;
  }

  /** The heads whose mean is shown: one, unless several are chosen. */
  get chosen() {
    const { choice, layer, head } = this.state;
    return choice.length ? choice.map(headOf) : [{ layer, head }];
  }

  /** The view that is shown: the one asked for, where the layer has it. */
  get view() {
    return this.views.includes(this.state.view) ? this.state.view : "map";
  }

  /** The views that the layer has. @returns {import("./state.js").ViewName[]} */
  get views() {
    const { prompt, image } = this.layer;
    const others = together(this.layers, this.state.layer, "all").length > 1 || this.source.header.traces.length > 1;
    return ["map", "lines", ...(prompt !== null && prompt < this.layer.n_q ? /** @type {const} */ (["step"]) : []), ...(image !== null ? /** @type {const} */ (["image"]) : []), ...(others ? /** @type {const} */ (["compare"]) : [])];
  }

  /** @returns {"light" | "dark"} */
  get theme() {
    if (this.state.theme !== "system") return this.state.theme;
    return this.system.matches ? "dark" : "light";
  }

  /**
   * @param {string} name
   * @param {Record<string, string | number>} [values]
   */
  say = (name, values) => say(this.state.language, name, values);

  /**
   * Labels of the queries or the keys of the chosen layer.
   * @param {"query" | "key"} side
   * @returns {string[]}
   */
  labels(side) {
    const table = this.layer.tokens[side === "query" ? 0 : 1];
    if (table !== null) return this.tables[table];
    return numbered(side === "query" ? this.layer.n_q : this.layer.n_k);
  }

  /**
   * The same as running text.
   * @param {"query" | "key"} side
   */
  pieces(side) {
    const name = `${this.layer.tokens[side === "query" ? 0 : 1] ?? `#${side === "query" ? this.layer.n_q : this.layer.n_k}`}`;
    let found = this.texts.get(name);
    if (!found) this.texts.set(name, (found = asText(this.labels(side))));
    return found;
  }

  /** Whether queries and keys are the same text. */
  get oneText() {
    const [queries, keys] = this.layer.tokens;
    return queries === keys && this.layer.n_q === this.layer.n_k;
  }

  /** @param {Place | null} place */
  point(place) {
    if (place?.q === this.hover?.q && place?.k === this.hover?.k) return;
    this.hover = place;
    for (const listener of this.onHover) listener();
  }

  /** Open what is chosen, and what it is compared with, and tell those who draw it. What was chosen meanwhile goes first. */
  async openHead() {
    const { other } = this.state;
    const compared = this.view === "compare" ? other.map(headOf) : [];
    const asked = (this.asked = this.wanted);
    this.failure = "";
    this.source.callOff([...this.chosen, ...compared]);
    try {
      const map = await this.mean(this.chosen);
      const otherMap = compared.length ? await this.mean(compared) : null;
      if (asked !== this.asked) return;
      if (this.openMap?.certain) this.openMap.tiles?.leave(); // a mean is nobody else's, as a head is
      this.openMap = map;
      this.otherMap = otherMap;
      this.opened = asked;
    } catch (error) {
      if (asked !== this.asked) return;
      this.failure = error instanceof Error ? error.message : String(error);
    }
    for (const listener of this.onMap) listener();
  }

  /**
   * @param {import("./choosing.js").HeadPlace[]} heads
   */
  async mean(heads) {
    return averaged(await Promise.all(heads.map(({ layer, head }) => this.source.head(layer, head))));
  }
}

/**
 * An element with attributes and children. Texts become text, never markup: tokens are data.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {Record<string, string | boolean>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/**
 * A way to ask for a drawing: it is made before the next frame, once, however often it is asked for.
 * @param {() => void} draw
 * @returns {() => void}
 */
export function onceAFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

/**
 * A menu with a name; what it holds is filled in by `fillMenu`.
 * @param {(value: string) => void} chosen
 */
export function menu(chosen) {
  const label = element("span", { class: "menu-name" });
  const select = element("select");
  select.addEventListener("change", () => chosen(select.value));
  return { whole: element("label", { class: "menu" }, label, select), label, select };
}

/**
 * @param {ReturnType<typeof menu>} made
 * @param {string} name
 * @param {[value: string, text: string][]} options
 * @param {string} value
 */
export function fillMenu({ label, select }, name, options, value) {
  label.textContent = name;
  select.setAttribute("aria-label", name);
  select.replaceChildren(...options.map(([key, text]) => element("option", { value: key }, text)));
  select.value = value;
}
