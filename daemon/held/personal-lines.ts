import type { Kysely } from "kysely";
import type { ReasonOf } from "../../shared/reasons.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { personalAllowance } from "../home/personal-lines.ts";
import type { DaemonTables } from "../home/tables.ts";
import { LetteredText } from "./lettered-text.ts";
import { personalIn } from "./personal-text.ts";
import { readingsOf } from "./text-readings.ts";

type Db = Kysely<DaemonTables>;

/** A text on its way into a document. */
export interface LeavingText {
  /** The document's name. */
  readonly document: string;
  readonly text: string;
  /** What stands there already. */
  readonly already: readonly string[];
  /** The other texts that the document has; asked for only where a line is in question. */
  readonly others?: (() => Iterable<string> | Promise<Iterable<string>>) | undefined;
}

/**
 * Why a text must not enter although it has no marks: lines of one's own text, which others do not
 * have yet, would come to them. Assistants are not shown the marks, so one that rewrites a file
 * leaves them out. What was held before, or was not, says nothing: a save, an undo or a new name
 * may come between. What a person has allowed for the document holds nothing.
 */
export async function personalLinesReason(
  db: Db,
  { document, text, already, others }: LeavingText,
): Promise<ReasonOf<"personal-lines"> | undefined> {
  // A user's own memories are seen by nobody else, as the text itself.
  if (layerOf(document) === "user") return undefined;
  const standing = already.flatMap(letteredReadings);
  const isOpen = (letters: string) => !standing.some((each) => each.has(letters));
  const own = await personalIn(db, text, isOpen);
  if (own.size === 0) return undefined;
  for (const each of (await others?.()) ?? []) {
    const other = letteredReadings(each);
    for (const letters of own.keys()) {
      if (other.some((reading) => reading.has(letters))) own.delete(letters);
    }
  }
  for (const letters of await allowedAmong(db, document, own.keys())) own.delete(letters);
  const lines = [...new Set([...own.values()].flat())].sort((one, next) => one - next);
  return lines.length === 0 ? undefined : { code: "personal-lines", lines };
}

function letteredReadings(text: string): LetteredText[] {
  return [...readingsOf(text)].map((reading) => new LetteredText(reading));
}

/** A person has said that lines which are held are the project's as well. */
export async function allowPersonalLines(
  db: Db,
  { document, text }: Pick<LeavingText, "document" | "text">,
  now: number,
): Promise<void> {
  const own = await personalIn(db, text, () => true);
  for (const letters of own.keys()) {
    await db
      .insertInto("allowances")
      .values({ hash: personalAllowance(document, letters), allowed_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** The lines of one's own in a text that nobody has allowed for its document, by their letters. */
export async function ownLettersIn(
  db: Db,
  { document, text }: Pick<LeavingText, "document" | "text">,
): Promise<Set<string>> {
  if (layerOf(document) === "user") return new Set();
  const own = new Set((await personalIn(db, text, () => true)).keys());
  for (const letters of await allowedAmong(db, document, own)) own.delete(letters);
  return own;
}

async function allowedAmong(db: Db, document: string, lines: Iterable<string>): Promise<string[]> {
  const byHash = new Map([...lines].map((line) => [personalAllowance(document, line), line]));
  if (byHash.size === 0) return [];
  const rows = await db
    .selectFrom("allowances")
    .select("hash")
    .where("hash", "in", [...byHash.keys()])
    .orderBy("hash")
    .execute();
  return rows.flatMap(({ hash }) => byHash.get(hash) ?? []);
}
