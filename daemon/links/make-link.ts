import { type AccountId, type ProjectId, randomProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { BEGUN_KEY } from "../../shared/replica/document/own-metadata.ts";
import { beginAnew } from "../../shared/replica/document/project-deletion.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { World } from "../../shared/world.ts";
import type { FollowedName } from "../disk/followable-files.ts";
import type { AlsoName } from "../files/names/also-file.ts";
import { type EvidenceKind, isOfGit } from "../files/names/place-store.ts";
import { forgetAlso, forgetGit, readFollowed } from "../files/state/follow-store.ts";
import type { Allows } from "../held/judge.ts";
import { readDeletion } from "../home/deleted-project.ts";
import { countHeld } from "../home/held-store.ts";
import { keepFormerIgnored, takeBackIgnored } from "../home/ignore-files.ts";
import { type Link, putLink } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { readCommittedText } from "../reading/local-text.ts";
import { bindProject } from "../remotes/bind-project.ts";
import type { BookOptions } from "../remotes/remote-book.ts";
import { type ChosenProject, chooseProject } from "./choose-project.ts";
import { keepFormerLink } from "./former-links.ts";
import { type FolderFacts, keepPlace, stillToSay, turnToFile } from "./link-facts.ts";
import { type FolderMove, moveToProject } from "./relink.ts";
import { type SettledJoins, settleJoins } from "./settle-joins.ts";
import { findWayBack, forgetUnlinked, type PastProject } from "./unlinked-folders.ts";

/** Options of one `link`. What is left out is derived from the folder, or stays as it was. */
export interface LinkOptions {
  /** The project to link to, in place of the one that the repository names. */
  readonly id?: ProjectId;
  /** Consent to write what git tracks and to create a missing file; unchanged if left out. */
  readonly write?: boolean;
  /** The file that counts; memsync decides if left out. */
  readonly file?: FollowedName;
  /** Further files that follow the project's text from now on; none: no other does any more. */
  readonly also?: readonly AlsoName[];
  /**
   * Name of the remote to bind the project to. If left out: the current remote, or the default one.
   */
  readonly remote?: string;
  /** Begins a deleted project again. */
  readonly anew?: boolean;
  /** What is private in the project may be synced, as far as this says. */
  readonly allows?: Allows;
  /** The project may come to a remote of another owner's. */
  readonly ofAnother?: boolean;
  /** Ends every join of the project that `id` names, whoever made it. */
  readonly everywhere?: boolean;
  /** Folders whose file of ignored names is gone, and counts no more. */
  readonly sendIgnored?: readonly string[];
  /** Another folder is linked right after this one, so that a call about both can wait for it. */
  readonly more?: boolean;
}

/** What decides how a folder is linked, besides the folder and the options. */
interface KnownLinks {
  /** All links of this machine. */
  readonly links: readonly Link[];
  /** The project that the folder was unlinked from and has again. */
  readonly again: PastProject | undefined;
  /** The name of the project that the user named, where it has one here. */
  readonly askedName?: string | undefined;
  /** For the id of a new project. */
  readonly world: World;
}

/** How a folder is to be linked. */
export interface LinkPlan {
  readonly facts: FolderFacts;
  readonly options: LinkOptions;
  readonly link: Link;
  readonly chosen: ChosenProject;
  /** What tells that the folder is of its project. */
  readonly evidence: EvidenceKind;
  /** Other folders that are linked to the project. */
  readonly others: readonly Link[];
  /** Another folder was linked at this path, and its link is kept for it. */
  readonly isLeft: boolean;
}

/**
 * Decides which project a folder is linked to, by which name, and whether its file may be written.
 *
 * ```
 * const plan = planLink(facts, options, { links, again: undefined, world });
 * await store.write((context) => writeLink(context, book, plan));
 * ```
 */
export function planLink(
  facts: FolderFacts,
  options: LinkOptions,
  { links, again, askedName, world }: KnownLinks,
): LinkPlan {
  const { dir, identity, former, replaced } = facts;
  const chosen = chooseProject({ ...facts, asked: options.id });
  const projectId = chosen.projectId ?? again?.projectId ?? randomProjectId(world);
  // Consent to write was given for the former folder only.
  const write = options.write ?? (!replaced && former?.write === true);
  const also = alsoOf(options, replaced ? undefined : former);
  // A repository with another id now is still the same project, under its current id.
  const isNamedSo = identity.kind !== "none" && identity.projectId === projectId;
  const named = [former, again].find((each) => each?.projectId === projectId)?.name ?? askedName;
  const name = isNamedSo ? identity.name : (named ?? identity.name);
  return {
    facts,
    options,
    link: { dir, projectId, name, write, file: options.file, ...(also && { also }) },
    chosen,
    evidence: chosen.projectId === undefined ? (again?.evidence ?? "none") : chosen.evidence,
    others: links.filter((each) => each.dir !== dir && each.projectId === projectId),
    isLeft: replaced && links.some((each) => each.dir === dir),
  };
}

/** Those that followed before, and these; undefined: nothing is to be said of them. */
function alsoOf({ also }: LinkOptions, former: Link | undefined): readonly string[] | undefined {
  if (!former) return also ?? [];
  if (!also) return former.also;
  return also.length === 0 ? [] : [...new Set([...(former.also ?? []), ...also])];
}

interface WrittenLink {
  readonly account: AccountId;
  readonly begun: boolean;
  readonly left: Link | undefined;
  /** What became of the former project's memories, where `left` is one. */
  readonly moved: FolderMove | undefined;
  /** What the folder was linked to, if that was deleted: nothing came from there. */
  readonly deletedBefore: Link | undefined;
  /** The name of the version that the project's text had; undefined for an empty one. */
  readonly textBefore: string | undefined;
  /** What was settled by naming the project; undefined where nobody has. */
  readonly joins: SettledJoins | undefined;
  /** How many writes of the project are held since. */
  readonly held: number;
}

/**
 * Links a folder as planned. Returns the account that its project is bound to, whether this began a
 * deleted project again, the former link where its project has been joined to this one, which joins
 * are over, and how much is held for it.
 */
export async function writeLink(
  context: WriteContext<DaemonTables>,
  book: BookOptions,
  { facts, options, link, chosen, evidence, others, isLeft }: LinkPlan,
): Promise<WrittenLink> {
  const { db, now } = context;
  const { dir, identity, former, known } = facts;
  const { remote, allows, ofAnother } = options;
  const { bringsMemories, derivedId } = chosen;
  // A folder that was unlinked goes back from where it was, as a linked one does, where somebody
  // has named the project: nobody is asked about any other link.
  const to = link.projectId;
  const wayBack = options.id && (await findWayBack(db, { ...facts, derivedId, to }));
  const from = former ?? (wayBack || undefined);
  const binding = { project: link.projectId, remote, former, others, allows, ofAnother };
  const before = await countHeld(db, link.projectId);
  const account = await bindProject(context, book, binding);
  if (isLeft && former && known) await keepFormerLink(db, former, { knownPlace: known, now });
  if (former && former.projectId !== link.projectId) await keepFormerIgnored(db, former);
  await putLink(db, link, now);
  await takeBackIgnored(db, link.projectId, { from: dir, dir });
  if (facts.place) await forgetUnlinked(db, facts.place);
  const text = (await readCommittedText(db, link.projectId))?.value ?? "";
  const textBefore = text.trim() === "" ? undefined : revisionName(text);
  const begun = options.anew === true && (await beginProject(context, account, link.projectId));
  const relinked = { former: from, link, derivedId };
  const moved = await moveToProject(context, account, { ...relinked, bringsMemories });
  const isOutsideGit = identity.kind === "none" && identity.why === "no-git";
  if (isOutsideGit) await forgetGit(db, dir);
  // For a file that was never read, nothing else shows that it is followed without git.
  const isLost = isOutsideGit && isOfGit(evidence);
  const isUnseen = isLost && !(await readFollowed(db, dir));
  await keepPlace(db, facts, {
    chosenProject: { ...chosen, evidence: isUnseen ? "chosen" : evidence },
    change: stillToSay(facts, options, now),
  });
  if (options.also?.length === 0) await forgetAlso(db, dir);
  if (options.file) await turnToFile(db, dir, options.file);
  const joins = options.id
    ? await settleJoins(context, account, { ...relinked, isForAll: options.everywhere })
    : undefined;
  const held = (await countHeld(db, link.projectId)) - before;
  const other = from?.projectId === link.projectId ? undefined : from;
  const deletion = other && (await readDeletion(db, other.projectId));
  const deletedBefore = deletion && other;
  const left = moved && from;
  return { account, begun, left, moved, deletedBefore, textBefore, joins, held };
}

/** False: the project was not deleted. */
async function beginProject(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  project: ProjectId,
): Promise<boolean> {
  const open = await context.find(projectDocument(account, project));
  if (!open || !beginAnew(open.document)) return false;
  const { home = "" } = open.author;
  open.document.setEntry("metadata", BEGUN_KEY, { value: home, now: context.now });
  return true;
}
