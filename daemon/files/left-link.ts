import { FOLLOWED_NAMES, type Followable, isFollowedName } from "../disk/followable-files.ts";
import type { FileRead } from "../disk/read-file.ts";
import { hasCommonLine } from "./alike-texts.ts";
import type { FollowedState } from "./follow-store.ts";

/** Where a file goes on whose link leads to it no more. */
export interface LeftLink {
  readonly path: string;
  readonly linkedAs: string | undefined;
  /** It is missing, or its text has nothing of the former one: it is met like one made anew. */
  readonly isGone: boolean;
}

/** What decides it. */
export interface LeftLinkFacts {
  /** What is at the names now. */
  readonly found: readonly Followable[];
  readonly stored: FollowedState;
  /** The file that the user chose. */
  readonly chosen: string | undefined;
  /** By which name other machines have the file. */
  readonly nameInUse: () => Promise<string | undefined>;
  readonly readAt: (path: string) => Promise<FileRead>;
}

/**
 * Undefined: nothing has changed. Whoever puts a file in the place of the link, as a program does
 * that saves by a rename, goes on there: the link was what counted. Whoever deletes the link wants
 * its target to be shared no more, unless that is a file that counts by itself.
 */
export async function findLeftLink(facts: LeftLinkFacts): Promise<LeftLink | undefined> {
  const { found, stored, chosen } = facts;
  const { path, linkedAs } = stored;
  const isThere = found.some((each) => each.path === path);
  const own = found.find((each) => each.name === linkedAs && each.path !== path);
  const isOwn = own !== undefined && own.problem === undefined && own.inode !== undefined;
  if (isOwn && chosen !== path) {
    const read = await facts.readAt(own.path);
    const text = read.kind === "text" ? read.content : "";
    const isBlank = text.trim() === "";
    // A program may be about to write the text.
    if (isBlank && isThere) return undefined;
    const hadText = stored.base.text.trim() !== "";
    const isGone = hadText && !hasCommonLine(stored.base.text, text);
    const isLed = own.path !== own.name;
    return { path: own.path, linkedAs: isLed ? own.name : undefined, isGone };
  }
  if (isThere || isFollowedName(path)) return undefined;
  const name = linkedAs ?? (await facts.nameInUse()) ?? FOLLOWED_NAMES[0];
  // So a link that comes back under this name counts, also where git brings it.
  return { path: name, linkedAs, isGone: stored.isGone };
}
