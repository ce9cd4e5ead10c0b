import { crc32 } from "node:zlib";
import * as Y from "yjs";
import { assert } from "../../shared/errors.ts";
import { type AccountId, asAccountId, parseProjectId } from "../../shared/ids.ts";
import { isObject, parseJson } from "../../shared/json.ts";
import {
  prepareRows,
  type SqliteConnection,
  type SqlValue,
} from "../../shared/sqlite/connection.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { isMisfitRow } from "../../shared/sqlite/failures.ts";
import type { World } from "../../shared/world.ts";
import { parseEntryIds } from "../home/entry-ids.ts";
import { ANY_FOLDER, LOST_IGNORED } from "../home/ignore-files.ts";
import type { Link } from "../home/links.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { openReplica } from "../home/open-replica.ts";
import type { KeptChoices } from "./choices-file.ts";
import { type DamagedDocument, readDocument } from "./damaged-document.ts";
import {
  FORMER_NAMES,
  personalLineRows,
  withPresentCause,
  withPresentDecision,
} from "./former-rows.ts";
import type { KeptLinks } from "./links-file.ts";
import { isReadable, neededColumns } from "./needed-columns.ts";
import {
  allowShortFile,
  type DamagedRow,
  type DamagedTable,
  readDamaged,
  UNREAD,
} from "./read-damaged.ts";
import { type RemoteRow, SalvagedBindings } from "./salvaged-bindings.ts";
import { heldAgain, lineKeysOf, shownFiles } from "./salvaged-files.ts";

/** What was recovered from a damaged database. */
export interface Salvaged {
  readonly links: number;
  readonly documents: number;
  /** Documents that could be read only in part. */
  readonly partial: number;
  /** Memories of these that wait for the service's answer; see `settleSalvaged`. */
  readonly memories: number;
  /** Writes that were made without a daemon. */
  readonly inbox: number;
  /** Whether these are all. False: there may have been others, and nobody else has them. */
  readonly isInboxWhole: boolean;
  /** Former values and texts. */
  readonly revisions: number;
  /** Linked folders of which nobody knows any more what a `.memsyncignore` of theirs named. */
  readonly unknownIgnored: number;
  /** Whether it is known what the file in any other folder named. */
  readonly isIgnoredKnown: boolean;
  /** Whether it is known which files of assistants have the personal text. */
  readonly isPersonalKnown: boolean;
  /** Whether it is known which sessions ran while none was recorded. */
  readonly isWithheldKnown: boolean;
  /** All that was held could be read; it is nowhere else. */
  readonly isHeldKnown: boolean;
}

/** The tables that are read; a damaged one as far as possible. */
const TABLES = [
  "documents",
  "updates",
  "snapshots",
  "memories",
  "texts",
  "revisions",
  "revision_packs",
  "text_conflicts",
  "links",
  "link_places",
  "former_links",
  "unlinked_folders",
  "ignore_files",
  "former_ignore_files",
  "project_names",
  "declined_joins",
  "inbox",
  "salvaged_memories",
  "held",
  "allowances",
  "followed_files",
  "file_arrivals",
  "memory_folders",
  "memory_files",
  "personal_files",
  "personal_versions",
  "personal_lines",
  "transcripts",
  "saves",
  "sessions",
  "connections",
  "current_projects",
  "remotes",
  "schema_migrations",
] as const;

/** Tables whose rows are copied as they are. */
const COPIED = [
  "link_places",
  "former_links",
  "unlinked_folders",
  "ignore_files",
  "former_ignore_files",
  "project_names",
  "declined_joins",
  "allowances",
  "memory_folders",
  "personal_versions",
  "sessions",
  "connections",
  "current_projects",
] as const;

/** Tables of which there is a copy for where they do not tell all. */
const CHOSEN = [
  "ignore_files",
  "former_ignore_files",
  "personal_files",
  "personal_versions",
  "transcripts",
] as const;

/** Tables whose `id` is what a row is about, and no number of the row. */
const WITH_ID: readonly string[] = ["personal_versions", "sessions"];

type Table = (typeof TABLES)[number];
type Tables = Readonly<Record<Table, DamagedTable>>;

/** A document of the damaged database, and where it goes. */
interface Found extends DamagedDocument {
  readonly name: string;
  /** Its owner in the new database. */
  readonly owner: AccountId;
  readonly formerId: SqlValue;
}

/**
 * Makes the new database `to` from what can be read of `from`, which is not changed. Positions are
 * not copied: each document has a first contact with its service, in which both exchange
 * everything. `kept` and `choices`: the stored copies, used where the database does not tell. A
 * project whose service is not certain is bound to none.
 */
