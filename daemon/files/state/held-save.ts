import type { AccountId } from "../../../shared/ids.ts";
import { isSameReason, type Reason } from "../../../shared/reasons.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import { ABSENT_HASH, hashOf } from "../../disk/read-file.ts";
import { heldAdvice } from "../../held/advice.ts";
import { whyHeld } from "../../held/judge.ts";
import { dropHeld, findHeld, type HeldItem, placeOf, putHeld } from "../../home/held-store.ts";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import type { FileContent } from "./file-edit.ts";

type Context = WriteContext<DaemonTables>;
type Db = Context["db"];

/** Why a save is held, and the same in words that follow the file's path, with what to do. */
export interface NotTaken {
  readonly why: Reason;
  readonly note: string;
}

/**
 * Holds a save that must not enter its document, and releases what was held of the file if it may.
 * `state`: what was last taken from the file or written to it. Resolves to the reason; undefined:
 * the save may enter.
 */
export async function holdSave(
  { db, now }: Context,
  open: OpenDocument,
  {
    link,
    state,
    file,
  }: { readonly link: Link; readonly state: FileState | undefined; readonly file: FileContent },
): Promise<NotTaken | undefined> {
  const place = fileOf(open, link);
  const held = await findHeld(db, place);
  const content = open.document.content();
  const isNew = file.hash !== state?.hash && file.hash !== ABSENT_HASH && file.content !== content;
  const base = state ? fileText(state) : content;
  const why = isNew
    ? await whyHeld(db, open, { text: file.content, already: [content, base] })
    : undefined;
  if (!why) {
    if (held) await dropHeld(db, place);
    return undefined;
  }
  const write = { ...place, value: file.content, base, seen: [], hash: file.hash, ...why };
  const isKnown = held?.hash === file.hash && isSameReason(held.reason, why.reason);
  if (!isKnown) await putHeld(db, { ...write, writtenAt: now });
  return { why: why.reason, note: heldAdvice({ ...place, ...why }) };
}

/** Holds a save that was not read because it exceeds a limit. */
export async function holdUnread(
  { db, now }: Context,
  account: AccountId,
  { link, reason }: { readonly link: Link; readonly reason: Reason },
): Promise<void> {
  const place = { kind: "file", account, document: link.projectId, key: link.dir } as const;
  const held = await findHeld(db, place);
  if (held && isSameReason(held.reason, reason)) return;
  const write = { ...place, value: undefined, seen: [], cause: "limit", reason } as const;
  await putHeld(db, { ...write, writtenAt: now });
}

/**
 * Holds a save that was made into a file after our file took its name, so that no path leads to it.
 * True: it is held.
 */
export async function holdLateSave(
  { db, now }: Context,
  open: OpenDocument,
  { base, file }: { readonly base: FileState; readonly file: FileContent },
): Promise<boolean> {
  const seen = fileText(base);
  const why = await whyHeld(db, open, {
    text: file.content,
    already: [open.document.content(), seen],
  });
  if (!why) return false;
  const place = { kind: "text", ...placeOf(open), key: file.hash } as const;
  await putHeld(db, {
    ...place,
    value: file.content,
    base: seen,
    seen: [],
    ...why,
    writtenAt: now,
  });
  return true;
}

/** The project's text that the service refused. While there is one, no file is written. */
export async function findRefusedText(db: Db, open: OpenDocument): Promise<HeldItem | undefined> {
  const held = await findHeld(db, { kind: "text", ...placeOf(open), key: "" });
  return held?.cause === "refused" ? held : undefined;
}

/**
 * The base of a save into a file that shows a refused text. The save counts as an edit of the text
 * before that, because its author decided about the refused part. Undefined where the file does not
 * show it.
 */
export function baseOfRefused(
  { document }: OpenDocument,
  state: FileState | undefined,
  refused: HeldItem | undefined,
): FileState | undefined {
  if (!refused || state?.hash !== hashOf(refused.value ?? "")) return undefined;
  const { form, lines } = splitForm(refused.base ?? "", document.textForm());
  return { hash: "", base: document.alignText(lines), form };
}

function fileOf(open: OpenDocument, { dir }: Link) {
  return { kind: "file", ...placeOf(open), key: dir } as const;
}
