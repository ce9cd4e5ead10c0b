// What a service's answers and frames do to a document here, by what its client knows of them.
//
//   new ──served──▶ level ──write here──▶ ahead ──served──▶ level
//    └─served (something was written here meanwhile)─▶ ahead
//
//   level ─┬─reset or missing, update not acceptable─▶ new
//   ahead ─┘
//
// `new`: no position. `level`: a position, and nothing to send. `ahead`: rows that are not
// acknowledged. The table of all states and events is in PROTOCOL.md; a test runs it.
import type { Kysely } from "kysely";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import type { Reason } from "../../shared/reasons.ts";
import { listOpenConflicts } from "../../shared/replica/conflicts/shared-version.ts";
import {
  forgetEnded,
  listTextConflicts,
  type TextConflictRecord,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findCarriedOff } from "../../shared/replica/merge/carried-off.ts";
import { tellCopiesApart } from "../../shared/replica/merge/copies-apart.ts";
import type { PutLine } from "../../shared/replica/merge/doubles.ts";
import type { MetSides, SideTexts } from "../../shared/replica/merge/kept-edits.ts";
import { findMovedLines } from "../../shared/replica/merge/moved-lines.ts";
import { putAgain } from "../../shared/replica/merge/put-again.ts";
import { askAgain, tellSettledApart } from "../../shared/replica/merge/settled-apart.ts";
import { readSideLines, type SideLine, textOfSide } from "../../shared/replica/merge/side-lines.ts";
import {
  apartStarts,
  cleanUpText,
  deletedText,
  followSections,
  integratedClocks,
  tellForms,
  tellKeptEdits,
  tellSharedVersions,
  textIn,
  textRangesOf,
} from "../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { difference, type IdRanges } from "../../shared/replica/text/id-ranges.ts";
import { piecesOf, wholeLines } from "../../shared/replica/text/removed-text.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { TextSpan } from "../../shared/replica/text/text-spans.ts";
import type { DocumentAnswer } from "../../shared/wire/exchange.ts";
import type { Position } from "../../shared/wire/position.ts";
import { noteMetLines } from "../files/state/met-lines.ts";
import { type Outgoing, removedSince, unacknowledged } from "../home/outgoing.ts";
import { readPosition, type SyncPosition, writePosition } from "../home/positions.ts";
import { forgetSentSessions } from "../home/session-records.ts";
import type { DaemonTables } from "../home/tables.ts";
import { alsoByBoth, type Meeting, meetingOf } from "./meeting.ts";
import { writeUnderAnotherId } from "./own-writes.ts";
import { tellReadApart, toldCommits } from "./read-apart.ts";
import {
  type EndingSides,
  findWantedGone,
  leftOutByBoth,
  toldAnew,
  type WantedGone,
} from "./wanted-gone.ts";

type Context = WriteContext<DaemonTables>;

/** The first row of a log that was empty is the service's answer: it needs no acknowledgement. */
const FIRST_ROW = 1;

/** How an answer about one document was applied. */
export interface TakenAnswer {
  /** There is more to exchange at once: what was written meanwhile has waited. */
  readonly again: boolean;
}

/** Applies the answer about one document, its update and the new position, in one transaction. */
export async function applyAnswer(
  context: Context,
  service: string,
  {
    open,
    sent,
    answer,
  }: { readonly open: OpenDocument; readonly sent: Outgoing; readonly answer: DocumentAnswer },
): Promise<TakenAnswer> {
  const { db } = context;
  const position = await readPosition(db, service, open.id);
  const save = (changes: Partial<SyncPosition>) =>
    writePosition(db, service, {
      documentId: open.id,
      position: { ...position, refused: undefined, ...changes },
    });
  if ("forbidden" in answer) {
    // A token that may only read gets an answer to what asks for nothing to be written.
    const code = sent.request.update ? "token-forbids" : "out-of-reach";
    await save({ refused: { code } });
    return { again: false };
  }
  if ("refused" in answer) {
    await save({ refused: { code: "service-refused", said: answer.refused.message } });
    return { again: false };
  }
  const wasEmpty = open.head.seq === 0;
  if (answer.update) {
    const problem = await applyRemote(context, open, {
      ackedSeq: position.ackedSeq,
      update: answer.update,
    });
    if (problem === "own") {
      await writeUnderAnotherId(context, service, open);
      return { again: true };
    }
    if (problem !== undefined) {
      await save({ remote: undefined, ackedSeq: 0, refused: problem });
      return { again: false };
    }
  }
  if (answer.reset || answer.missing) {
    // As at first contact. What the service holds now it may have lost at the next call: it may be
    // restored from a copy once more, and nothing would show that.
    await save({ remote: undefined, ackedSeq: 0 });
    // Records have no positions: what a service lacks of them shows by its documents alone.
    await forgetSentSessions(db, open.address.owner);
    return { again: true };
  }
  await context.flush(open);
  const remote = laterOf(position.remote, { epoch: answer.epoch, seq: answer.seq });
  const acked = sent.firstContact ? 0 : Math.max(sent.throughSeq, position.ackedSeq);
  const ackedSeq = Math.max(acked, wasEmpty ? Math.min(open.head.seq, FIRST_ROW) : 0);
  await save({ remote, ackedSeq });
  const again = sent.firstContact ? ackedSeq === 0 && open.head.seq > 0 : sent.more;
  return { again };
}

