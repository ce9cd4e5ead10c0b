import { isEndedBy } from "../../../shared/replica/conflicts/over-conflict.ts";
import type {
  NewTextConflict,
  TextConflictRecord,
  TextVersion,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { type Author, isSameMachine } from "../../../shared/replica/document/author.ts";
import { holdsAnyLine } from "../../../shared/replica/text/standing-lines.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { UNSEEN_MS } from "../arrivals/arrivals.ts";

/** A save that was taken. */
interface Taken {
  /** The conflicts that were open before. */
  readonly open: readonly TextConflictRecord[];
  /** The document's text before and after it. */
  readonly before: string;
  readonly after: string;
  readonly by: Author;
  readonly savedAt: number;
}

/**
 * What a save takes away of others', less than a minute after the last save on this machine that
 * lacked it, and that was told. It counts, or nobody could insist: the minute of these lines is
 * over. But a program that goes on with an old text saves just so, and the conflict is over with
 * its lines. So it is told.
 */
export function takenAgain({ open, before, after, by, savedAt }: Taken): NewTextConflict[] {
  const isNow = (each: TextConflictRecord) =>
    each.kind === "unseen" &&
    each.versions.some((version) => isSameMachine(version, by)) &&
    savedAt - each.foundAt < UNSEEN_MS &&
    isEndedBy(each, { before, after });
  const isGone = ({ text, ...of }: TextVersion) =>
    !isSameMachine(of, by) && holdsAnyLine(before, text) && !holdsAnyLine(after, text);
  return open.filter(isNow).flatMap(({ versions }) =>
    versions.filter(isGone).map(({ text, places }) => ({
      kind: "deletion",
      versions: [
        { text, machine: undefined, places },
        { text: "", ...by, at: savedAt },
      ],
      lines: plainLines(text).filter((line) => line.trim() !== "").length,
    })),
  );
}
