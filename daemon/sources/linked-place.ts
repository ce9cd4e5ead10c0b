import type { ReplicaStore } from "../../shared/replica/store.ts";
import { keepHeldSave } from "../held/keep-held-save.ts";
import type { Link } from "../links.ts";
import type { DaemonTables } from "../tables.ts";
import { type FolderPlace, isSamePlace, readPlace } from "./folder-place.ts";
import { forgetFollowed, readFollowed } from "./follow-store.ts";
import { identifyProject } from "./identity.ts";
import { exchangePlace, findKnownPlace, type KnownPlace, putKnownPlace } from "./place-store.ts";
import type { FileRead } from "./read-file.ts";
import type { Git } from "./run-git.ts";

/**
 * `here`: what was read counts. `gone`: the folder is not there, so that nothing read of it does;
 * `unknown`: it may be. `another`: what is there now is not known to be this project.
 */
export type PlaceStanding =
  | { readonly kind: "here" }
  | { readonly kind: "gone" | "unknown" | "another"; readonly note: string };

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

  /** To be asked after `read` was read. A folder that is taken for the linked one is kept so. */
  async check(read: FileRead): Promise<PlaceStanding> {
    const { dir } = this.#link;
    const found = await readPlace(dir);
    if (found.kind !== "folder") {
      const note = `is left alone: its folder ${found.why}, which deletes nothing`;
      return { kind: found.kind === "away" ? "gone" : "unknown", note };
    }
    this.#known ??= await findKnownPlace(this.#store.reader, dir);
    if (!this.#known) return await this.#keepFirst(found.place);
    if (isSamePlace(this.#known.place, found.place)) {
      if (!isEqual(this.#known.place, found.place)) await this.#keep(found.place);
      return HERE;
    }
    if (await this.#isSameProject(this.#known, found.place, read)) {
      await this.#adopt(found.place, read);
      return HERE;
    }
    const isElsewhere = this.#known.place.device !== found.place.device;
    const where = isElsewhere ? ", or the linked one is not mounted" : "";
    const note = `is left alone: another folder was put in place of the linked one${where}`;
    return { kind: "another", note: `${note}; \`memsync link\` there goes on with it` };
  }

  /** A link of an older version is taken at its word. */
  async #keepFirst(place: FolderPlace): Promise<PlaceStanding> {
    const { dir, projectId } = this.#link;
    const identity = await identifyProject(this.#git, dir);
    const derivedId = identity.kind === "none" ? undefined : identity.projectId;
    const isDerived = derivedId === undefined || derivedId === projectId;
    const evidence = isDerived ? identity.kind : "chosen";
    this.#known = { place, evidence, derivedId, rootCommit: undefined };
    const known = this.#known;
    await this.#store.write(({ db }) => putKnownPlace(db, dir, known));
    return HERE;
  }

  /**
   * A new clone has the old one's identity; a folder without git has its file's bytes. On another
   * file system these may be an old copy, which the linked folder covers while it is mounted.
   */
  async #isSameProject(known: KnownPlace, found: FolderPlace, read: FileRead): Promise<boolean> {
    const { dir } = this.#link;
    const identity = await identifyProject(this.#git, dir);
    if (identity.kind !== "none") return identity.projectId === known.derivedId;
    if (known.derivedId !== undefined || read.kind !== "text") return false;
    if (known.place.device !== found.device) return false;
    const followed = await readFollowed(this.#store.reader, dir);
    return followed?.path === read.path && followed.hash === read.hash;
  }

  /** What the other folder's file was made from is not known, unless it is the same to the byte. */
  async #adopt(place: FolderPlace, read: FileRead): Promise<void> {
    const { dir } = this.#link;
    await this.#store.write(async ({ db }) => {
      const followed = await readFollowed(db, dir);
      const isSame = read.kind === "text" && followed?.hash === read.hash;
      if (isSame) return;
      await keepHeldSave(db, dir);
      await forgetFollowed(db, dir);
    });
    await this.#keep(place);
  }

  async #keep(place: FolderPlace): Promise<void> {
    await this.#store.write(({ db }) => exchangePlace(db, this.#link.dir, place));
    if (this.#known) this.#known = { ...this.#known, place };
  }
}

function isEqual(one: FolderPlace, other: FolderPlace): boolean {
  return one.device === other.device && one.bornAt === other.bornAt;
}
