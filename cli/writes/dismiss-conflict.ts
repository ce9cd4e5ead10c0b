import type { TextConflictKind } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { holdsEachLine } from "../../shared/replica/text/standing-lines.ts";
import { finderFor } from "../local/find-version.ts";
import type { PlacedVersion, TextConflict } from "../local/local-conflicts.ts";
import { CommandFailed } from "../screen/errors.ts";
import { bringAllBack } from "./bring-all-back.ts";
import type { TextChoice } from "./save.ts";
import { settle } from "./settle-conflict.ts";

/**
 * What dismissing a conflict changes: everything stays. What git put in the place of lines that it
 * set aside is only in a file, which is written once the conflict is settled. So it comes into the
 * document, beside those lines. Throws if it was too long to be stored in the conflict.
 */
export function dismissal(conflict: TextConflict): TextChoice {
  const { record, versions, id } = conflict;
  const missing = versions.filter(
    (version) => record.kind === "set-aside" && !version.isStanding && isMissing(conflict, version),
  );
  if (missing.some(({ cut }) => cut)) throw tooLong(id);
  return keepAll(conflict, missing).choice;
}

/**
 * What it comes to that both versions are to stand: those that are missing are put in, and the
 * conflict is settled. `there`: how many of their lines were in the document already.
 */
export function keepAll(
  conflict: TextConflict,
  missing: readonly PlacedVersion[],
): { readonly choice: TextChoice; readonly there: number } {
  const { content: base, seenSeq } = conflict;
  const { content, there } = bringAllBack(conflict, missing);
  const steps = [base, withoutKept(conflict), content];
  const values = steps.filter((text, at) => at > 0 && text !== steps[at - 1]);
  return { choice: { base, values, seenSeq, settles: [conflict] }, there };
}

/**
 * The text without the lines that are to stay, for a first step: like what is chosen they are
 * written anew, so that they stay where another machine has chosen them away meanwhile.
 */
function withoutKept(conflict: TextConflict): string {
  const { content, record, versions } = conflict;
  const standing = versions.findIndex(({ isStanding }) => isStanding);
  const isAside = record.kind === "set-aside";
  if (isAside ? standing === -1 : !KEEPING_BOTH.includes(record.kind)) return content;
  for (const chosen of isAside ? [standing] : [0, 1]) {
    try {
      return settle(conflict, chosen).without;
    } catch (thrown) {
      // If nobody can say which lines they are, no other machine's choice takes them out either.
      if (!(thrown instanceof CommandFailed)) throw thrown;
    }
  }
  return content;
}

/** The kinds of which a choice takes lines out that `dismiss` leaves. */
const KEEPING_BOTH: readonly TextConflictKind[] = ["both", "unseen", "renewed", "twice"];

/** Whether the document lacks lines of a version where they stood, or anywhere. */
function isMissing({ content, record, versions }: TextConflict, version: PlacedVersion): boolean {
  if (!hasWord(version.text)) return false;
  const other = versions.find((each) => each !== version) ?? version;
  const known = finderFor(record.kind)(content, version, other);
  if (!known) return !holdsEachLine(content, version.text);
  return known.missing.some(({ text }) => hasWord(text));
}

function tooLong(id: string): CommandFailed {
  return new CommandFailed(
    `what git put into the file is too long to be kept here whole, and would be gone with ${id}: ` +
      "save the file with the document's text and what you want of its own, and it is settled",
  );
}