export async function salvage(
  from: string,
  to: string,
  {
    kept,
    choices,
    world,
  }: {
    readonly kept: KeptLinks;
    readonly choices?: KeptChoices | undefined;
    readonly world: World;
  },
): Promise<Salvaged> {
  const tables = await readTables(from);
  const now = world.now();
  const read = documentsIn(tables);
  const bindings = new SalvagedBindings({
    remotes: tables.remotes,
    migrations: tables.schema_migrations,
    documents: read,
    kept: kept.bindings,
    world,
  });
  const found = read.map((each) => ({ ...each, owner: bindings.ownerOf(each) }));
  const links = linksIn(tables.links, kept.links, now);
  const store = await openReplica(to, world);
  const ids = new Map<SqlValue, number>();
  try {
    for (const { name, owner, formerId, update } of found) {
      await store.write(async (context) => {
        const open = await context.open({ owner, name });
        Y.applyUpdate(open.document.ydoc, update, "local");
        ids.set(formerId, open.id);
      });
    }
    const known = new Set(found.map(({ name }) => name));
    for (const { project_id } of bindings.areNamed ? links : []) {
      const name = `${project_id}`;
      if (known.has(name)) continue;
      known.add(name);
      await store.write((context) => context.open({ owner: bindings.ownerOfLink(name), name }));
    }
  } finally {
    await store.close();
  }
  const remotes = bindings.areNamed ? bindings.remotes() : [];
  const chosen = withChoices(tables, choices);
  const isIgnoredKnown = tables.ignore_files.whole || choices !== undefined;
  const lost = isIgnoredKnown ? [] : lostIgnored(links, chosen.ignore_files.rows);
  return await bringOver(to, chosen, {
    found,
    ids,
    linked: links,
    remotes,
    lostIgnored: lost,
    isIgnoredKnown,
    isPersonalKnown: tables.personal_files.whole || choices !== undefined,
    isWithheldKnown: tables.transcripts.whole || choices?.transcripts !== undefined,
    now,
  });
}

async function readTables(from: string): Promise<Tables> {
  const connection = await openConnection(from, true).catch(() => undefined);
  if (!connection) return tablesFrom(() => UNREAD);
  try {
    allowShortFile(connection);
    const needed = await neededColumns(readDamaged(connection, "schema_migrations"));
    return tablesFrom((table) => {
      const present = readDamaged(connection, table);
      const isThere = present.whole || present.rows.length > 0;
      const former = isThere ? undefined : FORMER_NAMES[table];
      const found = former === undefined ? present : readDamaged(connection, former);
      return isReadable(found, needed(table)) ? found : UNREAD;
    });
  } finally {
    connection.close();
  }
}

function tablesFrom(read: (table: Table) => DamagedTable): Tables {
  // Each of `TABLES` has its entry, and these are all names that there are.
  return Object.fromEntries(TABLES.map((table) => [table, read(table)])) as Tables;
}

function documentsIn({ documents, updates, snapshots }: Tables): Found[] {
  return documents.rows.flatMap((row) => {
    const { id, name, seq, owner } = row;
    if (typeof owner !== "string" || typeof name !== "string") return [];
    if (!isDocumentName(name)) return [];
    const of = ({ rows }: DamagedTable) => rows.filter((each) => each.document_id === id);
    const found = readDocument(Number(seq), of(snapshots), of(updates));
    return [{ ...found, name, owner: asAccountId(owner), formerId: id ?? null }];
  });
}

function isDocumentName(name: string): boolean {
  return name === "global" || name.startsWith("user/") || parseProjectId(name) !== undefined;
}

