// What keys do. One table, which the help sheet shows too.

import { together } from "./choosing.js";
import { PALETTES } from "./palettes.js";

/** @typedef {{ keys: string[], help: string, act: (event: KeyboardEvent) => void }} Binding */
/** @typedef {import("./context.js").Context} Context */

/**
 * @param {Context} context
 * @param {{ zoom: (factor: number) => void, step: (by: number) => void, play: () => void, search: () => void, save: () => void, help: () => void, close: () => void }} does
 * @returns {Binding[]}
 */
export function bindings(context, does) {
  const { store } = context;
  const to = (/** @type {Partial<import("./state.js").State>} */ changes) => store.set(changes);
  const move = (/** @type {KeyboardEvent} */ { key }) => {
    if (context.view === "step") does.step(key === "ArrowDown" || key === "ArrowRight" ? 1 : -1);
    else to(step(context, key));
  };
  return [
    { keys: ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"], help: "help_arrows", act: (event) => move(event) },
    { keys: [" "], help: "help_play", act: () => context.view === "step" && does.play() },
    { keys: ["Shift+ArrowLeft", "Shift+ArrowRight", "Shift+ArrowUp", "Shift+ArrowDown"], help: "help_heads", act: (event) => to(nextHead(context, /Right|Down/u.test(event.key) ? 1 : -1)) },
    { keys: ["[", "]"], help: "help_layers", act: (event) => to(nextLayer(context, event.key === "]" ? 1 : -1)) },
    { keys: ["0"], help: "help_fit", act: () => to({ window: null }) },
    { keys: ["+", "=", "-"], help: "help_zoom", act: (event) => does.zoom(event.key === "-" ? 1 / 1.6 : 1.6) },
    { keys: ["/"], help: "help_search", act: does.search },
    { keys: ["s"], help: "help_scale", act: () => to({ scale: context.state.scale === "log" ? "linear" : "log" }) },
    { keys: ["h"], help: "help_first", act: () => to({ first: !context.state.first }) },
    { keys: ["p"], help: "help_pin", act: () => context.hover && to({ query: context.hover.q, key: context.hover.k }) },
    { keys: ["m"], help: "help_map", act: () => to({ view: "map" }) },
    { keys: ["l"], help: "help_lines", act: () => to({ view: context.view === "lines" ? "map" : "lines" }) },
    { keys: ["t"], help: "help_step", act: () => to({ view: "step" }) },
    { keys: ["i"], help: "help_image", act: () => to({ view: "image" }) },
    { keys: ["c"], help: "help_compare", act: () => to({ view: context.view === "compare" ? "map" : "compare" }) },
    { keys: ["a", "A"], help: "help_all", act: (event) => to({ choice: everyHead(context, event.key === "a" ? "layer" : "all") }) },
    { keys: ["r"], help: "help_direction", act: () => to({ direction: context.state.direction === "from" ? "to" : "from" }) },
    { keys: ["k"], help: "help_colours", act: () => to({ palette: nextPalette(context.state.palette) }) },
    { keys: ["d"], help: "help_theme", act: () => to({ theme: context.theme === "dark" ? "light" : "dark" }) },
    { keys: ["e"], help: "help_export", act: does.save },
    { keys: ["Escape"], help: "help_escape", act: does.close },
    { keys: ["?"], help: "help_help", act: does.help },
  ];
}

/** @param {import("./palettes.js").PaletteName} palette */
function nextPalette(palette) {
  return PALETTES[(PALETTES.indexOf(palette) + 1) % PALETTES.length];
}

/**
 * All heads of the layer, or all that go with it; none but the open one if they are chosen already.
 * @param {Context} context
 * @param {"layer" | "all"} reach
 */
function everyHead({ layers, state }, reach) {
  const all = together(layers, state.layer, reach);
  return all.join() === state.choice.join() ? [] : all;
}

/**
 * One position on, from what is chosen.
 * @param {Context} context
 * @param {string} arrow
 * @returns {Partial<import("./state.js").State>}
 */
export function step({ state, layer }, arrow) {
  const within = (/** @type {number} */ at, /** @type {number} */ n) => Math.min(Math.max(at, 0), n - 1);
  const by = arrow === "ArrowDown" || arrow === "ArrowRight" ? 1 : -1;
  if (arrow === "ArrowUp" || arrow === "ArrowDown") return { query: state.query === null ? 0 : within(state.query + by, layer.n_q) };
  return { query: state.query ?? 0, key: state.key === null ? 0 : within(state.key + by, layer.n_k) };
}

/**
 * The head before or after, over the borders of layers.
 * @param {Context} context
 * @param {number} by
 */
export function nextHead({ state, layers }, by) {
  const all = layers.flatMap((layer, i) => layer.heads.map((_, head) => ({ layer: i, head })));
  const at = all.findIndex(({ layer, head }) => layer === state.layer && head === state.head);
  return all[(at + by + all.length) % all.length];
}

/**
 * @param {Context} context
 * @param {number} by
 */
export function nextLayer({ state, layers }, by) {
  const layer = (state.layer + by + layers.length) % layers.length;
  return { layer, head: Math.min(state.head, layers[layer].heads.length - 1) };
}

/**
 * Which binding a key press is; none while someone writes.
 * @param {Binding[]} all
 * @param {KeyboardEvent} event
 */
export function bound(all, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
  return all.find(({ keys }) => keys.includes(name));
}
