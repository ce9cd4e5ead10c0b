import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { settlesEntry } from "../../daemon/inbox/overlay.ts";
import { wireDocumentId } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { Entry, EntryId } from "../../shared/replica/document/entry-index.ts";
import { type MovedTo, movedToOf } from "../../shared/replica/document/memory-deletion.ts";
import { REMOVED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { machineIn } from "../../shared/replica/log/machines.ts";
import { loadLocalDocument } from "./load-local-document.ts";
import type { LocalDocument } from "./local-documents.ts";
import { deletionIn, type WrittenValue } from "./losing-versions.ts";

type Db = Kysely<DaemonTables>;

/** Where a memory stands that was moved. */
export interface StandingMove {
  readonly document: LocalDocument;
  readonly movedTo: MovedTo;
  readonly winner: WrittenValue;
  /** The entries that have this value. */
  readonly winning: readonly EntryId[];
  /** All entries of the memory there, and all entries that say that it was deleted. */
  readonly all: readonly EntryId[];
  /** The entries that say that it was deleted there. */
  readonly deletions: readonly ToldDeletion[];
}

/** An entry that says that a memory was deleted, with when and where that was. */
interface ToldDeletion {
  readonly id: EntryId;
  readonly at: number;
  readonly machine: string | undefined;
}

/** What one machine did with a memory while another one did something else. */
export interface MemoryOutcome {
  /** When it was moved or deleted, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Undefined where that is unknown. */
  readonly machine: string | undefined;
  /** Undefined: it was deleted. */
  readonly standing: StandingMove | undefined;
}

/** A memory that was moved, and that stands there, while another machine moved or deleted it. */
export interface MovedMemory {
  readonly key: string;
  /** At least two outcomes. The ones with a value come first. */
  readonly outcomes: readonly MemoryOutcome[];
  /** All that says in the place that it left that it was moved or deleted. */
  readonly deletions: readonly EntryId[];
  /**
   * The entries, in the places where it stands, by which somebody chose another of these outcomes.
   * It is the same question, so they are settled with it.
   */
  readonly choices: readonly EntryId[];
}

/** A place that a memory left, the entries that say so, and the moves that led there. */
interface Left {
  readonly document: ReplicaDocument;
  readonly told: readonly Entry[];
  readonly followed: Set<string>;
}

/** Finds what became of memories. Reads each document once. */
export class MoveFinder {
  readonly #db: Db;
  readonly #documents: readonly LocalDocument[];
  readonly #loaded = new Map<number, Promise<ReplicaDocument>>();

  /** `documents`: all of the home. */
  constructor(db: Db, documents: readonly LocalDocument[]) {
    this.#db = db;
    this.#documents = documents;
  }

  /**
   * Lists memories that left a document in two ways at once, unless the inbox has settled it.
   * Documents arrive one by one and in any order, so this is worked out anew each time. If a value
   * stands, too, its deletion is a conflict of its own already.
   */
  async list({ id, name, account }: LocalDocument): Promise<readonly MovedMemory[]> {
    const keys = await keysInDispute(this.#db, id);
    if (keys.length === 0) return [];
    const document = await this.#load(id);
    const waiting = await readInbox(this.#db, name, account);
    const found: MovedMemory[] = [];
    for (const key of keys) {
      const told = document.deletionsOf(key);
      const isSettled = told.some((each) => settlesEntry(waiting, key, each.id));
      if (isSettled || document.memories.get(key).length > 0) continue;
      const all = await this.#outcomes({ document, told, followed: new Set() }, key);
      const outcomes = inOrder(all);
      const stands = outcomes.some(({ standing }) => standing !== undefined);
      if (!stands || outcomes.length === 1) continue;
      const deletions = told.map((each) => each.id);
      found.push({ key, outcomes, deletions, choices: choicesAmong(all) });
    }
    return found;
  }

  /** The outcomes in a place; none in one of which nothing has arrived yet. */
  async #outcomes({ document, told, followed }: Left, key: string): Promise<MemoryOutcome[]> {
    const found: MemoryOutcome[] = [];
    for (const deletion of told) {
      const { deletedAt: at, machine } = deletionIn(document, deletion);
      const movedTo = movedToOf(deletion);
      if (!movedTo) found.push({ at, machine, standing: undefined });
      else found.push(...(await this.#follow({ key, movedTo, who: { at, machine } }, followed)));
    }
    return found;
  }

  /**
   * Follows a memory that was moved on, or deleted where it had gone: that machine had seen it
   * there. Stops at a circle.
   */
  async #follow(
    {
      key,
      movedTo,
      who,
    }: {
      readonly key: string;
      readonly movedTo: MovedTo;
      readonly who: Omit<MemoryOutcome, "standing">;
    },
    followed: Set<string>,
  ): Promise<readonly MemoryOutcome[]> {
    const step = `${movedTo.to} ${movedTo.at}`;
    if (followed.has(step)) return [];
    followed.add(step);
    for (const place of this.#documents) {
      if (wireDocumentId(place.name) !== movedTo.to) continue;
      const document = await this.#load(place.id);
      const standing = standingIn(document, key, { place, movedTo });
      if (standing) return [{ ...who, standing }];
      const told = document.deletionsOf(key).filter((deletion) => {
        const next = movedToOf(deletion);
        return next ? next.from === movedTo.at : document.memories.get(key).length === 0;
      });
      if (told.length > 0) return await this.#outcomes({ document, told, followed }, key);
    }
    return [];
  }

  async #load(id: number): Promise<ReplicaDocument> {
    const loading = this.#loaded.get(id) ?? loadLocalDocument(this.#db, id);
    this.#loaded.set(id, loading);
    return await loading;
  }
}

function standingIn(
  document: ReplicaDocument,
  key: string,
  { place, movedTo }: { readonly place: LocalDocument; readonly movedTo: MovedTo },
): StandingMove | undefined {
  const entries = document.memories.get(key);
  const [winner] = entries;
  if (!winner || !entries.some((each) => each.created_at === movedTo.at)) return undefined;
  const idsOf = (some: readonly Entry[]) => some.map(({ id }) => id);
  return {
    document: place,
    movedTo,
    winner: {
      value: String(winner.value),
      writtenAt: winner.updated_at,
      machine: machineIn(document, winner.id.client),
    },
    winning: idsOf(entries.filter(({ value }) => value === winner.value)),
    all: idsOf([...entries, ...document.deletionsOf(key)]),
    deletions: document.deletionsOf(key).map((each) => {
      const { deletedAt: at, machine } = deletionIn(document, each);
      return { id: each.id, at, machine };
    }),
  };
}

/**
 * The deletions by which a choice was made: it deletes the memory from all other places at the same
 * moment.
 */
function choicesAmong(outcomes: readonly MemoryOutcome[]): EntryId[] {
  return outcomes.flatMap(({ standing }) => {
    const others = outcomes.filter((each) => each.standing?.document.id !== standing?.document.id);
    const isChoice = ({ at, machine }: ToldDeletion) =>
      others.some((each) => each.at === at && each.machine === machine);
    return (standing?.deletions ?? []).filter(isChoice).map(({ id }) => id);
  });
}

/** One for each place where it stands, and one for all deletions. */
function inOrder(outcomes: readonly MemoryOutcome[]): MemoryOutcome[] {
  const places = new Map<number | undefined, MemoryOutcome>();
  for (const outcome of outcomes) {
    const place = outcome.standing?.document.id;
    if (!places.has(place)) places.set(place, outcome);
  }
  const nameOf = ({ standing }: MemoryOutcome) => standing?.document.name ?? "";
  const all = [...places.values()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return [...all.filter(({ standing }) => standing), ...all.filter(({ standing }) => !standing)];
}

/** The keys whose row tells of several deletions, since these say different things. */
async function keysInDispute(db: Db, id: number): Promise<string[]> {
  const rows = await db
    .selectFrom("metadata")
    .select("key")
    .where("document_id", "=", id)
    .where("key", "like", `${REMOVED_PREFIX}%`)
    .where("value", "like", "[%")
    .orderBy("key")
    .execute();
  return rows.map(({ key }) => key.slice(REMOVED_PREFIX.length));
}
