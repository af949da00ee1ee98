// One head over the whole corpus: what it is called, its numbers with their spread, and its histograms.

import { short } from "./census_grid.js";
import { doubling, drawn, shares } from "./census_histogram.js";
import { amount, measureName, percent, tell } from "./census_strings.js";
import { element } from "./context.js";
import { say } from "./strings.js";

/** @typedef {import("./census.js").Shared} Shared */

const WIDTH = 320; // of a drawing, in its own units
const FEWEST = 8; // bins of distances that are shown at least

export class Head {
  /** @param {Shared} shared */
  constructor(shared) {
    this.shared = shared;
    this.title = element("h2", {});
    this.sentence = element("p", { class: "sentence" });
    this.names = element("div", { class: "census-names" });
    this.histograms = element("div", { class: "census-histograms" });
    this.numbers = element("div", { class: "census-table" });
  }

  draw() {
    const { state, language, model, models, at, other } = this.shared;
    const { name, label } = model.layers[this.shared.layer];
    const layer = tell(language, "layer_of", { number: label });
    const commonest = this.commonest(model.names[at]);
    this.title.replaceChildren(tell(language, "head_of", { layer, head: state.head }), element("span", { class: "quiet census-path" }, name));
    const called = tell(language, "called", { name: say(language, `pattern_${commonest.name}`), share: percent(commonest.share) });
    const sentence = commonest.name === "mixed" ? called : `${say(language, `tells_${commonest.name}`)} ${called}`;
    const alone = models.length > 1 && state.side !== "b" && !other ? `${tell(language, "not_alike")} ` : "";
    this.sentence.replaceChildren(sentence, " ", alone, element("span", { class: "quiet" }, tell(language, "not_why")));
    this.drawNames(model.names[at], other ? other.model.names[other.at] : null);
    this.histograms.replaceChildren(this.ofMeasure(), this.ofQueries(), this.ofDistances());
    this.drawNumbers();
  }

  /** @param {number[]} counts */
  commonest(counts) {
    const all = counts.reduce((sum, count) => sum + count, 0);
    const most = counts.indexOf(Math.max(...counts));
    return { name: this.shared.header.labels[most], share: all ? counts[most] / all : 0 };
  }

  /**
   * @param {number[]} counts
   * @param {number[] | null} theirs
   */
  drawNames(counts, theirs) {
    const { language, header } = this.shared;
    const own = shares(counts);
    const second = theirs ? shares(theirs) : null;
    const rows = header.labels
      .map((name, i) => ({ name, share: own[i], other: second ? second[i] : 0 }))
      .filter(({ share, other }) => share > 0 || other > 0)
      .sort((a, b) => b.share - a.share);
    const list = element("dl", {});
    for (const { name, share, other } of rows) {
      const value = second ? `${percent(share)} · B ${percent(other)}` : percent(share);
      list.append(element("dt", {}, say(language, `pattern_${name}`), meter(share)), element("dd", {}, value));
    }
    this.names.replaceChildren(element("h3", {}, tell(language, "tells_names")), list);
  }

  /** The chosen measure over documents. */
  ofMeasure() {
    const { state, language, model, at, other } = this.shared;
    const counts = model.bins[state.measure][at];
    const far = state.measure === "distance";
    const last = far ? Math.max(lastBin(counts), other ? lastBin(other.model.bins.distance[other.at]) : 0, FEWEST) : counts.length;
    const cut = (/** @type {number[]} */ all) => shares(all).slice(0, last);
    const name = tell(language, "over_documents", { name: measureName(language, state.measure), documents: amount(language, "documents", model.counted[state.measure][at]) });
    const mean = model.mean[state.measure][at];
    return titled(name, {
      name,
      bars: cut(counts),
      behind: other ? cut(other.model.bins[state.measure][other.at]) : null,
      told: (bin) => (far ? this.range(doubling(bin), cut(counts)[bin]) : this.range([bin / counts.length, (bin + 1) / counts.length], cut(counts)[bin])),
      marks: far ? [[0, "0"], [(last - 0.5) / last, `${doubling(last - 1)[0]}`]] : [[0, "0"], [0.5, ".5"], [1, "1"]],
      mean: far ? null : mean,
    });
  }

  /** Entropies over all queries. */
  ofQueries() {
    const { language, model, at, other } = this.shared;
    const bars = shares(model.entropies[at]);
    const name = tell(language, "over_queries");
    return titled(name, {
      name,
      bars,
      behind: other ? shares(other.model.entropies[other.at]) : null,
      told: (bin) => this.range([bin / bars.length, (bin + 1) / bars.length], bars[bin]),
      marks: [[0, "0"], [0.5, ".5"], [1, "1"]],
    });
  }

