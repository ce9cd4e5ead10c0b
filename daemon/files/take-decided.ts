import {
  listTextConflicts,
  type NewTextConflict,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { Arrival } from "./arrivals/arrivals.ts";
import { ABSENT, type FileState } from "./lines/file-state.ts";
import { settleNobodys } from "./lines/nobodys-lines.ts";
import type { HoldingConflicts } from "./saves/aside-conflicts.ts";
import { type BroughtBack, conflictsOfBack, findBroughtBack } from "./saves/brought-back.ts";
import { meetFile, renewFile } from "./saves/meet-file.ts";
import { noteShown } from "./saves/note-arrival.ts";
import { findPutBackCopy } from "./saves/put-back-copy.ts";
import { record, type TakenSave, takeEdit, unconflicted } from "./saves/take-edit.ts";
import type { TakeOptions } from "./saves/taken-sight.ts";
import type { FollowDecision } from "./state/decide-following.ts";
import { type FileContent, knownBase } from "./state/file-edit.ts";
import type { Sight } from "./state/follow-facts.ts";
import type { FollowedState } from "./state/follow-store.ts";
import { isClearedFor } from "./state/followed-imports.ts";
import { type CameByGit, listUnseenBy } from "./tracked/came-by-git.ts";
import { forgetSettled, hasReadBeside, notRead, readInMarks } from "./tracked/settled-in-git.ts";
import { settledMeanwhile, withBrought } from "./tracked/settled-meanwhile.ts";
import { baseOfEdit, keptAside, takeGitVersion } from "./tracked/take-git-version.ts";

type Context = WriteContext<DaemonTables>;

/** A file that was found, and what was decided about it. */
export interface DecidedSight {
  readonly decision: FollowDecision;
  readonly sight: Sight;
  readonly file: FileContent;
  /** What is known of the file from before. */
  readonly known: FollowedState | undefined;
  readonly holding: HoldingConflicts;
  /** `came`: what was noted of the texts before this one. */
  readonly options: TakeOptions & { readonly came: readonly CameByGit[] };
}

/**
 * Makes what was decided about a file into edits of the document. What git set aside stays, until
 * a save contains it again or somebody settles the conflict.
 */
export async function takeDecided(
  context: Context,
  open: OpenDocument,
  decided: DecidedSight,
): Promise<TakenSave> {
  const { decision, sight, file, known, holding } = decided;
  const isSave = decision === "edit" || decision === "version";
  const back = isSave && known ? findBroughtBack(open, known, file) : undefined;
  const last = back?.base ?? known?.base;
  const { settled } = holding;
  const meanwhile =
    isSave && last && settled.length > 0
      ? settledMeanwhile(open, knownBase(open, last), { file, settled })
      : undefined;
  const base = meanwhile?.base ?? last;
  const from = known && base && { ...known, base };
  const taken = await takeFrom(context, open, { ...decided, known: from });
  holding.settleAside(file.content);
  if (!known || !isSave) return taken;
  const isVersion = decision === "version";
  const aside = await keptAside(context, open, { sight, file, known, isVersion });
  const ofBack = back ? await toldOf(context, open, { back, taken, file }) : [];
  const conflicts = [...ofBack, ...(meanwhile?.conflicts ?? []), ...aside];
  const told = await record(context, open, { conflicts });
  const { state } = taken;
  const isPutBack = sight.leftBehind !== undefined || isVersion;
  return {
    ...taken,
    state: { ...state, base: isPutBack ? settleNobodys(state.base) : state.base },
    conflicts: [...taken.conflicts, ...told],
    aside: [...(taken.aside ?? []), ...aside],
  };
}

async function takeFrom(
  context: Context,
  open: OpenDocument,
  decided: DecidedSight,
): Promise<TakenSave> {
  const { decision, sight, file, options } = decided;
  const known = decided.known ?? ABSENT;
  switch (decision) {
    case "edit":
      return await takeAsEdit(context, open, decided);
    case "version":
      return await takeGitVersion(context, open, {
        sight,
        file,
        known: decided.known,
        unseen: await unseenBy(context, decided),
      });
    case "meet":
      return await meetFile(context, open, file);
    case "renew":
      return await renewFile(context, open, { known, file, options });
    case "follow":
      return unconflicted(await followed(context, open, decided));
    default:
      return unconflicted(ABSENT);
  }
}

async function takeAsEdit(
  context: Context,
  open: OpenDocument,
  decided: DecidedSight,
): Promise<TakenSave> {
  const { sight, file, known, holding, options } = decided;
  const { clock, link, goneMs } = options;
  const unseen = await unseenBy(context, decided);
  const { base, undone, settled } = await baseOfEdit(context, open, {
    sight,
    known: withoutCleared(open, known ?? ABSENT, file),
    unseen,
    setAside: holding.aside,
  });
  const isSeen = settled !== undefined && hasReadBeside(settled, sight);
  // No look finds what came while git's marks stand in the file: then the time alone counts.
  const young = settled ? clock.unseenAt(unseen, file.savedAt) : unseen;
  const read = settled && !isSeen ? new Set<string>() : readInMarks(base, sight);
  const save = { dir: link.dir, known: base, file, unseen, goneMs, sight };
  const old = await findPutBackCopy(context, open, save);
  const taken = await takeEdit(context, open, {
    known: base,
    file,
    unseen: isSeen ? [] : [...notRead(young, base, read), ...old],
    read,
    isPulled: sight.past?.relation === "onward",
    besides: undone,
    aside: holding.aside,
  });
  forgetSettled(open, settled, isSeen);
  return taken;
}

/** What whoever saved a text may not have seen. */
async function unseenBy(
  { db }: Context,
  { sight, file, options: { clock, came, link } }: DecidedSight,
): Promise<Arrival[]> {
  return await listUnseenBy(db, link.dir, { sight, savedAt: file.savedAt, came, clock });
}

/** Nobody disagrees about lines that somebody cleared so that an import takes their place. */
function withoutCleared(open: OpenDocument, known: FileState, file: FileContent): FileState {
  const isCleared = isClearedFor(file.content, known.base.text, open.document.content());
  return isCleared ? { ...known, base: ABSENT.base } : known;
}

/** The same bytes may consist of other characters of the document by now. */
async function followed(
  context: Context,
  open: OpenDocument,
  { file, holding: { settled }, options, ...decided }: DecidedSight,
): Promise<FileState> {
  const { document } = open;
  const known: FileState = decided.known ?? ABSENT;
  if (document.content() !== file.content) {
    if (settled.length === 0) return known;
    return { ...known, base: withBrought(open, knownBase(open, known.base), settled) };
  }
  const captured = { ...known, base: document.captureText(), form: document.textForm() };
  await noteShown(context, open, { from: known, to: captured, options });
  return captured;
}

async function toldOf(
  context: Context,
  open: OpenDocument,
  {
    back,
    taken: { conflicts },
    file: { savedAt },
  }: { back: BroughtBack; taken: TakenSave; file: FileContent },
): Promise<NewTextConflict[]> {
  const told = listTextConflicts(open.document).filter(({ id }) => conflicts.includes(id));
  return await conflictsOfBack(context, open, { back, told, savedAt });
}
