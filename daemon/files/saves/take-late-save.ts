import type { AccountId } from "../../../shared/ids.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { hashOf } from "../../disk/read-file.ts";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { ArrivalClock } from "../arrivals/arrival-clock.ts";
import { listUnseen } from "../arrivals/arrival-store.ts";
import type { FileState } from "../lines/file-state.ts";
import type { FileContent } from "../state/file-edit.ts";
import { type FollowedState, writeFollowed } from "../state/follow-store.ts";
import { holdLateSave } from "../state/held-save.ts";
import { keepSave, type SavedText } from "../state/save-history.ts";
import { isHalfLine, withoutMissingEnd } from "../state/unfinished.ts";
import { findPutBackCopy } from "./put-back-copy.ts";
import { takeEdit } from "./take-edit.ts";

/** What a late save is taken with. */
export interface LateOptions {
  readonly account: AccountId;
  readonly link: Link;
  readonly clock: ArrivalClock;
  /** What may have been half written when the file was removed. Nobody will finish it. */
  readonly vanished?: SavedText | undefined;
}

/**
 * Takes a save from a replaced file, which had `base` when it lost its name. Returns the file's
 * new state.
 */
export async function takeLateSave(
  context: WriteContext<DaemonTables>,
  base: FileState,
  { file, account, link, clock }: { readonly file: FileContent } & Omit<LateOptions, "vanished">,
): Promise<FileState> {
  const open = await context.open(projectDocument(account, link.projectId));
  const save = { dir: link.dir, content: file.content, savedAt: file.savedAt };
  if (await holdLateSave(context, open, { base, file })) {
    await keepSave(context, open, { ...save, outcome: "held", conflicts: [] });
    return { ...base, hash: file.hash };
  }
  const unseen = await listUnseen(context.db, link.dir, { clock, savedAt: file.savedAt });
  const asked = { dir: link.dir, known: base, file, unseen };
  const old = await findPutBackCopy(context, open, asked);
  const edit = { known: base, file, unseen: [...unseen, ...old] };
  const { state, conflicts } = await takeEdit(context, open, edit);
  const outcome = conflicts.length > 0 ? "conflict" : "taken";
  await keepSave(context, open, { ...save, outcome, conflicts });
  return state;
}

/**
 * Stores that the file is gone. What may have been half written then is taken: nobody will finish
 * it, and what is missing at its end deletes nothing. A half line stays in the history only.
 */
export async function leaveGone(
  context: WriteContext<DaemonTables>,
  known: FollowedState,
  { vanished, ...options }: LateOptions,
): Promise<void> {
  const file = vanished && { ...vanished, hash: hashOf(vanished.content) };
  const taken =
    file && !isHalfLine(known, file)
      ? await takeLateSave(context, withoutMissingEnd(known, file), { ...options, file })
      : undefined;
  await writeFollowed(context.db, options.link.dir, { ...known, ...taken, isGone: true });
}
