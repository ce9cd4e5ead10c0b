import { budgetsIn } from "../../../daemon/budget/budget-store.ts";
import { RequestBudget } from "../../../daemon/budget/request-budget.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../../daemon/gateway/mount.ts";
import { openReplica } from "../../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../../daemon/home/tables.ts";
import { readPlainStatus } from "../../../daemon/plain/plain-status.ts";
import { createCalls } from "../../../daemon/service/http-service.ts";
import type { LiveHandlers } from "../../../daemon/service/service.ts";
import { SyncEngine } from "../../../daemon/sync/engine.ts";
import { createEmulatorApp, type EmulatorApp } from "../../../server/emulator/emulator-app.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import { silentLog } from "../../../shared/log.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { projectId } from "../../support/project-id.ts";
import { Dice } from "../simulate/dice.ts";
import { SimProcess, WallClock } from "../simulate/process.ts";
import { Scheduler } from "../simulate/scheduler.ts";
import { FleetSocket } from "./fleet-socket.ts";
import { RequestLog } from "./request-log.ts";

const TOKEN = "mst_dev_links";
const BASE = "http://localhost";
const SECOND_MS = 1000;
const LATENCY_MS_MIN = 5;
const LATENCY_MS_MAX = 80;
const SYNC_PATH = /^\/api\/projects\/([^/]+)\/sync$/;
const OK = 200;

/** What is in a run. */
export interface UntoldLinksOptions {
  readonly seed: number;
  readonly machines: number;
  /** The time of day at which it begins, in milliseconds UTC. */
  readonly beginsAt: number;
}

interface LinkingMachine {
  readonly store: ReplicaStore<DaemonTables>;
  readonly engine: SyncEngine;
  readonly budget: RequestBudget;
  readonly projects: Map<ProjectId, string>;
}

/**
 * Daemons' engines with their replicas, of one account, and a service of the published interface
 * alone, which has a plan's limits and tells nothing of them; in one process and in virtual time.
 * To be driven from the event loop, outside of promises.
 */
export class UntoldLinks implements AsyncDisposable {
  readonly scheduler = new Scheduler();
  readonly requests = new RequestLog();
  readonly machines: LinkingMachine[] = [];
  /** When the service had the first text of each project. */
  readonly textAt = new Map<string, number>();
  readonly #options: UntoldLinksOptions;
  readonly #dice: Dice;
  #service: EmulatorApp | undefined;

  constructor(options: UntoldLinksOptions) {
    this.#options = options;
    this.#dice = new Dice(options.seed);
  }

  async begin(): Promise<void> {
    this.#service = await this.settle(
      createEmulatorApp({
        path: ":memory:",
        plan: "pro",
        limits: "on",
        publishedOnly: true,
        world: this.#process().world,
        log: silentLog,
        loopbackOnly: true,
      }),
    );
    for (let at = 0; at < this.#options.machines; at++) await this.settle(this.#startMachine(at));
  }

  /** Links projects with a text each; resolves to their ids. */
  async link(at: number, count: number): Promise<ProjectId[]> {
    const machine = this.machines[at];
    if (!machine) throw new Error("the machine has begun");
    const { projects, engine } = machine;
    const from = projects.size;
    const ids = Array.from({ length: count }, (_, each) => {
      return projectId(`${at}x${from + each}`);
    });
    for (const id of ids) await this.settle(this.write(at, id, `# ${id}\n`));
    for (const id of ids) projects.set(id, `name of ${id}`);
    engine.refresh();
    return ids;
  }

  async write(at: number, id: ProjectId, text: string): Promise<void> {
    await this.machines[at]?.store.write(async (context) => {
      const open = await context.open(projectDocument(LOCAL_ACCOUNT, id));
      open.document.setContent(text, context.now);
    });
  }

