// A patch's attention over its image: where a position looks, or which patches look at it.

import { element, onceAFrame } from "./context.js";
import { button } from "./bar.js";
import { paintScale } from "./mappaint.js";
import { coloursOf, unitOf } from "./pane.js";
import { colourAt, scaleOf, shareOf } from "./palettes.js";
import { figure } from "./strings.js";
import { CanvasSurface } from "./surface.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./mappaint.js").Box} Box */

const ROOMY = 700; // pixels from which two images side by side are large enough
const FOOT = 44; // for the legend

export class ImageView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.canvas = element("canvas", { role: "img", tabindex: "0" });
    this.others = element("div", { class: "others" });
    this.note = element("p", { class: "pixel quiet" });
    this.root = element("div", { class: "image" }, this.others, this.canvas, this.note);
    /** @type {HTMLCanvasElement | null} */
    this.picture = null;
    /** @type {HTMLCanvasElement | null} under the weights, so that colours mean nothing but these */
    this.grey = null;
    this.shown = -1;
    this.onFrame = onceAFrame(() => this.draw());
    context.onMap.push(() => this.open());
    context.onHover.push(() => this.request());
    context.store.listen(() => this.request());
    new ResizeObserver(() => this.request()).observe(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => context.point(null));
    this.canvas.addEventListener("click", (event) => this.click(event));
  }

  /** How the image is cut. */
  get grid() {
    const number = this.context.layer.image;
    return number === null ? null : this.context.source.header.images[number];
  }

  /** Whether queries are patches too, so that one can be chosen on the image. */
  get both() {
    return this.context.oneText;
  }

  async open() {
    const { context } = this;
    const number = context.layer.image;
    if (number === null || context.view !== "image") return;
    if (number !== this.shown) {
      this.shown = number;
      const found = await context.source.image(number).catch(() => null);
      if (this.shown !== number) return; // another one was asked for meanwhile
      if (!found) {
        this.shown = -1;
        return;
      }
      const { pixels, width, height } = found;
      const made = document.createElement("canvas");
      [made.width, made.height] = [width, height];
      const data = new ImageData(width, height);
      for (let i = 0; i < width * height; i++) data.data.set([pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2], 255], 4 * i);
      made.getContext("2d")?.putImageData(data, 0, 0);
      this.picture = made;
      this.grey = withoutColour(made);
    }
    this.request();
  }

  request() {
    if (this.context.view === "image") this.onFrame();
  }

  get seen() {
    const unit = unitOf(this.root);
    return { unit, width: this.canvas.clientWidth / unit, height: this.canvas.clientHeight / unit };
  }

  /** Where the weights over the image are, and, where there is room, the image beside them. @returns {Box & { beside: number | null }} */
  get box() {
    const { width, height } = this.seen;
    const { width: wide, height: tall } = this.picture ?? { width: 1, height: 1 };
    const fit = (/** @type {number} */ room) => Math.min((room - 8) / wide, (height - FOOT - 8) / tall);
    const two = fit(width / 2) > (width < ROOMY ? 0.7 : 0.45) * fit(width);
    const scale = fit(two ? width / 2 : width);
    const [across, down] = [wide * scale, tall * scale];
    const left = Math.max((width - (two ? 2 : 1) * across - (two ? 16 : 0)) / 2, 4);
    return { x: two ? left + across + 16 : left, y: 4, width: across, height: down, beside: two ? left : null };
  }

  /** The weight of each patch: of the chosen query, of all queries on the chosen key, or received from all. */
  weights() {
    const { map, state, layer } = this.context;
    const { grid } = this;
    if (!map || !grid) return null;
    const { rows, columns, special } = grid;
    const to = state.direction === "to" && this.both;
    /** @type {"from" | "to" | "received"} */
    const kind = state.query === null ? "received" : to ? "to" : "from";
    const all = kind === "received" ? Float32Array.from({ length: layer.n_k }, (_, k) => map.received[Math.floor(k / map.by_k)]) : kind === "to" ? map.column(state.query ?? 0) : map.row(state.query ?? 0);
    return { kind, all, patches: all.subarray(special, special + rows * columns) };
  }

  draw() {
    const { width, height, unit } = this.seen;
    if (!this.picture || !width || !height || !this.grid) return;
    this.paint(new CanvasSurface(this.canvas, width, height, devicePixelRatio * unit));
    this.tell();
  }

  /** What is seen, on something that is taken away. @param {import("./surface.js").Surface} surface */
  copy(surface) {
    this.paint(surface);
  }

  /** @param {import("./surface.js").Surface} surface */
  paint(surface) {
    const { context, grid, picture, grey, box } = this;
    const found = this.weights();
    if (!grid || !picture || !grey || !found) return;
    const { state, theme, hover } = context;
    const colours = coloursOf(this.root);
    const high = found.patches.reduce((best, x) => (x > best ? x : best), 0) || 1;
    const low = found.patches.reduce((best, x) => (x > 0 && x < best ? x : best), high);
    const scale = scaleOf(state.scale, low, high);
    const whole = [0, 0, picture.width, picture.height];
    if (box.beside !== null) surface.image(picture, whole, [box.beside, box.y, box.width, box.height], true);
    surface.image(grey, whole, [box.x, box.y, box.width, box.height], true);
    surface.fill(box.x, box.y, box.width, box.height, colours.shade);
    found.patches.forEach((weight, i) => {
      const share = shareOf(scale, weight);
      const [x, y, wide, tall] = this.patch(i);
      const [red, green, blue] = colourAt(state.palette, "dark", share);
      surface.fill(x, y, wide, tall, `rgb(${red} ${green} ${blue} / ${Math.round(20 + 60 * share)}%)`);
    });
    this.paintMarks(surface, hover);
    paintScale(surface, { scale, palette: state.palette, theme: "dark", colours }, { x: box.x, y: box.y + box.height + 10, width: Math.min(170, box.width * 0.5) });
    surface.text(context.say(`image_${found.kind}`), box.x + Math.min(170, box.width * 0.5) + 14, box.y + box.height + 15, colours.quiet, { size: 11, limit: Math.max(surface.width - box.x - 190, 60) });
  }

  /**
   * The place of a patch.
   * @param {number} i
   */
  patch(i) {
    const { rows, columns } = this.grid ?? { rows: 1, columns: 1 };
    const { x, y, width, height } = this.box;
    const [wide, tall] = [width / columns, height / rows];
    return [x + (i % columns) * wide, y + Math.floor(i / columns) * tall, wide, tall];
  }

  /**
   * The chosen patch, and the one under the pointer.
   * @param {import("./surface.js").Surface} surface
   * @param {import("./mappaint.js").Place | null} hover
   */
  paintMarks(surface, hover) {
    const { rows, columns, special } = this.grid ?? { rows: 0, columns: 0, special: 0 };
    const { state } = this.context;
    const frame = (/** @type {number} */ at, /** @type {string} */ colour, /** @type {number} */ line) => {
      if (at < special || at >= special + rows * columns) return;
      const [left, y, wide, tall] = this.patch(at - special);
      const { x: over, beside } = this.box;
      for (const x of beside === null ? [left] : [left, left - over + beside]) {
        surface.frame(x, y, wide, tall, "rgb(0 0 0 / 75%)", line + 2);
        surface.frame(x, y, wide, tall, colour, line);
      }
    };
    if (hover) frame(state.direction === "to" && this.both ? hover.q : hover.k, "#fff", 1.25);
    if (state.query !== null && this.both) frame(state.query, "#ffd23f", 2.5);
    if (state.key !== null && !this.both) frame(state.key, "#ffd23f", 2.5);
  }

  /** Positions that are no patch, to choose, and what is shown in words. */
  tell() {
    const { context, grid } = this;
    const { say, state } = context;
    const found = this.weights();
    if (!grid || !found) return;
    const labels = context.labels("query");
    const { rows, columns, special } = grid;
    const extra = this.both ? [...Array(special).keys(), ...range(special + rows * columns, labels.length)].slice(0, 24) : [];
    const all = [null, ...extra];
    if (this.others.children.length !== all.length) {
      this.others.replaceChildren(...all.map((at) => button(() => context.store.set({ query: at }))));
    }
    [...this.others.children].forEach((made, i) => {
      const at = all[i];
      made.textContent = at === null ? say("image_all") : labels[at];
      made.setAttribute("aria-pressed", String(state.query === at));
    });
    const total = found.patches.reduce((sum, x) => sum + x, 0);
    const rest = found.kind === "from" ? say("image_rest", { share: figure(Math.max(1 - total, 0), 2) }) : "";
    this.note.textContent = [say(`image_tells_${found.kind}`, { token: state.query === null ? "" : labels[state.query] }), special && found.kind === "from" ? rest : ""].join(" ").trim();
    this.canvas.setAttribute("aria-label", this.note.textContent);
  }

  /** Which position is under the pointer. @param {MouseEvent} event */
  at(event) {
    const { grid, box } = this;
    if (!grid) return null;
    const { left, top } = this.canvas.getBoundingClientRect();
    const { unit } = this.seen;
    const across = (event.clientX - left) / unit;
    const start = box.beside !== null && across < box.x - 8 ? box.beside : box.x;
    const column = Math.floor(((across - start) / box.width) * grid.columns);
    const row = Math.floor((((event.clientY - top) / unit - box.y) / box.height) * grid.rows);
    if (column < 0 || row < 0 || column >= grid.columns || row >= grid.rows) return null;
    return grid.special + row * grid.columns + column;
  }

  /** @param {MouseEvent} event */
  point(event) {
    const { state } = this.context;
    const at = this.at(event);
    if (at === null) return this.context.point(null);
    const query = state.query ?? (this.both ? at : 0);
    return this.context.point(state.direction === "to" && this.both ? { q: at, k: query } : { q: query, k: at });
  }

  /** @param {MouseEvent} event */
  click(event) {
    const at = this.at(event);
    const { state, store } = this.context;
    if (at === null) return;
    if (this.both) store.set({ query: at === state.query ? null : at });
    else store.set({ key: at === state.key ? null : at });
  }
}

/**
 * An image in grey.
 * @param {HTMLCanvasElement} picture
 */
function withoutColour(picture) {
  const made = document.createElement("canvas");
  [made.width, made.height] = [picture.width, picture.height];
  const pen = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
  pen.filter = "grayscale(1)";
  pen.drawImage(picture, 0, 0);
  return made;
}

/**
 * @param {number} from
 * @param {number} to
 */
function range(from, to) {
  return Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
}
