import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Reason } from "../../shared/reasons.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import { PERSONAL_KEY, PERSONAL_MARK, personalBlocksIn } from "./personal-mark.ts";
import type { DaemonTables } from "./tables.ts";
import { formerLinesOf, isOnesOwn, lettersOf } from "./text-line.ts";

type Db = Kysely<DaemonTables>;

/** What one statement is asked about. */
const LINES_MAX = 500;

/** Notes all lines of a personal text: they are one's own from now on. */
export async function notePersonalText(db: Db, text: string): Promise<void> {
  const hashes = hashesOf(text.replace(PERSONAL_MARK, ""));
  for (let from = 0; from < hashes.length; from += LINES_MAX) {
    await db
      .insertInto("personal_lines")
      .values(hashes.slice(from, from + LINES_MAX).map((hash) => ({ hash })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** What says of a held write whose lines are in it. */
interface HeldLines {
  readonly document: string;
  readonly key: string;
  readonly value: string;
  readonly reason: Reason;
}

/**
 * What of a held write is one's own text: all of that text itself, what stands between its marks,
 * and the lines for which the write is held.
 */
export function ownTextsOf({ document, key, value, reason }: HeldLines): readonly string[] {
  const isText = key === PERSONAL_KEY && layerOf(document) === "user";
  const numbers = new Set(numbersOf(reason));
  const lines = value.split("\n").filter((_, at) => numbers.has(at + 1));
  const whole = isText ? [value.replace(PERSONAL_MARK, "")] : [];
  return [...whole, ...personalBlocksIn(value), lines.join("\n")];
}

/** A damaged database may have anything in a reason. */
function numbersOf(reason: Reason): readonly unknown[] {
  const lines: unknown =
    reason.code === "personal-lines"
      ? reason.lines
      : reason.code === "looks-like-secret" && reason.personal;
  return Array.isArray(lines) ? lines : [];
}

/**
 * Those of these lines that a personal text has had here. Of a line that a release before noted,
 * and that stands in no version here, its former form is all that is known.
 */
export async function notedAmong(db: Db, lines: Iterable<string>): Promise<Set<string>> {
  const byHash = new Map<string, string[]>();
  for (const line of new Set(lines)) {
    const forms = [lettersOf(line), ...formerLinesOf(line)].filter((form) => form !== "");
    for (const hash of new Set(forms.map(hashOf))) {
      byHash.set(hash, [...(byHash.get(hash) ?? []), line]);
    }
  }
  const hashes = [...byHash.keys()];
  const noted = new Set<string>();
  for (let from = 0; from < hashes.length; from += LINES_MAX) {
    const rows = await db
      .selectFrom("personal_lines")
      .select("hash")
      .where("hash", "in", hashes.slice(from, from + LINES_MAX))
      .orderBy("hash")
      .execute();
    for (const { hash } of rows) for (const line of byHash.get(hash) ?? []) noted.add(line);
  }
  return noted;
}

/** What the table has of a text: no line can be read out of it. */
export function hashesOf(text: string): string[] {
  const own = new Set(text.split("\n").filter(isOnesOwn).map(lettersOf));
  own.delete("");
  return [...own].map(hashOf);
}

/** What is kept of a line that a person has allowed for one document; `line`: a form of it. */
export function personalAllowance(document: string, line: string): string {
  return hashOf(["personal line", document, line].join("\n"));
}

function hashOf(form: string): string {
  return createHash("sha256").update(form).digest("hex");
}
