import type { AccountId, UserId } from "../../shared/ids.ts";
import type { ServiceTables } from "./tables.ts";

/** Tables for who may use a host, besides the services' own. Times are milliseconds. */
export interface HostTables extends ServiceTables {
  accounts: AccountsTable;
  users: UsersTable;
  tokens: TokensTable;
  removed_tokens: RemovedTokensTable;
  request_counts: RequestCountsTable;
}

interface AccountsTable {
  id: AccountId;
  /** Unique; for people. */
  name: string;
  plan: "pro" | "team";
  created_at: number;
}

interface UsersTable {
  id: UserId;
  account_id: AccountId;
  /** Unique in the account; for people. */
  name: string;
  created_at: number;
}

interface TokensTable {
  /** `tok_` and a random part. Identifies the token where that itself must not be shown. */
  id: string;
  /** SHA-256 of the token, in hex. The token itself is stored nowhere. */
  hash: string;
  user_id: UserId;
  name: string;
  scope: "read" | "write";
  /** JSON array of the projects to which the token is restricted; null for none. */
  projects: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/**
 * Tokens that were removed with their user or account. An older copy of the database still has
 * them.
 */
interface RemovedTokensTable {
  id: string;
  removed_at: number;
}

/** Each account's counts for its limits. Written in the background. */
interface RequestCountsTable {
  account: AccountId;
  /** JSON array: times of the requests of the last 60 seconds, oldest first. */
  minute: string;
  /** Days since the Unix epoch. */
  day: number;
  /** Requests of that day. */
  in_day: number;
}
