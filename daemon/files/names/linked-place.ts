import type { Reason } from "../../../shared/reasons.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { identifyProject, identityAmong } from "../../git/identity.ts";
import type { Git } from "../../git/run-git.ts";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { type FolderPlace, isSamePlace, readPlace } from "./folder-place.ts";
import {
  findKnownPlace,
  isOfGit,
  type KnownPlace,
  putKnownPlace,
  renewPlace,
} from "./place-store.ts";

/**
 * `here`: it is the linked folder. `gone`: the folder is not there, so what was read does not
 * count. `unknown`: nobody can tell. `another`: the folder there is not known to belong to this
 * project.
 */
export type PlaceStanding =
  | { readonly kind: "here" }
  | { readonly kind: "gone" | "unknown" | "another"; readonly why: Reason };

const HERE: PlaceStanding = { kind: "here" };

/**
 * Checks whether the folder at a link's path is the linked one. A folder that was removed,
 * unmounted or replaced says nothing about the project's text; only a file that is deleted or
 * emptied in its own folder does.
 */
export class LinkedPlace {
  readonly #link: Link;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #git: Git;
  #known: KnownPlace | undefined;

  constructor(link: Link, store: ReplicaStore<DaemonTables>, git: Git) {
    this.#link = link;
    this.#store = store;
    this.#git = git;
  }

  /** The folder was in a repository when it was linked. Known after the first check. */
  get isFromGit(): boolean {
    return this.#known !== undefined && isOfGit(this.#known.evidence);
  }

  /** To be called after the file was read: text from another folder does not count. */
  async check(): Promise<PlaceStanding> {
    const { dir } = this.#link;
    const found = await readPlace(dir);
    if (found.kind === "unknown") {
      return { kind: "unknown", why: { code: "folder-unknown", said: found.said } };
    }
    if (found.kind === "away") {
      return { kind: "gone", why: { code: "folder-gone", dir, isReplaced: found.isReplaced } };
    }
    this.#known ??= await findKnownPlace(this.#store.reader, dir);
    if (!this.#known) return await this.#keepFirst(found.place);
    if (isSamePlace(this.#known.place, found.place)) {
      if (!isEqual(this.#known.place, found.place)) await this.#keep(found.place);
      return HERE;
    }
    const isElsewhere = this.#known.place.device !== found.place.device;
    return { kind: "another", why: { code: "folder-another", isElsewhere } };
  }

  /** A link of an older version has no known place. What is there now is taken for it. */
  async #keepFirst(place: FolderPlace): Promise<PlaceStanding> {
    const { dir, projectId } = this.#link;
    const identity = identityAmong(await identifyProject(this.#git, dir), [projectId]);
    const derivedId = identity.kind === "none" ? undefined : identity.projectId;
    const isDerived = derivedId === undefined || derivedId === projectId;
    const evidence = isDerived ? identity.kind : "chosen";
    const rootCommit = undefined;
    const known: KnownPlace = { place, evidence, derivedId, rootCommit, change: undefined };
    await this.#store.write(({ db }) => putKnownPlace(db, dir, known));
    // Only now: a place that the disk failed to store has to be stored at the next look.
    this.#known = known;
    return HERE;
  }

  async #keep(place: FolderPlace): Promise<void> {
    await this.#store.write(({ db }) => renewPlace(db, this.#link.dir, place));
    if (this.#known) this.#known = { ...this.#known, place };
  }
}

function isEqual(one: FolderPlace, other: FolderPlace): boolean {
  return one.device === other.device && one.bornAt === other.bornAt;
}
