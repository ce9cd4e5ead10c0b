import { memoryTexts } from "./judge.ts";
import { findSecrets } from "./secret-scan.ts";

/** A memory, as far as a search looks at it. */
interface Searched {
  readonly key: string;
  readonly value: string;
}

/**
 * What a search may look through of a memory that may be held: all but its secrets. An answer to a
 * guess would tell an assistant, letter by letter, what it is not shown.
 */
export async function withoutSecrets({ key, value }: Searched): Promise<Searched> {
  let left: Searched = { key, value };
  for (;;) {
    const found = (await Promise.all(memoryTexts(left).map((text) => findSecrets(text)))).flat();
    const next = { key: without(left.key, found), value: without(left.value, found) };
    if (next.key === left.key && next.value === left.value) return left;
    left = next;
  }
}

/** The longest go first, since one may contain another. */
function without(text: string, secrets: readonly { readonly text: string }[]): string {
  const longest = [...secrets].sort((one, other) => other.text.length - one.text.length);
  return longest.reduce((left, secret) => left.replaceAll(secret.text, " "), text);
}
