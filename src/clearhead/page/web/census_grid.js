// All heads, layers by heads, coloured by one number; below each number a line as long as its spread.

import { headsOf, shownNumber } from "./census_data.js";
import { measureName, tell } from "./census_strings.js";
import { element } from "./context.js";
import { colourAt, css, inkOn } from "./palettes.js";

/** @typedef {import("./census.js").Shared} Shared */
/** @typedef {{ at: number, layer: number, head: number }} Place */

const SEEN = 0.02; // of the scale: a spread below it would be a dot

export class Grid {
  /** @param {Shared} shared */
  constructor(shared) {
    this.shared = shared;
    this.cells = element("div", { class: "census-cells" });
    this.legend = element("p", { class: "quiet census-legend" });
    /** @type {Map<number, HTMLElement>} */
    this.buttons = new Map();
    this.cells.addEventListener("keydown", (event) => this.press(event));
  }

  draw() {
    const { state, models, language } = this.shared;
    const model = models[state.side === "b" ? 1 : 0];
    const places = headsOf(model);
    const numbers = places.map((place) => shownNumber(models, state.side, state.measure, place));
    const most = Math.max(...numbers.map((number) => Math.abs(number ?? 0)), 1e-9);
    const scale = this.scaleOf(most);
    this.buttons.clear();
    this.cells.replaceChildren();
    this.cells.classList.toggle("by-number", state.order !== "layer");
    const rows = state.order === "layer" ? this.byLayer(places) : [[null, this.ordered(places, numbers)]];
    for (const [name, row] of /** @type {[string | null, Place[]][]} */ (rows)) {
      const buttons = row.map((place) => this.cell(place, numbers[place.at], scale));
      const line = element("div", { class: "census-row", role: "group", ...(name ? { "aria-label": name } : {}) });
      if (name) line.append(element("span", { class: "census-layer", title: model.layers[row[0]?.layer ?? 0].name }, name));
      const cells = element("div", { class: "census-heads" }, ...buttons);
      cells.style.setProperty("--heads", String(Math.max(...model.layers.map(({ heads }) => heads))));
      line.append(cells);
      this.cells.append(line);
    }
    this.tellScale(language, scale);
  }

  /** @param {number} most  the largest number, in either direction */
  scaleOf(most) {
    const { state } = this.shared;
    const whole = state.side !== "difference" && state.measure !== "distance";
    return whole ? Math.max(most, 0.25) : most;
  }

  /** @param {Place[]} places */
  byLayer(places) {
    const { language, models, state } = this.shared;
    const { layers } = models[state.side === "b" ? 1 : 0];
    return layers.map(({ label }, layer) => [tell(language, "layer_of", { number: label }), places.filter((place) => place.layer === layer)]);
  }

  /**
   * @param {Place[]} places
   * @param {(number | null)[]} numbers
   */
  ordered(places, numbers) {
    const { state, models } = this.shared;
    const spread = models[state.side === "b" ? 1 : 0].spread[state.measure];
    const value = (/** @type {Place} */ place) => (state.order === "spread" ? spread[place.at] : numbers[place.at]);
    const sign = state.order === "least" ? 1 : -1;
    const known = places.filter((place) => value(place) !== null);
    const missing = places.filter((place) => value(place) === null);
    return [...known.sort((a, b) => sign * ((value(a) ?? 0) - (value(b) ?? 0))), ...missing];
  }

  /**
   * @param {Place} place
   * @param {number | null} number
   * @param {number} scale
   */
  cell(place, number, scale) {
    const { state, models, language } = this.shared;
    const model = models[state.side === "b" ? 1 : 0];
    const spread = state.side === "difference" ? null : model.spread[state.measure][place.at];
    const { name: path, label } = model.layers[place.layer];
    const layer = tell(language, "layer_of", { number: label });
    const head = tell(language, "head_of", { layer, head: place.head });
    const name = measureName(language, state.measure);
    const said = (/** @type {number} */ digits) =>
      number === null
        ? `${head}: ${tell(language, "no_number")}`
        : tell(language, "head_title", { head, name, mean: short(number, digits), spread: spread === null ? "–" : short(spread, digits) });
    const chosen = path === state.layer && place.head === state.head;
    const button = element("button", { class: "census-cell", title: said(3), "aria-label": said(2), "aria-pressed": String(chosen), tabindex: chosen ? "0" : "-1" });
    const shown = element("span", { class: "census-number" }, number === null ? "–" : short(number, 2));
    if (number !== null) {
      const palette = state.side === "difference" ? "difference" : "plum";
      const share = state.side === "difference" ? 0.5 + number / scale / 2 : number / scale;
      const colour = colourAt(palette, this.shared.theme, share);
      button.style.background = css(colour);
      button.style.color = inkOn(colour);
    } else button.classList.add("nothing");
    button.append(shown);
    if (state.order !== "layer") button.append(element("span", { class: "census-where", "aria-hidden": "true" }, `${label}·${place.head}`));
    if (spread !== null && number !== null && spread > SEEN * scale) {
      const line = element("i", { class: "census-spread" });
      line.style.width = `${Math.min(100, (200 * spread) / scale)}%`;
      button.append(line);
    }
    button.addEventListener("click", () => this.shared.choose({ layer: path, head: place.head }));
    this.buttons.set(place.at, button);
    return button;
  }

  /**
   * @param {import("./strings.js").Language} language
   * @param {number} scale
   */
  tellScale(language, scale) {
    const { state } = this.shared;
    const signed = state.side === "difference";
    const bar = element("span", { class: "census-scale", "aria-hidden": "true" });
    const stops = Array.from({ length: 9 }, (_, i) => css(colourAt(signed ? "difference" : "plum", this.shared.theme, i / 8)));
    bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    const ends = signed ? [short(-scale, 2), short(scale, 2)] : ["0", short(scale, 2)];
    this.legend.replaceChildren(ends[0], bar, ends[1], element("span", {}, tell(language, signed ? "legend_difference" : "legend_mean")));
  }

  /** Arrows move through the heads. @param {KeyboardEvent} event */
  press(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || this.shared.state.order !== "layer") return;
    event.preventDefault();
    const { layers } = this.shared.models[this.shared.state.side === "b" ? 1 : 0];
    const layer = layers[Math.min(Math.max(this.shared.layer + step[0], 0), layers.length - 1)];
    const head = Math.min(Math.max(this.shared.state.head + step[1], 0), layer.heads - 1);
    this.shared.choose({ layer: layer.name, head });
    /** @type {HTMLElement | null} */ (this.cells.querySelector("[aria-pressed=true]"))?.focus();
  }
}

/**
 * A number with few digits: larger ones with fewer.
 * @param {number} number
 * @param {number} digits
 */
export function short(number, digits) {
  const size = Math.abs(number);
  if (size >= 100) return number.toFixed(0);
  if (size >= 10) return number.toFixed(Math.max(digits - 1, 0));
  const text = number.toFixed(digits).replace(/^-(?=[0.]+$)/u, ""); // no minus before nothing
  return size < 1 ? text.replace(/^(-?)0\./u, "$1.") : text;
}