  /** How many of a machine's projects the service is not known to have as they are here. */
  async unsynced(at: number): Promise<number> {
    const machine = this.machines[at];
    if (!machine) return 0;
    const rows = await machine.store.reader
      .selectFrom("documents")
      .select(["id", "name"])
      .execute();
    const read = await machine.store.reader
      .selectFrom("plain_documents")
      .select("document_id")
      .execute();
    const contacted = new Set(read.map(({ document_id }) => document_id));
    let unsynced = 0;
    for (const { id, name } of rows) {
      if (!machine.projects.has(name as ProjectId)) continue;
      const { outstanding } = await readPlainStatus(machine.store.reader, id);
      if (!contacted.has(id) || outstanding > 0) unsynced += 1;
    }
    return unsynced;
  }

  runFor(milliseconds: number): Promise<void> {
    return this.#drive(() => this.scheduler.runUntil(this.scheduler.now + milliseconds));
  }

  /** Lets virtual time pass until `isSo`, for so long at most; how long it took. */
  async until(isSo: () => boolean | Promise<boolean>, msMax: number): Promise<number> {
    const from = this.scheduler.now;
    while (!(await this.settle(Promise.resolve(isSo()))) && this.scheduler.now - from < msMax) {
      await this.runFor(SECOND_MS);
    }
    return this.scheduler.now - from;
  }

  /** What is under way in promises and events comes to its end. */
  async settle<Result>(promise: Promise<Result>): Promise<Result> {
    let over = false;
    const marked = promise.finally(() => {
      over = true;
    });
    while (!over) await this.#drive(() => this.scheduler.runUntil(this.scheduler.now + 1));
    return await marked;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle(this.#close());
  }

  async #close(): Promise<void> {
    for (const { engine, store } of this.machines) {
      await engine.stop();
      await store.close();
    }
    await this.#service?.close();
  }

  #drive(run: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          run();
          setImmediate(resolve);
        } catch (thrown) {
          reject(thrown);
        }
      });
    });
  }

  async #startMachine(at: number): Promise<void> {
    const process = this.#process();
    const { world } = process;
    const store = await openReplica(":memory:", world);
    const budget = new RequestBudget(`machine ${at}`, world);
    await budget.keepIn(budgetsIn(store), silentLog);
    const projects = new Map<ProjectId, string>();
    const engine = new SyncEngine({
      store,
      service: this.#serviceOf(process, budget),
      budget,
      world,
      log: silentLog,
      account: LOCAL_ACCOUNT,
      user: LOCAL_USER,
      projects: () => projects,
      onContact: () => {},
    });
    engine.start();
    this.machines.push({ store, engine, budget, projects });
  }

  #process(): SimProcess {
    const clock = new WallClock(this.#dice, false);
    clock.jump(this.#options.beginsAt);
    return new SimProcess(this.scheduler, this.#dice.fork(), clock);
  }

  #serviceOf(process: SimProcess, budget: RequestBudget) {
    const dice = this.#dice.fork();
    const pause = () => this.scheduler.pause(dice.between(LATENCY_MS_MIN, LATENCY_MS_MAX), process);
    const caller = this.requests.caller();
    const send = async (request: Request) => {
      const body = await request.clone().text();
      await pause();
      if (!this.#service) throw new Error("connection refused");
      const response = await this.#service.app.fetch(request);
      caller.answered(this.scheduler.now, response);
      this.#note(request, body, response.status);
      await pause();
      return response;
    };
    return {
      name: "published",
      ...createCalls({
        send,
        base: BASE,
        token: TOKEN,
        world: process.world,
        budget,
      }),
      budget,
      openLive: (handlers: LiveHandlers) => {
        budget.sent();
        return new FleetSocket({ app: undefined, token: TOKEN, pause, handlers, heard: () => {} });
      },
      close: async () => {},
    };
  }

  #note({ method, url }: Request, body: string, status: number): void {
    const [, id] = SYNC_PATH.exec(new URL(url).pathname) ?? [];
    if (method !== "POST" || id === undefined || status !== OK) return;
    if (!body.includes("claude_md_content") || this.textAt.has(id)) return;
    this.textAt.set(id, this.scheduler.now);
  }
}
