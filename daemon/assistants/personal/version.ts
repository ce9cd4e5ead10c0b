import { createHash } from "node:crypto";
import { base32 } from "../../../shared/ids.ts";
import { blockText } from "./block.ts";

/** The key of the memory that the personal text is. */
export const PERSONAL_KEY = "personal/instructions";

const ID_LENGTH = 10;
/** So many ancestors are named in a value. Older ones are known to who has had them. */
const PARENTS_MAX = 24;
const MARK = /^<!--\s+memsync:personal\s+version((?:\s[a-z2-7]{10})*)\s+-->\r?\n?/;

/** One version of the personal text, as a memory's value has it. */
export interface PersonalVersion {
  /** Ten characters of base32 of the SHA-256 of the value: no version is its own ancestor. */
  readonly id: string;
  readonly text: string;
  /** The versions that it was made of, the nearest first. */
  readonly parents: readonly string[];
  readonly value: string;
}

/**
 * Reads a value. Its first line, a comment, names the versions before it; a value without one, as
 * somebody may have set it, has none.
 */
export function parseVersion(value: string): PersonalVersion {
  const [mark = "", ids = ""] = MARK.exec(value) ?? [];
  const parents = ids.split(" ").filter((id) => id !== "");
  return { id: idOf(value), text: blockText(value.slice(mark.length)), parents, value };
}

/** A new version of the text. `parents`: those that it is made of, the nearest first. */
export function versionOf(text: string, parents: readonly string[]): PersonalVersion {
  const known = [...new Set(parents)].slice(0, PARENTS_MAX);
  const value = `<!-- memsync:personal version${known.map((id) => ` ${id}`).join("")} -->\n${text}`;
  return { id: idOf(value), text, parents: known, value };
}

/** What a block shows that was put into a file while there was no text anywhere. */
export const NO_TEXT: PersonalVersion = versionOf("", []);

/** Whether a value says of itself that it is the personal text, whatever its key is. */
export function isPersonalValue(value: string): boolean {
  return MARK.test(value);
}

function idOf(value: string): string {
  return base32(createHash("sha256").update(value).digest()).slice(0, ID_LENGTH);
}
