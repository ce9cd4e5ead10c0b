import type { Generated } from "kysely";
import type { PlainTables } from "./plain-tables.ts";
import type { ServiceTables } from "./service-schema.ts";

/** The daemon's database. Times are milliseconds since the Unix epoch. */
export interface DaemonTables extends ServiceTables, PlainTables {
  links: LinksTable;
  sync_positions: SyncPositionsTable;
  followed_files: FollowedFilesTable;
  link_places: LinkPlacesTable;
  former_links: FormerLinksTable;
  project_names: ProjectNamesTable;
  file_arrivals: FileArrivalsTable;
  saves: SavesTable;
  inbox: InboxTable;
  salvaged_memories: SalvagedMemoriesTable;
  request_budgets: RequestBudgetsTable;
  held: HeldTable;
  allowed_secrets: AllowedSecretsTable;
  remotes: RemotesTable;
  audiences: AudiencesTable;
}

/** Who sees what is in a remote's `global`, as its service said last. */
interface AudiencesTable {
  service: string;
  /** The owner of the remote's documents. */
  account: string;
  /** The account's name there; null where the service does not tell. */
  name: string | null;
  plan: "pro" | "team" | null;
  users: number | null;
  /** Null: it was not asked yet. */
  heard_at: number | null;
  /** When the user agreed to write for all of them; null: not yet. */
  agreed_at: number | null;
}

/** A service that this home knows by name. Empty: everything follows the environment. */
interface RemotesTable {
  name: string;
  /** Null for the embedded service. */
  url: string | null;
  /** The owner of its documents. */
  account: string;
  /** Where its token is kept; null when nowhere. */
  token_place: "keyring" | "file" | null;
  is_default: number;
  added_at: number;
}

/** A folder whose project is followed. */
interface LinksTable {
  dir: string;
  project_id: string;
  name: string;
  /** 1: others' changes are also written into a file that git tracks, or that is missing. */
  write: number;
  /** The file that the user chose among several; null: what counts is found out. */
  file: string | null;
  linked_at: number;
}

/** How far a document has come with a service. */
interface SyncPositionsTable {
  service: string;
  document_id: number;
  /** The place in the service's log that is integrated here. */
  epoch: string;
  seq: number;
  /** Rows of the local log up to this one are acknowledged. */
  acked_seq: number;
  /** `Reason` as JSON: why the service won't take or give this document; null when it does. */
  refused: string | null;
}

/** What a linked folder was like, by which it is known again. */
interface LinkPlacesTable {
  dir: string;
  /** Of the folder, in decimal: too large for a number. */
  device: string;
  inode: string;
  /** When the folder was made, in nanoseconds; empty where that is not known. */
  born_at: string;
  /** What the link's project was derived from. */
  evidence: "origin" | "root-commit" | "none" | "chosen";
  /** The project that the repository said it is. */
  derived_id: string | null;
  root_commit: string | null;
  /** `PlaceChange` as JSON; null where there is nothing to say. */
  change: string | null;
}

/** A link whose folder is not at its path any more, while another folder is; see `LinksTable`. */
interface FormerLinksTable {
  id: Generated<number>;
  dir: string;
  project_id: string;
  name: string;
  write: number;
  file: string | null;
  device: string;
  inode: string;
  born_at: string;
  evidence: LinkPlacesTable["evidence"];
  derived_id: string | null;
  root_commit: string | null;
  left_at: number;
}

/** What the last link of each project that was ever linked here called it. */
interface ProjectNamesTable {
  project_id: string;
  name: string;
}

/** What a service account's requests have come to. */
interface RequestBudgetsTable {
  /** The service's name and a digest of the token. */
  account: string;
  /** `BudgetRecord` as JSON. */
  record: string;
}

