// What is typed into the search, as it is looked up: without particles. `korean` has the tables of korean.py.

/** The number of the consonant that a word ends with, 0 for none; null if its last letter is no Hangul. */
function ending(word) {
  const code = word.charCodeAt(word.length - 1);
  return code >= korean.first && code <= korean.last ? (code - korean.first) % korean.finals : null;
}

/** Whether a particle can follow a word with this ending; after Latin letters and numbers any can. */
function fits(particle, final) {
  if (final === null || korean.afterAny.includes(particle)) return true;
  if (particle === "로" && final === korean.rieul) return true;
  return (final ? korean.afterConsonant : korean.afterVowel).includes(particle);
}

/** A word without its particles, but for one that is doubtful where a single syllable would be left. */
function stripped(word) {
  for (const particle of korean.particles) {
    const rest = word.endsWith(particle) ? word.slice(0, -particle.length) : "";
    if (!rest || !fits(particle, ending(rest))) continue;
    return korean.doubtful.includes(particle) && rest.length < 2 ? word : stripped(rest);
  }
  return word;
}

/** Sphinx's script calls this for every search. */
function splitQuery(query) {
  const words = query.split(/[^\p{Letter}\p{Number}_]+/u).filter((word) => word);
  return words.map(stripped);
}
