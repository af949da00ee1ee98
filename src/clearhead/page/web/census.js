// The page of a census: all heads, one head, its examples, and the address kept in step with what is looked at.

import { headAt, headsOf, layerMeant, mostTelling, opened, sameIn } from "./census_data.js";
import { Examples } from "./census_examples.js";
import { Grid } from "./census_grid.js";
import { Head, groupsOf } from "./census_head.js";
import { amount, measureName, tell } from "./census_strings.js";
import { element } from "./context.js";
import { counted, say } from "./strings.js";

/** @typedef {import("./census_data.js").Header} Header */
/** @typedef {import("./census_data.js").Model} Model */
/** @typedef {import("./strings.js").Language} Language */
/**
 * @typedef {object} State
 * @property {string} measure
 * @property {string} layer  by its path
 * @property {number} head
 * @property {string} pattern  of the examples; "" is the one that the head scores highest on
 * @property {"layer" | "most" | "least" | "spread"} order
 * @property {"a" | "b" | "difference"} side
 * @property {"" | "light" | "dark"} theme
 * @property {"en" | "ko"} language
 */

const ORDERS = /** @type {const} */ (["layer", "most", "least", "spread"]);
const SIDES = /** @type {const} */ (["a", "b", "difference"]);

/** What all parts share: the data, and what is looked at. */
export class Shared {
  /**
   * @param {Header} header
   * @param {Model[]} models
   * @param {() => void} draw
   */
  constructor(header, models, draw) {
    this.header = header;
    this.models = models;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    const first = mostTelling(models[0], header.patterns);
    const place = headsOf(models[0])[first.at];
    /** @type {State} */
    this.start = {
      measure: first.pattern, layer: models[0].layers[place.layer].name, head: place.head, pattern: "", order: "layer", side: "a", theme: "",
      language: header.language === "ko" ? "ko" : "en",
    };
    this.state = this.start;
    this.draw = draw;
    this.read();
  }

  /** @type {Language} */
  get language() {
    return this.state.language;
  }

  get theme() {
    return this.state.theme || (this.system.matches ? "dark" : "light");
  }

  /** The model that a head is shown of. */
  get model() {
    return this.models[this.state.side === "b" ? 1 : 0];
  }

  /** The place of the chosen layer among those of the model. */
  get layer() {
    return layerMeant(this.model, this.models, this.state.layer);
  }

  /** The number of the chosen head over all layers. */
  get at() {
    return headAt(this.model, this.layer, this.state.head);
  }

  /** The same head of the other model, where two are compared. */
  get other() {
    if (this.models.length < 2 || this.state.side === "b") return null;
    const at = sameIn(this.models[0], this.models[1], this.layer, this.state.head);
    return at < 0 ? null : { model: this.models[1], at };
  }

  /** @param {Partial<State>} change */
  choose(change) {
    const state = this.fitting({ ...this.state, ...change });
    if ("measure" in change && this.header.patterns.includes(state.measure) && !("pattern" in change)) state.pattern = state.measure;
    if ("layer" in change || "head" in change) state.pattern = this.header.patterns.includes(state.measure) ? state.measure : "";
    this.state = state;
    const told = Object.entries(state).filter(([name, value]) => value !== this.start[/** @type {keyof State} */ (name)]);
    history.replaceState(null, "", `#${new URLSearchParams(told.map(([name, value]) => [name, String(value)]))}`);
    this.draw();
  }

  /** What the address says. */
  read() {
    const told = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    this.state = this.fitting({ .../** @type {any} */ (this.start), ...told, head: Number(told.head ?? this.start.head) });
  }

  /**
   * A state that there is: an address may say anything.
   * @param {State} state
   * @returns {State}
   */
  fitting(state) {
    const { header, models, start } = this;
    const one = (/** @type {any} */ value, /** @type {readonly any[]} */ known, /** @type {any} */ otherwise) => (known.includes(value) ? value : otherwise);
    const side = one(state.side, models.length > 1 ? SIDES : ["a"], "a");
    const model = models[side === "b" ? 1 : 0];
    const layer = model.layers[Math.max(layerMeant(model, models, state.layer), 0)];
    const head = Math.min(Math.max(Math.trunc(state.head) || 0, 0), layer.heads - 1);
    return {
      side, layer: layer.name, head,
      measure: one(state.measure, header.measures, start.measure),
      pattern: one(state.pattern, header.patterns, ""),
      order: one(state.order, ORDERS, "layer"),
      theme: one(state.theme, ["light", "dark"], ""),
      language: one(state.language, ["en", "ko"], start.language),
    };
  }
}

class ClearheadCensus extends HTMLElement {
  connectedCallback() {
    this.open().catch((error) => {
      const language = document.documentElement.lang === "ko" ? "ko" : "en";
      this.replaceChildren(element("p", { class: "failed", role: "alert" }, say(language, "failed", { why: String(error.message ?? error) })));
    });
  }

