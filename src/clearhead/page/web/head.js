// One head, or the mean of several: the map, and a line that says what a cell of it stands for.

import { element } from "./context.js";
import { MapPane } from "./pane.js";

/** @typedef {import("./context.js").Context} Context */

export class HeadView extends MapPane {
  /** @param {Context} context */
  constructor(context) {
    super(context, { view: "map", map: () => context.map });
    this.note = element("p", { class: "pixel quiet" });
    this.root = element("div", { class: "map" }, this.canvas, this.note);
  }

  draw() {
    super.draw();
    this.note.textContent = pixelNote(this.context, this.viewport.scale);
  }

  get seen() {
    return this.size;
  }

  /** What is seen, on something that is taken away. @param {import("./surface.js").Surface} surface */
  copy(surface) {
    const scene = this.scene();
    if (scene) this.paint(surface, { ...scene, hover: null });
  }
}

/**
 * What a cell stands for, where a position has so many pixels.
 * @param {Context} context
 * @param {number} [scale]
 */
export function pixelNote({ map, source, state, say }, scale = 0) {
  if (!map) return "";
  const cell = map.cellAt(scale);
  if (cell.computed) {
    const strips = map.by_q > cell.by_q ? say("strips_mean", { by_q: map.by_q, by_k: map.by_k }) : "";
    const heads = map.certain ? say("entropy_of_heads") : "";
    return say(cell.by_q * cell.by_k === 1 ? "pixel_exact" : "pixel_computed", { by_q: cell.by_q, by_k: cell.by_k }) + strips + heads;
  }
  const kind = map.exact ? "exact" : state.choice.length ? "averaged" : map.single ? "single" : "mean";
  return say(`pixel_${kind}`, { by_q: map.by_q, by_k: map.by_k, keys: source.header.keys });
}
