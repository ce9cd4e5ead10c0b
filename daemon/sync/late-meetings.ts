import { COMMIT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import {
  type IntegratedClocks,
  integratedClocks,
  tellKeptEdits,
  textRangesOf,
} from "../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { IdRanges } from "../../shared/replica/text/id-ranges.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { removedSince } from "../home/outgoing.ts";
import type { DaemonTables } from "../home/tables.ts";

const NONE: IdRanges = new Map();

/** What a document had before an update came. */
export interface BeforeMeeting {
  /** The commits that two machines have told of without knowing of each other. */
  readonly met: ReadonlySet<string>;
  readonly integrated: IntegratedClocks;
  readonly text: string;
}

export function beforeMeeting(open: OpenDocument): BeforeMeeting {
  const text = open.document.content();
  return { met: metCommits(open), integrated: integratedClocks(open), text };
}

function metCommits({ document: { metadata } }: OpenDocument): ReadonlySet<string> {
  const keys = [...metadata.keys()].filter((key) => key.startsWith(COMMIT_PREFIX));
  return new Set(keys.filter((key) => metadata.get(key).length > 1));
}

/**
 * Tells lines that an update brings and this machine has taken out before, where the two had read
 * one commit apart. What was taken out the service has already, without its text: only this
 * machine's log says what that was. Belongs behind all else that tells of the meeting.
 */
export async function tellLateMeeting(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  { before, update }: { readonly before: BeforeMeeting; readonly update: Uint8Array },
): Promise<void> {
  const isLate = [...metCommits(open)].some((key) => !before.met.has(key));
  if (!isLate) return;
  const removed = await removedSince(context.db, open.id, 0);
  const said = removed.flatMap(({ text }) => text.split("\n").map(withoutMark)).filter(hasWord);
  const back = { mine: new Set(said), theirs: new Set<string>() };
  const text = open.document.content();
  const theirs = textRangesOf(update, before.integrated);
  const sides = {
    mine: NONE,
    theirs,
    deleted: { both: NONE, mine: NONE, theirs: NONE },
    back,
    texts: { base: undefined, mine: before.text, theirs: text },
  };
  const readLines = () => [];
  await tellKeptEdits(context, open, { sides, put: [], moved: undefined, readLines });
}
