import type { DaemonStatus } from "../../daemon/status/status.ts";
import { syncedProjects } from "../../daemon/status/synced-projects.ts";
import type { SyncResult } from "../../daemon/status/wait-for-sync.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { askStatus, DaemonSilent, type GatewayClient } from "./daemon-contact.ts";

/** A daemon reads a status after the end of the wait, so its answer may come this much later. */
const LATE_MS_MAX = 4000;

/** The daemon closes connections that are silent for too long, so a long wait is split. */
const ASKED_SECONDS_MAX = 30;
/** A wait that goes on while less and less is left checks this often whether it is less. */
const LESS_SECONDS = 10;

/** A daemon in another process, or in this one. */
type StatusSource = GatewayClient | { status(): Promise<DaemonStatus> };

/** Whether another try could help. An older daemon does not tell of refusals. */
interface Ending {
  readonly synced: boolean;
  readonly refused?: boolean;
  readonly offline?: boolean;
  readonly left?: number;
}

interface CallSyncOptions {
  readonly call?: "sync" | "wait";
  readonly goOn?: boolean;
  /** See `SyncWait`. */
  readonly unlessOffline?: boolean;
  readonly unlessBusy?: boolean;
}

/**
 * One call to the daemon for a sync, or to `wait` for what is due already. Throws `DaemonSilent` if
 * it takes too long.
 */
export async function callSync(
  daemon: GatewayClient,
  seconds: number,
  { call = "sync", goOn = false, unlessOffline = false, unlessBusy = false }: CallSyncOptions = {},
): Promise<SyncResult> {
  const unless = { unless_offline: unlessOffline, unless_busy: unlessBusy };
  const body = { wait_seconds: seconds, go_on: goOn, ...unless };
  const deadlineMs = seconds * 1000 + LATE_MS_MAX;
  try {
    return await daemon.call<SyncResult>("POST", `/_memsync/${call}`, { body, deadlineMs });
  } catch (thrown) {
    if (!(thrown instanceof DaemonSilent)) throw thrown;
    throw new DaemonSilent(`${thrown.message}; \`memsync preview\` shows what is not synced yet`, {
      code: "daemon-silent",
    });
  }
}

/** A part of a wait. */
export interface SyncPart {
  readonly seconds: number;
  readonly unlessOffline: boolean;
  /** Whether it is a later part than the first. */
  readonly goOn: boolean;
}

/**
 * Asks for a sync until everything is synced or the rest is refused, for at most `waitSeconds`, or
 * with `whileLess` for as long as less and less is left; `ask` makes one call. `onOffline` is
 * called once, and decides whether to wait for a service that can't be reached.
 */
export async function askSync<Answer extends Ending>(
  ask: (part: SyncPart) => Promise<Answer>,
  waitSeconds: number,
  { world = realWorld, whileLess = false, onOffline }: AskSyncOptions<Answer> = {},
): Promise<Answer> {
  let deadline = world.monotonic() + waitSeconds * 1000;
  const partMax = whileLess ? LESS_SECONDS : ASKED_SECONDS_MAX;
  let unlessOffline = onOffline !== undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let goOn = false; ; goOn = true) {
    const left = Math.max(0, (deadline - world.monotonic()) / 1000);
    const answer = await ask({ seconds: Math.min(left, partMax), unlessOffline, goOn });
    if (answer.synced || answer.refused) return answer;
    const isOffline = unlessOffline && answer.offline === true;
    if (isOffline && !onOffline?.(answer)) return answer;
    if (isOffline) unlessOffline = false;
    else if (left <= partMax) {
      const isLess = answer.left !== undefined && answer.left < least;
      if (!whileLess || !isLess) return answer;
      deadline = world.monotonic() + LESS_SECONDS * 1000;
    }
    least = Math.min(least, answer.left ?? least);
  }
}

interface AskSyncOptions<Answer> {
  readonly world?: Pick<World, "monotonic">;
  /** Go on beyond the time while every part of the wait brings something. */
  readonly whileLess?: boolean;
  readonly onOffline?: (answer: Answer) => boolean;
}

/**
 * Waits for a sync and shows a bar of the acknowledged changes where somebody watches. If the
 * status can't be read, only the bar is not updated. `sayLate` is called once, where it takes some
 * seconds.
 */
export async function watchSync<Answer>(
  daemon: StatusSource,
  sync: Promise<Answer>,
  sayLate?: (status: DaemonStatus) => void,
): Promise<Answer> {
  let most = 0;
  let isOver = false;
  void sync
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  return await shownWhile("syncing", sync, {
    unit: "changes",
    async counts() {
      const status = await readStatus(daemon);
      if (!status) return undefined;
      const waiting = waitingIn(status);
      most = Math.max(most, waiting);
      return { done: most - waiting, total: most };
    },
    ...(sayLate && {
      async sayLate() {
        const status = await readStatus(daemon);
        if (status && !isOver) sayLate(status);
      },
    }),
  });
}

function readStatus(daemon: StatusSource): Promise<DaemonStatus | undefined> {
  const status = "call" in daemon ? askStatus(daemon) : daemon.status();
  return status.catch(() => undefined);
}

/** How many synced changes the service has not acknowledged. */
export function waitingIn(status: DaemonStatus): number {
  return [...syncedProjects(status), status.own].reduce((sum, { waiting }) => sum + waiting, 0);
}
