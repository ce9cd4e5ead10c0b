import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { readFrontMatter } from "../../../shared/replica/text/front-matter.ts";
import { headingsIn } from "../../../shared/replica/text/headings.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { hashOf } from "../../disk/read-file.ts";
import { linesWithout } from "../../files/unseen-lines.ts";
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
import { isMendOf } from "./index-lines.ts";
import { isWording } from "./mended-line.ts";

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
 * is told, unless the file's text says that its author has taken the secret out of it.
 */
export async function leaveHeldText(db: Db, place: HeldTextPlace, left: LeftText): Promise<void> {
  const item = await findHeldText(db, place, left.textOf);
  if (!item) return;
  if (await isMended(db, item, left)) await dropHeld(db, item);
  else await hideHeld(db, item, place.apart);
}

/** Drops those of some held texts of which a text has all, but for the secrets. */
export async function dropRegained(db: Db, left: readonly HeldItem[], text: string): Promise<void> {
  for (const item of left) {
    if (await isMended(db, item, { base: undefined, saved: text })) await dropHeld(db, item);
  }
}

/**
 * Whether a save has all that a held text brought, but for its secrets: each other line, and each
 * line with a secret in other words. Such a line may also be gone, where the others say that its
 * author has read them. Whoever takes out more may have read an earlier text, and is asked.
 */
async function isMended(
  db: Db,
  { key, value = "" }: HeldItem,
  { base, saved, textOf = (whole) => whole }: LeftText,
): Promise<boolean> {
  if (saved === undefined) return false;
  const text = textOf(value);
  const former = plainLines(base ?? "");
  const now = plainLines(saved);
  const fresh = linesWithout(now, former);
  const secrets = await linesOfSecrets(db, { key, value: text });
  const [brought, said] = [linesWithout(plainLines(text), former), linesThatSay(text)];
  const beside = new Map(plainLines(text).map((line, at) => [line, secrets.get(at + 1)]));
  const rest = brought.filter((line) => beside.get(line) === undefined && hasWord(line));
  const withSecret = brought.filter((line) => beside.get(line) !== undefined);
  const isThere = (line: string) => now.includes(line);
  const isIn = (line: string, isMend: typeof isWording) =>
    isThere(line) || fresh.some((each) => isMend(line, each));
  const areMended = withSecret
    .filter((line) => hasWord(beside.get(line) ?? ""))
    .every((line) => isIn(line, isWording));
  const isRead = rest.some((line) => said.has(line) && isThere(line));
  // No other session has the secrets, and something that came with them.
  if (isRead && withSecret.length > 0 && withSecret.every(isThere)) return true;
  const isRestThere = rest.every((line) => isIn(line, isRead ? isWording : isMendOf));
  return isRestThere && (areMended || (base !== undefined && isRead));
}

/** The lines that nobody writes but who means them: no front matter, and no headings. */
function linesThatSay(text: string): ReadonlySet<string> {
  const body = readFrontMatter(text)?.body ?? plainLines(text);
  const headings = headingsIn(body);
  return new Set(body.filter((_, at) => !headings.has(at)));
}
