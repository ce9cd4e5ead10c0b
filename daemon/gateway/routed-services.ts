import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { type AccountId, type MemoryId, memoryIdOf, type ProjectId } from "../../shared/ids.ts";
import { layerOf, projectOf, wireDocumentId } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { listHeld } from "../home/held-store.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import type { Remote } from "../home/remote.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { getDefault, type RemoteView } from "../remotes/remote-view.ts";
import { type Caller, LOCAL_CALLER, type Services } from "./mount.ts";

/** Who may call, and which remote each operation goes to. */
export interface Routes {
  /** The home's remotes as they are now. */
  remotes(): readonly Remote[];
  /** A caller who reaches the default remote and, by its id, every project of the home. */
  callerOfAll(): Caller;
  /** A caller who reaches this remote only. */
  callerOf(remote: Remote): Caller;
  /** The services with each operation sent to the account that its project is bound to. */
  over(services: Services): Services;
}

interface LocalCaller extends Caller {
  /** May reach one remote only. */
  readonly pinned: boolean;
}

interface RouteOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly view: () => RemoteView;
  readonly refuse: RefuseWrite;
}

/** Throws where nobody may write to a layer of an account through this daemon. */
type RefuseWrite = (account: AccountId, layer: Layer) => Promise<void>;

/** Answers each request from the documents of one remote: that of its project, or the caller's. */
export function routeServices({ store, view, refuse }: RouteOptions): Routes {
  const bindingOf = (id: ProjectId) => findBinding(store.reader, id);
  return {
    remotes: () => view().remotes,
    callerOfAll: () => callerAt(getDefault(view()).account, false),
    callerOf: ({ account }) => callerAt(account, true),
    over: (services) => routed(refusingOthers(services, store, refuse), bindingOf, store),
  };
}

function callerAt(account: AccountId, pinned: boolean): LocalCaller {
  // The last use of a token is stored by its id, separately for each account.
  const tokenId = account === LOCAL_ACCOUNT ? LOCAL_CALLER.tokenId : `local@${account}`;
  return { ...LOCAL_CALLER, account, tokenId, pinned };
}

/** Nothing is written to `user` and `global` that would be another's; see `OthersWrites`. */
function refusingOthers(
  services: Services,
  store: ReplicaStore<DaemonTables>,
  refuse: RefuseWrite,
): Services {
  const { memories, sync } = services;
  return {
    ...services,
    memories: {
      ...memories,
      create: async (caller, request, options) => {
        await refuse(caller.account, request.layer);
        return await memories.create(caller, request, options);
      },
      remove: async (caller, id) => {
        const document = await documentOfMemory(store, id);
        if (document !== undefined) await refuse(caller.account, layerOf(document));
        await memories.remove(caller, id);
      },
    },
    sync: {
      ...sync,
      exchange: async (caller, id, asked) => {
        for (const layer of ["user", "global"] as const) {
          if (asked.documents[layer]?.update) await refuse(caller.account, layer);
        }
        return await sync.exchange(caller, id, asked);
      },
    },
  };
}

type BindingOf = (id: ProjectId) => Promise<AccountId | undefined>;

function routed(
  services: Services,
  bindingOf: BindingOf,
  store: ReplicaStore<DaemonTables>,
): Services {
  const { memories, projects, sync, connections, sessions } = services;
  const at = async (caller: Caller, id: ProjectId | null | undefined): Promise<Caller> => {
    const bound = id ? await bindingOf(id) : undefined;
    if (bound === undefined || bound === caller.account) return caller;
    if (isPinned(caller)) throw new AppError("not_found", "there is no such project");
    return callerAt(bound, false);
  };
  /**
   * Tries once more if the project was bound to another remote meanwhile: a refused operation has
   * changed nothing.
   */
  const on = async <Result>(
    caller: Caller,
    id: ProjectId | null | undefined,
    work: (caller: Caller) => Promise<Result>,
  ): Promise<Result> => {
    const first = await at(caller, id);
    try {
      return await work(first);
    } catch (thrown) {
      const now = await at(caller, id);
      if (now.account === first.account) throw thrown;
      return await work(now);
    }
  };
  return {
    ...services,
    memories: {
      list: (caller, query) =>
        on(caller, query.projectId ?? query.headerProjectId, (as) => memories.list(as, query)),
      create: (caller, request, options) =>
        on(caller, request.project_id ?? options?.headerProjectId, (as) =>
          memories.create(as, request, options),
        ),
      remove: async (caller, id) => {
        const document = await documentOfMemory(store, id);
        const project = document === undefined ? undefined : projectOf(document);
        await on(caller, project, (as) => memories.remove(as, id));
      },
    },
    projects: {
      ...projects,
      get: (caller, id) => on(caller, id, (as) => projects.get(as, id)),
      put: (caller, request, once) =>
        on(caller, request.id, (as) => projects.put(as, request, once)),
      remove: (caller, id) => on(caller, id, (as) => projects.remove(as, id)),
    },
    sync: {
      read: (caller, id, once) => on(caller, id, (as) => sync.read(as, id, once)),
      apply: (caller, id, asked) => on(caller, id, (as) => sync.apply(as, id, asked)),
      exchange: (caller, id, asked) => on(caller, id, (as) => sync.exchange(as, id, asked)),
    },
    connections: {
      connect: async (caller, request, once) =>
        connections.connect(await ofBoth(at, caller, request), request, once),
      disconnect: async (caller, request) =>
        connections.disconnect(await ofBoth(at, caller, request), request),
    },
    sessions: {
      ...sessions,
      list: (caller, query) => on(caller, query.projectId, (as) => sessions.list(as, query)),
    },
  };
}

function isPinned(caller: Caller): boolean {
  return "pinned" in caller && caller.pinned === true;
}

/** A service connects only its own projects. Projects of two remotes never learn of each other. */
async function ofBoth(
  at: (caller: Caller, id: ProjectId) => Promise<Caller>,
  caller: Caller,
  request: { readonly project_id: ProjectId; readonly target_project_id: ProjectId },
): Promise<Caller> {
  const one = await at(caller, request.project_id);
  const other = await at(caller, request.target_project_id);
  if (one.account === other.account) return one;
  throw new AppError("invalid_request", "the projects are bound to different remotes");
}

/** The document of a memory, by its name: that of a project before another's of the same id. */
async function documentOfMemory(
  { reader }: ReplicaStore<DaemonTables>,
  id: MemoryId,
): Promise<string | undefined> {
  const row = await reader
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select("documents.name")
    .where("memories.memory_id", "=", id)
    .orderBy("documents.name")
    .limit(1)
    .executeTakeFirst();
  return row?.name ?? (await documentOfHeld(reader, id));
}

/** A memory that is only held has no row among the memories. */
async function documentOfHeld(db: Kysely<DaemonTables>, id: MemoryId) {
  const held = (await listHeld(db)).find(({ kind, document, key }) => {
    return kind === "memory" && memoryIdOf(wireDocumentId(document), key) === id;
  });
  return held?.document;
}
