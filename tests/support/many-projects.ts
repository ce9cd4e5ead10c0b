import type { SyncUnit } from "../../daemon/budget/sync-units.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { createCalls, type Send } from "../../daemon/service/http-service.ts";
import { isTokenRefused, type RefusedCall } from "../../daemon/sync/round.ts";
import { ServiceRounds } from "../../daemon/sync/service-rounds.ts";
import { createEmulatorApp } from "../../server/emulator/emulator-app.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { projectId } from "./project-id.ts";
import { seededRandom, seededWorld } from "./random.ts";

/** More rounds than anything takes here that comes to an end. */
const ROUNDS_MAX = 300;

/** A machine's replica with many projects, and its way to a service of its own. */
export interface ManyProjects extends AsyncDisposable {
  readonly store: ReplicaStore<DaemonTables>;
  readonly ids: readonly ProjectId[];
  /** `POST /api/sync`, in order. */
  readonly requests: string[];
  /** Stands between the two, when there is one. */
  intercept: ((request: Request, pass: Send) => Promise<Response>) | undefined;
  /** Writes a memory into each of these projects. */
  write(key: string, ids?: readonly ProjectId[]): Promise<void>;
  /** Rounds until nothing is due, what is refused left out. Resolves to that. */
  sync(due?: readonly SyncUnit[]): Promise<ReadonlyMap<SyncUnit, RefusedCall>>;
  /** One call at most; gives the units that it did not get to. */
  call(due: readonly SyncUnit[]): Promise<readonly SyncUnit[]>;
  /** The memories of a project, by key, as the service has them. */
  heldBy(id: ProjectId): Promise<Record<string, string>>;
}

/** `publishedOnly`: the service has no exchange. */
export async function openManyProjects(
  count: number,
  { token = "mst_dev_many", publishedOnly = false } = {},
): Promise<ManyProjects> {
  const world = seededWorld(seededRandom(1));
  const emulator = await createEmulatorApp({
    ...{ path: ":memory:", plan: "pro", limits: "off", world, log: silentLog, publishedOnly },
    loopbackOnly: true,
  });
  const store = await openReplica(":memory:", world);
  const ids = Array.from({ length: count }, (_, at) => projectId(`${at}`));
  const pass: Send = (request) => emulator.app.fetch(request);
  const requests: string[] = [];
  const send: Send = (request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return home.intercept ? home.intercept(request, pass) : pass(request);
  };
  const base = "http://localhost";
  const service = {
    name: "many",
    ...createCalls({ send, base, token, world }),
    close: async () => {},
  };
  const projects = new Map(ids.map((id) => [id, `name of ${id}`]));
  const sides = { store, service, account: LOCAL_ACCOUNT, user: LOCAL_USER };
  const rounds = new ServiceRounds({ ...sides, projects: () => projects }, world);
  const home: ManyProjects = {
    ...{ store, ids, requests, intercept: undefined },
    write: async (key, among = ids) => {
      for (const id of among) {
        await store.write(async (context) => {
          const open = await context.open(projectDocument(LOCAL_ACCOUNT, id));
          open.document.setEntry("memories", key, {
            value: `${key} of ${id}`,
            now: context.now,
          });
        });
      }
    },
    sync: (due = [...ids, "own"]) => syncAll(rounds, due),
    call: async (due) => {
      const outcome = await rounds.run(rounds.choose(due));
      return outcome.kind === "answered" ? [...(outcome.value.left ?? [])] : due;
    },
    async heldBy(id) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await pass(new Request(`${base}/api/projects/${id}`, { headers }));
      const { memories } = (await answer.json()) as { memories: { key: string; value: string }[] };
      return Object.fromEntries(memories.map(({ key, value }) => [key, value]));
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await emulator.close();
    },
  };
  return home;
}

async function syncAll(
  rounds: ServiceRounds,
  due: readonly SyncUnit[],
): Promise<ReadonlyMap<SyncUnit, RefusedCall>> {
  const refusals = new Map<SyncUnit, RefusedCall>();
  let left = [...due];
  for (let round = 0; left.length > 0; round++) {
    if (round > ROUNDS_MAX) throw new Error("it comes to no end");
    const units = rounds.choose(left);
    const outcome = await rounds.run(units);
    left = left.filter((unit) => !units.includes(unit));
    if (outcome.kind === "answered") {
      for (const [unit, why] of outcome.value.refused ?? []) refusals.set(unit, why);
      left.push(...(outcome.value.left ?? []), ...outcome.value.again);
      left.push(...(outcome.value.later ?? []));
    } else if (isTokenRefused(outcome)) {
      for (const unit of [...units, ...left.splice(0)]) refusals.set(unit, outcome);
    } else if (outcome.kind === "refused") {
      const [first = "own", ...others] = units;
      refusals.set(first, outcome);
      left.push(...others);
    } else left.push(...units);
  }
  return refusals;
}
