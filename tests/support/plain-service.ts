import { NOT_CARRIED } from "./not-carried.ts";
import type { RunningProcess } from "./running-process.ts";
import { waitFor } from "./wait-for.ts";

/** Whether the suite runs against services that implement the published interface alone. */
export const ON_PLAIN_SERVICE = process.env.MEMSYNC_TEST_SERVICE === "plain";

/** What makes an emulator such a service. */
export const PUBLISHED_ONLY: readonly string[] = ["--published-only"];

/** Options of the emulators that the suite's machines sync with. */
export const SERVICE_ARGS: readonly string[] = ON_PLAIN_SERVICE ? PUBLISHED_ONLY : [];

const ASK_MS = 500;

/**
 * A service that announces nothing is asked every half minute. Tests that wait for a machine to
 * hear of something should not take that long, so their machines are told to ask all the time.
 */
export async function keepAsking(
  ask: () => Promise<unknown>,
  daemon: RunningProcess,
): Promise<void> {
  const asked = async () => {
    // It is starting, or was killed meanwhile.
    await ask().catch(() => undefined);
    return !daemon.running;
  };
  await waitFor("the daemon to end", asked, Number.POSITIVE_INFINITY, ASK_MS);
}

/**
 * Runs a test of the suite. On a plain service those that `NOT_CARRIED` names have to fail: one
 * that passes is to be taken off that list.
 */
export async function orNotCarried(name: string, body: () => Promise<void>): Promise<void> {
  const reason = ON_PLAIN_SERVICE ? notCarried(name) : undefined;
  if (reason === undefined) return await body();
  const failed = await body().then(
    () => false,
    () => true,
  );
  if (!failed) throw new Error(`it passes on a plain service, although: ${reason}`);
  process.stderr.write(`not carried by a plain service: ${name}: ${reason}\n`);
}

/** Names of random tests end in a seed. */
function notCarried(name: string): string | undefined {
  const [plain = name] = name.split(/, seed \d+$/);
  return NOT_CARRIED.get(plain);
}
