import type { Generated } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { FolderKind } from "./folder-switches.ts";
import type { PlainTables } from "./plain-tables.ts";
import type { ServiceTables } from "./service-schema.ts";

/** The daemon's database. Times are milliseconds since the Unix epoch. */
export interface DaemonTables extends ServiceTables, PlainTables {
  links: LinksTable;
  sync_positions: SyncPositionsTable;
  followed_files: FollowedFilesTable;
  link_places: LinkPlacesTable;
  former_links: FormerLinksTable;
  unlinked_folders: UnlinkedFoldersTable;
  project_names: ProjectNamesTable;
  declined_joins: DeclinedJoinsTable;
  file_arrivals: FileArrivalsTable;
  saves: SavesTable;
  inbox: InboxTable;
  salvaged_memories: SalvagedMemoriesTable;
  request_budgets: RequestBudgetsTable;
  held: HeldTable;
  allowances: AllowancesTable;
  remotes: RemotesTable;
  audiences: AudiencesTable;
  transcripts: TranscriptsTable;
  sent_sessions: SentSessionsTable;
  ignore_files: IgnoreFilesTable;
  former_ignore_files: FormerIgnoreFilesTable;
  memory_folders: MemoryFoldersTable;
  memory_files: MemoryFilesTable;
  personal_files: PersonalFilesTable;
  personal_versions: PersonalVersionsTable;
  personal_lines: PersonalLinesTable;
}

/** A transcript of an assistant, as far as it was read. It stays when the file goes. */
interface TranscriptsTable {
  path: string;
  /** A `TranscriptState`, as JSON. */
  state: string;
  /** The folder in which its session began; null: the transcript has not told. */
  cwd: string | null;
  /** Null: the folder belongs to no linked project. Once found, it stays while it is linked. */
  project_id: ProjectId | null;
}

/** What a linked folder's file of ignored names last said. It counts when the file is gone. */
interface IgnoreFilesTable {
  /** The linked folder. */
  dir: string;
  text: string;
}

/** The same of a folder that a project has no more. It counts for the project's other folders. */
interface FormerIgnoreFilesTable {
  project_id: ProjectId;
  /** The path that the folder had. */
  dir: string;
  text: string;
}

/** A folder in which an assistant keeps what it remembers of a project. */
interface MemoryFoldersTable {
  path: string;
  /**
   * Once found it stays: the transcripts that told it are deleted after a month. `user`: they are
   * the person's, in all projects.
   */
  project_id: ProjectId | "user";
  /** What is to be turned on for it: a `FolderKind`. */
  kind: FolderKind;
  /** The commit that was checked out when tracked files of it were read last; null: none was. */
  commit: string | null;
}

/** A file of such a folder, as it was when memsync read or wrote it last. */
interface MemoryFilesTable {
  folder: string;
  name: string;
  /** SHA-256 of the bytes, in hex. */
  hash: string;
  text: string;
  /** The entries that this text stands for, as `parseEntryIds` reads them. */
  seen: string;
  /** Hash of a text of the file that is held; null: none is. */
  held: string | null;
  /** `StandingMemory` as JSON: what is being written into the file; null: nothing. */
  next: string | null;
  /** The file is `missing`, or its memory was `deleted` elsewhere, and nobody has decided. */
  asked: "missing" | "deleted" | null;
  /** What a person has decided, until it is done. */
  settled: "delete" | "restore" | null;
  /** When it came from elsewhere and the index did not name it; null: it does, or is not ours. */
  arrived_at: number | null;
  /** git's name of the file's committed text, empty for none; null: git did not track it. */
  tracked: string | null;
  /** 1: the text is what git has put there, beside what the memory has. */
  is_gits: number;
}

/** A record of a session as its service has it, has refused it or is not to have it. */
interface SentSessionsTable {
  account: AccountId;
  /** The session's. */
  id: string;
  /** As it was sent, in JSON. */
  body: string;
  /** Why the service lacks it, in its words, or that it stays here; null where it has it. */
  refused: string | null;
}

/** Who can read a remote's `global`, as its service last told. */
interface AudiencesTable {
  service: string;
  /** The owner of the remote's documents. */
  account: AccountId;
  /** The account's name there; null where the service does not tell. */
  name: string | null;
  plan: "pro" | "team" | null;
  users: number | null;
  /** The user of the first token of which it told; null where it does not name users. */
  token_user: string | null;
  /** Digests of the tokens that it told to be of that user, the last one first; null: none. */
  token: string | null;
  /** When the last one expires, in milliseconds since the Unix epoch; null: it told of no end. */
  token_expires_at: number | null;
  /** Null: the service has not told yet. */
  heard_at: number | null;
  /** When the user agreed to write for all readers; null: not yet. */
  agreed_at: number | null;
}

/** A service that has a name in this home. Without rows, everything follows the environment. */
interface RemotesTable {
  name: string;
  /** Null for the embedded service. */
  url: string | null;
  /** The owner of its documents. */
  account: AccountId;
  /** Where its token is kept; null when nowhere. */
  token_place: "keyring" | "file" | null;
  is_default: number;
  added_at: number;
}

