// Which of the characters that an update brings and deletes are this machine's own, and which the
// others'. A service sends back what this machine sent where the answer that acknowledges it was
// lost, or is still to come.
//
// What comes back shows nothing of what others deleted besides, and whoever wrote behind it may
// have known of it. What was written here behind it is as new as ever, and so is what others
// deleted of that. Text that is here and in an update proves nothing alone: who has the same file
// makes the same characters.
import type { Kysely } from "kysely";
import { type IntegratedClocks, textRangesOf } from "../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import {
  broughtIn,
  deletedIn,
  difference,
  type IdRanges,
  intersection,
  union,
} from "../../shared/replica/text/id-ranges.ts";
import { echoIn, type LocalRows } from "../home/outgoing.ts";
import type { DaemonTables } from "../home/tables.ts";

const NONE: IdRanges = new Map();

/** An update of others, and what it meets here. */
interface Met {
  readonly ackedSeq: number;
  readonly update: Uint8Array;
  /** What was written here and is not acknowledged. */
  readonly unheard: Uint8Array;
  /** What was here before the update. */
  readonly integrated: IntegratedClocks;
}

/** The ids of the text's characters that each side wrote and deleted. */
export interface Meeting extends MySide {
  readonly theirs: IdRanges;
  readonly byThem: IdRanges;
  /** All that they wrote, with what is gone again: nothing tells what that said. */
  readonly came: IdRanges;
  /**
   * What was written here behind what comes back, and upon it; undefined where no text does. It
   * meets the others once more: for it, what comes back is what both sides had before.
   */
  readonly behind: MySide | undefined;
  /** What this machine deleted, without what comes back: of that the others may have known. */
  readonly unheardOf: IdRanges;
}

/** What this machine did. */
export interface MySide {
  readonly mine: IdRanges;
  readonly byMe: IdRanges;
  /** What both sides deleted of what was there before either, as far as that is known. */
  readonly both: IdRanges;
}

export async function meetingOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  met: Met,
): Promise<Meeting> {
  const { ackedSeq, update, unheard, integrated } = met;
  const echo = await echoOf(db, open, met);
  const sent = echo ? textRangesOf(echo.sent) : NONE;
  const alike = difference(textRangesOf(update), sent);
  const mine = difference(textRangesOf(unheard), alike);
  const byMe = deletedIn(unheard);
  const byThem = difference(deletedIn(update), echo ? deletedIn(echo.sent) : NONE);
  // At first contact everything is new, and nothing tells who deleted what when.
  const isKnown = ackedSeq > 0;
  // Both may have put in order what came with what was sent.
  const meant = difference(byMe, echo?.putInOrder ?? NONE);
  const both = isKnown ? difference(intersection(meant, byThem), sent) : NONE;
  const unheardOf = echo ? echo.deletedLater : byMe;
  const later = echo?.deletedLater ?? NONE;
  const behind = { mine: difference(mine, sent), byMe: later, both: intersection(later, byThem) };
  const had: IdRanges = new Map([...integrated].map(([client, end]) => [client, [[0, end]]]));
  return {
    mine,
    theirs: textRangesOf(update, integrated),
    came: difference(broughtIn(update), had),
    byMe,
    byThem,
    both,
    behind: isKnown && sent.size > 0 ? behind : undefined,
    unheardOf,
  };
}

/** The same where both count as having deleted these characters as well. */
export function alsoByBoth(meeting: Meeting, ids: IdRanges): Meeting {
  const withIds = <Side extends MySide>(side: Side) => ({ ...side, both: union(side.both, ids) });
  return { ...withIds(meeting), behind: meeting.behind && withIds(meeting.behind) };
}

async function echoOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  { ackedSeq, update, unheard }: Met,
): Promise<LocalRows | undefined> {
  if (ackedSeq > 0) return await echoIn(db, open.id, { ackedSeq, update });
  // The whole document was sent, if anything was, and no row tells.
  const common = intersection(textRangesOf(unheard), textRangesOf(update));
  if (common.size === 0) return undefined;
  return { sent: unheard, deletedLater: NONE, putInOrder: NONE };
}
