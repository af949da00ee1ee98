// What is shown first: the most telling head, a scale on which something can be seen, and the words of the page.

import { comparable, goesWith, headOf, nameOf } from "./choosing.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./data.js").Header} Header */

const LONG = 48; // positions from which most weights are too small for a linear scale

/**
 * The head of which there is most to say: reading.py judges that.
 * @param {import("./headmap.js").LayerInfo[]} layers
 */
export function mostTelling(layers) {
  let best = { layer: 0, head: 0, telling: -1 };
  layers.forEach((layer, i) =>
    layer.heads.forEach((info, head) => {
      const telling = info.telling ?? -1;
      if (telling > best.telling) best = { layer: i, head, telling };
    }),
  );
  return { layer: best.layer, head: best.head };
}

/**
 * @param {Header} header
 * @returns {State}
 */
export function startState(header) {
  const { layer, head } = mostTelling(header.layers);
  const { n_q, n_k } = header.layers[layer];
  return {
    layer, head, choice: [], other: [], query: null, key: null, direction: "from", scale: Math.max(n_q, n_k) > LONG ? "log" : "linear",
    palette: "plum", first: true, view: "map", tab: "head", window: null, sort: "layer", show: "maps", filter: "all",
    where: "", bound: "least", limit: 0,
    language: header.language === "ko" ? "ko" : "en", theme: "system",
  };
}

/**
 * A state that fits the data, whatever an address said.
 * @param {State} state
 * @param {Header} header
 * @returns {State}
 */
export function fitting(state, header) {
  const start = startState(header);
  const known = state.layer < header.layers.length && state.head < header.layers[state.layer].heads.length;
  const { layer, head } = known ? state : start;
  const { n_q, n_k } = header.layers[layer];
  const query = state.query !== null && state.query < n_q ? state.query : null;
  const key = state.key !== null && state.key < n_k ? state.key : null;
  const choice = state.choice.filter((name) => goesWith(header.layers, headOf(name), layer));
  const named = state.other.filter((name) => goesWith(header.layers, headOf(name), layer));
  const other = named.length || state.view !== "compare" ? named : comparable(header.layers, { layer, head });
  return { ...state, layer, head, query, key, choice: choice.length > 1 && choice.includes(nameOf({ layer, head })) ? choice : [], other };
}
