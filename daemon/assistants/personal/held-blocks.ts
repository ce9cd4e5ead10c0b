import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import {
  dropHeld,
  type HeldDocument,
  type HeldItem,
  listHeldOf,
  placeOf,
} from "../../home/held-store.ts";
import { listPersonalFiles, type PersonalFile } from "../../home/personal-files.ts";
import { PERSONAL_KEY } from "../../home/personal-mark.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { dropRegained, type HeldTextPlace, leaveHeldText } from "../memory-folders/left-held.ts";
import { uniteLeft } from "../memory-folders/unite-left.ts";
import { parseVersion } from "./version.ts";

type Db = WriteContext<DaemonTables>["db"];

/** The place of a held text of a block: each file may have another one. */
export function heldBlockPlace(open: OpenDocument, apart: string): HeldTextPlace {
  return { kind: "memory", ...placeOf(open), key: PERSONAL_KEY, apart };
}

/** A block that no longer has the text that is held of it. */
interface LeftBlock {
  readonly file: PersonalFile;
  readonly held: string;
  /** What the block showed before. */
  readonly base: string;
  /** What it has now; undefined: nothing. */
  readonly text: string | undefined;
}

/** What becomes of that text, unless another file has it. */
export async function leaveHeldBlock(
  db: Db,
  open: OpenDocument,
  { file, held, base, text = "" }: LeftBlock,
): Promise<void> {
  const others = (await listPersonalFiles(db)).filter((each) => each.assistant !== file.assistant);
  if (others.some((each) => each.held === held)) return;
  const saved = text.trim() === "" ? undefined : text;
  await leaveHeldText(db, heldBlockPlace(open, held), { base, saved, textOf });
  await uniteLeft(db, await listLeftBlocks(db, placeOf(open)), { textOf });
}

/** A block's text is in the document; see `endHeld`. */
export async function endHeldBlock(
  db: Db,
  open: OpenDocument,
  { text, hash }: { readonly text: string; readonly hash: string },
): Promise<void> {
  await dropHeld(db, heldBlockPlace(open, hash));
  const left = await listLeftBlocks(db, placeOf(open));
  const texts = left.map((item) => ({ ...item, value: textOf(item.value ?? "") }));
  await dropRegained(db, texts, text);
}

/** Held texts that no block has any more. */
export async function listLeftBlocks(db: Db, of: HeldDocument): Promise<HeldItem[]> {
  const all = await listHeldOf(db, { kind: "memory", ...of, key: PERSONAL_KEY });
  const stands = new Set((await listPersonalFiles(db)).map(({ held }) => held));
  return all.filter(({ apart, shown }) => apart !== undefined && !shown && !stands.has(apart));
}

function textOf(value: string): string {
  return parseVersion(value).text;
}
