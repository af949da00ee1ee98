// What is drawn on: a canvas for the screen and for PNG, or SVG. Views draw once, and do not know on which.

/** @typedef {{ size?: number, align?: CanvasTextAlign, turned?: boolean, weight?: number, limit?: number }} TextOptions */

export const FONT = 'system-ui, -apple-system, "Apple SD Gothic Neo", "Noto Sans KR", "Malgun Gothic", NanumGothic, sans-serif';
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {object} Surface
 * @property {number} width
 * @property {number} height
 * @property {(x: number, y: number, width: number, height: number, colour: string) => void} fill
 * @property {(x: number, y: number, width: number, height: number, colour: string, line?: number) => void} frame
 * @property {(x: number, y: number, width: number, height: number, colour: string) => void} hatch
 * @property {(points: number[], colour: string, line: number, opacity?: number) => void} curve  x, y of a start, two controls and an end
 * @property {(text: string, x: number, y: number, colour: string, options?: TextOptions) => void} text
 * @property {(image: HTMLCanvasElement, from: number[], to: number[], smooth: boolean) => void} image
 * @property {(x: number, y: number, width: number, height: number, draw: () => void) => void} clip
 */

/** @implements {Surface} */
export class CanvasSurface {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {number} width
   * @param {number} height
   * @param {number} ratio  pixels of the canvas for one of the page
   */
  constructor(canvas, width, height, ratio) {
    this.width = width;
    this.height = height;
    const [wide, tall] = [Math.max(Math.round(width * ratio), 1), Math.max(Math.round(height * ratio), 1)];
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
    }
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.textBaseline = "middle";
  }

  /** @type {Surface["fill"]} */
  fill(x, y, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /** @type {Surface["frame"]} */
  frame(x, y, width, height, colour, line = 1) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = line;
    this.context.strokeRect(x, y, width, height);
  }

  /** @type {Surface["hatch"]} */
  hatch(x, y, width, height, colour) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    for (const from of [-4, 0, 4, 8]) {
      pen.moveTo(from, 8);
      pen.lineTo(from + 8, 0);
    }
    pen.stroke();
    this.context.fillStyle = /** @type {CanvasPattern} */ (this.context.createPattern(tile, "repeat"));
    this.context.fillRect(x, y, width, height);
  }

  /** @type {Surface["curve"]} */
  curve(points, colour, line, opacity = 1) {
    const [x, y, ...rest] = points;
    this.context.globalAlpha = opacity;
    this.context.strokeStyle = colour;
    this.context.lineWidth = line;
    this.context.beginPath();
    this.context.moveTo(x, y);
    this.context.bezierCurveTo(rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
    this.context.stroke();
    this.context.globalAlpha = 1;
  }

  /** @type {Surface["text"]} */
  text(text, x, y, colour, { size = 12, align = "left", turned = false, weight = 400, limit } = {}) {
    this.context.font = `${weight} ${size}px ${FONT}`;
    this.context.fillStyle = colour;
    this.context.textAlign = align;
    this.context.save();
    this.context.translate(x, y);
    if (turned) this.context.rotate(-Math.PI / 2);
    this.context.fillText(limit ? cut(this.context, text, limit) : text, 0, 0);
    this.context.restore();
  }

  /** @type {Surface["image"]} */
  image(image, [sx, sy, sw, sh], [dx, dy, dw, dh], smooth) {
    this.context.imageSmoothingEnabled = smooth;
    this.context.imageSmoothingQuality = "high";
    this.context.drawImage(image, sx, sy, sw, sh, dx, dy, dw, dh);
  }

  /** @type {Surface["clip"]} */
  clip(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

/**
 * A text that is at most so wide.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} limit
 */
function cut(context, text, limit) {
  if (context.measureText(text).width <= limit) return text;
  const letters = [...text];
  while (letters.length && context.measureText(`${letters.join("")}…`).width > limit) letters.pop();
  return `${letters.join("")}…`;
}

/**
 * How wide a text is on the screen.
 * @param {string} text
 * @param {number} size
 */
export function widthOf(text, size) {
  const name = `${size} ${text}`;
  const known = widths.get(name);
  if (known !== undefined) return known;
  measure ??= document.createElement("canvas").getContext("2d");
  if (!measure) return text.length * size;
  measure.font = `400 ${size}px ${FONT}`;
  const { width } = measure.measureText(text);
  if (widths.size >= MEASURED) widths.clear();
  widths.set(name, width);
  return width;
}
/** @type {CanvasRenderingContext2D | null | undefined} */
let measure;
/** @type {Map<string, number>} names are measured again in every frame: a lookup takes a tenth of the time */
const widths = new Map();
const MEASURED = 20_000;

/** @implements {Surface} */
export class SvgSurface {
  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.root = document.createElementNS(SVG, "svg");
    this.add(null, { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": FONT });
    this.group = /** @type {Element} */ (this.root);
    this.count = 0;
  }

  /**
   * An element with its attributes, or the attributes of the drawing itself.
   * @param {string | null} name
   * @param {Record<string, string | number>} attributes
   * @param {Element} [parent]
   */
  add(name, attributes, parent = this.group) {
    const element = name ? document.createElementNS(SVG, name) : this.root;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (name) parent.append(element);
    return element;
  }

  /** @type {Surface["fill"]} */
  fill(x, y, width, height, colour) {
    this.add("rect", { x, y, width, height, fill: colour });
  }

  /** @type {Surface["frame"]} */
  frame(x, y, width, height, colour, line = 1) {
    this.add("rect", { x, y, width, height, fill: "none", stroke: colour, "stroke-width": line });
  }

  /** @type {Surface["hatch"]} */
  hatch(x, y, width, height, colour) {
    const id = `hatch${this.count++}`;
    const pattern = this.add("pattern", { id, width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    this.add("line", { x1: 0, y1: 0, x2: 0, y2: 4, stroke: colour }, pattern);
    this.fill(x, y, width, height, `url(#${id})`);
  }

  /** @type {Surface["curve"]} */
  curve([x, y, a, b, c, d, e, f], colour, line, opacity = 1) {
    this.add("path", { d: `M${x} ${y}C${a} ${b} ${c} ${d} ${e} ${f}`, fill: "none", stroke: colour, "stroke-width": line, opacity });
  }

  /** @type {Surface["text"]} */
  text(text, x, y, colour, { size = 12, align = "left", turned = false, weight = 400, limit } = {}) {
    const anchor = { right: "end", end: "end", center: "middle", left: "start", start: "start" }[align];
    /** @type {Record<string, string | number>} */
    const where = turned ? { transform: `translate(${x} ${y}) rotate(-90)` } : { x, y };
    const element = this.add("text", {
      ...where, fill: colour, "font-size": size, "text-anchor": anchor, "dominant-baseline": "central", "font-weight": weight,
    });
    const letters = [...text];
    while (limit && letters.length > 1 && widthOf(letters.join(""), size) > limit) letters.pop();
    element.textContent = letters.length < [...text].length ? `${letters.join("")}…` : text;
  }

  /** @type {Surface["image"]} */
  image(image, [sx, sy, sw, sh], [dx, dy, dw, dh], smooth) {
    const [scaleX, scaleY] = [dw / sw, dh / sh];
    this.clip(dx, dy, dw, dh, () => {
      const element = this.add("image", {
        x: dx - sx * scaleX, y: dy - sy * scaleY, width: image.width * scaleX, height: image.height * scaleY,
        preserveAspectRatio: "none", href: image.toDataURL("image/png"),
      });
      if (!smooth) element.setAttribute("image-rendering", "pixelated");
    });
  }

  /** @type {Surface["clip"]} */
  clip(x, y, width, height, draw) {
    const id = `clip${this.count++}`;
    const path = this.add("clipPath", { id });
    this.add("rect", { x, y, width, height }, path);
    const before = this.group;
    this.group = this.add("g", { "clip-path": `url(#${id})` });
    draw();
    this.group = before;
  }

  /** The drawing as a file. */
  toString() {
    return new XMLSerializer().serializeToString(this.root);
  }
}