/** A folder whose project is followed. */
interface LinksTable {
  dir: string;
  project_id: ProjectId;
  name: string;
  /**
   * 1: others' changes are also written to a file that git tracks, and a missing file is created.
   */
  write: number;
  /** The file that the user chose; null: memsync decides. */
  file: string | null;
  /** Paths of further files that follow the project's text, as JSON; null: there are none. */
  also: Generated<string | null>;
  linked_at: number;
}

/** How far the exchange of a document with a service has come. */
interface SyncPositionsTable {
  service: string;
  document_id: number;
  /** The position in the service's log up to which everything is integrated here. */
  epoch: string;
  seq: number;
  /** Rows of the local log up to this one are acknowledged. */
  acked_seq: number;
  /** `Reason` as JSON: why the service refuses this document; null where it does not. */
  refused: string | null;
}

/** What a linked folder was like. It is recognised by this. */
interface LinkPlacesTable {
  dir: string;
  /** In decimal, because the number may be too large for JavaScript. */
  device: string;
  inode: string;
  /** When the folder was created, in nanoseconds; empty where that is unknown. */
  born_at: string;
  /** What the link's project was derived from. */
  evidence: "origin" | "root-commit" | "none" | "chosen";
  /** The project that the repository named. */
  derived_id: ProjectId | null;
  root_commit: string | null;
  /** `PlaceChange` as JSON; null where nothing has to be said. */
  change: string | null;
}

/** A link whose folder left its path to another folder; see `LinksTable`. */
interface FormerLinksTable {
  id: Generated<number>;
  dir: string;
  project_id: ProjectId;
  name: string;
  write: number;
  file: string | null;
  device: string;
  inode: string;
  born_at: string;
  evidence: LinkPlacesTable["evidence"];
  derived_id: ProjectId | null;
  root_commit: string | null;
  left_at: number;
}

/** The project that each folder was linked to when it was unlinked. */
interface UnlinkedFoldersTable {
  id: Generated<number>;
  dir: string;
  device: string;
  inode: string;
  born_at: string;
  project_id: string;
  name: string;
  evidence: LinkPlacesTable["evidence"];
  unlinked_at: number;
}

/** The name in the last link of each project that was ever linked here. */
interface ProjectNamesTable {
  project_id: ProjectId;
  name: string;
}

/** A join of a project of which a person has said that the project stays what it is here. */
interface DeclinedJoinsTable {
  project_id: ProjectId;
  /** The project that the folder's repository names, as in the join. */
  repository: ProjectId;
  joined_to: ProjectId;
  joined_at: number;
}

/** How many requests of a service account were used. */
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
  /** The name of the symbolic link that leads there; null where none does. */
  linked_as: string | null;
  /**
   * What was known of that link's target when a file took the link's place, as a `KnownTarget` in
   * JSON; null where none has.
   */
  link_target: string | null;
  /** SHA-256 of the file's bytes, in hex. */
  hash: string;
  /** `CapturedText` as JSON: the file's lines and where they stand in the document. */
  base: string;
  /** `TextForm` as JSON. */
  form: string;
  /** The state that a write which was begun will leave: hash, base and form; null without one. */
  next_hash: string | null;
  next_base: string | null;
  next_form: string | null;
  /** When the text that this write replaces was saved; null without one, and of earlier builds. */
  saved_at: number | null;
  /** The commit at which the file was read; null outside of git. */
  commit_id: string | null;
  /** Branch and commit at which the file was last seen; null outside of git. */
  head: string | null;
  /** How HEAD came there: an entry of its log; null where nothing tells. */
  head_entry: string | null;
  repository: string | null;
  /** 1: a later look found the file missing. */
  is_gone: Generated<number>;
  /** The document's position when `base` was taken from it: the last row of its log. */
  base_epoch: string | null;
  base_seq: number | null;
  /** The other files that could be followed, at that time, as JSON; null where unknown. */
  beside: string | null;
  /** What git kept outside of HEAD when the text was first seen, as JSON; null where unknown. */
  kept: string | null;
  /** What git has shown with its marks since, as a `MarkedText` in JSON; null where nothing. */
  marked: string | null;
  /** What git set aside of the file's saves, as a `SetAside` in JSON; null where nothing. */
  set_aside: string | null;
  /** The conflicts that hold the file, as records in JSON; null where that was not kept. */
  holding: string | null;
}

/** Others' change that a write of ours brought into a followed file. */
export interface FileArrivalsTable {
  id: Generated<number>;
  dir: string;
  arrived_at: number;
  machine: string | null;
  /** `FileChange` as JSON. */
  change: string;
}

