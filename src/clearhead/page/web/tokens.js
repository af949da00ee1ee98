// Tokens as a reader sees them: labels on an edge, and running text again.

/** @typedef {{ before: string, text: string, breaks: boolean }} Piece  what stands before a token, and the token */

const SPACES = ["␣", "Ġ", "▁"];
const BREAKS = ["⏎", "Ċ", "\n"];
const CLOSING = /^[.,:;!?…)\]}»”’%。、，．！？]+$/u;
const LONGEST = 18;

/**
 * A label that fits beside a map.
 * @param {string} token
 * @param {number} [longest]
 */
export function shortened(token, longest = LONGEST) {
  const letters = [...token];
  return letters.length <= longest ? token : `${letters.slice(0, longest - 1).join("")}…`;
}

/**
 * How tokens make up a text. Tokenizers mark a space, or a word that goes on; words that came as a list mark nothing.
 * @param {string[]} tokens
 * @returns {Piece[]}
 */
export function asText(tokens) {
  const marked = tokens.some((token) => SPACES.includes(token[0]));
  return tokens.map((token, i) => {
    const goesOn = token.startsWith("##") && token.length > 2;
    const spaced = SPACES.includes(token[0]);
    let text = goesOn ? token.slice(2) : token.replace(/^[␣Ġ▁]+/u, "");
    if (spaced && !text) text = "␣";
    const closes = CLOSING.test(token);
    const before = i > 0 && (spaced || (!marked && !goesOn && !closes)) ? " " : "";
    return { before, text, breaks: BREAKS.some((mark) => token.endsWith(mark)) };
  });
}

/**
 * Paragraphs: runs of tokens that end at a break, or at the end of a sentence once they are long enough.
 * @param {Piece[]} pieces
 * @param {number} [enough]
 * @returns {[start: number, end: number][]}
 */
export function paragraphs(pieces, enough = 150) {
  /** @type {[number, number][]} */
  const found = [];
  let start = 0;
  pieces.forEach((piece, i) => {
    const length = i + 1 - start;
    const ends = piece.breaks || (length >= enough && /[.!?。！？]$/u.test(piece.text)) || length >= 3 * enough;
    if (!ends) return;
    found.push([start, i + 1]);
    start = i + 1;
  });
  if (start < pieces.length) found.push([start, pieces.length]);
  return found;
}

/**
 * A token with a few of its neighbours: three texts, the token in the middle.
 * @param {Piece[]} pieces
 * @param {number} at
 * @param {number} around
 * @returns {[string, string, string]}
 */
export function inSentence(pieces, at, around = 3) {
  const join = (/** @type {number} */ from, /** @type {number} */ to) =>
    pieces.slice(Math.max(from, 0), to).map((piece) => piece.before + piece.text).join("");
  const before = (at > around ? "…" : "") + join(at - around, at) + pieces[at].before;
  const after = join(at + 1, at + 1 + around) + (at + 1 + around < pieces.length ? "…" : "");
  return [before, pieces[at].text, after];
}

/**
 * Names where there are no tokens: their numbers.
 * @param {number} n
 */
export function numbered(n) {
  return Array.from({ length: n }, (_, i) => String(i));
}
