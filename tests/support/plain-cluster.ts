import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { readPlainStatus } from "../../daemon/plain/plain-status.ts";
import { createCalls } from "../../daemon/service/http-service.ts";
import { type EngineOptions, SyncEngine } from "../../daemon/sync/engine.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "./random.ts";
import { type Machine, SyncCluster } from "./sync-cluster.ts";

/** Rounds after which a machine and its service have long nothing more to do. */
const ROUNDS_MAX = 5;

/** A service of the published interface alone, with two machines. */
export async function startPlain(): Promise<[cluster: SyncCluster, one: Machine, other: Machine]> {
  const cluster = new SyncCluster(seededRandom(1), true);
  await cluster.start(2);
  const [one, other] = cluster.machines;
  if (!one || !other) throw new Error("two machines were started");
  return [cluster, one, other];
}

/** The rounds of each machine until there is nothing more to do at once. */
export async function settle(...machines: readonly Machine[]): Promise<void> {
  for (const machine of machines) {
    for (let round = 0; round < ROUNDS_MAX; round++) if (await machine.sync("none")) break;
  }
}

/** Sets a memory of the project, or of the user. */
export async function set(machine: Machine, key: string, value: string, layer?: "user") {
  await machine.edit(
    ({ document }) => document.setEntry("memories", key, { value, now: 1 }),
    layer,
  );
}

/** Makes `text` the project's text. */
export async function write(machine: Machine, text: string) {
  await machine.edit(({ document }) => document.setContent(text, 1));
}

/** A machine's memories, by key. */
export async function memoriesOf(machine: Machine, layer?: "user") {
  return await machine.read(({ document: { memories } }) => {
    return Object.fromEntries(
      [...memories.keys()].map((key) => [key, memories.get(key)[0]?.value]),
    );
  }, layer);
}

/** What `status` says of the project. */
export async function statusOf(machine: Machine) {
  const id = await machine.read((open) => open.id);
  return await readPlainStatus(machine.store.reader, id);
}

/** An engine of a machine's, and the calls that it has made: `GET /v1/memories`. */
export interface EngineOfMachine {
  readonly engine: SyncEngine;
  readonly calls: string[];
}

/** What sets an engine apart from others. */
type EngineParts = Pick<EngineOptions, "world" | "projects" | "budget" | "lookAtFiles"> &
  Pick<EngineOptions["service"], "openLive">;

export function engineOf(
  cluster: SyncCluster,
  machine: Machine,
  parts: EngineParts,
): EngineOfMachine {
  const { openLive, ...options } = parts;
  const { world, budget } = options;
  const calls: string[] = [];
  const send = (request: Request) => {
    calls.push(`${request.method} ${new URL(request.url).pathname}`);
    return cluster.ask(request);
  };
  const made = createCalls({
    send,
    base: "http://localhost",
    token: "mst_dev_cluster",
    world,
    ...(budget && { budget }),
  });
  const engine = new SyncEngine({
    ...options,
    store: machine.store,
    service: {
      name: "cluster",
      ...made,
      ...(openLive && { openLive }),
      ...(budget && { budget }),
      close: async () => {},
    },
    log: silentLog,
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    onContact: () => {},
  });
  return { engine, calls };
}

/** What `status` says of a document, a line for each note. */
export function said(notes: readonly { readonly message: string }[]): string {
  return notes.map(({ message }) => message).join("\n");
}
