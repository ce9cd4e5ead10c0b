import { closest, distance } from "fastest-levenshtein";

/** As commander's for commands: more than this, or half of the word, is another word. */
const DISTANCE_MAX = 3;

/** `: did you mean "build"?` where one of `known` is nearly `word`; else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const nearest = closest(word, known);
  const apart = distance(word, nearest);
  return apart <= DISTANCE_MAX && apart * 2 <= word.length ? `: did you mean "${nearest}"?` : "";
}
