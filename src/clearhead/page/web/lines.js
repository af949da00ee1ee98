// Two columns and lines between them: what each query looks at, for short texts and for translation.

import { element, onceAFrame } from "./context.js";
import { coloursOf, unitOf } from "./pane.js";
import { figure } from "./strings.js";
import { CanvasSurface } from "./surface.js";
import { shortened } from "./tokens.js";

/** @typedef {import("./context.js").Context} Context */

const ROW = 24;
const TOP = 34;
const FAINTEST = 0.04; // weights below are not drawn, unless their query is chosen

export class LinesView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.canvas = element("canvas", { role: "img" });
    this.root = element("div", { class: "lines", tabindex: "0" }, this.canvas);
    this.revealing = false;
    this.onFrame = onceAFrame(() => this.draw());
    context.onMap.push(() => this.reveal());
    context.onHover.push(() => this.request());
    context.store.listen((changed) => (changed.has("query") || changed.has("view") ? this.reveal() : this.request()));
    new ResizeObserver(() => this.request()).observe(this.root);
    this.root.addEventListener("scroll", () => this.request());
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => context.point(null));
    this.canvas.addEventListener("click", (event) => {
      const found = this.at(event);
      if (found?.side === "query") context.store.set({ query: found.at === context.state.query ? null : found.at });
      if (found?.side === "key") context.store.set({ key: found.at === context.state.key ? null : found.at });
    });
  }

  request() {
    if (this.context.view === "lines") this.onFrame();
  }

  /** The part that is in sight, as large as it is drawn. */
  get seen() {
    const unit = unitOf(this.root);
    const { clientWidth, clientHeight, scrollTop } = this.root;
    return { unit, width: clientWidth / unit, height: clientHeight / unit, scrolled: scrollTop / unit };
  }

  /** What is seen, on something that is taken away. @param {import("./surface.js").Surface} surface */
  copy(surface) {
    this.paint(surface, this.seen.scrolled);
  }

  /** Where the two columns are. */
  get columns() {
    const width = Math.min(this.seen.width, 900);
    const left = (this.seen.width - width) / 2;
    const room = Math.min(160, width * 0.3);
    return { left: left + room, right: left + width - room, room };
  }

  /** How many rows from the top the first drawn is, and how many there is room for. */
  get rows() {
    const { n_q, n_k } = this.context.layer;
    return { first: Math.floor(Math.max(this.seen.scrolled - ROW, 0) / ROW), count: Math.ceil(this.seen.height / ROW) + 2, all: Math.max(n_q, n_k) };
  }

  /** Draw, with the chosen query in sight. */
  reveal() {
    this.revealing = true;
    this.request();
  }

  /**
   * @param {number} unit
   * @param {number} height
   * @param {number} scrolled
   */
  scrollTo(unit, height, scrolled) {
    this.revealing = false;
    const { query } = this.context.state;
    if (query === null) return;
    const top = TOP + query * ROW;
    if (top >= scrolled + TOP && top + ROW <= scrolled + height) return;
    this.root.scrollTop = Math.max(top - (height - ROW) / 2, 0) * unit;
  }

  draw() {
    const { map } = this.context;
    const { unit, width, height, scrolled } = this.seen;
    if (!map || !width || !height) return; // a query to be revealed waits until there is something to see
    this.root.style.setProperty("--length", `${(TOP + this.rows.all * ROW + 12) * unit}px`);
    if (this.revealing) this.scrollTo(unit, height, scrolled);
    this.canvas.style.width = `${width * unit}px`;
    this.canvas.style.height = `${height * unit}px`;
    const surface = new CanvasSurface(this.canvas, width, height, devicePixelRatio * unit);
    this.paint(surface, this.seen.scrolled);
    this.canvas.setAttribute("aria-label", this.context.say("lines"));
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {number} scrolled
   */
  paint(surface, scrolled) {
    const { map, state, hover, say } = this.context;
    if (!map) return;
    const colours = coloursOf(this.root);
    const { left, right } = this.columns;
    const { first, count } = this.rows;
    const y = (/** @type {number} */ at) => TOP + (at + 0.5) * ROW - scrolled;
    const focus = hover?.q ?? state.query;
    for (let q = first; q < Math.min(first + count, map.n_q); q++) {
      if (focus !== null && focus !== q) continue;
      for (const { position, weight } of map.strongest(q, "from", focus === q ? 24 : 8)) {
        if ((position === 0 && !state.first) || (weight < FAINTEST && focus !== q)) continue;
        const middle = (left + right) / 2;
        const marked = position === state.key || position === hover?.k;
        surface.curve([left + 6, y(q), middle, y(q), middle, y(position), right - 6, y(position)], marked ? colours.ink : colours.accent, 1 + 5 * weight, Math.min(0.12 + weight, 0.95));
        if (focus === q && weight >= FAINTEST) surface.text(figure(weight, 2), right - 12, y(position) - 7, colours.quiet, { size: 10, align: "right" });
      }
    }
    this.paintNames(surface, y);
    surface.fill(0, 0, surface.width, TOP - 8, colours.page);
    surface.text(say("query"), left, 13, colours.quiet, { size: 11, align: "right" });
    surface.text(say("key"), right, 13, colours.quiet, { size: 11 });
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {(at: number) => number} y
   */
  paintNames(surface, y) {
    const { map, state, hover } = this.context;
    if (!map) return;
    const colours = coloursOf(this.root);
    const { left, right, room } = this.columns;
    const { first, count } = this.rows;
    const [queries, keys] = [this.context.labels("query"), this.context.labels("key")];
    const focus = hover?.q ?? state.query;
    const row = focus === null ? null : map.row(focus);
    const most = row ? row.reduce((best, value) => Math.max(best, value), 1e-9) : 1;
    for (let at = first; at < first + count; at++) {
      if (at < map.n_q) {
        const strong = at === state.query || at === hover?.q;
        surface.text(shortened(queries[at]), left, y(at), strong ? colours.accent : colours.ink, { size: 14, align: "right", weight: strong ? 700 : 400, limit: room - 8 });
      }
      if (at < map.n_k) {
        const share = row ? row[at] / most : 1;
        const strong = at === state.key || at === hover?.k || (row !== null && share > 0.5);
        surface.text(shortened(keys[at]), right, y(at), row && share < 0.08 ? colours.quiet : colours.ink, { size: 14, weight: strong ? 700 : 400, limit: room - 8 });
      }
    }
  }

  /**
   * Which name is under the pointer.
   * @param {MouseEvent} event
   */
  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { unit, scrolled } = this.seen;
    const [x, y] = [(event.clientX - left) / unit, (event.clientY - top) / unit];
    const at = Math.floor((y - TOP + scrolled) / ROW);
    const { n_q, n_k } = this.context.layer;
    const middle = (this.columns.left + this.columns.right) / 2;
    const side = x < middle ? "query" : "key";
    if (at < 0 || at >= (side === "query" ? n_q : n_k)) return null;
    const near = side === "query" ? x < this.columns.left + 60 : x > this.columns.right - 60;
    return near ? { side, at } : null;
  }

  /** @param {MouseEvent} event */
  point(event) {
    const { context } = this;
    const found = this.at(event);
    if (!found || !context.map) return context.point(null);
    if (found.side === "query") {
      const [best] = context.map.strongest(found.at, "from", 1);
      return context.point({ q: found.at, k: best?.position ?? 0 });
    }
    const query = context.state.query ?? context.map.strongest(found.at, "to", 1)[0]?.position;
    return context.point(query === undefined ? null : { q: query, k: found.at });
  }
}
