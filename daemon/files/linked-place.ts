import type { Reason } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { identifyProject, identityAmong } from "../git/identity.ts";
import type { Git } from "../git/run-git.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { type FolderPlace, isSamePlace, readPlace } from "./folder-place.ts";
import {
  findKnownPlace,
  isOfGit,
  type KnownPlace,
  putKnownPlace,
  renewPlace,
} from "./place-store.ts";

/**
 * `here`: what was read counts. `gone`: the folder is not there, so that nothing read of it does;
 * `unknown`: it may be. `another`: what is there now is not known to be this project.
 */
export type PlaceStanding =
  | { readonly kind: "here" }
  | { readonly kind: "gone" | "unknown" | "another"; readonly why: Reason };

const HERE: PlaceStanding = { kind: "here" };

/**
 * Whether the folder at a link's path is the one that was linked. A folder that is removed,
 * unmounted or exchanged says nothing of the project's text: only a file that is deleted or
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

  /** The folder was in a repository when it was linked; known once it was checked. */
  get isFromGit(): boolean {
    return this.#known !== undefined && isOfGit(this.#known.evidence);
  }

  /** To be asked after the file was read: what was read of another folder's does not count. */
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

  /** A link of an older version is taken at its word. */
  async #keepFirst(place: FolderPlace): Promise<PlaceStanding> {
    const { dir, projectId } = this.#link;
    const identity = identityAmong(await identifyProject(this.#git, dir), [projectId]);
    const derivedId = identity.kind === "none" ? undefined : identity.projectId;
    const isDerived = derivedId === undefined || derivedId === projectId;
    const evidence = isDerived ? identity.kind : "chosen";
    const rootCommit = undefined;
    const known: KnownPlace = { place, evidence, derivedId, rootCommit, change: undefined };
    await this.#store.write(({ db }) => putKnownPlace(db, dir, known));
    // Not before: what a failing disk did not take is to be written at the next look.
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
