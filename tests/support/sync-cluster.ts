import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { createCalls, type Send } from "../../daemon/service/http-service.ts";
import { ServiceRounds } from "../../daemon/sync/service-rounds.ts";
import { createEmulatorApp, type EmulatorApp } from "../../server/emulator/emulator-app.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument, userDocument } from "../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { openTestReplica } from "./empty-home.ts";
import { projectId } from "./project-id.ts";
import { seededWorld } from "./random.ts";
import { refusingSend } from "./refusing-service.ts";

export const PROJECT = projectId("cluster");
const TOKEN = "mst_dev_cluster";

/** What the network does to one call. */
export type Fault = "none" | "lose request" | "lose answer" | "send twice";

/** One machine's replica and its way to the service, driven call by call. */
export interface Machine {
  readonly store: ReplicaStore<DaemonTables>;
  /**
   * One round about the project and all else. False: there is more to do. The fault strikes each
   * call from `faultAt` on, the first being 0.
   */
  sync(fault: Fault, faultAt?: number): Promise<boolean>;
  /** Of the project's document, or of the user's. */
  edit(change: (open: OpenDocument) => void, layer?: "user"): Promise<void>;
  read<Value>(look: (open: OpenDocument) => Value, layer?: "user"): Promise<Value>;
  restart(): Promise<void>;
}

/** A service and machines in one process, each with its database in a file. */
export class SyncCluster {
  readonly #dir = mkdtempSync(join(tmpdir(), "memsync-cluster-"));
  readonly #random: () => number;
  #publishedOnly: boolean;
  readonly machines: Machine[] = [];
  /** Which updates the service refuses. */
  refuses: (update: Buffer) => boolean = () => false;
  /** Stands between the machines and the service, when there is one. */
  intercept: ((request: Request, pass: Send) => Promise<Response>) | undefined;
  #service: EmulatorApp | undefined;

  constructor(random: () => number, publishedOnly = false) {
    this.#random = random;
    this.#publishedOnly = publishedOnly;
  }

  async start(machineCount: number): Promise<void> {
    await this.#openService();
    for (let at = 0; at < machineCount; at++) this.machines.push(await this.#machine(at));
  }

  /** The same, with machines that have names, so that they tell what they deleted. */
  async startNamed(names: readonly string[]): Promise<void> {
    await this.#openService();
    for (const [at, name] of names.entries()) this.machines.push(await this.#machine(at, name));
  }

  /** The service shortens logs that have grown large. */
  async sweepService(): Promise<void> {
    await this.#service?.host.store.sweep();
  }

  /** The service is killed and started again, perhaps as one of the other kind. */
  async restartService(publishedOnly = this.#publishedOnly): Promise<void> {
    await this.#service?.close();
    this.#publishedOnly = publishedOnly;
    await this.#openService();
  }

  /** The service has lost everything. */
  async emptyService(): Promise<void> {
    await this.#service?.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(this.#servicePath + suffix, { force: true });
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
      publishedOnly: this.#publishedOnly,
    });
  }

  /** The service's answer to a request. */
  async ask(request: Request): Promise<Response> {
    const service = this.#service;
    if (!service) throw new Error("the cluster was started");
    const pass: Send = (each) => service.app.fetch(each);
    return this.intercept ? await this.intercept(request, pass) : await pass(request);
  }

  async #machine(at: number, machine?: string): Promise<Machine> {
    const path = join(this.#dir, `machine-${at}.db`);
    const world = seededWorld(this.#random);
    const open = () => openTestReplica(path, world, { machine, homeId: machine });
    let store = await open();
    let [fault, calls, faultAt]: [Fault, number, number] = ["none", 0, 0];
    const send = async (request: Request): Promise<Response> => {
      const struck = calls++ >= faultAt ? fault : "none";
      if (struck === "lose request") throw new Error("the network lost the request");
      if (struck === "send twice") await this.ask(request.clone() as unknown as Request);
      const response = await this.ask(request);
      if (struck === "lose answer") throw new Error("the network lost the answer");
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
    const begin = () => {
      const projects = () => new Map([[PROJECT, "cluster"]]);
      const sides = { store, service, account: LOCAL_ACCOUNT, user: LOCAL_USER, projects };
      return new ServiceRounds(sides, world);
    };
    let rounds = begin();
    const addressOf = (layer?: "user") =>
      layer === "user"
        ? userDocument(LOCAL_ACCOUNT, LOCAL_USER)
        : projectDocument(LOCAL_ACCOUNT, PROJECT);
    return {
      get store() {
        return store;
      },
      async sync(withFault, at = 0) {
        [fault, calls, faultAt] = [withFault, 0, at];
        const outcome = await rounds.run([PROJECT, "own"]);
        if (outcome.kind === "refused") throw new Error(`refused: ${outcome.message}`);
        if (outcome.kind !== "answered") return false;
        const { again, later, left, refused } = outcome.value;
        for (const { message } of refused?.values() ?? []) throw new Error(`refused: ${message}`);
        return again.size + (later?.size ?? 0) + (left?.size ?? 0) === 0;
      },
      edit: (change, layer) =>
        store.write(async (context) => change(await context.open(addressOf(layer)))),
      read: (look, layer) =>
        store.write(async (context) => look(await context.open(addressOf(layer)))),
      async restart() {
        await store.close();
        store = await open();
        rounds = begin();
      },
    };
  }
}