  async open() {
    const { header, models } = await opened(document);
    this.shared = new Shared(header, models, () => this.draw());
    this.grid = new Grid(this.shared);
    this.head = new Head(this.shared);
    this.examples = new Examples(this.shared);
    this.bar = element("header", { class: "bar" });
    this.controls = element("div", { class: "controls" });
    this.name = element("h2", {});
    this.notes = element("section", { class: "panel census-notes" });
    const all = element("section", { class: "panel census-all" }, element("header", {}, this.name, this.controls), this.grid.cells, this.grid.legend);
    const one = element("section", { class: "panel census-one" }, element("header", {}, this.head.title, this.head.sentence), this.head.histograms, element("div", { class: "census-tables" }, this.head.names, this.head.numbers));
    const some = element("section", { class: "panel census-some" }, element("header", {}, this.examples.title, this.examples.label), this.examples.list);
    this.replaceChildren(this.bar, element("main", { class: "census-main" }, all, one, some, this.notes));
    this.shared.system.addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => {
      this.shared?.read();
      this.draw();
    });
    this.draw();
    this.setAttribute("data-ready", "");
  }

  draw() {
    const { shared } = this;
    if (!shared) return;
    document.documentElement.setAttribute("data-theme", shared.theme);
    document.documentElement.lang = shared.language;
    this.drawBar();
    this.drawControls();
    this.grid?.draw();
    this.head?.draw();
    this.examples?.draw();
    this.drawNotes();
  }

  drawBar() {
    const { shared } = this;
    if (!shared || !this.bar) return;
    const { language, model } = shared;
    const parts = [amount(language, "documents", model.documents), amount(language, "tokens", model.tokens)];
    const [done, all] = model.shards;
    if (done < all) parts.push(tell(language, "unfinished", { done: counted(done), shards: amount(language, "shards", all) }));
    const speak = element("button", { class: "plain" }, say(language, "language"));
    speak.addEventListener("click", () => shared.choose({ language: language === "ko" ? "en" : "ko" }));
    const theme = element("button", { class: "plain" }, say(language, "theme"));
    theme.addEventListener("click", () => shared.choose({ theme: shared.theme === "dark" ? "light" : "dark" }));
    this.bar.replaceChildren(
      element("h1", { class: "brand" }, "clearhead"), element("span", { class: "title" }, `${model.name} · ${tell(language, "census")}`),
      element("span", { class: "quiet" }, parts.join(" · ")), element("span", { class: "gap" }), speak, theme,
    );
  }

  drawControls() {
    const { shared } = this;
    if (!shared || !this.controls || !this.name) return;
    const { language, state, header, models } = shared;
    this.name.textContent = tell(language, "heads");
    const measures = groupsOf(header).map(([group, names]) =>
      element("optgroup", { label: tell(language, `group_${group}`) }, ...names.map((name) => option(name, measureName(language, name), name === state.measure))),
    );
    const orders = ORDERS.map((order) => option(order, tell(language, `by_${order}`), order === state.order));
    this.controls.replaceChildren(
      menu(tell(language, "statistic"), measures, (measure) => shared.choose({ measure })),
      menu(tell(language, "order"), orders, (order) => shared.choose({ order: /** @type {State["order"]} */ (order) })),
    );
    if (models.length < 2) return;
    const names = [tell(language, "model_a", { name: models[0].name }), tell(language, "model_b", { name: models[1].name }), tell(language, "difference")];
    const buttons = SIDES.map((side, i) => {
      const button = element("button", { "aria-pressed": String(side === state.side) }, names[i]);
      button.addEventListener("click", () => shared.choose({ side }));
      return button;
    });
    this.controls.append(element("div", { class: "switch", role: "group", "aria-label": tell(language, "compared") }, ...buttons));
  }

  /** Documents that were not counted, by name, and those that were cut off. */
  drawNotes() {
    const { shared } = this;
    if (!shared || !this.notes) return;
    const { language, model } = shared;
    const parts = [];
    if (model.cut) parts.push(element("p", {}, tell(language, "cut", { documents: amount(language, "documents", model.cut), tokens: amount(language, "tokens", model.most ?? 0) })));
    if (model.problem_count) {
      const list = element("ul", {}, ...model.problems.map(([file, document, reason, ...details]) => {
        const detail = details[language === "ko" ? 1 : 0];
        const why = detail ? `${tell(language, `reason_${reason}`)}: ${detail}` : tell(language, `reason_${reason}`);
        return element("li", {}, element("span", { class: "census-file" }, tell(language, "example_place", { file, document })), " ", element("span", { class: "quiet" }, why));
      }));
      const left = model.problem_count - model.problems.length;
      if (left > 0) list.append(element("li", { class: "quiet" }, tell(language, "more", { count: counted(left) })));
      parts.push(element("details", {}, element("summary", {}, tell(language, "problems", { documents: amount(language, "documents", model.problem_count) })), list));
    }
    const open = this.notes.querySelector("details")?.open;
    this.notes.replaceChildren(...parts);
    if (open) this.notes.querySelector("details")?.setAttribute("open", "");
    this.notes.hidden = !parts.length;
  }
}

/**
 * @param {string} value
 * @param {string} text
 * @param {boolean} selected
 */
function option(value, text, selected) {
  return element("option", { value, selected }, text);
}

/**
 * @param {string} name
 * @param {HTMLElement[]} options
 * @param {(value: string) => void} choose
 */
function menu(name, options, choose) {
  const select = /** @type {HTMLSelectElement} */ (element("select", {}, ...options));
  select.addEventListener("change", () => choose(select.value));
  return element("label", { class: "menu" }, element("span", { class: "menu-name" }, name), select);
}

customElements.define("clearhead-census", ClearheadCensus);
