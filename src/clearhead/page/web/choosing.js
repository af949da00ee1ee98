// Several heads at once: which go together, what is chosen next, and how a choice is called.

/** @typedef {import("./headmap.js").LayerInfo} LayerInfo */
/** @typedef {{ layer: number, head: number }} HeadPlace */

/**
 * A head as the state and an address name it.
 * @param {HeadPlace} place
 */
export function nameOf({ layer, head }) {
  return `${layer}.${head}`;
}

/**
 * @param {string} name
 * @returns {HeadPlace}
 */
export function headOf(name) {
  const [layer, head] = name.split(".").map(Number);
  return { layer, head };
}

/**
 * Whether a head can be averaged or compared with those of a layer: it has the same queries and keys, in the same cells.
 * @param {LayerInfo[]} layers
 * @param {HeadPlace} place
 * @param {number} layer
 */
export function goesWith(layers, place, layer) {
  const [own, other] = [layers[place.layer], layers[layer]];
  if (!own || place.head >= own.heads.length) return false;
  return own.n_q === other.n_q && own.n_k === other.n_k && own.by_q === other.by_q && own.by_k === other.by_k;
}

/**
 * Every head that goes with a layer: those of the layer itself, or of all.
 * @param {LayerInfo[]} layers
 * @param {number} layer
 * @param {"layer" | "all"} reach
 */
export function together(layers, layer, reach) {
  const { trace, stack } = layers[layer];
  return layers.flatMap((info, i) => {
    const within = reach === "layer" ? i === layer : info.trace === trace && info.stack === stack && goesWith(layers, { layer: i, head: 0 }, layer);
    return within ? info.heads.map((_, head) => nameOf({ layer: i, head })) : [];
  });
}

/**
 * A head joins the choice or leaves it. The head that is open is always one of it; if it leaves, another is open.
 * @param {import("./state.js").State} state
 * @param {HeadPlace} place
 * @returns {Partial<import("./state.js").State>}
 */
export function toggled(state, place) {
  const name = nameOf(place);
  const before = state.choice.length ? state.choice : [nameOf(state)];
  const after = before.includes(name) ? before.filter((other) => other !== name) : [...before, name].sort(inOrder);
  if (!after.length) return {};
  const open = after.includes(nameOf(state)) ? headOf(nameOf(state)) : headOf(after[0]);
  return { ...open, choice: after.length > 1 ? after : [] };
}

/**
 * @param {string} a
 * @param {string} b
 */
function inOrder(a, b) {
  const [x, y] = [headOf(a), headOf(b)];
  return x.layer - y.layer || x.head - y.head;
}

/**
 * Heads in words, layer by layer: "layer 0: 1, 3 · layer 2: all"; the middle of a long list is left out.
 * @param {LayerInfo[]} layers
 * @param {HeadPlace[]} heads
 * @param {(name: string, values?: Record<string, string | number>) => string} say
 */
export function listed(layers, heads, say) {
  const numbers = [...new Set(heads.map(({ layer }) => layer))];
  const parts = numbers.map((layer) => {
    const own = heads.filter((place) => place.layer === layer).map(({ head }) => head);
    const all = own.length === layers[layer].heads.length && own.length > 1;
    return `${layers[layer].name}: ${all ? say("every_head") : own.join(", ")}`;
  });
  return parts.length > 6 ? [...parts.slice(0, 3), "…", ...parts.slice(-2)].join(" · ") : parts.join(" · ");
}

/**
 * What a head is compared with unless it is said: the same head of another trace, else the next one that goes with it.
 * One of which everything that is known without opening it is the same, as below an ablation, is passed over.
 * @param {LayerInfo[]} layers
 * @param {HeadPlace} place
 * @returns {string[]}
 */
export function comparable(layers, { layer, head }) {
  const own = layers[layer];
  const sameLayer = (/** @type {number} */ i) => layers[i].trace !== own.trace && layers[i].stack === own.stack && layers[i].name === own.name;
  const twin = layers.findIndex((_, i) => sameLayer(i) && goesWith(layers, { layer: i, head }, layer));
  const differs = (/** @type {HeadPlace} */ other) => JSON.stringify(layers[other.layer].heads[other.head]) !== JSON.stringify(own.heads[head]);
  if (twin >= 0 && differs({ layer: twin, head })) return [nameOf({ layer: twin, head })];
  const all = layers.flatMap((info, i) => (goesWith(layers, { layer: i, head: 0 }, layer) ? info.heads.map((_, j) => nameOf({ layer: i, head: j })) : []));
  const at = all.indexOf(nameOf({ layer, head }));
  const others = [...all.slice(at + 1), ...all.slice(0, at)];
  const next = others.find((name) => differs(headOf(name))) ?? others[0];
  return next ? [next] : [];
}
