import { FOLLOWED_NAMES, type Followable, isFollowedName } from "../disk/followable-files.ts";
import type { FileRead } from "../disk/read-file.ts";
import { areAlike, hasCommonLine } from "./lines/alike-texts.ts";
import { contentLines } from "./lines/text-lines.ts";
import type { FollowedState, KnownTarget } from "./state/follow-store.ts";

/** Where a file goes on whose name is a link now, or whose link leads to it no more. */
export interface LeftLink {
  /** `isGone`: its text is another one, or it is missing: it is met like one made anew. */
  readonly state: FollowedState;
  /** The former file is still there, under a path of its own. */
  readonly isFormerThere: boolean;
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
 * that saves by a rename, goes on there: the link was what counted. A link that takes the place of
 * the file, or is back there, stands for its target. Whoever deletes the link wants its target to
 * be shared no more, unless that is a file that counts by itself.
 */
export async function findLeftLink(facts: LeftLinkFacts): Promise<LeftLink | undefined> {
  const { found, stored, chosen } = facts;
  const { path, linkedAs } = stored;
  const named = linkedAs ?? path;
  const isThere = found.some((each) => each.path === path);
  const own = found.find((each) => each.path !== path && namesOf(each).includes(named));
  const isOwn = own !== undefined && own.problem === undefined && own.inode !== undefined;
  if (isOwn && named === path) return await enterLink(facts, own);
  if (isOwn && chosen !== path) return await leaveTarget(facts, own, isThere);
  if (isThere || isFollowedName(path)) return undefined;
  const name = linkedAs ?? (await facts.nameInUse()) ?? FOLLOWED_NAMES[0];
  // So a link that comes back under this name counts, also where git brings it.
  const state = { ...stored, path: name, linkedAs, target: targetOf(stored), next: undefined };
  return { state, isFormerThere: true };
}

/** The link's name has a file of its own now, or leads elsewhere. */
async function leaveTarget(
  { stored, readAt }: LeftLinkFacts,
  own: Followable,
  isThere: boolean,
): Promise<LeftLink | undefined> {
  const read = await readAt(own.path);
  const text = read.kind === "text" ? read.content : "";
  // A program may be about to write the text.
  if (text.trim() === "" && isThere) return undefined;
  const { text: former } = stored.base;
  const isGone = former.trim() !== "" && !hasCommonLine(former, text);
  const isLed = own.path !== own.name;
  const state = { ...stored, ...placeOf(own), isGone, next: undefined };
  return { state: isLed ? state : { ...state, target: targetOf(stored) }, isFormerThere: true };
}

/** The file's name is a link now. */
async function enterLink(
  { stored, readAt }: LeftLinkFacts,
  own: Followable,
): Promise<LeftLink | undefined> {
  const read = await readAt(own.path);
  const { target: known, ...file } = stored;
  if (known?.path === own.path) {
    const text = read.kind === "text" ? read : undefined;
    const isMadeFromFile = text !== undefined && isMadeFrom(text, file, known);
    const state = isMadeFromFile ? file : known;
    return { state: { ...state, ...placeOf(own), next: undefined }, isFormerThere: false };
  }
  const former = stored.base.text;
  if (former.trim() === "" || read.kind !== "text") return undefined;
  const cameSince = stored.beside !== undefined && !stored.beside.includes(own.path);
  const isSame = read.hash === stored.hash;
  // A text that stood beside it is another one: somebody may mean either.
  const isGone = !isSame && !(cameSince && areAlike(former, read.content));
  const state = { ...file, ...placeOf(own), isGone, next: undefined };
  return { state, isFormerThere: false };
}

/**
 * Whether the target's text was made from that of the file that stood in the link's place: it has
 * all that came there since. What came there and is not in the target was never in the target, and
 * so nobody has deleted it.
 */
function isMadeFrom(
  { content, hash }: { readonly content: string; readonly hash: string },
  file: Pick<FollowedState, "base">,
  target: KnownTarget,
): boolean {
  if (hash === target.hash) return false;
  const [had, has] = [target.base.text, content].map((text) => new Set(contentLines(text)));
  const came = contentLines(file.base.text).filter((line) => !had?.has(line));
  // Where lines only went, the target says nothing of that: it may have them from before.
  return came.length > 0 && came.every((line) => has?.has(line));
}

function targetOf({ next: _, target: __, ...known }: FollowedState): KnownTarget {
  return known;
}

function placeOf({ name, path }: Followable): Pick<FollowedState, "path" | "linkedAs"> {
  return { path, linkedAs: name === path ? undefined : name };
}

function namesOf({ name, otherNames = [] }: Followable): readonly string[] {
  return [name, ...otherNames];
}
