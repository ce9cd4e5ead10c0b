import type { Kysely } from "kysely";
import { parseEntryIds } from "../../daemon/home/entry-ids.ts";
import type { DaemonTables, SaveOutcome } from "../../daemon/home/tables.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import type { AccountId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import { revisionName } from "../../shared/replica/history/revision-name.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import { CorruptDocumentError } from "../../shared/replica/log/corrupt-document-error.ts";
import { machineInRows } from "../../shared/replica/log/machines.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { CommandFailed } from "../screen/errors.ts";
import { listDeletions, listLosingVersions, type WrittenValue } from "./losing-versions.ts";
import { type WaitingWrite, waitingMemories, waitingTexts } from "./waiting-held.ts";

type Db = Kysely<DaemonTables>;

/**
 * One version of a memory or a text. `conflict`: it lost against a concurrent one and is still in
 * the document. `replaced`: it was overwritten, dismissed or deleted. `saved`: it was saved into a
 * followed file here, and the document never had exactly this text. `deleted`: no version, but the
 * memory's deletion; it has neither a revision nor a value.
 */
export interface Version extends WrittenValue {
  /** Equal for the same value on every machine. */
  readonly revision: string;
  readonly state: "current" | "conflict" | "replaced" | "saved" | "deleted";
  /** Milliseconds since the Unix epoch; undefined unless it was replaced. */
  readonly replacedAt: number | undefined;
  /** Details of the save, if it was saved into a followed file of this machine. */
  readonly save?: LocalSave | undefined;
}

/** A save of a followed file of this machine, and its outcome. */
export interface LocalSave {
  readonly dir: string;
  /** Milliseconds since the Unix epoch. */
  readonly savedAt: number;
  readonly outcome: SaveOutcome;
  /** Ids of the conflicts that it led to. */
  readonly conflicts: readonly string[];
}

/** Where the history is, and which machine reads it. */
export interface HistorySource {
  readonly db: Db;
  /** The local document's name. */
  readonly document: string;
  /** The account of a `user` or `global` document. */
  readonly account?: AccountId | undefined;
  /** This machine, which wrote what is in the inbox. */
  readonly machine: string;
}

/**
 * All kept versions of a memory, newest first; none for an unknown key. A value that it had several
 * times is listed each time, under the same name, so that the times are complete.
 *
 * ```
 * const [latest] = await memoryHistory({ db, document: "global", machine }, "editor");
 * ```
 */
export async function memoryHistory(source: HistorySource, key: string): Promise<Version[]> {
  const { db, document: name, account, machine } = source;
  const document = await findLocalDocument(db, name, account);
  const current = document && (await currentMemory(db, document.id, key));
  const place = { document: name, account, key, standing: current?.value };
  const waiting = lasting(await waitingMemories(db, place), machine);
  if (!document) return overlaid(undefined, waiting);
  const losing = current ? await listLosingVersions(db, { ...document, name, account }) : [];
  const versions = [
    ...overlaid(current, waiting),
    ...losing.filter((each) => each.key === key).map((each) => versionOf(each, "conflict")),
    ...(await replaced(db, document.id, { kind: "memory", key })),
  ];
  for (const { deletedAt: writtenAt, machine: by } of await listDeletions(db, document.id, key)) {
    const deletion = { revision: "", value: "", writtenAt, machine: by, replacedAt: undefined };
    insertByTime(versions, { ...deletion, state: "deleted" });
  }
  return versions;
}

/** The current version of a text or a memory. */
export function currentOf(versions: readonly Version[]): Version | undefined {
  return versions.find(({ state }) => state === "current");
}

/** All kept versions of a project's text and saves of its files, newest first. */
export async function textHistory(source: HistorySource): Promise<Version[]> {
  const { db, document: name, account, machine } = source;
  const document = await findLocalDocument(db, name, account);
  const current = document && (await currentText(db, document.id));
  const place = { document: name, account, standing: current?.value ?? "" };
  const waiting = lasting(await waitingTexts(db, place), machine);
  if (!document) return overlaid(undefined, waiting);
  const versions = [
    ...overlaid(current, waiting),
    ...(await replaced(db, document.id, { kind: "text", key: "" })),
  ];
  return withSaves(versions, await savedTexts(db, document.id), await listSaves(db, document.id));
}

/** Leaves out writes that the daemon will hold: they would be listed now, and gone once it runs. */
function lasting(waiting: readonly WaitingWrite[], machine: string): Waiting[] {
  return waiting.flatMap(({ value, writtenAt, isToBeHeld }) => {
    return isToBeHeld ? [] : [{ value, writtenAt, machine }];
  });
}

