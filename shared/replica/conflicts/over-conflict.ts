import {
  countLines,
  holdsAnyLine,
  holdsEachLine,
  holdsLines,
  standsTwice,
} from "../text/standing-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type { TextConflictKind, TextConflictRecord, TextVersion } from "./text-conflict-record.ts";
import { isGoneFromPlaces } from "./whole-place.ts";

type Disagreement = Pick<TextConflictRecord, "kind" | "versions">;

/** When a text has settled a conflict of a kind, and whether the conflict asks for a choice. */
interface EndRule {
  readonly isSettledIn: (versions: Disagreement["versions"], content: string) => boolean;
  readonly asks: boolean;
}

const ASKS: EndRule = { isSettledIn: isAnyGone, asks: true };

/** The table in `docs/design/conflicts.md` says what follows from these rules; a test runs it. */
const RULES: Readonly<Record<TextConflictKind, EndRule>> = {
  both: ASKS,
  unseen: ASKS,
  moved: ASKS,
  renewed: ASKS,
  "set-aside": {
    asks: true,
    // What git put in their place may be in a file alone, which is not written while this is open.
    isSettledIn: (versions, content) =>
      versions.every(({ isStanding, text }) => isStanding || holdsEachLine(content, text)) &&
      isAnyGone(versions, content),
  },
  twice: {
    asks: true,
    isSettledIn: (versions, content) => !versions.some(({ text }) => standsTwice(content, text)),
  },
  elsewhere: {
    asks: false,
    isSettledIn: (versions, content) => versions.every(({ text }) => holdsLines(content, text)),
  },
  deletion: {
    asks: false,
    // A program that writes its file in steps, or an undo, has put them back.
    isSettledIn: (versions, content) =>
      versions.every((version) => !version.cut && isBack(content, version)),
  },
  // A text has one format, and that says of no other that nobody wants it.
  format: { asks: false, isSettledIn: () => false },
};

/**
 * Whether a conflict asks which version is to stay. So it is over with an edit that takes one out
 * or mends it, although nobody has chosen by a command.
 */
export function asksForChoice({ kind }: Disagreement): boolean {
  return RULES[kind].asks;
}

/** Whether this text has settled a conflict, whoever made it so. */
export function isSettledIn({ kind, versions }: Disagreement, content: string): boolean {
  return RULES[kind].isSettledIn(versions, content);
}

/**
 * Whether later writes have settled a conflict. Of what two machines have made of one place some
 * lines may have stood nowhere when it was recorded, and a merge of a third machine's may take out
 * others: neither is a choice. So no text ends that, but an edit does; see `isEndedBy`.
 */
export function isOver(conflict: Disagreement, content: string): boolean {
  const isByEditAlone =
    conflict.kind === "both" && conflict.versions.every(({ text }) => text !== "");
  return !isByEditAlone && isSettledIn(conflict, content);
}

/**
 * Whether an edit of the whole text has settled a conflict that asks: it has taken a version out,
 * or brought one back, and left the other one out.
 */
export function isEndedBy(
  conflict: Disagreement,
  { before, after }: { readonly before: string; readonly after: string },
): boolean {
  if (!asksForChoice(conflict) || isOver(conflict, before)) return false;
  if (!isSettledIn(conflict, after)) return false;
  if (!isSettledIn(conflict, before)) return true;
  const [one, other] = conflict.versions;
  const isBack = (version: TextVersion, beside: TextVersion) =>
    isGone(before, version, beside) && !isGone(after, version, beside);
  return isBack(one, other) || isBack(other, one);
}

/** Whether nothing is left of a version that was in the text when the conflict was recorded. */
function isAnyGone(versions: Disagreement["versions"], content: string): boolean {
  const standing = versions.filter(({ isStanding }) => isStanding);
  const kept = standing.length > 0 ? standing : versions;
  return kept.some((version) => {
    return isGone(content, version, versions.find((each) => each !== version) ?? version);
  });
}

/**
 * Whether deleted lines stand again, anywhere, beside those that said the same when it was told:
 * one of another place is none of these.
 */
function isBack(content: string, { text, places }: TextVersion): boolean {
  if (!holdsEachLine(content, text)) return false;
  const lines = plainLines(text);
  const stood = places.flatMap((place) => place.stood ?? []);
  if (stood.length !== lines.length) return true;
  const [now, deleted] = [countLines(content, text), countLines(text, text)];
  return lines.every((line, at) => {
    return line.trim() === "" || (now[at] ?? 0) >= (stood[at] ?? 0) + (deleted[at] ?? 0);
  });
}

/** Nobody knows all lines of a version that was cut. */
function isGone(content: string, version: TextVersion, other: TextVersion): boolean {
  if (version.text === "" || version.cut) return false;
  return isGoneFromPlaces(content, version, other) ?? !holdsAnyLine(content, version.text);
}
