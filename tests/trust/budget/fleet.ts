import { budgetsIn } from "../../../daemon/budget/budget-store.ts";
import { RequestBudget } from "../../../daemon/budget/request-budget.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../../daemon/gateway/mount.ts";
import { openReplica } from "../../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../../daemon/home/tables.ts";
import { createCalls } from "../../../daemon/service/http-service.ts";
import type { Service } from "../../../daemon/service/service.ts";
import { SyncEngine } from "../../../daemon/sync/engine.ts";
import { createEmulatorApp, type EmulatorApp } from "../../../server/emulator/emulator-app.ts";
import { silentLog } from "../../../shared/log.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import type { CommittedRow } from "../../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { projectId } from "../../support/project-id.ts";
import { Dice } from "../simulate/dice.ts";
import { SimProcess, WallClock } from "../simulate/process.ts";
import { type Owner, Scheduler } from "../simulate/scheduler.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
import { FleetSocket } from "./fleet-socket.ts";
import { RequestLog } from "./request-log.ts";

const PROJECT = projectId("fleet");
const TOKEN = "mst_dev_fleet";
const BASE = "http://localhost";
const SECOND_MS = 1000;
const LATENCY_MS_MIN = 5;
const LATENCY_MS_MAX = 80;
/** Between two writes of a busy machine. */
const WRITE_MS_MIN = 2 * SECOND_MS;
const WRITE_MS_MAX = 30 * SECOND_MS;

/** What is in a run; times of day are UTC. */
export interface FleetOptions {
  readonly seed: number;
  readonly machines: number;
  /** Whether the way to the service lets live sockets through. */
  readonly sockets: boolean;
  /** The time of day at which it begins, in milliseconds. */
  readonly beginsAt: number;
  /** Does not tell of quotas, as a service by others. */
  readonly silent?: boolean;
}

interface FleetMachine {
  readonly store: ReplicaStore<DaemonTables>;
  readonly engine: SyncEngine;
  readonly budget: RequestBudget;
  readonly process: SimProcess;
  writes: number;
}

/**
 * Daemons' engines with their replicas, of one account, and the service with the limits of its
 * plan, in one process and in virtual time. To be driven from the event loop, outside of promises.
 */
