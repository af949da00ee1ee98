// What a pointer does to a map: the wheel and two fingers zoom, dragging moves, pointing tells, a click chooses.

import { kept } from "./viewport.js";

const STEP = 1.6;
const STILL = 4; // pixels a pointer may stray and still click

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("./pane.js").MapPane} pane
 */
export function listen(canvas, pane) {
  /** @type {Map<number, { x: number, y: number }>} */
  const pointers = new Map();
  let moved = 0;

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    pane.zoom(Math.exp((-event.deltaY * lines) / 400), pane.inBox(event));
    pane.context.point(pane.at(pane.inBox(event)));
  }, { passive: false });

  canvas.addEventListener("dblclick", (event) => pane.zoom(STEP * STEP, pane.inBox(event)));

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = 0;
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return pane.context.point(pane.at(pane.inBox(event)));
    const now = { x: event.clientX, y: event.clientY };
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (other) {
      const distance = (/** @type {{ x: number, y: number }} */ at) => Math.hypot(at.x - other.x, at.y - other.y) || 1;
      return pane.zoom(distance(now) / distance(before), pane.inBox(event));
    }
    if (moved <= STILL) return undefined;
    const { x, y, scale } = pane.viewport;
    const by = pane.unit * scale;
    return pane.look(kept({ x: x - (now.x - before.x) / by, y: y - (now.y - before.y) / by, scale }, pane.extent, pane.box));
  });

  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    canvas.addEventListener(name, (event) => {
      const pressed = pointers.delete(event.pointerId);
      const place = pressed && moved <= STILL && name === "pointerup" ? pane.at(pane.inBox(event)) : null;
      if (place) pane.choose(place);
    });
  }
  canvas.addEventListener("pointerleave", () => pane.context.point(null));
}
