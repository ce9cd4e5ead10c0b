import { nearWords } from "../../shared/near-words.ts";

/** At most this many words of equal distance are named. */
const NAMED_MAX = 3;

/** `: did you mean "build"?` if one of `known` resembles `word`; else "". */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearWords(word, known).slice(0, NAMED_MAX);
  if (near.length === 0) return "";
  return `: did you mean ${near.map((each) => `"${each}"`).join(" or ")}?`;
}