/** A followed file as the daemon last read or wrote it. */
export interface FollowedFilesTable {
  dir: string;
  /** Relative to `dir`. */
  path: string;
  /** SHA-256 of the file's bytes, in hex. */
  hash: string;
  /** `CapturedText` as JSON: the file's lines and where they stand in the document. */
  base: string;
  /** `TextForm` as JSON. */
  form: string;
  /** What a write that was begun will leave: hash, base and form; null when none was. */
  next_hash: string | null;
  next_base: string | null;
  next_form: string | null;
  /** The commit that was checked out when it was read; null outside of git. */
  commit_id: string | null;
  /** What was checked out when the file was seen last, branch and commit; null outside of git. */
  head: string | null;
  /** 1: a look has found it missing since. */
  is_gone: Generated<number>;
  /** Where the document stood when `base` was taken from it: its log's last row. */
  base_epoch: string | null;
  base_seq: number | null;
  /** Other files that could be followed and stood beside it, as JSON; null: that is not known. */
  beside: string | null;
}

/** A change of others' that came into a followed file by a write of ours. */
export interface FileArrivalsTable {
  id: Generated<number>;
  dir: string;
  arrived_at: number;
  machine: string | null;
  /** `FileChange` as JSON. */
  change: string;
}

/** What became of a save of a followed file. */
interface SavesTable {
  id: Generated<number>;
  document_id: number;
  dir: string;
  /** Names the saved text as a version's name does. */
  revision: string;
  saved_at: number;
  /** When it was taken: a version that is just this save was written then. */
  kept_at: number;
  outcome: SaveOutcome;
  /** Ids of the conflicts that it came to, as JSON. */
  conflicts: string;
}

/**
 * What became of a save. `taken`: the document has all of it. `conflict`: it undid what its author
 * may not have seen. `held`: it is kept on this machine. `known`: git brought it, and it changes
 * nothing by itself. `waiting`: the service has not answered yet.
 */
export type SaveOutcome = "taken" | "conflict" | "held" | "known" | "waiting";

/** A write made while no daemon ran. */
export interface InboxTable {
  id: Generated<number>;
  kind: "memory" | "losers" | "text" | "text-conflict";
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  /** Whose `user` or `global` document; a project's is found by its id. */
  account: Generated<string>;
  /** A memory's key, or the id of a text's conflict; empty for a text. */
  key: string;
  /** Null deletes the key. */
  value: string | null;
  /** The text that the author of another one saw; null for all else. */
  base: string | null;
  /** JSON `[[client, clock], …]`: the entries that its author saw. */
  seen: string;
  /** 1: what looks like a secret in it is none, says its author. */
  allow_secret: Generated<number>;
  written_at: number;
}

/** A memory read from a damaged database, whose document does not hold it (any more). */
interface SalvagedMemoriesTable {
  id: Generated<number>;
  /** The owner of its document. */
  account: string;
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  key: string;
  value: string;
  /** The entry that it was, by which the service's document says whether it was ever sent. */
  client: number;
  clock: number;
  updated_at: number;
}

/** A write that may not enter its document, or not yet. */
export interface HeldTable {
  id: Generated<number>;
  /** Of each kind, document and key there is one. */
  kind: "memory" | "metadata" | "text" | "file";
  /** The owner of its document. */
  account: string;
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  /** A memory's or metadata's key; empty for a text; the folder of a followed file. */
  key: string;
  /** Metadata as JSON. Null deletes the key; of a file it is null where it was not kept. */
  value: string | null;
  /** The text that the author of another one saw; null for all else. */
  base: string | null;
  /** JSON `[[client, clock], …]`: the entries that its author saw. */
  seen: string;
  cause: "secret" | "limit" | "refused";
  /** `Reason` as JSON, with nothing of the value in it. */
  reason: string;
  /** SHA-256 of a followed file's bytes, in hex; null for all else. */
  hash: string | null;
  /** What has the same number is tried together, the lowest first; null is not tried again. */
  turn: number | null;
  /** 0: something was written since that is shown instead. */
  shown: Generated<number>;
  /** 1: a person wants it in the document as it is, which is the daemon's to do. */
  allowed: Generated<number>;
  written_at: number;
}

/** A secret that a person has declared to be none. */
export interface AllowedSecretsTable {
  /** SHA-256 of the secret, in hex. */
  hash: string;
  allowed_at: number;
}
