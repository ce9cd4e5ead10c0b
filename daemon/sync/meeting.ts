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
  deletedIn,
  difference,
  type IdRanges,
  intersection,
} from "../../shared/replica/text/id-ranges.ts";
import { broughtSince, echoIn } from "../home/outgoing.ts";
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
export interface Meeting {
  readonly mine: IdRanges;
  /** What of that does not come back. */
  readonly later: IdRanges;
  readonly theirs: IdRanges;
  readonly byMe: IdRanges;
  readonly byThem: IdRanges;
  /** Of what was there before either of them, as far as it is known of both. */
  readonly both: IdRanges;
  /** Text comes back: whoever wrote behind it has put it in order already. */
  readonly isEcho: boolean;
}

export async function meetingOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  met: Met,
): Promise<Meeting> {
  const { ackedSeq, update, unheard, integrated } = met;
  const echo = await echoOf(db, open, met);
  const sent = echo ? textRangesOf(echo) : NONE;
  const alike = difference(textRangesOf(update), sent);
  const mine = difference(textRangesOf(unheard), alike);
  const byMe = deletedIn(unheard);
  const byThem = difference(deletedIn(update), echo ? deletedIn(echo) : NONE);
  const deletedByBoth = async () => {
    // At first contact everything is new, and nothing tells who deleted what when.
    if (ackedSeq === 0) return NONE;
    const both = intersection(byMe, byThem);
    if (!echo || both.size === 0) return both;
    // Both may have put in order what came with what was sent.
    return difference(both, await broughtSince(db, open.id, ackedSeq));
  };
  return {
    mine,
    later: difference(mine, sent),
    theirs: textRangesOf(update, integrated),
    byMe,
    byThem,
    both: await deletedByBoth(),
    isEcho: sent.size > 0,
  };
}

async function echoOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  { ackedSeq, update, unheard }: Met,
): Promise<Uint8Array | undefined> {
  if (ackedSeq > 0) return await echoIn(db, open.id, { ackedSeq, update });
  // The whole document was sent, if anything was, and no row tells.
  const common = intersection(textRangesOf(unheard), textRangesOf(update));
  return common.size > 0 ? unheard : undefined;
}
