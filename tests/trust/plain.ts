import { join } from "node:path";

/** The daemon's suite: what runs machines against a service. */
const SUITE = [
  "bad-file",
  "conflicts",
  "crash",
  "followed-file",
  "gateway",
  "history",
  "identity",
  "late-save",
  "layers",
  "moving",
  "no-daemon",
  "offline",
  "plain-crash",
  "plain-service",
  "replay",
  "replay-memories",
  "server-loss",
  "tracked-file",
  "up",
] as const;

const ROOT = join(import.meta.dir, "..", "..");

/** How long a test may take, and how much longer than usual its conditions are waited for. */
const TEST_DEADLINE_MS = 600_000;
const PATIENCE = 4;

/**
 * Runs the daemon's suite against services that implement the published interface and nothing else;
 * `names` are files of it, all when there are none. Tests that such a service can't pass have to
 * fail: `tests/support/not-carried.ts` names them, each with the reason.
 */
export async function plain(names: readonly string[]): Promise<number> {
  const files = (names.length > 0 ? names : SUITE).map((name) => `./tests/e2e/${name}.test.ts`);
  const flags = ["--timeout", `${TEST_DEADLINE_MS}`, "--max-concurrency", "2"];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...files], {
    cwd: ROOT,
    env: {
      ...process.env,
      MEMSYNC_TEST_SERVICE: "plain",
      MEMSYNC_TEST_PATIENCE: `${PATIENCE}`,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return await child.exited;
}
