import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { FILE_KEY } from "../../../shared/replica/document/own-metadata.ts";
import { FOLLOWED_NAMES, type FollowedName, whyNotCreated } from "../../disk/followable-files.ts";
import type { Link } from "../../home/links.ts";
import { alsoNameOf } from "../names/also-file.ts";
import { slashed } from "../names/why-ignored.ts";
import type { FollowDecision } from "./decide-following.ts";
import type { Sight } from "./follow-facts.ts";

const [USUAL] = FOLLOWED_NAMES;

/**
 * The name of the file in which a project's machines have its text; undefined where none has told.
 * It came from other machines, so no other name counts.
 */
function projectFileName({
  metadata,
}: Pick<ReplicaDocument, "metadata">): FollowedName | undefined {
  const told = metadata.get(FILE_KEY)[0]?.value;
  return FOLLOWED_NAMES.find((name) => slashed(name) === told);
}

/**
 * The name under which a folder that has no file gets one: the same, where that file would be in
 * the folder. Undefined: the usual one.
 */
export async function nameToCreate(
  dir: string,
  document: Pick<ReplicaDocument, "metadata">,
): Promise<FollowedName | undefined> {
  const name = projectFileName(document);
  return name && (await whyNotCreated(dir, name)) ? undefined : name;
}

/**
 * Tells the others in which file the text is, so that a machine that has none makes one of the same
 * name: a `CLAUDE.md` would hide an `AGENTS.md` from Claude Code. The first text tells it, and each
 * edit: whose file only meets a text of others knows nothing of the name that those use.
 */
export function tellProjectFile(
  document: ReplicaDocument,
  { name: given, link, sight, decision, isFirst }: FoundFile,
  now: number,
): void {
  const isWithoutText = sight.file.kind !== "text" || document.content().trim() === "";
  if (isWithoutText || alsoNameOf(link) !== undefined) return;
  const name = FOLLOWED_NAMES.find((each) => each === given);
  const told = projectFileName(document);
  if (name === undefined || name === (told ?? USUAL)) return;
  if (decision !== "edit" && (told !== undefined || !isFirst)) return;
  document.setEntry("metadata", FILE_KEY, { value: slashed(name), now });
}

/** A file that was looked at, and by which name its folder has it. */
interface FoundFile {
  readonly name?: string | undefined;
  readonly link: Link;
  readonly sight: Sight;
  readonly decision: FollowDecision;
  /** The document had no text before. */
  readonly isFirst: boolean;
}