/** Frames that the other position does not include may have been applied. */
function laterOf(known: Position | undefined, answered: Position): Position {
  return known?.epoch === answered.epoch && known.seq > answered.seq ? known : answered;
}

/** For each document: up to which position the service's frames include what this machine sent. */
export type Echoes = Map<number, Position>;

/**
 * Applies a frame's update if it is the next one of its document; otherwise changes nothing. The
 * echo of what this machine sent is not written again: the answer to that call brings the position.
 */
export async function applyFrame(
  context: Context,
  service: string,
  {
    open,
    frame,
    echoes,
  }: {
    readonly open: OpenDocument;
    readonly frame: { readonly epoch: string; readonly seq: number; readonly update?: Uint8Array };
    readonly echoes: Echoes;
  },
): Promise<"taken" | "known" | "fetch"> {
  const position = await readPosition(context.db, service, open.id);
  if (!position.remote) return "fetch";
  const remote = laterOf(echoes.get(open.id), position.remote);
  const { epoch, seq } = frame;
  if (remote.epoch === epoch && remote.seq >= seq) return "known";
  const isNext = remote.epoch === epoch && remote.seq + 1 === seq;
  if (!isNext || !frame.update) return "fetch";
  const wasEmpty = open.head.seq === 0;
  const problem = await applyRemote(context, open, {
    ackedSeq: position.ackedSeq,
    update: frame.update,
  });
  if (problem !== undefined) return "fetch";
  if (!open.dirty) {
    echoes.set(open.id, { epoch, seq });
    return "known";
  }
  const ackedSeq = wasEmpty ? FIRST_ROW : position.ackedSeq;
  await writePosition(context.db, service, {
    documentId: open.id,
    position: {
      ...position,
      remote: { epoch, seq },
      ackedSeq,
    },
  });
  return "taken";
}

/**
 * The service's document and the writes that wait here may each have the size limit of a document:
 * a replica full of its own writes still takes everybody else's.
 */
const REPLICA_BYTES_MAX = 2 * LIMITS.documentBytes;

/**
 * Applies an update from the service. If this machine has edits of the text that the service did
 * not have, lines that both sides wrote are cleaned up in the same transaction, and text of one
 * side in place of lines that the other deleted becomes a conflict. Resolves to what is wrong with
 * an update that can't be applied; nothing is changed then. `own`: see `writeUnderAnotherId`.
 */
