import type { ProjectId } from "../../shared/ids.ts";
import type { Reason } from "../../shared/reasons.ts";
import type { EvidenceKind, KnownPlace } from "../files/names/place-store.ts";
import type { ProjectIdentity } from "../git/identity.ts";
import type { Link } from "../home/links.ts";

/** Stronger evidence has the higher number. */
const STRENGTH: Readonly<Record<EvidenceKind, number>> = {
  none: 0,
  "root-commit": 1,
  origin: 2,
  chosen: 3,
};

/** What is known when a folder is linked. */
export interface LinkFacts {
  /** The project that the user named. */
  readonly asked: ProjectId | undefined;
  readonly identity: ProjectIdentity;
  readonly rootCommit: string | undefined;
  /** The folder's former link, and what the folder was like. */
  readonly former: Link | undefined;
  readonly known: KnownPlace | undefined;
  /** Another folder is at the path now than the one that was linked. */
  readonly replaced: boolean;
}

export interface ChosenProject {
  /** Undefined: nothing tells which project it is, so it becomes a new one. */
  readonly projectId: ProjectId | undefined;
  readonly evidence: EvidenceKind;
  readonly derivedId: ProjectId | undefined;
  /** Memories of the former project may be copied: it is the same project under a better id. */
  readonly bringsMemories: boolean;
}

/**
 * Chooses the project that a folder is linked to. A linked folder keeps its project until stronger
 * evidence appears or the user says otherwise. When the URL of `origin` changes, other machines
 * still use the former id, so a silent change would separate them.
 *
 * ```
 * const { projectId } = chooseProject(facts);
 * ```
 */
export function chooseProject(facts: LinkFacts): ChosenProject {
  const { asked, identity, former, known } = facts;
  const derivedId = identity.kind === "none" ? undefined : identity.projectId;
  const derived = { projectId: derivedId, evidence: identity.kind, derivedId };
  if (asked !== undefined) {
    const evidence = asked === derivedId ? identity.kind : "chosen";
    return { projectId: asked, evidence, derivedId, bringsMemories: true };
  }
  if (!former) return { ...derived, bringsMemories: false };
  const stays = { projectId: former.projectId, bringsMemories: false };
  if (!known) return { ...derived, projectId: derivedId ?? stays.projectId, bringsMemories: true };
  if (isAnotherRepository(facts)) return { ...derived, bringsMemories: false };
  if (derivedId !== undefined && STRENGTH[identity.kind] > STRENGTH[known.evidence]) {
    return { ...derived, bringsMemories: true };
  }
  return { ...stays, evidence: known.evidence, derivedId: known.derivedId };
}

/** Nothing of one repository's project is copied to another's. */
function isAnotherRepository({ identity, rootCommit, known, replaced }: LinkFacts): boolean {
  if (identity.kind === "none" || !known || known.evidence === "chosen") return false;
  if (identity.projectId === known.derivedId) return false;
  if (replaced) return true;
  const isOther = rootCommit !== undefined && known.rootCommit !== undefined;
  return isOther && rootCommit !== known.rootCommit && identity.kind === "origin";
}

/**
 * What `status` says about a link whose repository now names another project; undefined where it
 * names the same one as at the link.
 */
export function repositoryNote(
  link: Link,
  identity: ProjectIdentity,
  known: KnownPlace | undefined,
): Reason | undefined {
  if (!known || known.evidence === "chosen" || identity.kind === "none") return undefined;
  const { projectId } = identity;
  if (projectId === link.projectId || projectId === known.derivedId) return undefined;
  if (STRENGTH[identity.kind] < STRENGTH[known.evidence]) return undefined;
  if (STRENGTH[identity.kind] > STRENGTH[known.evidence]) {
    return { code: "repository-identified" };
  }
  return { code: "repository-renamed", id: projectId };
}
