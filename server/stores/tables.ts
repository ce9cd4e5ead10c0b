import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";

/**
 * The services' tables besides the replica's, on the server and behind the daemon's gateway. Times
 * are milliseconds since the Unix epoch.
 */
export interface ServiceTables extends ReplicaTables {
  sessions: SessionsTable;
  connections: ConnectionsTable;
  current_projects: CurrentProjectsTable;
  kept_answers: KeptAnswersTable;
}

interface SessionsTable {
  account: AccountId;
  id: string;
  /** Null if it came with a sync without a project. */
  project_id: ProjectId | null;
  started_at: number;
  last_activity_at: number;
  /** The session as it goes over the wire, as JSON. */
  body: string;
}

/** Two connected projects, the smaller id first. */
interface ConnectionsTable {
  account: AccountId;
  project_a: ProjectId;
  project_b: ProjectId;
  created_at: number;
}

/** The project that a token last created or synced by a plain call. */
interface CurrentProjectsTable {
  token_id: string;
  account: AccountId;
  project_id: ProjectId;
}

/** Answers to requests with an `Idempotency-Key`, for when they come again. */
interface KeptAnswersTable {
  account: AccountId;
  /** The user and what the token allowed, as JSON. */
  who: string;
  path: string;
  key: string;
  /** SHA-256 of the request's body, in hex. */
  body_hash: string;
  /** The answer's body, JSON. */
  answer: string;
  created_at: number;
}
