import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { hashOf } from "../../disk/read-file.ts";
import { linesWithout } from "../../files/arrivals/unseen-lines.ts";
import { linesOfSecrets } from "../../held/judge.ts";
import {
  dropHeld,
  findHeld,
  type HeldItem,
  type HeldPlace,
  hideHeld,
  listHeldOf,
} from "../../home/held-store.ts";
import type { DaemonTables } from "../../home/tables.ts";

type Db = WriteContext<DaemonTables>["db"];

/** The place of a held text of an assistant's file: its hash is in it. */
export type HeldTextPlace = HeldPlace & { readonly apart: string };

/** What is held of a file's text. Former versions gave it no place of its own. */
export async function findHeldText(
  db: Db,
  place: HeldTextPlace,
  textOf: LeftText["textOf"] = (value) => value,
): Promise<HeldItem | undefined> {
  const isFormer = ({ apart, value = "" }: HeldItem) =>
    apart === undefined && hashOf(textOf(value)) === place.apart;
  return (await findHeld(db, place)) ?? (await listHeldOf(db, place)).find(isFormer);
}

type HeldText = Pick<HeldItem, "key" | "value">;

/** A file that had a held text, and has another one or none. */
interface LeftText {
  /** What the file showed before the held text; undefined: nobody knows. */
  readonly base: string | undefined;
  /** What it has now; undefined: nothing. */
  readonly saved: string | undefined;
  /** The text in a memory's value; undefined: it is all of it. */
  readonly textOf?: (value: string) => string;
}

/**
 * What is held of a file is in no history. So where the file has it no more, it stays, and somebody
 * is told, unless the file's text has all that it brought.
 */
export async function leaveHeldText(db: Db, place: HeldTextPlace, left: LeftText): Promise<void> {
  const item = await findHeldText(db, place, left.textOf);
  if (!item) return;
  if (await hasAll(db, item, left)) await dropHeld(db, item);
  else await hideHeld(db, item, place.apart);
}

/** Whether a save has all of a held text, or all that it brought, but for the secrets. */
export async function isRegained(
  db: Db,
  item: HeldText,
  { base, saved }: Pick<LeftText, "base" | "saved">,
): Promise<boolean> {
  return (
    (await hasAll(db, item, { base, saved })) ||
    (await hasAll(db, item, { base: undefined, saved }))
  );
}

/** Drops those of some held texts of which a text has all, but for the secrets. */
export async function dropRegained(db: Db, left: readonly HeldItem[], text: string): Promise<void> {
  for (const item of left) {
    if (await hasAll(db, item, { base: undefined, saved: text })) await dropHeld(db, item);
  }
}

/**
 * Whether a save has all that a held text brought, line by line, but for its secrets. That a line
 * is gone says nothing, whatever else is there: somebody may have read an earlier text, or written
 * the same.
 */
async function hasAll(
  db: Db,
  { key, value = "" }: HeldText,
  { base = "", saved, textOf = (whole) => whole }: LeftText,
): Promise<boolean> {
  if (saved === undefined) return false;
  const [text, former] = [textOf(value), plainLines(base)];
  const secrets = await linesOfSecrets(db, { key, value: text });
  const around = new Map(plainLines(text).map((line, at) => [line, secrets.get(at + 1)]));
  const brought = linesWithout(plainLines(text), former).filter((line) => !isMarkup(line));
  const fresh = linesWithout(plainLines(saved), former);
  const open = linesWithout(fresh, brought);
  return linesWithout(brought, fresh).every((line) => {
    const at = open.findIndex((later) => isSaidBy(around.get(line) ?? [line], later));
    if (at !== -1) open.splice(at, 1);
    return at !== -1;
  });
}

/**
 * Whether a later line is the same as one with these parts around its secrets, but for the blanks
 * at its ends and for what stands in the secrets' places. A sign, a case or a word more may turn
 * round what a line says.
 */
function isSaidBy(parts: readonly string[], later: string): boolean {
  const [line, last, rest] = [later.trim(), parts.length - 1, parts.join("").trim()];
  if (!/[\p{L}\p{N}]/u.test(rest)) return false;
  if (line === rest) return true;
  let at = 0;
  for (const [nth, each] of parts.entries()) {
    const part = trimAt(each, { start: nth === 0, end: nth === last });
    const from =
      nth === 0 ? 0 : nth === last ? line.length - part.length : line.indexOf(part, at + 1);
    const hasPlace = nth === 0 || (from > at && isBorder(line, at) && isBorder(line, from));
    if (!hasPlace || !line.startsWith(part, from)) return false;
    at = from + part.length;
  }
  return at === line.length;
}

function trimAt(part: string, { start, end }: { start: boolean; end: boolean }): string {
  const whole = end ? part.trimEnd() : part;
  return start ? whole.trimStart() : whole;
}

/** Whether no word goes on over a place. */
function isBorder(line: string, at: number): boolean {
  return (
    !/[\p{L}\p{M}\p{N}_]$/u.test(line.slice(0, at)) || !/^[\p{L}\p{M}\p{N}_]/u.test(line.slice(at))
  );
}

/** Marks of Markdown, and nothing else. */
function isMarkup(line: string): boolean {
  return /^[\s\-=*_+~`#>|:.<!]*$/.test(line);
}