async function bringOver(
  to: string,
  tables: Tables,
  {
    found,
    ids,
    linked,
    remotes,
    lostIgnored: lost,
    isIgnoredKnown,
    isPersonalKnown,
    isWithheldKnown,
    now,
  }: {
    readonly found: readonly Found[];
    readonly ids: ReadonlyMap<SqlValue, number>;
    readonly linked: readonly Row[];
    readonly remotes: readonly RemoteRow[];
    readonly lostIgnored: readonly Row[];
    readonly isIgnoredKnown: boolean;
    readonly isPersonalKnown: boolean;
    readonly isWithheldKnown: boolean;
    readonly now: number;
  },
): Promise<Salvaged> {
  const ownerOf = new Map<SqlValue, string>();
  for (const { name, owner } of found) if (isProjectId(name)) ownerOf.set(name, owner);
  /** What belongs to a project goes to the same owner. */
  const owned = (row: Row): Row => {
    return { ...row, account: ownerOf.get(row.document ?? null) ?? row.account ?? LOCAL_ACCOUNT };
  };
  const connection = await openConnection(to, false);
  const put = (table: string, rows: readonly Row[]) => insertAll(connection, table, rows);
  const renumbered = ({ rows }: DamagedTable) => rows.flatMap((row) => withId(row, ids));
  const partial = found.filter(({ whole }) => !whole);
  try {
    connection.exec("PRAGMA synchronous = FULL");
    connection.exec("BEGIN IMMEDIATE");
    const links = put("links", linked);
    put(
      "remotes",
      remotes.map((each, at) => ({ ...each, added_at: now + at })),
    );
    const inbox = put("inbox", tables.inbox.rows.filter(isSoundWrite).map(withPresentKind));
    const packs = renumbered(tables.revision_packs).filter(isSoundPack);
    put("revision_packs", packs);
    const packed = packs.reduce((total, { count }) => total + Number(count), 0);
    const revisions = packed + put("revisions", renumbered(tables.revisions));
    put(
      "revisions",
      partial.flatMap((each) => textRevision(each, tables, { ids, now })),
    );
    put("text_conflicts", renumbered(tables.text_conflicts));
    const memories = partial.flatMap((each) => lostMemories(each, tables));
    put("salvaged_memories", [...tables.salvaged_memories.rows.map(owned), ...memories]);
    const followed = foldersOf(tables.links, found);
    put(
      "followed_files",
      tables.followed_files.rows.filter(({ dir }) => followed.has(dir)),
    );
    const files = shownFiles(tables, found);
    const held = tables.held.rows.filter(isSoundWrite).map(owned).map(withPresentCause);
    const heldRows = put("held", held);
    put("memory_files", heldAgain(files, held));
    const lines = lineKeysOf(files, tables);
    put(
      "file_arrivals",
      tables.file_arrivals.rows.filter(({ dir }) => followed.has(dir) || lines.has(`${dir}`)),
    );
    put("saves", renumbered(tables.saves));
    const personal = tables.personal_files.rows.map(withPresentDecision);
    put("personal_files", heldAgain(personal, held));
    put("personal_lines", personalLineRows(tables, held));
    // The others are read anew.
    put("transcripts", tables.transcripts.rows.filter(isWithheld));
    for (const table of COPIED) {
      put(table, tables[table].rows);
    }
    const unknownIgnored = put("ignore_files", lost);
    if (!isIgnoredKnown) put("ignore_files", [{ dir: ANY_FOLDER, text: LOST_IGNORED }]);
    connection.exec("COMMIT");
    return {
      links,
      inbox,
      isInboxWhole: tables.inbox.whole && inbox === tables.inbox.rows.length,
      revisions,
      documents: found.length,
      partial: partial.length,
      memories: memories.length,
      unknownIgnored,
      isIgnoredKnown,
      isPersonalKnown,
      isWithheldKnown,
      isHeldKnown: tables.held.whole && heldRows === tables.held.rows.length,
    };
  } finally {
    connection.close();
  }
}

/** A pack can only be read as a whole. */
function isSoundPack({ payload, checksum }: Row): boolean {
  return payload instanceof Uint8Array && crc32(payload) === checksum;
}

type Row = Readonly<Record<string, SqlValue>>;

/** Leaves out rows that do not fit the table. Returns how many were inserted. */
function insertAll(connection: SqliteConnection, table: string, rows: readonly Row[]): number {
  let taken = 0;
  const there = columnsIn(connection, table);
  for (const row of rows) {
    const columns = Object.keys(row).filter((name) => name !== "id" && there.has(name));
    if (WITH_ID.includes(table)) columns.push("id");
    const marks = columns.map(() => "?").join(", ");
    const names = columns.map((name) => `"${name}"`).join(", ");
    try {
      const insert = connection.prepare(`insert into ${table} (${names}) values (${marks})`);
      insert.run(columns.map((name) => row[name] ?? null));
      taken++;
    } catch (thrown) {
      if (!isMisfitRow(thrown)) throw thrown;
    }
  }
  return taken;
}

function columnsIn(connection: SqliteConnection, table: string): ReadonlySet<string> {
  const sql = "select name from pragma_table_info(?)";
  const rows = prepareRows<{ name: string }>(connection, sql).all([table]);
  return new Set(rows.map(({ name }) => name));
}

function withId(row: DamagedRow, ids: ReadonlyMap<SqlValue, number>): Row[] {
  const id = ids.get(row.document_id ?? null);
  return id === undefined ? [] : [{ ...row, document_id: id }];
}