async function savedTexts(db: Db, id: number): Promise<Version[]> {
  const texts = await listRevisions(replicaOf(db), id, { kind: "save", key: "" }).catch(asFailure);
  return texts.map((each) => versionOf(each, "saved"));
}

/** All kept saves of a text on this machine, newest first. */
async function listSaves(db: Db, id: number): Promise<NamedSave[]> {
  const rows = await db
    .selectFrom("saves")
    .selectAll()
    .where("document_id", "=", id)
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ revision, dir, saved_at: savedAt, kept_at: keptAt, outcome, conflicts }) => {
    const ids = parseStored<string[]>(conflicts);
    return { revision, keptAt, save: { dir, savedAt, outcome, conflicts: ids } };
  });
}

interface NamedSave {
  readonly revision: string;
  readonly keptAt: number;
  readonly save: LocalSave;
}

/** Puts each save beside the version that it wrote, or else by itself in order of time. */
function withSaves(
  versions: readonly Version[],
  saved: readonly Version[],
  saves: readonly NamedSave[],
): Version[] {
  const all = [...versions];
  const texts = new Map([...saved, ...versions].map((each) => [each.revision, each]));
  for (const { revision, keptAt, save } of saves) {
    const at = all.findIndex((each) => each.revision === revision && each.writtenAt === keptAt);
    const text = texts.get(revision);
    if (at !== -1) all[at] = { ...(all[at] as Version), save };
    else if (text) insertByTime(all, { ...asSaved(text), writtenAt: save.savedAt, save });
  }
  const known = new Set(all.map(({ revision }) => revision));
  for (const text of saved) if (!known.has(text.revision)) insertByTime(all, text);
  return all;
}

function asSaved(version: Version): Version {
  return { ...version, state: "saved", replacedAt: undefined };
}

function insertByTime(versions: Version[], version: Version): void {
  const at = versions.findIndex(({ writtenAt }) => writtenAt <= version.writtenAt);
  versions.splice(at === -1 ? versions.length : at, 0, version);
}

/** A write of the inbox; a deletion if it has no value. */
type Waiting = Omit<WrittenValue, "value"> & { readonly value: string | undefined };

/** The replica's value and those in the inbox, newest first: each replaces the one before. */
function overlaid(current: WrittenValue | undefined, waiting: readonly Waiting[]): Version[] {
  const versions: Version[] = [];
  let replacedAt: number | undefined;
  const writes: Waiting[] = [...(current ? [current] : []), ...waiting];
  // The daemon takes an equal value for no change.
  const changes = writes.filter(({ value }, at) => at === 0 || value !== writes[at - 1]?.value);
  for (const { value, writtenAt, machine } of changes.reverse()) {
    if (value !== undefined) {
      const state = replacedAt === undefined ? "current" : "replaced";
      versions.push(versionOf({ value, writtenAt, machine }, state, replacedAt));
    }
    replacedAt = writtenAt;
  }
  return versions;
}

async function currentMemory(db: Db, id: number, key: string): Promise<WrittenValue | undefined> {
  const row = await db
    .selectFrom("memories")
    .select(["value", "updated_at", "entry_ids"])
    .where("document_id", "=", id)
    .where("key", "=", key)
    .executeTakeFirst();
  if (!row) return undefined;
  const [winner] = parseEntryIds(row.entry_ids);
  const machine = winner && (await machineInRows(replicaOf(db), id, winner.client));
  return { value: row.value, writtenAt: row.updated_at, machine };
}

async function currentText(db: Db, id: number): Promise<WrittenValue | undefined> {
  const row = await db
    .selectFrom("texts")
    .select(["content", "updated_at", "machine"])
    .where("document_id", "=", id)
    .executeTakeFirst();
  if (!row) return undefined;
  return { value: row.content, writtenAt: row.updated_at, machine: row.machine ?? undefined };
}

async function replaced(
  db: Db,
  id: number,
  { kind, key }: { readonly kind: "memory" | "text"; readonly key: string },
) {
  const revisions = await listRevisions(replicaOf(db), id, { kind, key }).catch(asFailure);
  return revisions.map((each) => versionOf(each, "replaced", each.replacedAt));
}

/** The error with the advice to start a daemon, which checks the whole database. */
function asFailure(thrown: unknown): never {
  if (!(thrown instanceof CorruptDocumentError)) throw thrown;
  throw new CommandFailed(
    `${thrown.message}: stop the daemon if it runs, and \`memsync up\` sets the database aside ` +
      "and rebuilds it with whatever of the history can be read",
  );
}

function versionOf(
  { value, writtenAt, machine }: WrittenValue,
  state: Version["state"],
  replacedAt?: number,
): Version {
  return { revision: revisionName(value), value, writtenAt, machine, state, replacedAt };
}

function replicaOf(db: Db): Kysely<ReplicaTables> {
  return narrowTables(db);
}
