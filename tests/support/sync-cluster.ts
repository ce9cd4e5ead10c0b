import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/open-replica.ts";
import { createCalls } from "../../daemon/sync/http-service.ts";
import { exchangeRound } from "../../daemon/sync/round.ts";
import type { DaemonTables } from "../../daemon/tables.ts";
import { createEmulatorApp, type EmulatorApp } from "../../server/emulator/emulator-app.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/address.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store.ts";
import { seededWorld } from "./random.ts";
import { refusingSend } from "./refusing-service.ts";

export const PROJECT = parseProjectId("proj_cluster") as ProjectId;
const TOKEN = "mst_dev_cluster";

/** What the network does to one call. */
export type Fault = "none" | "lose request" | "lose answer" | "send twice";

/** One machine's replica and its way to the service, driven call by call. */
export interface Machine {
  readonly store: ReplicaStore<DaemonTables>;
  /** One exchange about the project. False: there is more to exchange. */
  sync(fault: Fault): Promise<boolean>;
  edit(change: (open: OpenDocument) => void): Promise<void>;
  read<Value>(look: (open: OpenDocument) => Value): Promise<Value>;
  restart(): Promise<void>;
}

/** A service and machines in one process, each with its database in a file. */
export class SyncCluster {
  readonly #dir = mkdtempSync(join(tmpdir(), "memsync-cluster-"));
  readonly #random: () => number;
  readonly machines: Machine[] = [];
  /** Which updates the service refuses. */
  refuses: (update: Buffer) => boolean = () => false;
  #service: EmulatorApp | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  async start(machineCount: number): Promise<void> {
    await this.#openService();
    for (let at = 0; at < machineCount; at++) this.machines.push(await this.#machine(at));
  }

  /** The service is killed and started again. */
  async restartService(): Promise<void> {
    await this.#service?.close();
    await this.#openService();
  }

  async copyService(name: string): Promise<void> {
    await this.#service?.close();
    cpSync(this.#servicePath, join(this.#dir, name));
    await this.#openService();
  }

  /** The service goes back to an older copy of its data. */
  async restoreService(name: string): Promise<void> {
    await this.#service?.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(this.#servicePath + suffix, { force: true });
    cpSync(join(this.#dir, name), this.#servicePath);
    await this.#openService();
  }

  async stop(): Promise<void> {
    for (const { store } of this.machines) await store.close();
    await this.#service?.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  get #servicePath(): string {
    return join(this.#dir, "service.db");
  }

  async #openService(): Promise<void> {
    this.#service = await createEmulatorApp({
      path: this.#servicePath,
      plan: "pro",
      limits: "off",
      world: seededWorld(this.#random),
      log: silentLog,
      loopbackOnly: true,
    });
  }

  async #machine(at: number): Promise<Machine> {
    const path = join(this.#dir, `machine-${at}.db`);
    const world = seededWorld(this.#random);
    let store = await openReplica(path, world);
    let fault: Fault = "none";
    const send = async (request: Request): Promise<Response> => {
      if (fault === "lose request") throw new Error("the network lost the request");
      if (fault === "send twice")
        await this.#service?.app.fetch(request.clone() as unknown as Request);
      const response = await this.#service?.app.fetch(request);
      if (!response || fault === "lose answer") throw new Error("the network lost the answer");
      return response;
    };
    const service = {
      name: "cluster",
      ...createCalls({
        send: refusingSend(send, (update) => this.refuses(update)),
        base: "http://localhost",
        token: TOKEN,
        world,
      }),
      close: async () => {},
    };
    const address = projectDocument(LOCAL_ACCOUNT, PROJECT);
    return {
      get store() {
        return store;
      },
      async sync(withFault) {
        fault = withFault;
        const options = {
          store,
          service,
          account: LOCAL_ACCOUNT,
          user: LOCAL_USER,
          projects: () => new Map([[PROJECT, "cluster"]]),
        };
        const plan = { unit: PROJECT, withOwn: true };
        const outcome = await exchangeRound(options, plan);
        if (outcome.kind === "refused") throw new Error(`refused: ${outcome.message}`);
        if (outcome.kind !== "answered") return false;
        if (outcome.value === "plain") throw new Error("the service has no exchange");
        return outcome.value.again.size === 0;
      },
      edit: (change) => store.write(async (context) => change(await context.open(address))),
      read: (look) => store.write(async (context) => look(await context.open(address))),
      async restart() {
        await store.close();
        store = await openReplica(path, world);
      },
    };
  }
}
