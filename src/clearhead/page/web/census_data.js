// The numbers of a census: what the file holds, and how a head's are asked for.

import { fromBase64, inflated } from "./codec.js";

/**
 * One place in a document: [score, file, document, offset or −1, query, first token shown, the query's token, for each
 * token shown what stands before it and its own text, keys, their tokens, weights]
 * @typedef {[number, string, number, number, number, number, string, [before: string, text: string][], number[], string[], number[]]} Example
 */
/**
 * A layer: its path, its own number in the model, the path with * for that number, and what it is told by.
 * @typedef {{ name: string, heads: number, number: number, stack: string, label: string }} Layer
 */
/**
 * What is known of a model, heads counted over all layers.
 * @typedef {object} Model
 * @property {string} name
 * @property {number} documents
 * @property {number} tokens
 * @property {number} cut
 * @property {number | null} most  where documents were cut off
 * @property {[done: number, all: number]} shards
 * @property {Layer[]} layers  those that were counted
 * @property {number[]} kinds  how many tokens there were of each kind
 * @property {Record<string, (number | null)[]>} mean
 * @property {Record<string, (number | null)[]>} spread
 * @property {Record<string, (number | null)[]>} least
 * @property {Record<string, (number | null)[]>} most_of
 * @property {Record<string, number[]>} counted  how many documents have something to measure
 * @property {Record<string, number[][]>} bins
 * @property {number[][]} names  in how many documents a head is called what
 * @property {number[][]} entropies
 * @property {number[][]} distances
 * @property {Record<string, Example[]>} examples  by head and pattern: "12 induction"
 * @property {[file: string, document: number, reason: string, en: string, ko: string][]} problems  with more of the reason
 * @property {number} problem_count
 */
/**
 * @typedef {object} Header
 * @property {string} language
 * @property {string} title
 * @property {string[]} measures
 * @property {string[]} patterns
 * @property {string[]} labels
 * @property {string[]} kinds
 * @property {number} models  how many: one, or two that are compared
 */

/**
 * What the document holds.
 * @param {Document} page
 * @returns {Promise<{ header: Header, models: Model[] }>}
 */
export async function opened(page) {
  const header = JSON.parse(textOf(page, "header"));
  const models = [];
  for (let number = 0; number < header.models; number++) {
    const bytes = await inflated(fromBase64(textOf(page, `chunk-model-${number}`)));
    models.push(JSON.parse(new TextDecoder().decode(bytes)));
  }
  return { header, models };
}

/**
 * @param {Document} page
 * @param {string} id
 */
function textOf(page, id) {
  const found = page.getElementById(id)?.textContent;
  if (!found) throw new Error(`there is no ${id} in this file`);
  return found;
}

/**
 * Every head with the place of its layer among those that were counted, in order.
 * @param {Model} model
 * @returns {{ at: number, layer: number, head: number }[]}
 */
export function headsOf(model) {
  let at = 0;
  return model.layers.flatMap(({ heads }, layer) => Array.from({ length: heads }, (_, head) => ({ at: at++, layer, head })));
}

/**
 * The number of a head over all layers.
 * @param {Model} model
 * @param {number} layer
 * @param {number} head
 */
export function headAt(model, layer, head) {
  return model.layers.slice(0, layer).reduce((sum, { heads }) => sum + heads, 0) + head;
}

/**
 * The same layer in another model: that of the same path or, where the two name their layers in different ways, the one
 * of the same number; −1 if there is none.
 * @param {Model} model
 * @param {Model} other
 * @param {number} layer
 */
export function sameLayer(model, other, layer) {
  const { name, number, stack } = model.layers[layer];
  const named = other.layers.findIndex((one) => one.name === name);
  if (named >= 0 || other.layers.some((one) => one.stack === stack)) return named;
  const numbered = (/** @type {Model} */ of, /** @type {Model} */ beside) =>
    of.layers.flatMap((one, i) => (one.number === number && !beside.layers.some(({ stack }) => stack === one.stack) ? [i] : []));
  const theirs = numbered(other, model);
  return theirs.length === 1 && numbered(model, other).length === 1 ? theirs[0] : -1;
}

/**
 * The same head in another model: the same number in the same layer; −1 if there is none.
 * @param {Model} model
 * @param {Model} other
 * @param {number} layer
 * @param {number} head
 */
export function sameIn(model, other, layer, head) {
  const same = sameLayer(model, other, layer);
  return same < 0 || head >= other.layers[same].heads ? -1 : headAt(other, same, head);
}

/**
 * The place among a model's layers of the one that is meant: by its path, by that of the same layer in another model, or
 * by its number; −1 if there is none.
 * @param {Model} model
 * @param {Model[]} models
 * @param {string} meant
 */
export function layerMeant(model, models, meant) {
  const place = (/** @type {Model} */ of) => of.layers.findIndex(({ name }) => name === meant);
  if (place(model) >= 0) return place(model);
  const other = models.find((one) => place(one) >= 0);
  if (other) return sameLayer(other, model, place(other));
  return model.layers.findIndex(({ number }) => String(number) === meant);
}

/**
 * The number that a grid shows of a head: a mean, or a difference of two.
 * @param {Model[]} models
 * @param {"a" | "b" | "difference"} side
 * @param {string} measure
 * @param {{ at: number, layer: number, head: number }} place  in the model of the side, for a difference in the first
 * @returns {number | null}
 */
export function shownNumber(models, side, measure, place) {
  const own = models[side === "b" ? 1 : 0].mean[measure][place.at];
  if (side !== "difference") return own;
  const other = sameIn(models[0], models[1], place.layer, place.head);
  const theirs = other < 0 ? null : models[1].mean[measure][other];
  return own === null || theirs === null ? null : own - theirs;
}

/**
 * The head that a page opens with: the most telling one, which has the highest score of a pattern that is more than
 * resting on a token or spreading out, and holds it over the documents.
 * @param {Model} model
 * @param {string[]} patterns
 * @returns {{ at: number, pattern: string }}
 */
export function mostTelling(model, patterns) {
  let best = { at: 0, pattern: patterns[0], score: -1 };
  for (const pattern of patterns.filter((name) => !["uniform", "first_token", "local"].includes(name))) {
    model.mean[pattern].forEach((mean, at) => {
      const score = (mean ?? 0) - (model.spread[pattern][at] ?? 0);
      if (score > best.score) best = { at, pattern, score };
    });
  }
  return best;
}

/**
 * The pattern that a head scores highest on.
 * @param {Model} model
 * @param {string[]} patterns
 * @param {number} at
 */
export function bestPattern(model, patterns, at) {
  const score = (/** @type {string} */ name) => model.mean[name][at] ?? -1;
  return patterns.reduce((best, name) => (score(name) > score(best) ? name : best), patterns[0]);
}
