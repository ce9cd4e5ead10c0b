import { deepEqual } from "node:assert/strict";
import { join } from "node:path";
import { type Machine, SOURCES } from "../../support/machine.ts";
import { type OpenThings, openThingsOf, residentBytesOf } from "../../support/process-figures.ts";
import type { RunningProcess } from "../../support/running-process.ts";
import { waitFor } from "../../support/wait-for.ts";

const COLLECT = join(import.meta.dir, "collect.ts");

/** What a daemon holds once everything is at rest. */
export interface Held extends OpenThings {
  readonly sockets: number;
  readonly timers: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** A real daemon, asked now and then what it holds. */
export class WatchedDaemon {
  #collections = 0;

  private constructor(
    readonly machine: Machine,
    readonly process: RunningProcess,
  ) {}

  static async start(machine: Machine): Promise<WatchedDaemon> {
    const [runtime, program] = SOURCES;
    const started = machine.spawnOther([runtime, "--preload", COLLECT, program, "up"]);
    await started.untilPrinted(/memsync is up/);
    return new WatchedDaemon(machine, started);
  }

  freeze(): void {
    this.process.freeze();
  }

  thaw(): void {
    process.kill(this.process.pid, "SIGCONT");
  }

  /** What it holds; rejects when it does not come to have open what `before` had. */
  async held(before?: Held): Promise<Held> {
    const { pid } = this.process;
    const found = await waitFor("as many descriptors and watches as before", async () => {
      if (!(await this.machine.syncOnce())) return undefined;
      const things = lasting(openThingsOf(pid));
      const { targets, watches } = before ?? things;
      deepEqual({ targets: things.targets, watches: things.watches }, { targets, watches });
      return things;
    });
    return { ...found, ...(await this.#collect()), residentBytes: residentBytesOf(pid) };
  }

  async #collect(): Promise<{ heapBytes: number; timers: number }> {
    const wanted = ++this.#collections;
    process.kill(this.process.pid, "SIGUSR2");
    return await waitFor("a collection", () => {
      const said = [...this.process.stderr.matchAll(/^collected (.*)$/gm)].at(wanted - 1)?.[1];
      return said === undefined ? undefined : JSON.parse(said);
    });
  }
}

/**
 * Files, watches and the like. How many connections are kept for later calls is chance, so they are
 * counted apart; and what was written over stays open for a minute, for saves that come late.
 */
function lasting({ watches, targets: all }: OpenThings): OpenThings & { sockets: number } {
  const targets = all.filter((each) => each !== SOCKET && !each.endsWith(".memsync (deleted)"));
  const sockets = all.filter((each) => each === SOCKET).length;
  return { descriptors: targets.length, targets, watches, sockets };
}

const SOCKET = "socket";
