import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { ReasonOf } from "../../shared/reasons.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import type { HeldWrite } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { bareLinesOf, isOnesOwn } from "../home/text-line.ts";
import { personalAmong } from "./personal-text.ts";

type Db = Kysely<DaemonTables>;

/** A text on its way into a document. */
export interface LeavingText {
  /** The document's name. */
  readonly document: string;
  readonly text: string;
  /** What stands there already. */
  readonly already: readonly string[];
  /** The other texts that the document has; asked for only where a line is in question. */
  readonly others?: (() => Iterable<string>) | undefined;
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
  const standing = new Set(already.flatMap(bareLinesOf));
  const added = bareLinesOf(text).map((line) =>
    isOnesOwn(line) && !standing.has(line) ? line : "",
  );
  const own = await personalAmong(db, asked(added));
  if (own.size === 0) return undefined;
  for (const other of others?.() ?? []) for (const line of bareLinesOf(other)) own.delete(line);
  for (const line of await allowedAmong(db, document, own)) own.delete(line);
  const lines = added.flatMap((line, at) => (own.has(line) ? [at + 1] : []));
  return lines.length === 0 ? undefined : { code: "personal-lines", lines };
}

/** A person has said that lines which are held are the project's as well. */
export async function allowPersonalLines(
  db: Db,
  { document, value = "" }: Pick<HeldWrite, "document" | "value">,
  now: number,
): Promise<void> {
  for (const line of await personalAmong(db, asked(bareLinesOf(value).filter(isOnesOwn)))) {
    await db
      .insertInto("allowances")
      .values({ hash: hashOf(document, line), allowed_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

function asked(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.filter((line) => line !== ""));
}

async function allowedAmong(db: Db, document: string, lines: Iterable<string>): Promise<string[]> {
  const byHash = new Map([...lines].map((line) => [hashOf(document, line), line]));
  if (byHash.size === 0) return [];
  const rows = await db
    .selectFrom("allowances")
    .select("hash")
    .where("hash", "in", [...byHash.keys()])
    .orderBy("hash")
    .execute();
  return rows.flatMap(({ hash }) => byHash.get(hash) ?? []);
}

function hashOf(document: string, line: string): string {
  const allowed = ["personal line", document, line].join("\n");
  return createHash("sha256").update(allowed).digest("hex");
}
