import { holdsAnyLine, holdsEachLine, holdsLines, standsTwice } from "../text/standing-lines.ts";
import type { TextConflictRecord, TextVersion } from "./text-conflict-record.ts";
import { isGoneFromPlaces } from "./whole-place.ts";

/**
 * When a conflict of these kinds was recorded, every version with lines was in the text, perhaps in
 * several places; where a version says `isStanding`, that one alone.
 */
export const KEPT_KINDS: readonly TextConflictRecord["kind"][] = [
  "unseen",
  "moved",
  "renewed",
  "set-aside",
];

/**
 * Whether later writes have settled a conflict: the document now has what it lacked, or nothing is
 * left of one of the versions that were kept beside each other.
 */
export function isOver({ kind, versions }: TextConflictRecord, content: string): boolean {
  if (kind === "elsewhere") return versions.every(({ text }) => holdsLines(content, text));
  // A program that writes its file in steps, or an undo, has put them back.
  if (kind === "deletion")
    return versions.every(({ text, cut }) => !cut && holdsEachLine(content, text));
  if (kind === "twice") return !versions.some(({ text }) => standsTwice(content, text));
  if (isEndedByEditAlone({ kind, versions })) return false;
  if (kind !== "both" && !KEPT_KINDS.includes(kind)) return false;
  const standing = versions.filter(({ isStanding }) => isStanding);
  const kept = standing.length > 0 ? standing : versions;
  // What git put in their place may be in a file alone, which is not written while this is open.
  if (kind === "set-aside") {
    const put = versions.filter(({ isStanding }) => !isStanding);
    if (!put.every(({ text }) => holdsEachLine(content, text))) return false;
  }
  return kept.some((version) => {
    return isGone(content, version, versions.find((each) => each !== version) ?? version);
  });
}

/**
 * Whether nothing in the text ends a conflict. Of what two machines have made of one place some
 * lines may have stood nowhere when it was recorded, and a merge of a third machine's may take out
 * others: neither is a choice. So an edit has to end it; see `isEndedBy`.
 */
export function isEndedByEditAlone({ kind, versions }: Disagreement): boolean {
  return kind === "both" && versions.every(({ text }) => text !== "");
}

/** Whether an edit of the whole text has settled a conflict. */
export function isEndedBy(
  conflict: TextConflictRecord,
  { before, after }: { readonly before: string; readonly after: string },
): boolean {
  if (!isEndedByEditAlone(conflict)) return !isOver(conflict, before) && isOver(conflict, after);
  const [one, other] = conflict.versions;
  if (one.cut || other.cut) return false;
  const goneFrom = (content: string) =>
    [isGone(content, one, other), isGone(content, other, one)].filter(Boolean).length;
  const [was, is] = [goneFrom(before), goneFrom(after)];
  // Of one of which nothing was left, what somebody brings back.
  return (was === 0 && is > 0) || (was === 2 && is < 2);
}

type Disagreement = Pick<TextConflictRecord, "kind" | "versions">;

/** Whether nothing is left of the lines of a version. */
function isGone(content: string, version: TextVersion, other: TextVersion): boolean {
  if (version.text === "") return false;
  return isGoneFromPlaces(content, version, other) ?? !holdsAnyLine(content, version.text);
}
