import { holdsAnyLine, holdsEachLine, holdsLines, standsTwice } from "../text/standing-lines.ts";
import type { TextConflictRecord } from "./text-conflict-record.ts";
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
  const isOfOne = kind === "both" && versions.some(({ text }) => text === "");
  if (!isOfOne && !KEPT_KINDS.includes(kind)) return false;
  const standing = versions.filter(({ isStanding }) => isStanding);
  const kept = standing.length > 0 ? standing : versions;
  // What git put in their place may be in a file alone, which is not written while this is open.
  if (kind === "set-aside") {
    const put = versions.filter(({ isStanding }) => !isStanding);
    if (!put.every(({ text }) => holdsEachLine(content, text))) return false;
  }
  return kept.some((version) => {
    if (version.text === "") return false;
    const other = versions.find((each) => each !== version) ?? version;
    return isGoneFromPlaces(content, version, other) ?? !holdsAnyLine(content, version.text);
  });
}
