import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { hashOf } from "../../disk/read-file.ts";
import { UNSEEN_MS } from "../../files/arrivals.ts";
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

type Db = WriteContext<DaemonTables>["db"];

/** The place of a held text of an assistant's file: its hash is in it. */
export type HeldTextPlace = HeldPlace & { readonly apart: string };

/** What is held of a file's text. Former versions gave it no place of its own. */
export async function findHeldText(
  db: Db,
  place: HeldTextPlace,
  textOf: LeftText["textOf"] = asItIs,
): Promise<HeldItem | undefined> {
  const isFormer = ({ apart, value = "" }: HeldItem) =>
    apart === undefined && hashOf(textOf(value)) === place.apart;
  return (await findHeld(db, place)) ?? (await listHeldOf(db, place)).find(isFormer);
}

/** A file that had a held text, and has another one or none. */
interface LeftText {
  /** What the file showed before the held text. */
  readonly base: string;
  /** What it has now. */
  readonly saved: { readonly text: string; readonly savedAt: number } | undefined;
  /** Several sessions write it at once. */
  readonly isOfSeveral: boolean;
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
  const isMended = left.saved !== undefined && (await hasRead(db, item, left));
  if (isMended) await dropHeld(db, item);
  else await hideHeld(db, item, place.apart);
}

/**
 * Whether a save has all lines that a held text has brought beside its secrets. Where it has but
 * some of them its author has read it, and took out the others: of what several write, as far as
 * they were there for a minute.
 */
async function hasRead(
  db: Db,
  held: HeldItem,
  { base, saved, isOfSeveral, textOf }: LeftText,
): Promise<boolean> {
  const former = plainLines(base);
  const now = plainLines(saved?.text ?? "");
  const brought = linesWithout(await linesBesideSecrets(db, held, textOf), former);
  const fresh = linesWithout(now, former);
  const lacking = linesWithout(brought, now).filter((line) => {
    return !fresh.some((each) => isMendOf(line, each));
  });
  const isSeen = !isOfSeveral || (saved?.savedAt ?? 0) - held.writtenAt >= UNSEEN_MS;
  return lacking.length === 0 || (isSeen && lacking.length < brought.length);
}

/** Drops those of some held texts of which a text has all lines but those with secrets. */
export async function dropRegained(db: Db, left: readonly HeldItem[], text: string): Promise<void> {
  for (const item of left) {
    const lines = await linesBesideSecrets(db, item);
    const isThere = linesWithout(lines, plainLines(text)).length === 0;
    if (lines.length > 0 && isThere) await dropHeld(db, item);
  }
}

async function linesBesideSecrets(
  db: Db,
  { key, value = "" }: HeldItem,
  textOf: LeftText["textOf"] = asItIs,
): Promise<string[]> {
  const text = textOf(value);
  const secret = await linesOfSecrets(db, { key, value: text });
  return plainLines(text).filter((line, at) => line.trim() !== "" && !secret.has(at + 1));
}

function asItIs(value: string): string {
  return value;
}
