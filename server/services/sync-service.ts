import { AppError } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { beginAnew, deletionOf } from "../../shared/replica/document/project-deletion.ts";
import { type AppliedUpdate, serveExchange } from "../../shared/replica/store/exchange.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { Draft, WriteContext } from "../../shared/replica/store/write-context.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import type { SessionUpload } from "../../shared/wire/session.ts";
import type { SyncAnswer, SyncPayload } from "../../shared/wire/sync.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { World } from "../../shared/world.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import { listAllMemories, type MemoryRow } from "../stores/memory-store.ts";
import { findProject, forgetProject, readMetadata, readText } from "../stores/project-store.ts";
import { putSessions } from "../stores/session-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import {
  assertBoundTo,
  assertCanWrite,
  assertReaches,
  boundElsewhere,
  getProject,
  noSuchProject,
} from "./access.ts";
import { endConnections } from "./connection-service.ts";
import { rememberProject } from "./current-project.ts";
import { FORBIDDEN, serveEach } from "./each-layer.ts";
import { longExchange, longSync } from "./long-edits.ts";
import { doOnce } from "./once.ts";
import { asOfOneMoment } from "./one-moment.ts";
import { type PlainChanges, writePlain } from "./plain-write.ts";
import { answerPoll } from "./poll.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, ExchangeOptions, Services } from "./services.ts";
import { SyncMarks } from "./sync-marks.ts";
import { listWhole } from "./whole-lists.ts";
import { overlaid, type Withholding } from "./withholding.ts";
import { writeAs, writeLongAs } from "./write-as.ts";

type Context = WriteContext<ServiceTables>;

/** Syncs and replica exchanges in one store. All writes of a call share one commit. */
export function createSyncService(
  store: ServiceStore,
  { world, withholding }: { readonly world: World; readonly withholding?: Withholding | undefined },
): Services["sync"] {
  const marks = new SyncMarks(store, world);
  return {
    async read(caller, id, once) {
      await store.settle(caller.account);
      const documents = memoriesOf(caller, id);
      if (once === undefined) {
        const list = () => listWhole(store, documents);
        return await asOfOneMoment(store.reader, documents, () =>
          read(store.reader, caller, { id, list, withholding }),
        );
      }
      return await writeAs(store, caller, (context) => {
        const list = () => listAllMemories(context.db, documents, context);
        const work = () => read(context.db, caller, { id, list, withholding });
        return doOnce(context, caller, { asked: once, work });
      });
    },

    apply: (caller, id, asked) =>
      counted(marks, caller, async (synced) => {
        const long = withholding ? undefined : longSync(caller, id, asked);
        const write = (context: Context, draft: Draft<PlainChanges> | undefined) =>
          apply(context, caller, { id, ...asked, withholding, synced, draft });
        if (!long || asked.once) {
          const work = (draft?: Draft<PlainChanges>) => (context: Context) =>
            doOnce(context, caller, {
              asked: asked.once,
              work: async () => {
                const written = await write(context, draft);
                const rows = await listAllMemories(context.db, memoriesOf(caller, id), context);
                return await answer(context.db, caller, { id, ...written, rows, withholding });
              },
            });
          return await writeLongAs(store, caller, { long, work });
        }
        // Nobody's write has to wait until a long list is read.
        const work = (draft?: Draft<PlainChanges>) => (context: Context) => write(context, draft);
        const written = await writeLongAs(store, caller, { long, work });
        const documents = memoriesOf(caller, id);
        return await asOfOneMoment(store.reader, documents, async () => {
          const rows = await listWhole(store, documents);
          return await answer(store.reader, caller, { id, ...written, rows, withholding });
        });
      }),

    exchange: (caller, id, asked) =>
      counted(marks, caller, async (synced) => {
        const poll = await answerPoll(store, caller, { id, request: asked });
        if (poll) {
          const { answer, documentId } = poll;
          if (caller.canWrite && documentId !== undefined) synced({ id: documentId }, world.now());
          return answer;
        }
        if (!caller.canWrite) return await exchangeReading(store, caller, { id, request: asked });
        const work = (draft?: Draft<AppliedUpdate>) => (context: Context) =>
          exchange(context, caller, { id, request: asked, options: asked, synced, draft });
        return await writeLongAs(store, caller, { long: longExchange(caller, id, asked), work });
      }),
  };
}

