import { AppError, invalidAt } from "../../shared/errors.ts";
import { type ProjectId, randomProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { beginAnew, deleteProject } from "../../shared/replica/document/project-deletion.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { chunksOf } from "../../shared/turns.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import type { Project, ProjectPut } from "../../shared/wire/project.ts";
import type { World } from "../../shared/world.ts";
import { connectedTo, type ReadConnections } from "../stores/connection-store.ts";
import { pageOf, parseCursor } from "../stores/cursor.ts";
import { LISTED_AT_ONCE, type MemoryRow, toMemory } from "../stores/memory-store.ts";
import {
  countProjects,
  findProject,
  forgetProject,
  listProjects,
  type ProjectRow,
  readMetadata,
  readText,
} from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { assertBoundTo, assertCanWrite, getProject, mayReach } from "./access.ts";
import { ASKED_PROJECTS } from "./asked-lists.ts";
import { endConnections } from "./connection-service.ts";
import { rememberProject } from "./current-project.ts";
import { doOnce } from "./once.ts";
import { asOfOneMoment } from "./one-moment.ts";
import { writePlain } from "./plain-write.ts";
import { viewProjects } from "./project-view.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, ProjectDetails, Services } from "./services.ts";
import { listWhole } from "./whole-lists.ts";
import { overlaid, type Withholding } from "./withholding.ts";
import { writeAs } from "./write-as.ts";

/** What the host knows besides its store. */
interface Knowledge {
  readonly withholding: Withholding | undefined;
  readonly connections: ReadConnections;
}

/** Projects in one store; `world` makes ids for those without one. */
export function createProjectService(
  store: ServiceStore,
  world: World,
  knowledge: Knowledge,
): Services["projects"] {
  const { connections } = knowledge;
  return {
    async list(caller, page) {
      const filter = { account: caller.account, among: caller.boundTo };
      const limit = page.limit === undefined ? undefined : page.limit + 1;
      await store.settle(caller.account);
      const found = await listProjects(store.reader, filter, {
        from: parseCursor(ASKED_PROJECTS, page.cursor),
        limit,
      });
      const { rows, nextCursor } = pageOf(ASKED_PROJECTS, found, {
        limit: page.limit,
        endOf: (row) => ({
          sort: row.createdAt,
          id: row.id,
        }),
      });
      const total = await countProjects(store.reader, filter);
      const from = { db: store.reader, pause: store.pause, connections };
      return { items: await viewProjects(from, caller, rows), total, nextCursor };
    },

    async get(caller, id) {
      await store.settle(caller.account);
      const documents = { account: caller.account, documents: [id] };
      return await asOfOneMoment(store.reader, documents, async () => {
        const row = await getProject(store.reader, caller, id);
        return await details(store, caller, { row, ...knowledge });
      });
    },

    async put(caller, request, once) {
      assertCanWrite(caller);
      await store.settle(caller.account);
      return await writeAs(store, caller, (context) =>
        doOnce(context, caller, {
          asked: once,
          work: () => put(context, world, { caller, request, ...knowledge }),
        }),
      );
    },

    async remove(caller, id) {
      assertCanWrite(caller);
      await writeAs(store, caller, async (context) => {
        await getProject(context.db, caller, id);
        const open = await context.open(projectDocument(caller.account, id));
        const { now, pause } = context;
        await deleteProject(open.document, now, { by: open.author, pause });
        await context.flush(open);
        await endConnections(context, caller.account, id);
        await forgetProject(context.db, caller.account, id);
      });
    },
  };
}

async function details(
  store: ServiceStore,
  caller: Caller,
  { row, withholding, connections }: Knowledge & { readonly row: ProjectRow },
): Promise<ProjectDetails> {
  const from = { db: store.reader, pause: store.pause, connections };
  const [project] = await viewProjects(from, caller, [row]);
  if (!project) throw new AppError("not_found", "there is no such project");
  return {
    project,
    claudeMdContent:
      (await withholding?.text(store.reader, caller.account, row.id)) ??
      (await readText(store.reader, row.documentId)),
    memories: await shownMemories(store, await rowsOf(store, caller, { id: row.id, withholding })),
    connected: await connectedProjects(store, caller, { id: row.id, withholding, connections }),
  };
}

async function shownMemories({ pause }: ServiceStore, rows: readonly MemoryRow[]) {
  const memories: Memory[] = [];
  for (const some of chunksOf(rows, LISTED_AT_ONCE)) {
    await pause();
    for (const row of some) memories.push(toMemory(row));
  }
  return memories;
}

async function rowsOf(
  store: ServiceStore,
  caller: Caller,
  { id, withholding }: { readonly id: ProjectId; readonly withholding: Withholding | undefined },
) {
  const filter = { account: caller.account, documents: [id] };
  const rows = await listWhole(store, filter);
  const withheld = await withholding?.memories(store.reader, filter);
  return overlaid(rows, withheld ?? []);
}

async function connectedProjects(
  store: ServiceStore,
  caller: Caller,
  { id, withholding, connections }: Knowledge & { readonly id: ProjectId },
) {
  const pairs = await connections(store.reader, caller.account);
  const connected: ProjectDetails["connected"][number][] = [];
  for (const other of connectedTo(pairs, id)) {
    const row = mayReach(caller, other)
      ? await findProject(store.reader, caller.account, other)
      : undefined;
    if (!row) continue;
    const shown = await readMetadata(store.reader, [row.documentId], store.pause);
    const rows = await rowsOf(store, caller, { id: other, withholding });
    await store.pause();
    connected.push({
      id: other,
      name: shown.get(row.documentId)?.name ?? other,
      memories: rows.map(({ key, value }) => ({ key, value })),
    });
  }
  return connected;
}

async function put(
  context: WriteContext<ServiceTables>,
  world: World,
  {
    caller,
    request,
    withholding,
    connections,
  }: Knowledge & { readonly caller: Caller; readonly request: ProjectPut },
): Promise<Project & { created: boolean }> {
  const id =
    request.id ??
    (await idOfName(context, caller, request.name)) ??
    (await newId(context, caller, world));
  assertBoundTo(caller, id);
  const created = (await findProject(context.db, caller.account, id)) === undefined;
  const open = await context.open(projectDocument(caller.account, id));
  if (created) beginAnew(open.document);
  const { name, ...rest } = request;
  const renamed = name !== undefined && name !== (open.document.projectName() ?? id);
  const whole = { ...rest, ...(renamed && { name }) };
  const write = (await withholding?.sift(context, open, whole)) ?? whole;
  await writePlain(open, write, context);
  await context.flush(open);
  if (created) await rememberProject(context.db, caller, id);
  const row = await findProject(context.db, caller.account, id);
  const from = { db: context.db, pause: context.pause, connections };
  const [project] = row ? await viewProjects(from, caller, [row]) : [];
  if (!project) throw new AppError("internal", "the project just written can't be read");
  return { ...project, created };
}

/** With a seed, chance repeats: an id that a project has or had is drawn again. */
async function newId(
  context: WriteContext<ServiceTables>,
  { account }: Caller,
  world: World,
): Promise<ProjectId> {
  let id = randomProjectId(world);
  while (await context.find(projectDocument(account, id))) id = randomProjectId(world);
  return id;
}

/** The account's project with exactly this name. Throws a 400 if there are several. */
async function idOfName(
  context: WriteContext<ServiceTables>,
  caller: Caller,
  name: string | undefined,
): Promise<ProjectId | undefined> {
  if (name === undefined) throw invalidAt("/name", "a project needs an id or a name");
  const filter = { account: caller.account, among: caller.boundTo };
  const rows = await listProjects(context.db, filter, { from: undefined, limit: undefined });
  const shown = await readMetadata(
    context.db,
    rows.map((row) => row.documentId),
    context.pause,
  );
  const named = rows.filter((row) => (shown.get(row.documentId)?.name ?? row.id) === name);
  if (named.length <= 1) return named[0]?.id;
  const ids = named.map((row) => row.id).join(", ");
  throw invalidAt("/name", `several projects have this name: say which by id (${ids})`);
}
