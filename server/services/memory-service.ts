import type { Kysely } from "kysely";
import { AppError, assert, invalidAt } from "../../shared/errors.ts";
import { memoryIdOf, type ProjectId, randomMemoryKey } from "../../shared/ids.ts";
import {
  type DocumentAddress,
  globalDocument,
  layerOf,
  projectDocument,
  projectOf,
  userDocument,
  wireDocumentId,
} from "../../shared/replica/document/address.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { chunksOf } from "../../shared/turns.ts";
import type { Memory, MemoryCreate } from "../../shared/wire/memory.ts";
import type { World } from "../../shared/world.ts";
import { pageOf, parseCursor } from "../stores/cursor.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import {
  countMemories,
  findMemoriesById,
  LISTED_AT_ONCE,
  listMemories,
  type MemoryRow,
  searchMemories,
  toMemory,
} from "../stores/memory-store.ts";
import { listProjects } from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { assertBoundTo, assertCanWrite, boundElsewhere, getProject } from "./access.ts";
import { askedMemories, namedIn } from "./asked-lists.ts";
import { findCurrentProject } from "./current-project.ts";
import { KeptPages } from "./kept-pages.ts";
import { doOnce } from "./once.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, MemoryQuery, Page, Services } from "./services.ts";
import { listWhole } from "./whole-lists.ts";
import { listWithheld } from "./withheld-lists.ts";
import { overlaid, type Withholding } from "./withholding.ts";
import { writeAs } from "./write-as.ts";

/** Memories in one store; `world` makes keys for those without one. */
export function createMemoryService(
  store: ServiceStore,
  world: World,
  withholding?: Withholding,
): Services["memories"] {
  const kept = new KeptPages();
  return {
    async list(caller, query) {
      parseCursor(askedMemories(query), query.cursor);
      // Then the question is which project was synced last.
      if (namedIn(query) === undefined) await store.settle(caller.account);
      // Before anything is read: a later commit makes the page newer than its version.
      const version = store.version;
      const question = questionOf(caller, query);
      const known = kept.find(version, question);
      if (known) return known;
      const filter = {
        account: caller.account,
        documents: await documentsOf(store, caller, query),
      };
      const withheld = (await withholding?.memories(store.reader, filter)) ?? [];
      if (withholding && withheld.length > 0) {
        return await listWithheld(store.reader, filter, { query, withheld, withholding });
      }
      if (query.q !== undefined) return await search(store, filter, { q: query.q, query });
      const page = await kept.get(store.reader, filter, {
        request: query,
        make: () => list(store, filter, query),
      });
      kept.remember(version, question, { filter, request: query, page });
      return page;
    },

    async create(caller, request, { headerProjectId, once } = {}) {
      assertCanWrite(caller);
      return await writeAs(store, caller, (context) =>
        doOnce(context, caller, {
          asked: once,
          work: async () => {
            const address = await targetOf(context.db, caller, { request, headerProjectId });
            const key = request.key ?? (await newKey(context, address, world));
            return await setMemory(context, address, {
              key,
              content: request.content,
              withholding,
            });
          },
        }),
      );
    },

    async remove(caller, id) {
      assertCanWrite(caller);
      await writeAs(store, caller, async (context) => {
        if (await withholding?.remove(context, caller.account, id)) return;
        const rows = await findMemoriesById(context.db, caller.account, id);
        const own = `user/${caller.user}`;
        const row = rows.find((each) => {
          return layerOf(each.documentName) !== "user" || each.documentName === own;
        });
        if (!row) throw new AppError("not_found", "there is no such memory");
        assertDocument(caller, row.documentName);
        const open = await context.open({ owner: caller.account, name: row.documentName });
        open.deleteMemory({ key: row.key, now: context.now });
      });
    },
  };
}

/** Everything that the answer to a list depends on, besides the database. */
function questionOf(
  { account, user, tokenId, boundTo }: Caller,
  { layer, q, projectId, headerProjectId, limit, cursor }: MemoryQuery,
): string {
  const named = [layer, projectId, headerProjectId, q];
  // JSON turns an absent value into null, which no given one is; `boundTo` may be null itself.
  return JSON.stringify([account, user, tokenId, boundTo ?? "all", named, limit, cursor]);
}

/** With a seed, chance repeats: a key that exists already is drawn again. */
async function newKey(
  context: WriteContext<ServiceTables>,
  address: DocumentAddress,
  world: World,
): Promise<string> {
  const { document } = await context.open(address);
  let key = randomMemoryKey(world);
  while (document.memories.get(key).length > 0) key = randomMemoryKey(world);
  return key;
}