  /** Where attention lies: ahead, at the own place, back. */
  ofDistances() {
    const { language, model, at, other } = this.shared;
    const middle = (model.distances[at].length - 1) / 2;
    const reach = (/** @type {number[]} */ all) => Math.max(...all.map((mass, i) => (mass ? Math.abs(i - middle) : 0)));
    const most = Math.max(reach(model.distances[at]), other ? reach(other.model.distances[other.at]) : 0, 4);
    const cut = (/** @type {number[]} */ all) => shares(all).slice(middle - most, middle + most + 1);
    const bars = cut(model.distances[at]);
    const name = tell(language, "over_distances");
    // what lies back is drawn on the left, as the text before a word is
    return titled(name, {
      name,
      bars: bars.toReversed(),
      behind: other ? cut(other.model.distances[other.at]).toReversed() : null,
      told: (bin) => {
        const from = most - bin;
        const where = from === 0 ? tell(language, "own_place") : tell(language, from > 0 ? "back" : "ahead");
        return from === 0 ? tell(language, "bin_one", { at: where, share: percent(bars.toReversed()[bin]) }) : `${where} ${this.range(doubling(Math.abs(from)), bars.toReversed()[bin])}`;
      },
      marks: [[0, `${tell(language, "back")} ${doubling(most)[0]}`], [0.5, tell(language, "own_place")], [1, `${tell(language, "ahead")} ${doubling(most)[0]}`]],
    });
  }

  /**
   * @param {[number, number]} bounds
   * @param {number} share
   */
  range([from, to], share) {
    const { language } = this.shared;
    const shown = (/** @type {number} */ x) => (Number.isInteger(x) ? String(x) : short(x, 3));
    if (from === to) return tell(language, "bin_one", { at: shown(from), share: percent(share) });
    return tell(language, "bin", { from: shown(from), to: shown(to), share: percent(share) });
  }

  drawNumbers() {
    const { header, language, model, at, other } = this.shared;
    const groups = groupsOf(header);
    /** @type {HTMLElement[]} */
    const parts = [];
    const tokens = model.kinds.reduce((sum, count) => sum + count, 0);
    for (const [group, measures] of groups) {
      const list = element("dl", { class: "census-numbers" });
      for (const measure of measures) {
        const mean = model.mean[measure][at];
        const name = element("button", { class: "census-pick", "aria-pressed": String(measure === this.shared.state.measure) }, measureName(language, measure));
        name.addEventListener("click", () => this.shared.choose({ measure }));
        const kind = header.kinds.indexOf(measure.replace("received_", ""));
        const base = group === "received" && tokens ? tell(language, "of_tokens", { share: percent(model.kinds[kind] / tokens) }) : "";
        const label = element("dt", {}, name, base ? element("span", { class: "quiet census-base" }, base) : "");
        const value = element("dd", {}, mean === null ? "–" : `${short(mean, 3)} ± ${short(model.spread[measure][at] ?? 0, 3)}`);
        if (other && other.model.mean[measure][other.at] !== null) {
          const theirs = { mean: short(other.model.mean[measure][other.at] ?? 0, 3), spread: short(other.model.spread[measure][other.at] ?? 0, 3) };
          value.append(element("span", { class: "quiet census-base" }, tell(language, "beside", theirs)));
        }
        if (mean !== null && measure !== "distance") label.append(rangeBar(model.least[measure][at] ?? 0, model.most_of[measure][at] ?? 0, mean));
        list.append(label, value);
      }
      const section = element("section", {}, element("h3", {}, tell(language, `group_${group}`)), list);
      if (group === "received") parts[1].append(section);
      else parts.push(section);
    }
    // patterns on one side, all the rest on the other
    this.numbers.replaceChildren(element("h3", {}, tell(language, "tells_numbers")), ...parts);
  }
}

/**
 * Measures in groups, as menus and tables show them.
 * @param {import("./census_data.js").Header} header
 * @returns {[string, string[]][]}
 */
export function groupsOf(header) {
  const received = header.measures.filter((name) => name.startsWith("received_"));
  const attention = header.measures.filter((name) => !header.patterns.includes(name) && !received.includes(name));
  return [["patterns", header.patterns], ["attention", attention], ["received", received]];
}

/** @param {number[]} counts */
function lastBin(counts) {
  return counts.findLastIndex((count) => count > 0) + 1;
}

/**
 * @param {string} name
 * @param {import("./census_histogram.js").Histogram} histogram
 */
function titled(name, histogram) {
  return element("figure", { class: "census-figure" }, element("figcaption", {}, name), drawn(histogram, WIDTH));
}

/** @param {number} share */
function meter(share) {
  const inner = element("i", {});
  inner.style.width = `${100 * share}%`;
  return element("span", { class: "meter" }, inner);
}

/**
 * From the least to the most of a measure, on a line from 0 to 1, with the mean marked.
 * @param {number} least
 * @param {number} most
 * @param {number} mean
 */
function rangeBar(least, most, mean) {
  const span = element("i", {});
  span.style.left = `${100 * least}%`;
  span.style.width = `${Math.max(100 * (most - least), 0.5)}%`;
  const mark = element("b", {});
  mark.style.left = `${100 * mean}%`;
  return element("span", { class: "census-range" }, span, mark);
}
