import { delay, type World } from "../../shared/world.ts";
import type { FollowedFile } from "../files/followed-file.ts";
import type { Followers } from "../files/followers.ts";
import { within } from "../home/within.ts";
import type { OpenRemotes } from "../remotes/open-remotes.ts";
import { isOffline, isRefused, isSilent } from "./refused-units.ts";
import type { DaemonStatus } from "./status.ts";
import {
  isSynced,
  isUnitSynced,
  syncedProjects,
  unfinishedMemories,
  unfinishedPersonal,
} from "./synced-projects.ts";

/** The answer to `sync`. */
export interface SyncResult {
  readonly synced: boolean;
  /** The services refuse what is left, or a file can't be read: waiting longer brings nothing. */
  readonly refused: boolean;
  /** What is left is for services that can't be reached, or are busy for longer than the wait. */
  readonly offline: boolean;
  readonly status: DaemonStatus;
  /** How much is left, to be compared with another answer's: while it falls, waiting helps. */
  readonly left: number;
}

/** How a caller waits for a sync, besides for how long. */
export interface SyncWait {
  /** Wait on for the sync that was asked for last, instead of for another one. */
  readonly goOn?: boolean;
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /** Stop waiting as soon as only services are left that `offline` of the result means. */
  readonly unlessOffline?: boolean;
  /** The same, and a busy service is not waited for at all. */
  readonly unlessBusy?: boolean;
}

/** What waiting for a sync looks at. */
export interface SyncWaiterOptions {
  readonly world: World;
  readonly followers: Pick<Followers, "looking" | "lookAll" | "settled"> & {
    files(): readonly Pick<FollowedFile, "link" | "status" | "isTimed" | "look">[];
  };
  /**
   * Looks at the files beside the followed ones: memories, rules, the user's own text. Resolves
   * when what they have is taken, and what came is written.
   */
  readonly lookAtKept: () => Promise<void>;
  readonly remotes: Pick<OpenRemotes, "hurry" | "syncNow">;
  readonly status: () => Promise<DaemonStatus>;
}

/** Services get this long to answer even if the caller does not wait. */
export const SYNC_MS_MIN = 2000;
/** How often it is checked whether everything is acknowledged. */
const SYNC_POLL_MS = 100;
/** After a check comes a pause of this many times as long as the check took. */
const LOOKS_PAUSE = 4;
/** How often what failed is retried meanwhile. */
const SYNC_HURRY_MS = 2000;
/** How often it is checked meanwhile whether a service answers anything. */
const SILENT_LOOK_MS = 1000;
const MS_PER_S = 1000;

/** Makes a sync, and waits until its end or until waiting longer brings nothing. */
export class SyncWaiter {
  readonly #options: SyncWaiterOptions;
  #isStopped = false;
  /** What the sync that was asked for last still has to do. */
  #underWay: Promise<void> = Promise.resolve();
  #stepsLeft = 0;

  constructor(options: SyncWaiterOptions) {
    this.#options = options;
  }

  /**
   * Syncs now, then waits up to `waitSeconds` until the services have acknowledged everything or
   * refuse what is left, or until `signal` is aborted.
   */
  sync(waitSeconds: number, options: SyncWait): Promise<SyncResult> {
    if (!options.goOn) this.#underWay = this.#syncNow();
    return this.#untilSynced(this.#underWay, waitSeconds, options);
  }

  /** Waits like `sync` for what is due already, but looks at no file and asks for nothing new. */
  waitForDue(waitSeconds: number, options: SyncWait): Promise<SyncResult> {
    const { remotes, followers } = this.#options;
    remotes.hurry("person");
    return this.#untilSynced(followers.settled(), waitSeconds, options);
  }

  /** Whoever waits is answered with the next check. */
  stop(): void {
    this.#isStopped = true;
  }

  async #untilSynced(
    begun: Promise<void>,
    waitSeconds: number,
    { signal, unlessOffline = false, unlessBusy = false }: SyncWait,
  ): Promise<SyncResult> {
    const { world, remotes, status: readStatus } = this.#options;
    const waitMs = waitSeconds * MS_PER_S;
    const deadline = world.monotonic() + waitMs;
    const until = world.monotonic() + Math.max(waitMs, SYNC_MS_MIN);
    for (;;) {
      const leftMs = Math.max(0, until - world.monotonic());
      const partMs = unlessOffline ? Math.min(leftMs, SILENT_LOOK_MS) : leftMs;
      if (await within(world, partMs, { work: begun, signal })) break;
      const status = await readStatus();
      const offline = unlessOffline && isSilent(status, world.now());
      if (offline || partMs === leftMs || signal?.aborted) {
        return { synced: false, refused: false, offline, status, left: this.#leftIn(status) };
      }
    }
    let hurriedAt = world.monotonic();
    for (;;) {
      const lookedAt = world.monotonic();
      const status = await readStatus();
      const left = this.#leftIn(status);
      if (isSynced(status)) return { synced: true, refused: false, offline: false, status, left };
      const now = world.monotonic();
      const refused = isRefused(status);
      const busyMax = unlessBusy ? 0 : world.now() + deadline - now;
      const offline = !refused && isOffline(status, busyMax);
      const isOver = this.#isStopped || signal?.aborted === true || now >= deadline;
      if (refused || isOver || ((unlessOffline || unlessBusy) && offline)) {
        return { synced: false, refused, offline, status, left };
      }
      // With hundreds of projects a check takes longer than the pause, and what it waits for needs
      // processor time, too.
      await delay(world, Math.max(SYNC_POLL_MS, LOOKS_PAUSE * (now - lookedAt)));
      this.#lookAtWaiting(status);
      if (now - hurriedAt < SYNC_HURRY_MS) continue;
      remotes.hurry();
      hurriedAt = now;
    }
  }

  /**
   * Looks at all files of every kind, then calls the services, then waits until the answers are in
   * the files.
   */
  async #syncNow(): Promise<void> {
    const { followers, lookAtKept, remotes } = this.#options;
    const steps = [
      () => Promise.all([followers.lookAll(), lookAtKept()]),
      () => remotes.syncNow(),
      () => Promise.all([followers.settled(), lookAtKept()]),
    ] as const;
    this.#stepsLeft = steps.length;
    for (const step of steps) {
      await step();
      this.#stepsLeft -= 1;
    }
  }

  #leftIn(status: DaemonStatus): number {
    const { looking } = this.#options.followers;
    const units = [...syncedProjects(status), ...status.remotes.map(({ own }) => own)];
    const unsynced = units.filter((unit) => !isUnitSynced(unit)).length;
    const waiting = units.reduce((sum, unit) => sum + unit.waiting, 0);
    const unfinished = unfinishedMemories(status).length + unfinishedPersonal(status).length;
    return this.#stepsLeft + looking + unsynced + waiting + unfinished;
  }

  /** Looks again at files that wait, but not for an answer of their service or for a known time. */
  #lookAtWaiting({ projects }: DaemonStatus): void {
    const contacted = new Set(projects.flatMap(({ id, contacted: is }) => (is ? [id] : [])));
    for (const file of this.#options.followers.files()) {
      const isWaiting = file.status.state === "waiting" && !file.isTimed;
      if (isWaiting && contacted.has(file.link.projectId)) file.look();
    }
  }
}
