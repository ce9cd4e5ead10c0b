import { nearWords } from "../../shared/near-words.ts";

/** Of words that are as near as each other so many are named. */
const NAMED_MAX = 3;

/** `: did you mean "build"?` where some of `known` are nearly `word`; else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearWords(word, known).slice(0, NAMED_MAX);
  if (near.length === 0) return "";
  return `: did you mean ${near.map((each) => `"${each}"`).join(" or ")}?`;
}