/** What a plain sync did, and when in milliseconds since the Unix epoch. */
interface Written {
  readonly changes: PlainChanges;
  readonly syncedAt: number;
}

/** Called with the project that a call has synced, and when. */
type Synced = (project: Pick<OpenDocument, "id">, at: number) => void;

/** Counts a sync once it is durable. */
async function counted<Answer>(
  marks: SyncMarks,
  { account: owner }: Caller,
  work: (synced: Synced) => Promise<Answer>,
): Promise<Answer> {
  let mark: Parameters<SyncMarks["add"]>[0] | undefined;
  const answered = await work(({ id: documentId }, at) => {
    mark = { owner, documentId, at };
  });
  if (mark) marks.add(mark);
  return answered;
}

const NOTHING_CHANGED: PlainChanges = { created: 0, updated: 0, unchanged: 0 };

async function read(
  db: Context["db"],
  caller: Caller,
  {
    id,
    list,
    withholding,
  }: {
    readonly id: ProjectId;
    readonly list: () => Promise<MemoryRow[]>;
    readonly withholding: Withholding | undefined;
  },
): Promise<SyncAnswer> {
  const project = await getProject(db, caller, id);
  const syncedAt = project.lastSyncedAt ?? project.createdAt;
  const rows = await list();
  return await answer(db, caller, { id, syncedAt, changes: NOTHING_CHANGED, rows, withholding });
}

async function apply(
  context: Context,
  caller: Caller,
  {
    id,
    payload,
    createMissing,
    withholding,
    synced,
    draft,
  }: {
    readonly id: ProjectId;
    readonly payload: SyncPayload;
    readonly createMissing: boolean;
    readonly withholding: Withholding | undefined;
    readonly synced: Synced;
    readonly draft: Draft<PlainChanges> | undefined;
  },
): Promise<Written> {
  const known = await findProject(context.db, caller.account, id);
  if (!known && !createMissing) throw noSuchProject();
  assertBoundTo(caller, id);
  if (!known) assertCanWrite(caller);
  // The document of a project that was deleted is begun anew first.
  const usable = known || draft?.baseSeq === undefined ? draft : undefined;
  const drafted = usable && (await context.adopt(usable));
  const open = drafted ?? (await context.open(projectDocument(caller.account, id)));
  if (!known) beginAnew(open.document);
  const write = (await withholding?.sift(context, open, payload)) ?? payload;
  const written = drafted ? usable.result : await writePlain(open, write, context);
  const elsewhere = (payload.memories?.length ?? 0) - (write.memories?.length ?? 0);
  const changes = { ...written, updated: written.updated + elsewhere };
  const sessionsChanged = await uploadSessions(context, caller, { id, sessions: payload.sessions });
  if (open.dirty || sessionsChanged) assertCanWrite(caller);
  await context.flush(open);
  synced(open, context.now);
  await rememberProject(context.db, caller, id);
  return { changes, syncedAt: context.now };
}

/**
 * Stores sessions. A session moves to the synced project; without one it stays where it is. Throws
 * if a project has it that the token does not reach.
 */
async function uploadSessions(
  { db, pause }: Context,
  caller: Caller,
  {
    id,
    sessions = [],
  }: { readonly id: ProjectId | null; readonly sessions?: readonly SessionUpload[] | undefined },
): Promise<boolean> {
  if (id === null && caller.boundTo !== null && sessions.length > 0) throw boundElsewhere();
  const mayReplace = (owner: ProjectId | null) => assertReaches(caller, owner);
  return await putSessions(db, caller.account, {
    projectId: id,
    uploads: sessions,
    mayReplace,
    pause,
  });
}

function memoriesOf({ account }: Caller, id: ProjectId): MemoryFilter {
  return { account, documents: [id] };
}

