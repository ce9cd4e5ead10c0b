import { join } from "node:path";
import { createEmulatorApp, type EmulatorApp } from "../../../server/emulator/emulator-app.ts";
import { openHostDatabase } from "../../../server/stores/open-store.ts";
import { silentLog } from "../../../shared/log.ts";
import type { Dice } from "./dice.ts";
import { mountDisk } from "./disk/mounted.ts";
import { readDatabase, SqliteDisk, writeDatabase } from "./disk/sqlite-disk.ts";
import { SimProcess, WallClock } from "./process.ts";
import { readDocuments } from "./read-documents.ts";
import type { Scheduler } from "./scheduler.ts";
import { Shadow, type ShadowListener } from "./shadow.ts";

export const SERVER = "the service";
/** The second one, where there are two. */
export const OTHER_SERVER = "the other service";

/** What a service stands on, and whom it tells. */
export interface ServerOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  /** A real one, for its database. */
  readonly folder: string;
  readonly limits: "on" | "off";
  readonly listener: ShadowListener;
}

/** The address of the service of this name. */
export function urlOf(name: string): string {
  return `http://localhost:${name === SERVER ? 8001 : 8002}`;
}

/** The service's app, without a port, on a disk that can fail; it can be put back to a copy. */
export class ServerNode {
  readonly name: string;
  readonly clock: WallClock;
  readonly disk: SqliteDisk;
  readonly shadow: Shadow;
  readonly #scheduler: Scheduler;
  readonly #dice: Dice;
  readonly #path: string;
  readonly #deaths = new Set<() => void>();
  readonly #limits: "on" | "off";
  #restored = false;
  #process: SimProcess | undefined;
  #emulator: EmulatorApp | undefined;

  constructor({ name, scheduler, dice, folder, limits, listener }: ServerOptions) {
    this.name = name;
    this.#scheduler = scheduler;
    this.#dice = dice;
    this.#limits = limits;
    this.#path = join(folder, "service.db");
    this.clock = new WallClock(dice, false);
    this.shadow = new Shadow(name, listener);
    this.disk = new SqliteDisk(folder, dice.fork(), () => this.#end());
    mountDisk(this.disk);
  }

  /** What machines reach it by. */
  get url(): string {
    return urlOf(this.name);
  }

  get isUp(): boolean {
    return this.#emulator !== undefined;
  }

  get process(): SimProcess | undefined {
    return this.#process;
  }

  get app(): EmulatorApp["app"] | undefined {
    return this.#emulator?.app;
  }

  get isStopped(): boolean {
    return this.disk.isStopped;
  }

  /** Puts a database in place that has the whole schema. */
  async prepare(): Promise<void> {
    writeDatabase(this.#path, await emptyDatabase(this.#path));
  }

  /** Rejects when the disk fails meanwhile; it is down then. */
  async start(): Promise<void> {
    const process = new SimProcess(this.#scheduler, this.#dice.fork(), this.clock);
    this.#process = process;
    const emulator = await createEmulatorApp({
      path: this.#path,
      plan: "pro",
      limits: this.#limits,
      world: process.world,
      log: silentLog,
      loopbackOnly: true,
    });
    this.shadow.load(await readDocuments(emulator.store.reader), this.#restored);
    this.#restored = false;
    emulator.store.onCommit((rows) => {
      if (process.alive) this.shadow.take(rows);
    });
    if (process.alive) this.#emulator = emulator;
  }

  /** Ends at once, wherever it is. `power`: the machine under it, too. */
  crash(power: boolean): void {
    this.#end();
    this.disk.crash(power);
  }

  /** The bytes of a copy of everything that is committed. */
  copy(): Uint8Array {
    return readDatabase(this.#path);
  }

  /** Ends, and has the data of a copy at its next start. */
  restore(copy: Uint8Array): void {
    this.crash(false);
    writeDatabase(this.#path, copy);
    this.#restored = true;
  }

  /** Answers, or rejects because there is no service or its process ends. */
  fetch(request: Request): Promise<Response> {
    const process = this.#process;
    const app = this.app;
    if (!process?.alive || !app) return Promise.reject(new Error("connection refused"));
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error("connection reset"));
      this.#deaths.add(died);
      void app.fetch(request).then((response) => {
        this.#deaths.delete(died);
        if (process.alive) resolve(response);
      });
    });
  }

  /** Calls back when the process ends. Returns how to stop. */
  onDeath(died: () => void): () => void {
    this.#deaths.add(died);
    return () => {
      this.#deaths.delete(died);
    };
  }

  #end(): void {
    this.#process?.end();
    this.#process = undefined;
    this.#emulator = undefined;
    const deaths = [...this.#deaths];
    this.#deaths.clear();
    for (const died of deaths) died();
  }
}

let empty: Uint8Array | undefined;

/** Made once; most of a start's time would go there. */
async function emptyDatabase(path: string): Promise<Uint8Array> {
  if (empty) return empty;
  const database = await openHostDatabase(path);
  await database.close();
  empty = readDatabase(path);
  return empty;
}
