// The reading view: click a word, and what it looks at, or what looks at it, is shaded over the text, with arcs.
// A long text is in paragraphs; only those in sight have an element for each word, so that 32,768 tokens scroll freely.

import { element, onceAFrame } from "./context.js";
import { colourAt, css, inkOn } from "./palettes.js";
import { counted, figure } from "./strings.js";
import { paragraphs } from "./tokens.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {"query" | "key"} Side */

const ARCS = 5;
const LISTED = 8;

/** One running text: of the queries, of the keys, or of both. */
class RunningText {
  /**
   * @param {TextView} view
   * @param {Side} side
   * @param {boolean} both
   */
  constructor(view, side, both) {
    this.view = view;
    this.side = side;
    this.both = both;
    this.pieces = view.context.pieces(side);
    /** @type {Map<number, HTMLElement>} the words that have an element */
    this.words = new Map();
    /** @type {Map<Element, [number, number]>} */
    this.runs = new Map();
    this.root = element("div", { class: "running" });
    for (const run of paragraphs(this.pieces)) {
      const block = element("p", {}, this.plain(run));
      this.runs.set(block, run);
      this.root.append(block);
      view.watcher.observe(block);
    }
  }

  /** @param {[number, number]} run */
  plain([start, end]) {
    return this.pieces.slice(start, end).map((piece, i) => (i ? piece.before : "") + piece.text).join("");
  }

  /**
   * A paragraph comes into sight, or leaves it.
   * @param {Element} block
   * @param {boolean} seen
   */
  turn(block, seen) {
    const run = this.runs.get(block);
    if (!run || seen === block.hasAttribute("data-words")) return;
    block.toggleAttribute("data-words", seen);
    if (!seen) {
      for (let i = run[0]; i < run[1]; i++) this.words.delete(i);
      block.replaceChildren(this.plain(run));
      return;
    }
    const parts = [];
    for (let i = run[0]; i < run[1]; i++) {
      const word = element("span", { class: "word", "data-at": String(i) }, this.pieces[i].text || " ");
      this.words.set(i, word);
      if (i > run[0] && this.pieces[i].before) parts.push(this.pieces[i].before);
      parts.push(word);
    }
    block.replaceChildren(...parts);
  }

  /** @param {number} at */
  async reveal(at) {
    for (const [block, [start, end]] of this.runs) {
      if (at < start || at >= end) continue;
      this.turn(block, true);
      const word = this.words.get(at);
      const box = this.view.scroller.getBoundingClientRect();
      const own = (word ?? block).getBoundingClientRect();
      if (own.top < box.top || own.bottom > box.bottom) (word ?? block).scrollIntoView({ block: "center" });
    }
  }
}

