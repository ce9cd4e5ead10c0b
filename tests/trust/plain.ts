import { readdir } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const SUITE = join(ROOT, "tests", "e2e");
const ENDING = ".test.ts";

/** What of the suite runs no daemon that syncs with anything. */
const WITHOUT_SERVICE: ReadonlySet<string> = new Set([
  "completion",
  "conformance",
  "demo",
  "hostile-sockets",
  "server-backup",
  "server-shutdown",
]);

/** How long a test may take, and how much longer than usual its conditions are waited for. */
const TEST_DEADLINE_MS = 600_000;
const PATIENCE = 4;

/**
 * Runs the daemon's suite against services that implement the published interface and nothing else;
 * `names` are files of it, all when there are none. Tests that such a service can't pass have to
 * fail: `tests/support/not-carried.ts` names them, each with the reason.
 */
export async function plain(names: readonly string[]): Promise<number> {
  const suite = names.length > 0 ? names : await readSuite();
  const files = suite.map((name) => `./tests/e2e/${name}.test.ts`);
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

/** The names of its files, in order. */
async function readSuite(): Promise<string[]> {
  const files = (await readdir(SUITE)).filter((file) => file.endsWith(ENDING)).sort();
  const names = files.map((file) => file.slice(0, -ENDING.length));
  return names.filter((name) => !WITHOUT_SERVICE.has(name));
}