export class Fleet {
  readonly scheduler = new Scheduler();
  readonly requests = new RequestLog();
  readonly arrivals: Arrivals;
  readonly machines: FleetMachine[] = [];
  readonly #options: FleetOptions;
  readonly #dice: Dice;
  readonly #sockets: FleetSocket[] = [];
  #app: EmulatorApp | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#dice = new Dice(options.seed);
    this.arrivals = createArrivals(options.machines);
  }

  /** Starts the service, and all machines within ten seconds. */
  async begin(): Promise<void> {
    await this.#settle(this.#startService());
    for (let at = 0; at < this.#options.machines; at++) {
      await this.drive(() => this.runFor(this.#dice.between(0, SECOND_MS)));
      await this.#settle(this.#startMachine(at));
    }
  }

  runFor(milliseconds: number): void {
    this.scheduler.runUntil(this.scheduler.now + milliseconds);
  }

  /** Every machine writes every few seconds from now on, for so long. */
  work(milliseconds: number): void {
    const until = this.scheduler.now + milliseconds;
    for (const [at, machine] of this.machines.entries()) this.#workOn(machine, at, until);
  }

  /** No live socket that is up lets anything through any more. */
  stallSockets(): void {
    for (const socket of this.#sockets) socket.stall();
  }

  /** A person waits on the first machine. Gives the virtual milliseconds until it is answered. */
  syncNow(): number {
    const [machine] = this.machines;
    if (!machine) throw new Error("the fleet has begun");
    const startedAt = this.scheduler.now;
    const before = this.requests.answered;
    void machine.engine.syncNow();
    while (this.requests.answered === before) this.runFor(1);
    return this.scheduler.now - startedAt;
  }

  async end(): Promise<void> {
    await this.#settle(this.#close());
  }

  /** Lets `run` pass virtual time: from the event loop, where all promises can go on. */
  drive<Result>(run: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          const result = run();
          setImmediate(() => resolve(result));
        } catch (thrown) {
          reject(thrown);
        }
      });
    });
  }

  async #close(): Promise<void> {
    for (const { engine, store } of this.machines) {
      await engine.stop();
      await store.close();
    }
    await this.#app?.close();
  }

  async #startService(): Promise<void> {
    this.#app = await createEmulatorApp({
      path: ":memory:",
      plan: "pro",
      limits: "on",
      world: this.#process().world,
      log: silentLog,
      loopbackOnly: true,
    });
  }

  async #startMachine(at: number): Promise<void> {
    const process = this.#process();
    const { world } = process;
    const store = await openReplica(":memory:", world);
    store.onCommit((rows) => void this.#shown(store, at, rows));
    const budget = new RequestBudget(`machine ${at}`, world);
    await budget.keepIn(budgetsIn(store), silentLog);
    const engine = new SyncEngine({
      store,
      service: this.#service(process, budget),
      budget,
      world,
      log: silentLog,
      account: LOCAL_ACCOUNT,
      user: LOCAL_USER,
      projects: () => new Map([[PROJECT, "fleet"]]),
      onContact: () => {},
    });
    engine.start();
    this.machines.push({ store, engine, budget, process, writes: 0 });
  }

  #process(): SimProcess {
    const clock = new WallClock(this.#dice, false);
    clock.jump(this.#options.beginsAt);
    return new SimProcess(this.scheduler, this.#dice.fork(), clock);
  }

  #service(process: SimProcess, budget: RequestBudget): Service {
    const dice = this.#dice.fork();
    const pause = () => this.scheduler.pause(dice.between(LATENCY_MS_MIN, LATENCY_MS_MAX), process);
    const caller = this.requests.caller();
    const send = async (request: Request) => {
      await pause();
      const response = await this.#answer(request);
      caller.answered(this.scheduler.now, response);
      await pause();
      return response;
    };
    return {
      name: "fleet",
      ...createCalls({ send, base: BASE, token: TOKEN, world: process.world, budget }),
      openLive: (handlers) => {
        budget.sent();
        const app = this.#options.sockets ? this.#app?.app : undefined;
        const heard = (status: number) => this.requests.handshake(this.scheduler.now, status);
        const socket = new FleetSocket({ app, token: TOKEN, pause, handlers, heard });
        this.#sockets.push(socket);
        return socket;
      },
      close: async () => {},
    };
  }

  async #answer(request: Request): Promise<Response> {
    if (!this.#app) throw new Error("connection refused");
    const response = await this.#app.app.fetch(request);
    if (this.#options.silent) {
      for (const name of ["ratelimit", "ratelimit-policy"]) response.headers.delete(name);
    }
    return response;
  }

  #workOn(machine: FleetMachine, at: number, until: number): void {
    const delayMs = this.#dice.between(WRITE_MS_MIN, WRITE_MS_MAX);
    this.scheduler.after(delayMs, machine.process as Owner, () => {
      if (this.scheduler.now >= until) return;
      void this.#write(machine, at);
      this.#workOn(machine, at, until);
    });
  }

  async #write(machine: FleetMachine, at: number): Promise<void> {
    const count = ++machine.writes;
    this.arrivals.written(at, count, this.scheduler.now);
    await machine.store.write(async (context) => {
      const open = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
      open.document.setEntry("memories", keyOf(at), {
        value: String(count),
        now: context.now,
      });
    });
  }

  /** What others wrote is shown on a machine now. */
  async #shown(
    store: ReplicaStore<DaemonTables>,
    at: number,
    rows: readonly CommittedRow[],
  ): Promise<void> {
    const keys = new Set(rows.flatMap(({ changes }) => [...changes.memoryKeys]));
    if (keys.size === 0) return;
    const found = await store.reader
      .selectFrom("memories")
      .select(["key", "value"])
      .where("key", "in", [...keys])
      .orderBy("key")
      .execute();
    for (const { key, value } of found) {
      this.arrivals.shown(at, Number(key.slice(KEY.length)), Number(value), this.scheduler.now);
    }
  }

  /** What is under way in promises and events comes to its end, with what is real in it. */
  async #settle<Result>(promise: Promise<Result>): Promise<Result> {
    let over = false;
    const marked = promise.finally(() => {
      over = true;
    });
    while (!over) await this.drive(() => this.runFor(1));
    return await marked;
  }
}

const KEY = "machine ";

function keyOf(machine: number): string {
  return KEY + machine;
}
