import type { Kysely } from "kysely";
import * as Y from "yjs";
import type { ProjectId } from "../../shared/ids.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import { isSameMachine } from "../../shared/replica/document/author.ts";
import {
  DELETION_KEY,
  type ProjectDeletion,
} from "../../shared/replica/document/deletion-entry.ts";
import type { TouchedParts } from "../../shared/replica/document/document.ts";
import { SERVICE_MACHINE } from "../../shared/replica/document/machine-name.ts";
import { machineInRows } from "../../shared/replica/log/machines.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { ProjectDeletedActivity, Transfer } from "../home/activity.ts";
import { readDeletion } from "../home/deleted-project.ts";
import type { DaemonTables } from "../home/tables.ts";

/** What a journal reads, and whom it tells. */
export interface JournalOptions {
  readonly store: Pick<ReplicaStore<DaemonTables>, "reader" | "writer">;
  /** The followed projects with their names. */
  readonly projects: () => ReadonlyMap<ProjectId, string>;
  /** The service is part of this home: what is sent there stays on the machine. */
  readonly isEmbedded: boolean;
  readonly onTransfer: (transfer: Transfer | ProjectDeletedActivity) => void;
}

/** For more memories than these, all keys of the document are read. */
const KEYS_ASKED_MAX = 500;

/** What changed in one document. */
interface Changed {
  text: boolean;
  /** Whether the project was deleted, or begun again. */
  deletion: boolean;
  /** Whether there was more than what merges and dismissals record about themselves. */
  isNews: boolean;
  readonly keys: Set<string>;
  /** The document's number in the database; undefined where nothing changed. */
  documentId?: number;
}

/**
 * Reports what is sent to a service and what comes from there, in one line for each document and
 * update. What a call sends is known from the commits before it, which are remembered here. Of
 * commits before this process started, only the size is reported.
 */
export class SyncJournal {
  readonly #options: JournalOptions;
  /** What changed here and was not sent yet, by the document's name. */
  readonly #unsent = new Map<string, Changed>();
  /** Machines have to be looked up, and the lines must stay in order. */
  #told: Promise<void> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Something changed here and has to be sent. */
  changed({ documentId, address: { name }, changes }: CommittedRow): void {
    const unsent = this.#unsent.get(name) ?? noChange();
    // A merge writes into the same commit as what came from others.
    const own = changes.by.local;
    unsent.documentId = documentId;
    unsent.deletion ||= own.metadataKeys.has(DELETION_KEY);
    unsent.text ||= own.text;
    unsent.isNews ||= !isBookkeeping(own);
    for (const key of own.memoryKeys) unsent.keys.add(key);
    this.#unsent.set(name, unsent);
  }

