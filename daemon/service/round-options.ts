import type { AccountId, ProjectId, UserId } from "../../shared/ids.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { Service } from "./service.ts";

/** Between which replica and which service a call goes, and what is followed. */
export interface RoundOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly service: Service;
  readonly account: AccountId;
  readonly user: UserId;
  /** The followed projects, each with the name it is created under. */
  readonly projects: () => ReadonlyMap<ProjectId, string>;
  /** Told of each document of which the service took something; `bytes` null: nobody counted. */
  readonly onSent?: (document: string, bytes: number | null) => void;
}