/** The outcome of a save of a followed file. */
interface SavesTable {
  id: Generated<number>;
  document_id: number;
  dir: string;
  /** Identifies the saved text, like the name of a version. */
  revision: string;
  saved_at: number;
  /** When the save was taken. A version that consists of just this save has this time. */
  kept_at: number;
  outcome: SaveOutcome;
  /** Ids of the conflicts that it led to, as JSON. */
  conflicts: string;
}

/**
 * The outcome of a save. `taken`: all of it is in the document. `conflict`: it undid what its
 * author may not have seen. `held`: it is only on this machine. `known`: git brought it, and it
 * changes nothing by itself. `waiting`: it is in the file, and is not taken yet. `overtaken`: the
 * next save came before it was taken, or the file went.
 */
export type SaveOutcome = "taken" | "conflict" | "held" | "known" | "waiting" | "overtaken";

/** A write that was made without a daemon. */
export interface InboxTable {
  id: Generated<number>;
  kind: "memory" | "move" | "losers" | "text" | "text-conflict";
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  /** The account of a `user` or `global` document. A project's is found by its id. */
  account: Generated<AccountId>;
  /** A memory's key, or the id of a text's conflict; empty for a text. */
  key: string;
  /** Null deletes the key. Of a memory that was moved: where it is now, a `MovedTo` as JSON. */
  value: string | null;
  /** The text that the author of a new text saw; null for other writes. */
  base: string | null;
  /** JSON `[[client, clock], …]`: the entries that its author saw. */
  seen: string;
  /** The author allows what looks like a secret in it (1), lines of his own text (2), or both. */
  allow_secret: Generated<number>;
  written_at: number;
}

/** A memory that was read from a damaged database and is missing in its document. */
interface SalvagedMemoriesTable {
  id: Generated<number>;
  /** The owner of its document. */
  account: AccountId;
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  key: string;
  value: string;
  /** The id of its entry. With it the service's document shows whether it was ever sent. */
  client: number;
  clock: number;
  updated_at: number;
}

/** A write that must not enter its document, or not yet. */
export interface HeldTable {
  id: Generated<number>;
  /** Each place, of kind, account, document, key and `apart`, has one row. */
  kind: "memory" | "metadata" | "text" | "file";
  /** The owner of its document. */
  account: AccountId;
  /** A project's id, `user/<user id>` or `global`. */
  document: string;
  /** A memory's or metadata's key; empty for a text; the folder of a followed file. */
  key: string;
  /** SHA-256, in hex, of a file's text, which has a place of its own; else empty. */
  apart: Generated<string>;
  /** Metadata as JSON. Null deletes the key; null for a file whose content was not stored. */
  value: string | null;
  /** The text that the author of a new text saw; null for other writes. */
  base: string | null;
  /** JSON `[[client, clock], …]`: the entries that its author saw. */
  seen: string;
  /** `private`: others are not to see it, as a secret or one's own text. */
  cause: "private" | "limit" | "refused";
  /** `Reason` as JSON. Contains nothing of the value. */
  reason: string;
  /** SHA-256 of a followed file's bytes, in hex; null for other writes. */
  hash: string | null;
  /** Writes with the same number are tried together, the lowest number first; null: never again. */
  turn: number | null;
  /** 0: another write is shown in its place, or its file has another text. */
  shown: Generated<number>;
  /** 1: a person wants it in the document, unchanged. The daemon writes it. */
  allowed: Generated<number>;
  written_at: number;
}

/** A file of an assistant that has the personal text in a block. */
export interface PersonalFilesTable {
  assistant: string;
  path: string;
  /** What a file begins with that memsync makes; else empty. */
  header: string;
  /** 1: it is written although git tracks it. */
  writes: number;
  /** 1: there was no file before. */
  is_made: number;
  account: AccountId | null;
  /** The version that the block showed last, as a memory's value; null: none yet. */
  shown: string | null;
  /** The version that is being written. */
  next: string | null;
  /** A `BegunPersonal`, as JSON. */
  begun: string | null;
  /** Hash of a held text that the block has. */
  held: string | null;
  asked: "missing" | "emptied" | "former" | "deleted" | "found" | null;
  settled: "adopt" | "take" | "off" | "keep" | null;
  /** Of `take`: the hash of the text that was shown; null: whatever the block has. */
  takes: string | null;
  /** Where the path led when the block was read last; null: not since this is kept. */
  target: string | null;
  /** JSON: hashes of the texts that the block had before its own last edits. */
  undone: string;
  turned_on_at: number;
}

/** A version of the personal text that this machine has had. */
interface PersonalVersionsTable {
  number: Generated<number>;
  id: string;
  /** As a memory has it. */
  value: string;
  /** 1: it was made here. */
  is_own: number;
}

/** A line that a personal text has had here: it is one's own wherever it turns up. */
interface PersonalLinesTable {
  /** SHA-256 of the line, in hex. */
  hash: string;
}

/** Something private that a person has allowed to leave: a secret, or a line of one's own text. */
export interface AllowancesTable {
  /** SHA-256 of the secret, or of the document and the line, in hex. */
  hash: string;
  allowed_at: number;
}
