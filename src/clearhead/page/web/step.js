// Step by step through what was written: the words so far, and where each was looking. The step is the chosen query.

import { button } from "./bar.js";
import { element, onceAFrame } from "./context.js";
import { laidOut, shown, within } from "./flow.js";
import { coloursOf, unitOf } from "./pane.js";
import { colourAt, css, inkOn } from "./palettes.js";
import { counted, figure } from "./strings.js";
import { CanvasSurface } from "./surface.js";
import { shortened } from "./tokens.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./flow.js").Spot} Spot */
/** @typedef {{ side: "query" | "key", top: number, spots: Spot[], height: number, line: number }} Part */

const PAUSE = 700; // milliseconds for a step while playing
const SHORT = 80; // tokens of a text that is written large
const LINE = 3.1; // of the letters' size: what each word looked at is under it
const CLOSE = 2; // for a text that is only looked at
const NARROWEST = 2.4; // room for what a word looked at
const BOLD = 1.12; // strong letters are wider
const ARCS = 3;
const PAD = 18;

export class StepView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.slider = element("input", { type: "range", min: "0", step: "1" });
    this.play = button(() => this.toggle(), "▶");
    this.back = button(() => this.move(-1), "‹");
    this.on = button(() => this.move(1), "›");
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.canvas = element("canvas", { role: "img" });
    this.scroller = element("div", { class: "flow", tabindex: "0" }, this.canvas);
    this.root = element("div", { class: "step" }, element("div", { class: "steps" }, this.back, this.play, this.on, this.slider, this.told), this.scroller);
    this.onFrame = onceAFrame(() => this.draw());
    /** @type {{ name: string, parts: Part[] } | null} */
    this.laid = null;
    /** @type {Map<number, string>} what each query looks at most, once it was drawn */
    this.glosses = new Map();
    context.onMap.push(() => {
      this.glosses.clear();
      this.request();
    });
    context.onHover.push(() => this.request());
    context.store.listen((changed) => {
      if (changed.has("first")) this.glosses.clear();
      if (changed.has("query") || changed.has("view") || changed.has("layer")) this.reveal();
      if (changed.has("view") && context.view !== "step") this.stop();
      this.request();
    });
    new ResizeObserver(() => this.request()).observe(this.scroller);
    this.scroller.addEventListener("scroll", () => this.request());
    this.slider.addEventListener("input", () => context.store.set({ query: Number(this.slider.value) }));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => context.point(null));
    this.canvas.addEventListener("click", (event) => {
      const found = this.at(event);
      if (found?.side === "query" && found.at >= this.first) context.store.set({ query: found.at });
    });
  }

  /** The first step: what comes after the words that were given. */
  get first() {
    return this.context.layer.prompt ?? 0;
  }

  get last() {
    return this.context.layer.n_q - 1;
  }

  /** The step that is shown: that of the chosen query, else the last. */
  get step() {
    const { query } = this.context.state;
    return query === null ? this.last : Math.min(Math.max(query, this.first), this.last);
  }

  /** @param {number} by */
  move(by) {
    const query = Math.min(Math.max(this.step + by, this.first), this.last);
    this.context.store.set({ query });
  }

  toggle() {
    if (this.playing) return this.stop();
    if (this.step === this.last) this.context.store.set({ query: this.first });
    this.playing = setInterval(() => (this.step === this.last ? this.stop() : this.move(1)), PAUSE);
    return this.request();
  }

  stop() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.request();
  }

  request() {
    if (this.context.view === "step") this.onFrame();
  }

  get seen() {
    const unit = unitOf(this.root);
    const { clientWidth, clientHeight, scrollTop } = this.scroller;
    return { unit, width: clientWidth / unit, height: clientHeight / unit, scrolled: scrollTop / unit };
  }

  /** How large letters are. */
  get size() {
    const { n_q, n_k } = this.context.layer;
    return Math.max(n_q, n_k) > SHORT || this.seen.width < 480 ? 16 : 22;
  }

  /** The texts, where they stand: what was written, and over it what it looks at, if that is another text. @returns {Part[]} */
  get parts() {
    const { context, size } = this;
    const width = Math.min(this.seen.width - 2 * PAD, 1100);
    const name = `${size} ${context.layer.tokens} ${context.layer.n_q} ${context.layer.n_k} ${width}`;
    if (this.laid?.name === name) return this.laid.parts;
    const part = (/** @type {"query" | "key"} */ side, /** @type {number} */ top, /** @type {number} */ line) => {
      const { spots, lines } = laidOut(context.pieces(side), width, { size, least: side === "query" ? NARROWEST * size : 0, bold: side === "query" ? BOLD : 1 });
      return { side, top, spots, line, height: lines * line };
    };
    const above = context.oneText ? [] : [part("key", 52, CLOSE * size)];
    const parts = [...above, part("query", above.length ? above[0].top + above[0].height + 84 : 62, LINE * size)];
    this.laid = { name, parts };
    return parts;
  }

  draw() {
    const { context, scroller, canvas } = this;
    const { unit, width, height, scrolled } = this.seen;
    if (!context.map || !width || !height) return;
    const parts = this.parts;
    const end = parts[parts.length - 1];
    scroller.style.setProperty("--length", `${(end.top + end.height + 20) * unit}px`);
    canvas.style.width = `${width * unit}px`;
    canvas.style.height = `${height * unit}px`;
    this.paint(new CanvasSurface(canvas, width, height, devicePixelRatio * unit), scrolled);
    this.tell();
  }

  /** What is seen, on something that is taken away. @param {import("./surface.js").Surface} surface */
  copy(surface) {
    surface.clip(0, 0, this.seen.width, this.seen.height, () => this.paint(surface, this.seen.scrolled));
  }

  /** The controls, and the step in words. */
  tell() {
    const { context, slider } = this;
    const { say, map } = context;
    if (!map) return;
    [slider.min, slider.max, slider.value] = [this.first, this.last, this.step].map(String);
    const token = context.labels("query")[this.step];
    const best = map.strongest(this.step, "from", ARCS).map(({ position, weight }) => `${context.labels("key")[position]} ${figure(weight, 2)}`);
    const told = say("step_tells", { at: counted(this.step - this.first + 1), count: counted(this.last - this.first + 1), token, list: best.join(", ") || "–" });
    if (this.told.textContent !== told) this.told.textContent = told;
    this.canvas.setAttribute("aria-label", told);
    slider.setAttribute("aria-valuetext", `${this.step - this.first + 1}: ${token}`);
    for (const [made, name] of /** @type {const} */ ([[slider, "step"], [this.play, this.playing ? "step_stop" : "step_play"], [this.back, "step_back"], [this.on, "step_on"]])) {
      made.setAttribute("aria-label", say(name));
      made.title = say(name);
    }
    this.play.textContent = this.playing ? "❚❚" : "▶";
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} scrolled
   */
  paint(surface, scrolled) {
    const { context, size } = this;
    const { map, say } = context;
    if (!map) return;
    const colours = coloursOf(this.root);
    const row = map.row(this.step);
    const high = row.reduce((best, x, k) => (x > best && (context.state.first || k > 0) ? x : best), 0);
    const left = this.left;
    for (const part of this.parts) {
      if (!context.oneText) surface.text(say(part.side === "key" ? "step_source" : "step_written"), left, part.top - size * 1.5 - scrolled, colours.quiet, { size: 12 });
      const { start, end } = within(part.spots, Math.floor((scrolled - part.top) / part.line) - 1, Math.ceil((scrolled - part.top + this.seen.height) / part.line) + 1);
      for (let at = start; at < end; at++) this.paintToken(surface, part, at, { row, high, colours, scrolled });
    }
    this.paintArcs(surface, colours, scrolled);
  }

  get left() {
    return Math.max((this.seen.width - Math.min(this.seen.width - 2 * PAD, 1100)) / 2, PAD);
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {Part} part
   * @param {number} at
   * @param {{ row: Float32Array, high: number, colours: import("./mappaint.js").Colours, scrolled: number }} look
   */
  paintToken(surface, part, at, { row, high, colours, scrolled }) {
    const { context, step, size } = this;
    const { state, theme, oneText, hover } = context;
    const written = part.side === "query";
    if (written && at > step) return;
    const spot = part.spots[at];
    const [x, y] = [this.left + spot.x, part.top + spot.line * part.line - scrolled];
    const looked = !written || oneText;
    const share = looked && high > 0 && (state.first || at > 0) ? Math.min(row[at] / high, 1) : 0;
    const half = size * 0.75;
    let ink = written && at >= this.first ? colours.ink : colours.quiet;
    if (!written) ink = colours.ink;
    if (share >= 0.02) {
      const colour = colourAt(state.palette, theme, 0.08 + 0.62 * share);
      surface.fill(x, y - half, spot.width, 2 * half, css(colour));
      ink = inkOn(colour);
    }
    const current = written && at === step;
    if (current) surface.frame(x - 1, y - half - 1, spot.width + 2, 2 * half + 2, colours.accent, 2);
    if (looked && hover?.k === at && !current) surface.frame(x, y - half, spot.width, 2 * half, colours.ink, 1.5);
    surface.text(shown(context.pieces(part.side)[at].text), x + 3, y, ink, { size, weight: current ? 700 : 400, limit: spot.width + 2 });
    if (written && at >= this.first) surface.text(this.gloss(at), x + 3, y + half + size * 0.5, colours.quiet, { size: size * 0.62, limit: Math.max(spot.width - 2, 20) });
  }

  /**
   * What a word looked at most.
   * @param {number} at
   */
  gloss(at) {
    const { map, state } = this.context;
    let found = this.glosses.get(at);
    if (found === undefined && map) {
      const best = map.strongest(at, "from", 2).find(({ position }) => state.first || position > 0);
      this.glosses.set(at, (found = best ? shortened(this.context.labels("key")[best.position], 12) : ""));
    }
    return found ?? "";
  }

  /**
   * From the current word to what it looks at most.
   * @param {import("./surface.js").Surface} surface
   * @param {import("./mappaint.js").Colours} colours
   * @param {number} scrolled
   */
  paintArcs(surface, colours, scrolled) {
    const { map, state, oneText } = this.context;
    const parts = this.parts;
    const [keys, written] = [parts[0], parts[parts.length - 1]];
    const middle = (/** @type {Part} */ part, /** @type {number} */ at, /** @type {number} */ edge) => ({ x: this.left + part.spots[at].x + part.spots[at].width / 2, y: part.top + part.spots[at].line * part.line - scrolled + edge });
    const half = this.size * 0.75 + 1;
    const from = middle(written, this.step, -half);
    for (const { position, weight } of map?.strongest(this.step, "from", ARCS) ?? []) {
      if ((oneText && position === this.step) || (!state.first && position === 0)) continue;
      const to = middle(keys, position, oneText ? -half : half);
      const rise = oneText ? -Math.min(14 + Math.abs(to.x - from.x) / 8 + Math.abs(to.y - from.y) / 5, 52) : (from.y - to.y) / 2;
      const bend = oneText ? [from.x, from.y + rise, to.x, to.y + rise] : [from.x, from.y - rise, to.x, to.y + rise];
      surface.curve([from.x, from.y, ...bend, to.x, to.y], colours.accent, 1 + 3 * weight, Math.min(0.2 + weight, 0.85));
    }
  }

  /** Bring the current word into sight. */
  reveal() {
    if (this.context.view !== "step" || !this.seen.height) return;
    const part = this.parts[this.parts.length - 1];
    const { unit, height, scrolled } = this.seen;
    const y = part.top + part.spots[this.step].line * part.line;
    if (y - 40 < scrolled || y + 40 > scrolled + height) this.scroller.scrollTop = (y - height / 2) * unit;
  }

  /** Which word an event is on. @param {MouseEvent} event */
  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { unit, scrolled } = this.seen;
    const [x, y] = [(event.clientX - left) / unit - this.left, (event.clientY - top) / unit + scrolled];
    for (const part of this.parts) {
      const line = Math.floor((y - part.top + this.size * 0.8) / part.line);
      const { start, end } = within(part.spots, line, line + 1);
      for (let at = start; at < end; at++) {
        const spot = part.spots[at];
        if (line >= 0 && x >= spot.x && x < spot.x + spot.width) return { side: part.side, at };
      }
    }
    return null;
  }

  /** @param {MouseEvent} event */
  point(event) {
    const found = this.at(event);
    const looked = found && (found.side === "key" || this.context.oneText);
    this.context.point(looked && found.at < this.context.layer.n_k ? { q: this.step, k: found.at } : null);
  }
}