/** The merged state, so that a plain client is up to date after one call. */
async function answer(
  db: Context["db"],
  caller: Caller,
  {
    id,
    syncedAt,
    changes,
    rows,
    withholding,
  }: Written & {
    readonly id: ProjectId;
    readonly rows: readonly MemoryRow[];
    readonly withholding: Withholding | undefined;
  },
): Promise<SyncAnswer> {
  const project = await getProject(db, caller, id);
  const withheld = await withholding?.memories(db, memoriesOf(caller, id));
  const memories = overlaid(rows, withheld ?? []);
  const shown = await readMetadata(db, [project.documentId], NO_PAUSE);
  return {
    project_id: id,
    synced_at: timestampOf(syncedAt),
    claude_md_content:
      (await withholding?.text(db, caller.account, id)) ?? (await readText(db, project.documentId)),
    memories: memories.map(({ key, value }) => ({ key, value })),
    metadata: shown.get(project.documentId)?.metadata ?? {},
    changes,
  };
}

/**
 * Serves or refuses each document on its own. After one was written nothing throws, except for the
 * missing right to write. All writes share one commit.
 */
async function exchange(
  context: Context,
  caller: Caller,
  {
    id,
    request,
    options,
    synced,
    draft,
  }: {
    readonly id: ProjectId | null;
    readonly request: ExchangeRequest;
    readonly options: ExchangeOptions;
    readonly synced: Synced;
    readonly draft: Draft<AppliedUpdate> | undefined;
  },
): Promise<ExchangeAnswer> {
  const drafted = draft && (await context.adopt(draft));
  if (id !== null) synced(await openReachable(context, caller, { ...options, id }), context.now);
  const documents = await serveEach(caller, id, {
    request,
    serve: (address, document) =>
      serveExchange(context, address, {
        request: document,
        rights: caller,
        applied: address.name === drafted?.address.name ? draft?.result : undefined,
      }),
  });
  await uploadSessions(context, caller, { id, sessions: request.sessions });
  if (id !== null && request.documents.project?.update) await forgetIfDeleted(context, caller, id);
  return { documents };
}

/**
 * The update may have deleted the project. Then what is kept beside the document is deleted, too.
 */
async function forgetIfDeleted(context: Context, { account }: Caller, id: ProjectId) {
  const open = await context.find(projectDocument(account, id));
  if (!open || !deletionOf(open.document)) return;
  await endConnections(context, account, id);
  await forgetProject(context.db, account, id);
}

/** A document that the caller may not change is refused on its own. */
async function exchangeReading(
  store: ServiceStore,
  caller: Caller,
  { id, request }: { readonly id: ProjectId | null; readonly request: ExchangeRequest },
): Promise<ExchangeAnswer> {
  if (id !== null) await assertReadable(store, caller, id);
  const documents = await serveEach(caller, id, {
    request,
    serve: (address, document) =>
      writeAs(store, caller, (context) =>
        serveExchange(context, address, { request: document, rights: caller }),
      ).catch((thrown) => {
        if (thrown instanceof AppError && thrown.code === "forbidden") return FORBIDDEN;
        throw thrown;
      }),
  });
  await writeAs(store, caller, async (context) => {
    if (await uploadSessions(context, caller, { id, sessions: request.sessions }))
      assertCanWrite(caller);
  });
  return { documents };
}

/** A deleted project still has a document, from which replicas learn of the deletion. */
async function assertReadable(
  { reader }: ServiceStore,
  caller: Caller,
  id: ProjectId,
): Promise<void> {
  const row = await reader
    .selectFrom("documents")
    .select("id")
    .where("owner", "=", caller.account)
    .where("name", "=", id)
    .executeTakeFirst();
  if (!row) throw noSuchProject();
  assertBoundTo(caller, id);
}

async function openReachable(
  context: Context,
  caller: Caller,
  { id, createMissing, name }: { readonly id: ProjectId } & ExchangeOptions,
): Promise<OpenDocument> {
  const address = projectDocument(caller.account, id);
  const known = await context.find(address);
  if (!known && !createMissing) throw noSuchProject();
  assertBoundTo(caller, id);
  if (known) return known;
  assertCanWrite(caller);
  const open = await context.open(address);
  if (name === undefined || name === id) return open;
  await writePlain(open, { name }, context);
  await context.flush(open);
  return open;
}
