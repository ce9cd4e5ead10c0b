import type { AccountId, ProjectId } from "../../../shared/ids.ts";
import type { Log } from "../../../shared/log.ts";
import { type DocumentAddress, userDocument } from "../../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { World } from "../../../shared/world.ts";
import type { Git } from "../../git/run-git.ts";
import type { FolderKind, FolderMode } from "../../home/folder-switches.ts";
import type { Link } from "../../home/links.ts";
import { LOCAL_USER } from "../../home/local-account.ts";
import type { MemoryOwner } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { OpenEvents } from "../../watch/watch.ts";
import type { FolderSource, OwnedFolder } from "../folders/owned-folder.ts";

/** What the keeper of memory folders works with. */
export interface MemoryKeeperOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly world: World;
  readonly log: Log;
  readonly git: Git;
  /** The formats that are known, and where their folders are. */
  readonly sources: readonly FolderSource[];
  readonly links: () => readonly Link[];
  /** Who owns a project's memories; undefined: those of the layer `user`. */
  readonly accountOf: (project: ProjectId | undefined) => AccountId;
  readonly modeOf: (kind: FolderKind) => FolderMode;
  /** Tells of saves between two looks; undefined: nothing does. */
  readonly events?: OpenEvents | undefined;
}

/** A folder whose owner is known. */
export interface KeptFolder extends Omit<OwnedFolder, "owner"> {
  readonly owner: MemoryOwner;
  readonly mode: FolderMode;
}

/** The document that has the memories of a folder's owner. */
export function documentOf(
  { accountOf }: Pick<MemoryKeeperOptions, "accountOf">,
  owner: MemoryOwner,
): DocumentAddress {
  if (owner === "user") return userDocument(accountOf(undefined), LOCAL_USER);
  return { owner: accountOf(owner), name: owner };
}