async function setMemory(
  context: WriteContext<ServiceTables>,
  address: DocumentAddress,
  {
    key,
    content,
    withholding,
  }: {
    readonly key: string;
    readonly content: string;
    readonly withholding: Withholding | undefined;
  },
): Promise<Memory> {
  const open = await context.open(address);
  const whole = { memories: [{ key, value: content }] };
  const write = (await withholding?.sift(context, open, whole)) ?? whole;
  if (write.memories?.length) {
    open.refuseIfFull(() => {
      open.document.setEntry("memories", key, {
        value: content,
        now: context.now,
        settles: true,
      });
    });
  }
  await context.flush(open);
  const id = memoryIdOf(wireDocumentId(address.name), key);
  const rows = await findMemoriesById(context.db, address.owner, id);
  const filter = { account: address.owner, documents: [address.name] };
  const withheld = await withholding?.memories(context.db, filter);
  const row = overlaid(rows, withheld ?? []).find(
    (each) => each.documentName === address.name && each.key === key,
  );
  assert(row, "a memory just written has a row");
  return toMemory(row);
}

async function list(
  store: ServiceStore,
  filter: MemoryFilter,
  query: MemoryQuery,
): Promise<Page<Memory>> {
  const from = parseCursor(askedMemories(query), query.cursor);
  const limit = query.limit === undefined ? undefined : query.limit + 1;
  const found =
    limit === undefined
      ? await listWhole(store, filter, from)
      : await listMemories(store.reader, filter, { from, limit });
  const { rows, nextCursor } = pageOf(askedMemories(query), found, {
    limit: query.limit,
    endOf: (row) => ({
      sort: row.createdAt,
      id: String(row.rowId),
    }),
  });
  const whole = from === undefined && nextCursor === null;
  const total = whole ? rows.length : await countMemories(store.reader, filter);
  const items: Memory[] = [];
  for (const some of chunksOf(rows, LISTED_AT_ONCE)) {
    // A page that many ask for is no long work: it would wait for whatever is.
    if (items.length > 0) await store.pause();
    for (const row of some) items.push(toMemory(row));
  }
  return { items, total, nextCursor };
}

async function search(
  store: ServiceStore,
  filter: MemoryFilter,
  { q, query }: { readonly q: string; readonly query: MemoryQuery },
): Promise<Page<Memory>> {
  const from = parseCursor(askedMemories(query), query.cursor);
  const limit = query.limit === undefined ? undefined : query.limit + 1;
  const found = await store.search(filter.account, () =>
    searchMemories(store.reader, filter, { text: q, from, limit }),
  );
  const given = (from?.sort ?? 0) + (query.limit ?? 0);
  const endOf = (row: MemoryRow) => ({ sort: given, id: row.memoryId });
  const { rows, nextCursor } = pageOf(askedMemories(query), found.rows, {
    limit: query.limit,
    endOf,
  });
  return { items: rows.map(toMemory), total: found.total, nextCursor };
}

/** The names of the documents that a list covers. */
async function documentsOf(
  store: ServiceStore,
  caller: Caller,
  query: MemoryQuery,
): Promise<string[]> {
  const project = await findCurrentProject(store.reader, caller, namedIn(query));
  const documents = {
    project: project === undefined ? [] : [project],
    user: caller.boundTo === null ? [`user/${caller.user}`] : [],
    global: caller.boundTo === null ? ["global"] : [],
  };
  if (query.layer !== undefined) return documents[query.layer];
  return [...documents.project, ...documents.user, ...documents.global];
}

/** The document for a new memory. A write never guesses a project. */
async function targetOf(
  db: Kysely<ServiceTables>,
  caller: Caller,
  {
    request,
    headerProjectId,
  }: { readonly request: MemoryCreate; readonly headerProjectId: ProjectId | undefined },
): Promise<DocumentAddress> {
  const { account, user } = caller;
  if (request.layer === "project") {
    const named = request.project_id ?? headerProjectId ?? (await onlyProject(db, caller));
    if (named === undefined) {
      throw invalidAt("/project_id", "say which project: project_id or the header X-Project-Id");
    }
    const { id } = await getProject(db, caller, named);
    return projectDocument(account, id);
  }
  if (request.project_id !== undefined) await getProject(db, caller, request.project_id);
  if (caller.boundTo !== null) {
    throw boundElsewhere();
  }
  return request.layer === "user" ? userDocument(account, user) : globalDocument(account);
}

async function onlyProject(
  db: Kysely<ServiceTables>,
  caller: Caller,
): Promise<ProjectId | undefined> {
  if (caller.boundTo !== null) return caller.boundTo.length === 1 ? caller.boundTo[0] : undefined;
  const filter = { account: caller.account, among: null };
  const [first, second] = await listProjects(db, filter, { from: undefined, limit: 2 });
  return second === undefined ? first?.id : undefined;
}

function assertDocument(caller: Caller, name: string): void {
  const project = projectOf(name);
  if (project !== undefined) assertBoundTo(caller, project);
  else if (caller.boundTo !== null) throw boundElsewhere();
}