/**
 * The links of the table if all could be read; else those of the copy, and what the table has
 * beyond them.
 */
function linksIn(table: DamagedTable, kept: readonly Link[], now: number): Row[] {
  const read = table.rows.filter(({ dir, project_id }) => {
    return typeof dir === "string" && dir.startsWith("/") && isProjectId(project_id);
  });
  if (table.whole) return read;
  const copied = kept.map(({ dir, projectId, name, write, file = null, also = [] }): Row => {
    const files = also.length > 0 ? JSON.stringify(also) : null;
    const chosen = { write: write ? 1 : 0, file, also: files };
    return { dir, project_id: projectId, name, ...chosen, linked_at: now };
  });
  return [...copied, ...read.filter(({ dir }) => !kept.some((link) => link.dir === dir))];
}

/** What the copy has comes first; a table of which all could be read needs none. */
function withChoices(tables: Tables, choices: KeptChoices | undefined): Tables {
  if (!choices) return tables;
  const chosen = CHOSEN.map((table) => {
    const { rows, whole } = tables[table];
    const copied = (choices[table] ?? []).map((row) => ({ ...row, rowid_: 0 }));
    return [table, { whole, rows: whole ? rows : [...copied, ...rows] }];
  });
  return { ...tables, ...Object.fromEntries(chosen) };
}

/** For each folder whose names nobody knows: that all of it stays here until somebody is asked. */
function lostIgnored(links: readonly Row[], known: readonly Row[]): Row[] {
  const dirs = new Set(known.map(({ dir }) => dir));
  return links.flatMap(({ dir = null }) => (dirs.has(dir) ? [] : [{ dir, text: LOST_IGNORED }]));
}

function isProjectId(value: SqlValue | undefined): boolean {
  return typeof value === "string" && parseProjectId(value) !== undefined;
}

/** The folders whose files can be followed as before, because nothing of their document is lost. */
function foldersOf(
  links: DamagedTable,
  found: readonly Found[],
): ReadonlySet<SqlValue | undefined> {
  const whole = new Set(found.filter((each) => each.whole).map(({ name }) => name));
  return new Set(links.rows.filter((row) => whole.has(`${row.project_id}`)).map(({ dir }) => dir));
}

/** Names of kinds of writes from before they were codes. */
const FORMER_KINDS: Readonly<Record<string, string>> = { "text conflict": "text-conflict" };

/** The database may be of an older version, and no migrations run on it. */
function withPresentKind({ kind, ...row }: DamagedRow): Row {
  return { ...row, kind: FORMER_KINDS[`${kind}`] ?? kind ?? null };
}

/** Whether a transcript's session ran while none was recorded. */
function isWithheld({ state }: Row): boolean {
  try {
    const read = parseJson(`${state}`);
    return isObject(read) && read.isWithheld === true;
  } catch {
    return false;
  }
}

function isSoundWrite(row: DamagedRow): boolean {
  // Without its value it would be a deletion.
  if (!("value" in row)) return false;
  try {
    assert(typeof row.document === "string" && isDocumentName(row.document), "of a document");
    return parseEntryIds(`${row.seen}`).every(({ client, clock }) => client >= 0 && clock >= 0);
  } catch {
    return false;
  }
}

/** The text that was shown last, as a former version: people can read and restore it. */
function textRevision(
  { formerId }: Found,
  { texts }: Tables,
  { ids, now }: { readonly ids: ReadonlyMap<SqlValue, number>; readonly now: number },
): Row[] {
  const shown = texts.rows.filter((row) => row.document_id === formerId && row.content !== "");
  return shown.flatMap((row) => {
    const { content = null, updated_at = null } = row;
    const document_id = ids.get(formerId) ?? null;
    const times = { written_at: updated_at, replaced_at: now };
    return [{ document_id, kind: "text", key: "", value: content, ...times }];
  });
}

/** Memories that were shown and whose entries are missing in what is left of their document. */
function lostMemories({ name, owner, formerId, holds }: Found, { memories }: Tables): Row[] {
  return memories.rows.flatMap((row) => {
    const { key = null, value = null, updated_at = null } = row;
    const [winner] = entryIdsOf(row);
    if (row.document_id !== formerId || !winner || holds(winner.client, winner.clock)) return [];
    return [{ account: owner, document: name, key, value, ...winner, updated_at }];
  });
}

function entryIdsOf(row: DamagedRow) {
  try {
    return parseEntryIds(`${row.entry_ids}`);
  } catch {
    return [];
  }
}