export class TextView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.title = element("h2");
    this.direction = element("div", { class: "switch", role: "group" });
    this.list = element("p", { class: "strongest" });
    this.arcs = element("canvas", { class: "arcs", "aria-hidden": "true" });
    this.body = element("div", { class: "texts" });
    this.scroller = element("div", { class: "scroller", tabindex: "0" }, this.body, this.arcs);
    this.root = element("section", { class: "panel text" }, element("header", {}, this.title, this.direction, this.list), this.scroller);
    this.watcher = new IntersectionObserver((seen) => this.seen(seen), { root: this.scroller, rootMargin: "300px" });
    /** @type {RunningText[]} */
    this.texts = [];
    this.onFrame = onceAFrame(() => this.draw());
    this.shown = "";
    context.onMap.push(() => this.render());
    context.onHover.push(() => this.request());
    context.store.listen((changed) => {
      if (changed.has("language")) this.render();
      if (changed.has("query") || changed.has("key")) this.reveal();
      if (changed.size > 1 || !changed.has("window")) this.request();
    });
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("pointerover", (event) => this.over(event));
    this.body.addEventListener("pointerleave", () => context.point(null));
    this.scroller.addEventListener("scroll", () => this.request());
    new ResizeObserver(() => this.request()).observe(this.scroller);
  }

  /** @param {IntersectionObserverEntry[]} seen */
  seen(seen) {
    for (const { target, isIntersecting } of seen) {
      for (const text of this.texts) text.turn(target, isIntersecting);
    }
    this.request();
  }

  /** The texts of the chosen layer, if they are others than before. */
  render() {
    const { context } = this;
    const { say, layer } = context;
    this.title.textContent = say("text");
    const name = `${context.state.language} ${layer.tokens} ${layer.n_q} ${layer.n_k}`;
    if (name !== this.shown) {
      this.shown = name;
      this.watcher.disconnect();
      this.texts = context.oneText ? [new RunningText(this, "query", true)] : [new RunningText(this, "query", false), new RunningText(this, "key", false)];
      const parts = this.texts.flatMap((text) => [...(text.both ? [] : [element("h3", {}, say(text.side === "query" ? "queries_text" : "keys_text"))]), text.root]);
      this.body.replaceChildren(...parts);
      if (layer.tokens[0] === null) this.body.prepend(element("p", { class: "quiet" }, say("no_tokens")));
      this.direction.replaceChildren(...(/** @type {const} */ (["from", "to"])).map((way) => {
        const button = element("button", { type: "button", "data-way": way }, say(way === "from" ? "looks_at" : "seen_by"));
        button.addEventListener("click", () => context.store.set({ direction: way }));
        return button;
      }));
      this.direction.setAttribute("aria-label", say("direction"));
    }
    this.request();
  }

  /** Which word of which text an event is on. @param {Event} event */
  wordAt(event) {
    const word = event.target instanceof Element ? event.target.closest(".word") : null;
    const text = this.texts.find((one) => word && one.root.contains(word));
    return word && text ? { text, at: Number(word.getAttribute("data-at")) } : null;
  }

  /** @param {Event} event */
  click(event) {
    const found = this.wordAt(event);
    if (!found) return;
    const { state, store } = this.context;
    if (found.text.side === "key") return store.set({ direction: "to", key: found.at === state.key ? null : found.at });
    if (!found.text.both) return store.set({ direction: "from", query: found.at === state.query ? null : found.at });
    return store.set({ query: found.at === state.query ? null : found.at, key: null });
  }

  /** @param {Event} event */
  over(event) {
    const found = this.wordAt(event);
    const focus = this.focus();
    if (!found || focus === null) return this.context.point(null);
    const from = this.context.state.direction === "from";
    if (!found.text.both && found.text.side === (from ? "query" : "key")) return this.context.point(null);
    return this.context.point(from ? { q: focus, k: found.at } : { q: found.at, k: focus });
  }

  /** The position whose partners are shown: a query, or a key. */
  focus() {
    const { state, oneText } = this.context;
    if (state.direction === "from") return state.query;
    return oneText ? state.query : state.key;
  }

  reveal() {
    const { state } = this.context;
    for (const text of this.texts) {
      const at = text.side === "query" ? state.query : state.key;
      if (at !== null) text.reveal(at);
    }
  }

  request() {
    this.onFrame();
  }

  draw() {
    const { context } = this;
    const { map, state, say, hover } = context;
    for (const button of this.direction.children) button.setAttribute("aria-pressed", String(button.getAttribute("data-way") === state.direction));
    if (!map) return;
    const focus = this.focus();
    const from = state.direction === "from";
    const weights = focus === null ? null : from ? map.row(focus) : map.column(focus);
    const strongest = focus === null ? [] : map.strongest(focus, state.direction, LISTED).filter(({ position }) => state.first || !from || position !== 0);
    const high = weights ? weights.reduce((best, x, i) => (x > best && (state.first || !from || i > 0) ? x : best), 0) : 0;
    for (const text of this.texts) {
      const shaded = text.both || (text.side === "query") !== from;
      for (const [at, word] of text.words) {
        const chosen = (text.both || text.side === (from ? "query" : "key")) && at === focus;
        const hidden = !state.first && from && at === 0;
        const share = shaded && weights && high > 0 && !hidden ? Math.min(weights[at] / high, 1) : 0;
        const under = hover && ((from ? hover.k : hover.q) === at && (text.both || shaded));
        paint(word, share, chosen, Boolean(under), context);
      }
    }
    this.tell(focus, strongest, say);
    this.drawArcs(focus, strongest, from);
  }

  /**
   * The strongest partners, to read and to click.
   * @param {number | null} focus
   * @param {import("./headmap.js").Partner[]} strongest
   * @param {Context["say"]} say
   */
  tell(focus, strongest, say) {
    if (focus === null) return this.list.replaceChildren(element("span", { class: "quiet" }, say("choose_word")));
    const from = this.context.state.direction === "from";
    const token = this.context.labels(from ? "query" : "key")[focus];
    const labels = this.context.labels(from ? "key" : "query");
    const parts = strongest.map(({ position, weight, exact }) => {
      const chip = element("button", { type: "button", class: "chip", title: counted(position) }, element("bdi", {}, labels[position]), ` ${exact ? "" : "≈ "}${figure(weight, 2)}`);
      chip.addEventListener("click", () => (from ? this.context.store.set({ key: position }) : this.context.store.set(this.context.oneText ? { key: position } : { query: position })));
      chip.addEventListener("pointerenter", () => this.context.point(from ? { q: focus, k: position } : { q: position, k: focus }));
      return chip;
    });
    const lead = element("span", { class: "quiet" }, say(from ? "strongest_of" : "strongest_to", { token }));
    return this.list.replaceChildren(lead, ...(parts.length ? parts : [say("nothing_seen")]));
  }

  /**
   * Arcs over the words that are in sight.
   * @param {number | null} focus
   * @param {import("./headmap.js").Partner[]} strongest
   * @param {boolean} from
   */
  drawArcs(focus, strongest, from) {
    const { clientWidth: width, clientHeight: height, scrollTop } = this.scroller;
    const ratio = devicePixelRatio;
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = this.arcs.getContext("2d");
    if (this.arcs.width !== wide || this.arcs.height !== tall) {
      Object.assign(this.arcs, { width: wide, height: tall });
      Object.assign(this.arcs.style, { width: `${width}px`, height: `${height}px` });
    } else {
      pen?.setTransform(1, 0, 0, 1, 0, 0);
      pen?.clearRect(0, 0, wide, tall);
    }
    this.arcs.style.top = `${scrollTop}px`;
    const both = this.texts[0]?.both;
    const source = both || from ? this.texts[0] : this.texts[1];
    const target = both ? this.texts[0] : from ? this.texts[1] : this.texts[0];
    const start = focus === null ? undefined : source?.words.get(focus);
    if (!pen || !start || !target) return;
    const outer = this.scroller.getBoundingClientRect();
    const middle = (/** @type {Element} */ word) => {
      const box = word.getClientRects()[0] ?? word.getBoundingClientRect();
      return { x: box.left + box.width / 2 - outer.left, y: box.top - outer.top + 2 };
    };
    pen.scale(ratio, ratio);
    pen.strokeStyle = getComputedStyle(this.root).getPropertyValue("--accent");
    const a = middle(start);
    for (const { position, weight } of strongest.slice(0, ARCS)) {
      const word = target.words.get(position);
      if (!word || word === start) continue;
      const b = middle(word);
      const room = Math.max(Math.min(a.y, b.y) - 2, 0) / 0.75; // an arc rises three quarters as far as its handles
      const rise = Math.min(12 + Math.abs(b.x - a.x) / 6 + Math.abs(b.y - a.y) / 4, 60, room);
      pen.globalAlpha = Math.min(0.25 + weight, 0.9);
      pen.lineWidth = 1 + 3 * weight;
      pen.beginPath();
      pen.moveTo(a.x, a.y);
      pen.bezierCurveTo(a.x, a.y - rise, b.x, b.y - rise, b.x, b.y);
      pen.stroke();
    }
  }
}

/**
 * @param {HTMLElement} word
 * @param {number} share
 * @param {boolean} chosen
 * @param {boolean} under
 * @param {Context} context
 */
function paint(word, share, chosen, under, { state, theme }) {
  word.classList.toggle("chosen", chosen);
  word.classList.toggle("under", under);
  if (share < 0.02) {
    word.style.background = word.style.color = "";
    return;
  }
  const colour = colourAt(state.palette, theme, 0.08 + 0.62 * share);
  word.style.background = css(colour);
  word.style.color = inkOn(colour);
}
