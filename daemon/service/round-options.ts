import type { AccountId, ProjectId, UserId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { Service } from "./service.ts";

/** The replica and the service of a call, and what is followed. */
export interface RoundOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly service: Service;
  readonly account: AccountId;
  readonly user: UserId;
  /** The followed projects, each with the name under which the service creates it. */
  readonly projects: () => ReadonlyMap<ProjectId, string>;
  /**
   * Whether a folder is linked to a project. Of one that has none only `LAST_WORDS` are sent. All
   * are linked where it is left out.
   */
  readonly isLinked?: ((project: ProjectId) => boolean) | undefined;
  /** Called with each document of which the service took something; `bytes` null: not counted. */
  readonly onSent?: (document: string, bytes: number | null) => void;
  /**
   * Called when a service has nothing of a project yet. Resolves when what the project's folders
   * hold is in its document, so that it goes by the same call.
   */
  readonly lookAtFiles?: ((project: ProjectId) => Promise<void>) | undefined;
  /** Whether records of sessions are sent. They are where it is left out. */
  readonly sendsSessions?: (() => boolean) | undefined;
}