export async function applyRemote(
  context: Context,
  open: OpenDocument,
  { ackedSeq, update }: { readonly ackedSeq: number; readonly update: Uint8Array },
): Promise<Reason | "own" | undefined> {
  const unheard = await unheardOf(context.db, open, ackedSeq);
  const integrated = integratedClocks(open);
  const commits = toldCommits(open);
  const has = open.document.content();
  const gone = unheard && deletedText(open);
  const shown = unheard || commits.size > 0 ? piecesOf(open.document.captureText()) : [];
  const stood = new Set(unheard && plainLines(open.document.content()));
  const before = unheard ? open.document.text.toString() : "";
  const disagreed = unheard ? listOpenConflicts(open.document) : [];
  const recorded = new Set(unheard && listTextConflicts(open.document).map(({ id }) => id));
  const admission = open.applyUpdate(update, REPLICA_BYTES_MAX);
  if (admission.kind === "missing") return { code: "update-gap" };
  if (admission.kind === "refused" && admission.isOwn) return "own";
  if (admission.kind === "refused") return { code: "update-unacceptable", said: admission.message };
  await tellForms(context, open);
  const put: PutLine[] = [];
  if (unheard && gone) {
    const arrived = { ackedSeq, update, unheard, integrated };
    const meeting = await meetingOf(context.db, open, arrived);
    const removed = await removedSince(context.db, open.id, ackedSeq);
    const doubted = { known: recorded, unheard, ...meeting, removed, shown };
    // At first contact everything is new, and nothing tells who deleted what when.
    const wanted = ackedSeq > 0 ? await endedUnheard(context, open, { ...doubted, gone }) : NONE;
    const { mine, theirs, came, byMe, byThem, both, behind } = alsoByBoth(meeting, wanted.ids);
    const vanished = [...textIn(unheard), ...removed];
    const taken = { mine: byMe, theirs: difference(byThem, gone) };
    const deleted = { both, ...taken };
    let ofSides: Pick<MetSides, "texts" | "carried"> = {};
    let apart: ReadonlySet<number> = new Set();
    let readLines: () => SideLine[] = () => [];
    if (ackedSeq > 0) {
      const met = { mine, theirs: came, deleted, removed: [...removed, ...shown] };
      const lines = readSideLines(open.document.text, met);
      if (behind) {
        // Whoever sent that has put in order already what this machine had sent.
        apart = apartStarts(lines);
      } else {
        ofSides = { texts: textsOfSides(lines, before), carried: findCarriedOff(lines) };
        readLines = () => readSideLines(open.document.text, met);
        ({ apart } = await followSections(context, open, { ...met, lines, disagreed }));
      }
    }
    const again = putAgain({
      deleted: { mine: byMe, theirs: byThem },
      removed: { mine: removed, theirs: shown },
    });
    const later = { mine: behind?.mine ?? mine, theirs, removed, vanished };
    const meetings = [{ mine, byMe, both }, ...(behind ? [behind] : [])].map((side) => {
      const moved = findMovedLines(open.document.text, { ...later, both: side.both });
      return { ...side, moved };
    });
    const takenLines = { mine: wholeLines(removed, byMe), theirs: stood };
    const ended = new Set(wanted.ended.map(({ id }) => id));
    const facts = { again, apart, texts: ofSides.texts, readLines, ended };
    const met: TextSpan[] = [];
    const found: string[] = [];
    for (const { mine, byMe, both, moved } of meetings) {
      const cleaned = await cleanUpText(context, open, { mine, theirs, both, ...facts });
      met.push(...cleaned.met);
      put.push(...cleaned.put);
      found.push(...cleaned.conflicts);
      if (ackedSeq === 0) continue;
      const deleted = { both, mine: byMe, theirs: taken.theirs };
      const sides = { mine, theirs, deleted, taken: takenLines, again, met, ...ofSides };
      const kept = { sides, put, moved, readLines, ended };
      found.push(...(await tellKeptEdits(context, open, kept)));
    }
    for (const record of toldAnew(open, wanted.ended, found)) forgetEnded(open.document, record);
    await askAgain(context, open, leftOutByBoth(open, wanted.chosen));
    await tellSharedVersions(context, open, disagreed);
    await noteMetLines(context, open, met);
  }
  if (ackedSeq > 0) {
    const theirs = textRangesOf(update, integrated);
    const arrived = { commits, has, shown, integrated, update, theirs, put };
    await tellReadApart(context, open, arrived);
  }
  return undefined;
}

const NONE: WantedGone = { ended: [], chosen: [], ids: new Map() };

/** What one side has ended unheard; what both have left at other places is told first. */
async function endedUnheard(
  context: Context,
  open: OpenDocument,
  { gone, ...sides }: EndingSides & Meeting & { readonly gone: IdRanges },
): Promise<WantedGone> {
  const { mine, came, unheardOf, byThem, both, removed, shown } = sides;
  const wanted = findWantedGone(open, sides);
  const deleted = { both, mine: unheardOf, theirs: difference(byThem, gone) };
  const all = { mine, theirs: came, deleted, removed: [...removed, ...shown] };
  const readLines = () => readSideLines(open.document.text, all);
  const reopened = await tellSettledApart(context, open, readLines);
  await tellCopiesApart(context, open, readLines());
  const isOver = ({ id }: TextConflictRecord) => !reopened.includes(id);
  const { ended, chosen, ids } = wanted;
  return { ended: ended.filter(isOver), chosen: chosen.filter(isOver), ids };
}

/** The texts of two sides, `mine` being that of before they met. */
function textsOfSides(lines: readonly SideLine[], mine: string): SideTexts | undefined {
  const theirs = textOfSide(lines, "theirs");
  return theirs === undefined ? undefined : { base: textOfSide(lines, "base"), mine, theirs };
}

/** What this replica has and the service may lack: everything, before the first acknowledgement. */
async function unheardOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  ackedSeq: number,
): Promise<Uint8Array | undefined> {
  if (ackedSeq > 0) return (await unacknowledged(db, open.id, { ackedSeq }))?.update;
  return open.head.seq === 0 ? undefined : Y.encodeStateAsUpdate(open.document.ydoc);
}
