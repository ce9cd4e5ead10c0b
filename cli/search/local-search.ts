import { type Kysely, sql } from "kysely";
import { withoutSecrets } from "../../daemon/held/searched-text.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listConnected } from "../../daemon/reading/connected-projects.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { type LocalMemory, readLocalMemories } from "../../daemon/reading/local-memories.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Reason } from "../../shared/reasons.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { fullTextQuery, type IndexedText, RANK } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import { unindexedIn } from "../../shared/replica/search/unindexed.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { MemoryPlace } from "../place/place.ts";

type Db = Kysely<DaemonTables>;

/** A project that is connected to the one that was asked about. */
export interface ConnectedProject {
  readonly id: ProjectId;
  readonly name: string;
}

/** A document to search. */
export interface SearchedPlace extends Pick<MemoryPlace, "document" | "account"> {
  /** Given for a project that is only connected to the one that was asked about. */
  readonly connected?: ConnectedProject | undefined;
}

/** A memory that was found, and where. */
export interface FoundMemory {
  readonly memory: LocalMemory;
  readonly place: SearchedPlace;
}

/** Where a search looks, and what it can't look into. */
export interface Searched {
  readonly places: readonly SearchedPlace[];
  /** Connected projects of which this home has nothing. */
  readonly elsewhere: readonly ProjectId[];
}

/**
 * These places, and the projects that are connected to the project among them; no others where a
 * layer is asked for.
 */
export async function withConnected(
  db: Db,
  places: readonly SearchedPlace[],
  layer: string | undefined,
): Promise<Searched> {
  const all = [...places];
  const elsewhere: ProjectId[] = [];
  if (layer !== undefined) return { places, elsewhere };
  for (const { document } of places) {
    const project = projectOf(document);
    if (project === undefined) continue;
    const connected = await listConnected(db, project);
    elsewhere.push(...connected.elsewhere);
    for (const id of connected.here) {
      const account = (await findBinding(db, id)) ?? LOCAL_ACCOUNT;
      const name = (await findProjectName(db, id)) ?? id;
      all.push({ document: id, account, connected: { id, name } });
    }
  }
  return { places: all, elsewhere };
}

/** The facts about projects that a search can't look into; undefined if there are none. */
export function missedBy({ elsewhere }: Pick<Searched, "elsewhere">) {
  if (elsewhere.length === 0) return undefined;
  return { code: "connected-elsewhere", projects: elsewhere } as const satisfies Reason;
}

/** How to search. */
export interface LocalSearch {
  readonly text: string;
  readonly wanted?: "every" | "some" | undefined;
  /**
   * The part of a held or waiting memory that is searched; if left out, everything but its secrets.
   */
  readonly searchedOf?: (memory: LocalMemory) => Promise<IndexedText>;
}

/**
 * The memories of these places that contain every word of `text`, or a word that begins with it,
 * best match first over all places; held and waiting ones last, which are not found by a secret.
 * With `some`, those that contain any of the words. Follows the rules of the interface's `q`. The
 * same with and without a running daemon.
 *
 * ```
 * await searchLocalMemories(db, [{ document: "global", account }], { text: "tabs spac" });
 * ```
 */
export async function searchLocalMemories(
  db: Db,
  places: readonly SearchedPlace[],
  { text, wanted = "every", searchedOf = withoutSecrets }: LocalSearch,
): Promise<FoundMemory[]> {
  const query = fullTextQuery(text, wanted);
  if (query === undefined) return [];
  const memories = new Map<string, FoundMemory>();
  const documents: number[] = [];
  const unindexed = new Set<string>();
  for (const place of places) {
    const { document, account } = place;
    for (const memory of await readLocalMemories(db, document, account)) {
      memories.set(memory.id, { memory, place });
    }
    const found = await findLocalDocument(db, document, account);
    if (!found) continue;
    documents.push(found.id);
    for (const id of await unindexedIn(narrowTables(db), found.id)) unindexed.add(id);
  }
  /** Whether the index lacks a memory's value. */
  const isOverlaid = ({ id, in_inbox, held }: LocalMemory) =>
    in_inbox || held !== undefined || unindexed.has(id);
  const found = documents.length === 0 ? [] : await searchIndex(db, documents, query);
  const indexed = found.flatMap((id) => {
    const each = memories.get(id);
    return each && !isOverlaid(each.memory) ? [each] : [];
  });
  const overlaid = [...memories.values()].filter(({ memory }) => isOverlaid(memory));
  const texts = overlaid.map(({ memory }) => memory);
  const matching = await matchingTexts(texts, query, searchedOf);
  return [...indexed, ...matching.flatMap(({ id }) => memories.get(id) ?? [])];
}

async function searchIndex(db: Db, documents: readonly number[], query: string): Promise<string[]> {
  const { rows } = await sql<{ memory_id: string }>`
    select memories.memory_id
    from memories_text
    join memories on memories.row_id = memories_text.rowid
    where memories_text match ${query}
      and memories.document_id in (${sql.join([...documents])})
    order by ${RANK}, memories.memory_id`.execute(db);
  return rows.map((row) => row.memory_id);
}
