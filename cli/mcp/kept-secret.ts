import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { LocalMemory } from "../../daemon/reading/local-memories.ts";
import { explain } from "../../shared/reasons.ts";
import type { IndexedText } from "../../shared/replica/search/full-text.ts";

type Db = Kysely<DaemonTables>;

/**
 * Why a value is not given to an assistant, which would send it to whoever runs its model: it looks
 * like a secret, so it is held, or will be as soon as a daemon runs. Undefined for any other.
 */
export async function whySecret(db: Db, memory: LocalMemory): Promise<string | undefined> {
  return mayBeSecret(memory) ? await whyLikeSecret(db, memory) : undefined;
}

/** Held as a secret, or not judged yet. Everything else is in its document, and so on its way. */
function mayBeSecret({ held, heldCode, in_inbox: waits }: LocalMemory): boolean {
  return held === undefined ? waits : heldCode === "looks-like-secret";
}

/**
 * The keys that a tool may name besides the one that it was asked about. Keys with a secret in them
 * are left out: an assistant could find the secret letter by letter, by guesses that are called
 * similar.
 */
export async function namedKeys(memories: readonly LocalMemory[]): Promise<string[]> {
  const { secretHider } = await import("../../daemon/held/secret-scan.ts");
  const hide = await secretHider();
  const named = memories.filter((each) => !mayBeSecret(each) || hide(each.key) === each.key);
  return named.map(({ key }) => key);
}

/** The same for any value of a key, such as an older one. */
export async function whyLikeSecret(
  db: Db,
  { key, value }: { readonly key: string; readonly value: string },
): Promise<string | undefined> {
  const { memoryReason } = await import("../../daemon/held/judge.ts");
  const reason = await memoryReason(db, { key, value }, []);
  return reason && explain(reason);
}

/**
 * The text that an assistant's search looks through. For a value that is not shown it is the key
 * alone: otherwise the secret could be guessed word by word.
 */
export async function searchedOf(db: Db, memory: LocalMemory): Promise<IndexedText> {
  const { withoutSecrets } = await import("../../daemon/held/searched-text.ts");
  const searched = await withoutSecrets(memory);
  return (await whySecret(db, memory)) === undefined ? searched : { ...searched, value: "" };
}

/** The text that stands in place of such a value. */
export function withheldText(why: string): string {
  return `(not shown: it ${why}, and stays on this machine; its user sees it by \`memsync get\`)`;
}
