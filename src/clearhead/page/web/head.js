// One head: its map to pan and zoom, down to single weights. What is drawn is in mappaint.js; here is what is done to it.

import { element, onceAFrame } from "./context.js";
import { mapBox, paintPicture, paintScene } from "./mappaint.js";
import { scaleOf } from "./palettes.js";
import { CanvasSurface } from "./surface.js";
import { fit, kept, showing, zoomed } from "./viewport.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./viewport.js").Viewport} Viewport */
/** @typedef {import("./mappaint.js").Scene} Scene */

const PICTURED = ["scale", "palette", "first", "theme"];
const STEP = 1.6;

/**
 * The colours that the style gives to a drawing.
 * @param {Element} at
 * @returns {import("./mappaint.js").Colours}
 */
export function coloursOf(at) {
  const style = getComputedStyle(at);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"), quiet: colour("quiet"), line: colour("line"), accent: colour("accent"), page: colour("panel"),
    hatch: colour("hatch"), veil: colour("veil"),
  };
}

/**
 * How much larger than usual letters are: drawings grow with them on large screens.
 * @param {Element} at
 */
export function unitOf(at) {
  return parseFloat(getComputedStyle(at).fontSize) / 14 || 1;
}

export class HeadView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.canvas = element("canvas", { tabindex: "0", role: "img" });
    this.note = element("p", { class: "pixel quiet" });
    this.root = element("div", { class: "map" }, this.canvas, this.note);
    this.picture = document.createElement("canvas");
    /** @type {Viewport} */
    this.viewport = { x: 0, y: 0, scale: 1 };
    this.size = { width: 0, height: 0 };
    this.unit = 1;
    this.onFrame = onceAFrame(() => this.draw());
    /** @type {Map<number, { x: number, y: number }>} */
    this.pointers = new Map();
    this.moved = 0;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    context.onMap.push(() => this.open());
    context.onHover.push(() => this.request());
    context.store.listen((changed) => this.change(changed));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("dblclick", (event) => this.zoom(STEP * STEP, this.inBox(event)));
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      this.canvas.addEventListener(name, (event) => this.release(event));
    }
    this.canvas.addEventListener("pointerleave", () => context.point(null));
  }

  get extent() {
    const { n_q, n_k } = this.context.layer;
    return { n_q, n_k };
  }

  get box() {
    const { map } = this.context;
    if (!map) return { x: 0, y: 0, width: 1, height: 1 };
    return mapBox(this.size, map, this.context.labels("query"), this.context.labels("key"));
  }

  /** @param {Set<keyof import("./state.js").State>} changed */
  change(changed) {
    const { state } = this.context;
    if (PICTURED.some((name) => changed.has(/** @type {keyof typeof state} */ (name)))) this.repaint();
    if (changed.has("window")) this.place();
    else if (changed.has("query") || changed.has("key")) {
      const moved = showing(this.viewport, { q: state.query, k: state.key }, this.extent, this.box);
      if (state.window && (moved.x !== this.viewport.x || moved.y !== this.viewport.y)) this.look(moved);
    }
    this.request();
  }

  /** A head was opened: the window stays where the matrix is as large as before. */
  open() {
    this.repaint();
    this.place();
  }

  resize() {
    this.unit = unitOf(this.canvas);
    this.size = { width: this.canvas.clientWidth / this.unit, height: this.canvas.clientHeight / this.unit };
    this.place();
  }

  /** Take the window from the state. */
  place() {
    const { window } = this.context.state;
    const wanted = window ? { x: window[0], y: window[1], scale: window[2] } : fit(this.extent, this.box);
    this.viewport = kept(wanted, this.extent, this.box);
    this.request();
  }

  /**
   * Show a part, and put it into the state: all of it is no window.
   * @param {Viewport} viewport
   */
  look(viewport) {
    const whole = fit(this.extent, this.box);
    const all = viewport.scale <= whole.scale * 1.001;
    this.viewport = all ? whole : viewport;
    this.context.store.set({ window: all ? null : [viewport.x, viewport.y, viewport.scale] });
    this.request();
  }

  /**
   * @param {number} factor
   * @param {{ x: number, y: number }} [point]
   */
  zoom(factor, point) {
    const { width, height } = this.box;
    const { query, key } = this.context.state;
    const { x, y, scale } = this.viewport;
    const middle = {
      x: key === null ? Math.min(width, this.extent.n_k * scale) / 2 : (key + 0.5 - x) * scale,
      y: query === null ? Math.min(height, this.extent.n_q * scale) / 2 : (query + 0.5 - y) * scale,
    };
    this.look(zoomed(this.viewport, factor, point ?? middle, this.extent, this.box));
  }

  /** The colours of the map have changed. */
  repaint() {
    const { map, state, theme } = this.context;
    if (!map) return;
    this.scale = scaleOf(state.scale, map.low, map.largest(!state.first) || map.high);
    paintPicture(this.picture, { map, scale: this.scale, palette: state.palette, theme, first: state.first });
  }

  /** Draw before the next frame, once, however often it is asked for. */
  request() {
    this.onFrame();
  }

  draw() {
    const scene = this.scene();
    if (!scene || !this.size.width || !this.size.height) return;
    const surface = new CanvasSurface(this.canvas, this.size.width, this.size.height, devicePixelRatio * this.unit);
    paintScene(surface, scene, this.box);
    const { say, layer, source } = this.context;
    const kind = layer.exact ? "exact" : layer.by_q * layer.by_k === 1 ? "single" : "mean";
    this.note.textContent = say(`pixel_${kind}`, { by_q: layer.by_q, by_k: layer.by_k, keys: source.header.keys });
    this.canvas.setAttribute("aria-label", say("map_name", { queries: layer.n_q, keys: layer.n_k }));
  }

  /** @returns {Scene | null} */
  scene() {
    const { map, state, theme, hover, say } = this.context;
    if (!map || !this.scale) return null;
    return {
      map, picture: this.picture, viewport: this.viewport, scale: this.scale, palette: state.palette, theme,
      first: state.first, queries: this.context.labels("query"), keys: this.context.labels("key"), query: state.query,
      key: state.key, hover, colours: coloursOf(this.canvas), say,
    };
  }

  /**
   * Where an event is, from the corner of the map.
   * @param {MouseEvent} event
   */
  inBox(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - left) / this.unit - this.box.x, y: (event.clientY - top) / this.unit - this.box.y };
  }

  /**
   * Which query and key are at a point; null outside of the matrix.
   * @param {{ x: number, y: number }} point
   */
  at({ x, y }) {
    const { width, height } = this.box;
    if (x < 0 || y < 0 || x >= width || y >= height) return null;
    const k = Math.floor(this.viewport.x + x / this.viewport.scale);
    const q = Math.floor(this.viewport.y + y / this.viewport.scale);
    return q < this.extent.n_q && k < this.extent.n_k ? { q, k } : null;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.zoom(Math.exp((-event.deltaY * lines) / 400), this.inBox(event));
    this.context.point(this.at(this.inBox(event)));
  }

  /** @param {PointerEvent} event */
  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved = 0;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.context.point(this.at(this.inBox(event)));
      return;
    }
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.moved += Math.abs(dx) + Math.abs(dy);
    if (other) {
      const distance = (/** @type {{ x: number, y: number }} */ at) => Math.hypot(at.x - other.x, at.y - other.y) || 1;
      this.zoom(distance({ x: event.clientX, y: event.clientY }) / distance(before), this.inBox(event));
    } else if (this.moved > 4) {
      const { x, y, scale } = this.viewport;
      this.look(kept({ x: x - dx / this.unit / scale, y: y - dy / this.unit / scale, scale }, this.extent, this.box));
    }
  }

  /** @param {PointerEvent} event */
  release(event) {
    const pressed = this.pointers.delete(event.pointerId);
    if (!pressed || this.moved > 4 || event.type !== "pointerup") return;
    const place = this.at(this.inBox(event));
    if (place) this.choose(place);
  }

  /**
   * A click chooses a query; one on the same place again pins its key as well, and a third lets go.
   * @param {{ q: number, k: number }} place
   */
  choose({ q, k }) {
    const { query, key } = this.context.state;
    if (query !== q) this.context.store.set({ query: q, key: null });
    else if (key !== k) this.context.store.set({ key: k });
    else this.context.store.set({ query: null, key: null });
  }
}
