import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { ReasonOf } from "../../shared/reasons.ts";
import type { HeldItem } from "../home/held-store.ts";
import { PERSONAL_MARK } from "../home/personal-mark.ts";
import { readPersonalVersions } from "../home/personal-versions.ts";
import type { DaemonTables } from "../home/tables.ts";
import { PERSONAL_RULES } from "./personal-rule.ts";

type Db = Kysely<DaemonTables>;

/** What is held in the place of a write that is judged now. */
type Former = Pick<HeldItem, "value" | "reason">;

/** Fewer letters and digits than this are no line of anybody's. */
const OWN_LENGTH_MIN = 6;

/**
 * Why a write must not enter although it has no marks: it takes the place of one that was held for
 * a personal text, and has lines of that. Assistants are not shown the marks, so one that rewrites
 * such a file leaves them out. What was in the document before, and what a person has allowed,
 * holds nothing.
 */
export async function personalLinesReason(
  db: Db,
  former: Former | undefined,
  { text, already }: { readonly text: string; readonly already: readonly string[] },
): Promise<ReasonOf<"personal-lines"> | undefined> {
  const held = former === undefined ? [] : personalPartsOf(former);
  if (held.length === 0) return undefined;
  const versions = await readPersonalVersions(db);
  const known = [...held, ...versions.map(({ value }) => value.replace(PERSONAL_MARK, ""))];
  const own = new Set(known.flatMap(linesOf));
  const others = new Set(already.flatMap(linesOf));
  const found = linesOf(text).flatMap((line, at) => {
    return isOnesOwn(line) && own.has(line) && !others.has(line) ? [{ line, number: at + 1 }] : [];
  });
  const allowed = await allowedAmong(db, [...new Set(found.map(({ line }) => line))]);
  const lines = found.flatMap(({ line, number }) => (allowed.has(line) ? [] : [number]));
  return lines.length === 0 ? undefined : { code: "personal-lines", lines };
}

/** A person has said that lines which are held are the project's as well. */
export async function allowPersonalLines(
  db: Db,
  { value = "", reason }: Former,
  now: number,
): Promise<void> {
  if (reason.code !== "personal-lines") return;
  const lines = linesOf(value);
  for (const number of reason.lines) {
    await db
      .insertInto("allowed_secrets")
      .values({ hash: hashOf(lines[number - 1] ?? ""), allowed_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** What stands in blocks of a held text, or was found in it as lines without one. */
function personalPartsOf({ value = "", reason }: Former): string[] {
  const blocks = PERSONAL_RULES.flatMap(({ pattern }) => value.match(pattern) ?? []);
  if (reason.code !== "personal-lines") return blocks;
  const lines = value.split("\n");
  return [...blocks, ...reason.lines.map((number) => lines[number - 1] ?? "")];
}

/** Each without what an editor changes about a line: its indentation, and the sign of a list. */
function linesOf(text: string): string[] {
  return text.split("\n").map((line) => {
    return line
      .trim()
      .replace(/^(?:[-*+]|\d+[.)])\s+/, "")
      .replace(/\s+/g, " ");
  });
}

/** A heading, a rule, a fence or a single short word is in anybody's file. */
function isOnesOwn(line: string): boolean {
  const letters = line.match(/[\p{L}\p{N}]/gu) ?? [];
  return letters.length >= OWN_LENGTH_MIN && !/^(?:#|<!--|```|~~~)|:$/.test(line);
}

async function allowedAmong(db: Db, lines: readonly string[]): Promise<Set<string>> {
  if (lines.length === 0) return new Set();
  const rows = await db
    .selectFrom("allowed_secrets")
    .select("hash")
    .where("hash", "in", lines.map(hashOf))
    .orderBy("hash")
    .execute();
  const allowed = new Set(rows.map(({ hash }) => hash));
  return new Set(lines.filter((line) => allowed.has(hashOf(line))));
}

function hashOf(line: string): string {
  return createHash("sha256").update(`personal line\n${line}`).digest("hex");
}
