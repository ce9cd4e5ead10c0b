import type { ServiceTables } from "./tables.ts";

/** What a host keeps beyond what its services need: who may use them. Times are milliseconds. */
export interface HostTables extends ServiceTables {
  accounts: AccountsTable;
  users: UsersTable;
  tokens: TokensTable;
  removed_tokens: RemovedTokensTable;
  request_counts: RequestCountsTable;
}

interface AccountsTable {
  /** `acct_` and a random part. */
  id: string;
  /** Unique; for people. */
  name: string;
  plan: "pro" | "team";
  created_at: number;
}

interface UsersTable {
  /** `user_` and a random part. */
  id: string;
  account_id: string;
  /** Unique in the account; for people. */
  name: string;
  created_at: number;
}

interface TokensTable {
  /** `tok_` and a random part; names the token where the token itself may not be shown. */
  id: string;
  /** SHA-256 of the token, in hex. The token itself is nowhere. */
  hash: string;
  user_id: string;
  name: string;
  scope: "read" | "write";
  /** JSON array of the projects that the token is bound to; null when it is bound to none. */
  projects: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** Tokens that went with their user or account: an older copy of the database has them still. */
interface RemovedTokensTable {
  id: string;
  removed_at: number;
}

/** What each account's limits go by; written in the background. */
interface RequestCountsTable {
  account: string;
  /** JSON array: when the requests of the last 60 seconds were, oldest first. */
  minute: string;
  /** Days since the Unix epoch. */
  day: number;
  /** Requests of that day. */
  in_day: number;
}
