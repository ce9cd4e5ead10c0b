import { createHash } from "node:crypto";
import { base32 } from "../../../shared/ids.ts";
import { PERSONAL_MARK } from "../../home/personal-mark.ts";
import type { MetPair } from "../memory-folders/met-pairs.ts";
import { blockText } from "./block.ts";

const ID_LENGTH = 10;
/** A value names at most this many ancestors. Older ones are known to who has had them. */
const PARENTS_MAX = 24;

/** What is to be told of a merge. */
export interface MergeNotes {
  /** Nobody knew what both texts were made of: all lines of both are there. */
  readonly isUnited: boolean;
  /** Lines that both had changed; machines of before have noted places of several lines. */
  readonly places: readonly MetPair[];
}

const NOTHING_MET: MergeNotes = { isUnited: false, places: [] };

/** One version of the personal text, as a memory's value has it. */
export interface PersonalVersion {
  /** Ten characters of base32 of the SHA-256 of the value: no version is its own ancestor. */
  readonly id: string;
  readonly text: string;
  /** The versions that it was made of, the nearest first. */
  readonly parents: readonly string[];
  /** What it tells of the merge that made it. */
  readonly notes: MergeNotes;
  readonly value: string;
}

/**
 * Reads a value. Its first line, a comment, names the versions before it; a value without one, as
 * somebody may have set it, has none.
 */
export function parseVersion(value: string): PersonalVersion {
  const [mark = "", ids = "", said = ""] = PERSONAL_MARK.exec(value) ?? [];
  const parents = ids.split(" ").filter((id) => id !== "");
  const text = blockText(value.slice(mark.length));
  return { id: idOf(value), text, parents, notes: notesIn(said, text), value };
}

/**
 * A new version of the text. `parents`: those that it is made of, the nearest first. What is to be
 * told of a merge is in its first line as well, by the numbers of lines.
 */
export function versionOf(
  text: string,
  parents: readonly string[],
  notes: MergeNotes = NOTHING_MET,
): PersonalVersion {
  const ids = [...new Set(parents)].slice(0, PARENTS_MAX).map((id) => ` ${id}`);
  const said = saidOf(notes, text);
  return parseVersion(`<!-- memsync:personal version${ids.join("")}${said} -->\n${text}`);
}

function saidOf({ isUnited, places }: MergeNotes, text: string): string {
  if (isUnited) return ` ${UNITED_MARK}`;
  const ranges = places.flatMap(({ mine, theirs }) => {
    const [one, other] = [linesOf(mine, text), linesOf(theirs, text)];
    return one && other ? [one, other] : [];
  });
  return ranges.length === 0 ? "" : ` both ${ranges.join(" ")}`;
}

/** Where lines stand in a text: the numbers of the first and the last. */
function linesOf(part: string, text: string): string | undefined {
  const at = part.trim() === "" ? -1 : `\n${text}`.indexOf(`\n${part}`);
  if (at === -1) return undefined;
  const before = text.slice(0, at).split("\n").length;
  return `${before}-${before + part.split("\n").length - 2}`;
}

function notesIn(said: string, text: string): MergeNotes {
  const lines = text.split("\n");
  const parts = [...said.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => {
    return lines
      .slice(Number(from) - 1, Number(to))
      .map((line) => `${line}\n`)
      .join("");
  });
  const places = parts.flatMap((mine, at) => {
    const theirs = at % 2 === 0 ? parts[at + 1] : undefined;
    return theirs === undefined ? [] : [{ mine, theirs }];
  });
  return { isUnited: said.trim() === UNITED_MARK, places };
}

const UNITED_MARK = "united";

/** What a block shows that was put into a file while there was no text anywhere. */
export const NO_TEXT: PersonalVersion = versionOf("", []);

function idOf(value: string): string {
  return base32(createHash("sha256").update(value).digest()).slice(0, ID_LENGTH);
}
