import type { Kysely } from "kysely";
import { invalidAt } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { LIMITS } from "../../shared/limits.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { CONNECTED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { Connection, ConnectRequest } from "../../shared/wire/connection.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import {
  addConnection,
  connectedTo,
  findConnection,
  listConnections,
  pairOf,
  removeConnection,
} from "../stores/connection-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { assertCanWrite, getProject } from "./access.ts";
import { doOnce } from "./once.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, Once, Services } from "./services.ts";
import { writeAs } from "./write-as.ts";

/** Connections over one store, for tokens that may write and reach both projects. */
export function createConnectionService(store: ServiceStore): Services["connections"] {
  return {
    connect: (caller, request, once) => connect(store, caller, { request, once }),
    disconnect: (caller, request) => disconnect(store, caller, request),
  };
}

async function connect(
  store: ServiceStore,
  caller: Caller,
  { request, once }: { readonly request: ConnectRequest; readonly once: Once | undefined },
): Promise<Connection> {
  assertCanWrite(caller);
  const { project_id: one, target_project_id: other } = request;
  return await writeAs(store, caller, (context) =>
    doOnce(context, caller, {
      asked: once,
      work: async () => {
        const { db, now } = context;
        await getProject(db, caller, one);
        await getProject(db, caller, other);
        await assertRoom(db, caller, request);
        const createdAt = await addConnection(db, caller.account, {
          pair: pairOf(one, other),
          now,
        });
        await tellBoth(context, caller, { request, connected: true });
        return { project_ids: [one, other], connected: true, created_at: timestampOf(createdAt) };
      },
    }),
  );
}

/** Undoes all connections of a project that is deleted. The others' documents tell replicas. */
export async function endConnections(
  context: WriteContext<ServiceTables>,
  account: AccountId,
  id: ProjectId,
): Promise<void> {
  for (const other of connectedTo(await listConnections(context.db, account), id)) {
    const { document } = await context.open(projectDocument(account, other));
    document.deleteEntry("metadata", CONNECTED_PREFIX + id);
    await removeConnection(context.db, account, pairOf(id, other));
  }
}

/** Has both projects' documents say it, for replicas. Nothing is written where they do. */
async function tellBoth(
  context: WriteContext<ServiceTables>,
  { account }: Caller,
  { request, connected }: { readonly request: ConnectRequest; readonly connected: boolean },
): Promise<void> {
  const { project_id: one, target_project_id: other } = request;
  for (const [id, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const { document } = await context.open(projectDocument(account, id));
    const key = CONNECTED_PREFIX + to;
    const isTold = document.metadata.get(key).length > 0;
    if (connected && !isTold) document.setEntry("metadata", key, { value: true, now: context.now });
    if (!connected && isTold) document.deleteEntry("metadata", key);
  }
}

async function assertRoom(
  db: Kysely<ServiceTables>,
  caller: Caller,
  request: ConnectRequest,
): Promise<void> {
  const { project_id: one, target_project_id: other } = request;
  const pairs = await listConnections(db, caller.account);
  for (const [field, id] of Object.entries(request)) {
    const connected = connectedTo(pairs, id).filter((each) => each !== one && each !== other);
    if (connected.length < LIMITS.connectionsPerProject) continue;
    throw invalidAt(
      `/${field}`,
      `a project may have ${LIMITS.connectionsPerProject} connections: undo one first`,
    );
  }
}

async function disconnect(
  store: ServiceStore,
  caller: Caller,
  request: ConnectRequest,
): Promise<Connection> {
  assertCanWrite(caller);
  const { project_id: one, target_project_id: other } = request;
  return await writeAs(store, caller, async (context) => {
    const { db, now } = context;
    await getProject(db, caller, one);
    await getProject(db, caller, other);
    const pair = pairOf(one, other);
    const createdAt = (await findConnection(db, caller.account, pair)) ?? now;
    await removeConnection(db, caller.account, pair);
    await tellBoth(context, caller, { request, connected: false });
    return { project_ids: [one, other], connected: false, created_at: timestampOf(createdAt) };
  });
}