  /**
   * The service took a document's changes. `bytes` null: it takes no updates, so a document without
   * changes was not sent.
   */
  sent(name: string, bytes: number | null): void {
    const unsent = this.#unsent.get(name);
    this.#unsent.delete(name);
    const { isEmbedded, store } = this.#options;
    const { text, keys, deletion } = unsent ?? noChange();
    // What stays on the machine is only worth a line if somebody changed something.
    const isChanged = text || keys.size > 0 || deletion;
    const isNews = isEmbedded ? isChanged : (unsent?.isNews ?? bytes !== null);
    if (!isNews) return;
    const event = isEmbedded ? "saved" : "sent";
    const shown = { ...whatOf(text, keys), bytes, machine: null };
    this.#tell(async () => {
      const made = unsent?.deletion === false ? undefined : await this.#deletionOf(name);
      const deleted = made && this.#deletedIn(name, made);
      // What changed before this process started is unknown, except which machine deleted the
      // project.
      const isOwn = unsent !== undefined || (made && isSameMachine(made, store.writer));
      if (deleted && isOwn) return { ...deleted, machine: null };
      const gone = await this.#deletedAmong(unsent?.documentId, keys);
      return { event, ...this.#placeOf(name), ...shown, deleted: gone };
    });
  }

  /** Others' changes came and are saved here. */
  received({ documentId, address: { name }, ...row }: CommittedRow): void {
    const { update, origin } = row;
    const changes = row.changes.by[origin];
    if (isBookkeeping(changes)) return;
    const shown = { ...whatOf(changes.text, changes.memoryKeys), bytes: update.length };
    this.#tell(async () => {
      const made = changes.metadataKeys.has(DELETION_KEY) && (await this.#deletionOf(name));
      const deleted = made && this.#deletedIn(name, made);
      if (deleted) return deleted;
      const machine = await this.#machinesIn(documentId, update);
      const gone = await this.#deletedAmong(documentId, changes.memoryKeys);
      return { event: "received", ...this.#placeOf(name), ...shown, deleted: gone, machine };
    });
  }

  /** Lines about a call are written after it, when it is known that the service answered. */
  during(call: Promise<unknown>): void {
    this.#told = this.#told.then(async () => {
      await call.catch(() => undefined);
    });
  }

  /** Resolves when all lines are written. */
  async settled(): Promise<void> {
    await this.#told;
  }

  /** Undefined for an existing project, and where the database can't be read. */
  async #deletionOf(document: string): Promise<ProjectDeletion | undefined> {
    return await readDeletion(this.#options.store.reader, document).catch(() => undefined);
  }

  #deletedIn(document: string, { machine }: ProjectDeletion): ProjectDeletedActivity | undefined {
    const { project } = this.#placeOf(document);
    return project === null ? undefined : { event: "deleted", project, machine: machine ?? null };
  }

  #tell(transfer: () => Promise<Transfer | ProjectDeletedActivity>): void {
    this.#told = this.#told.then(async () => this.#options.onTransfer(await transfer()));
  }

  #placeOf(document: string): Pick<Transfer, "layer" | "project"> {
    const layer = layerOf(document);
    const project = projectOf(document);
    if (project === undefined) return { layer, project: null };
    return { layer, project: this.#options.projects().get(project) ?? project };
  }

  /** How many of these memories are not there; 0 where the database can't be read. */
  async #deletedAmong(documentId: number | undefined, keys: ReadonlySet<string>): Promise<number> {
    if (documentId === undefined || keys.size === 0) return 0;
    const { reader } = this.#options.store;
    const rows = await reader
      .selectFrom("memories")
      .select("key")
      .where("document_id", "=", documentId)
      .$if(keys.size <= KEYS_ASKED_MAX, (query) => query.where("key", "in", [...keys]))
      .execute()
      .catch(() => undefined);
    if (!rows) return 0;
    const known = new Set(rows.map(({ key }) => key));
    return [...keys].filter((key) => !known.has(key)).length;
  }

  /** An update that only deletes has no author. Null also where the database can't be read. */
  async #machinesIn(documentId: number, update: Uint8Array): Promise<string | null> {
    const reader: Kysely<ReplicaTables> = narrowTables(this.#options.store.reader);
    const names = new Set<string>();
    try {
      for (const client of Y.parseUpdateMeta(update).from.keys()) {
        const name = await machineInRows(reader, documentId, client);
        if (name !== undefined) names.add(name);
      }
    } catch {
      return null;
    }
    // What the service notes itself beside others' writes is nobody's news.
    if (names.size > 1) names.delete(SERVICE_MACHINE);
    return names.size === 0 ? null : [...names].sort().join(", ");
  }
}

function noChange(): Changed {
  return { text: false, deletion: false, isNews: false, keys: new Set() };
}

function whatOf(text: boolean, keys: ReadonlySet<string>) {
  const [key] = keys;
  return { text, memories: keys.size, key: keys.size === 1 ? (key ?? null) : null };
}

/** What merges and dismissals record about themselves interests nobody. */
function isBookkeeping({ text, memoryKeys, metadataKeys }: TouchedParts): boolean {
  const isNews = (key: string) => isPublicKey(key) || key === DELETION_KEY;
  return !text && memoryKeys.size === 0 && ![...metadataKeys].some(isNews);
}
