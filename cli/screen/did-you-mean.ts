import { nearWords } from "../../shared/near-words.ts";

/** At most this many words of equal distance are named. */
const NAMED_MAX = 3;

/** A shorter word is the beginning of too many words. */
const BEGINNING_LENGTH_MIN = 3;

/** `: did you mean "build"?` if one of `known` resembles `word`, or begins with it; else "". */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = [...new Set([...begunBy(word, known), ...nearWords(word, known)])].slice(
    0,
    NAMED_MAX,
  );
  if (near.length === 0) return "";
  return `: did you mean ${near.map((each) => `"${each}"`).join(" or ")}?`;
}

function begunBy(word: string, known: readonly string[]): string[] {
  if (word.length < BEGINNING_LENGTH_MIN) return [];
  return known.filter((each) => each.toLowerCase().startsWith(word.toLowerCase()));
}
