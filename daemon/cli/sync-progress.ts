import { delay, type World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { DaemonStatus } from "../status.ts";
import { Progress } from "./progress.ts";

const POLL_MS = 250;

/** The daemon closes a connection that is silent for too long, so it is asked in parts. */
const ASKED_SECONDS_MAX = 30;

/** Whether asking again would bring anything; an older daemon says nothing of refusal. */
interface Ending {
  readonly synced: boolean;
  readonly refused?: boolean;
}

/**
 * Asks for a sync until everything is synced or what is left is refused, or for `waitSeconds`;
 * `ask` is one call's.
 */
export async function askSync<Answer extends Ending>(
  ask: (waitSeconds: number) => Promise<Answer>,
  waitSeconds: number,
  world: Pick<World, "monotonic"> = realWorld,
): Promise<Answer> {
  const deadline = world.monotonic() + waitSeconds * 1000;
  for (;;) {
    const left = Math.max(0, (deadline - world.monotonic()) / 1000);
    const answer = await ask(Math.min(left, ASKED_SECONDS_MAX));
    if (answer.synced || answer.refused || left <= ASKED_SECONDS_MAX) return answer;
  }
}

/**
 * Waits for a sync that the daemon was asked for, with a bar of the changes that the service has
 * acknowledged meanwhile, where somebody watches. `readStatus` gives the daemon's status; a look
 * that fails is only not drawn.
 */
export async function watchSync<Answer>(
  readStatus: () => Promise<unknown>,
  sync: Promise<Answer>,
): Promise<Answer> {
  if (!process.stderr.isTTY) return await sync;
  const progress = new Progress("syncing", "changes");
  const ended = sync.then(
    () => true,
    () => true,
  );
  let most = 0;
  try {
    while (!(await Promise.race([ended, delay(realWorld, POLL_MS)]))) {
      const status = await readStatus().catch(() => undefined);
      if (!status) continue;
      const waiting = waitingIn(status as DaemonStatus);
      most = Math.max(most, waiting);
      progress.update(most - waiting, most);
    }
    return await sync;
  } finally {
    progress.end();
  }
}

/** Changes of all that is synced that the service has not acknowledged. */
function waitingIn({ projects, own }: DaemonStatus): number {
  return [...projects, own].reduce((sum, { waiting }) => sum + waiting, 0);
}
