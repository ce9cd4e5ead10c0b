import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const FOLDERS = ["tests/e2e", "tests/long"];
const ENDING = ".test.ts";
/** What a test of machines imports. */
const LAB = '/support/lab.ts"';

/** What of the suite runs no daemon that syncs with anything, or drives an emulator's controls. */
const WITHOUT_SERVICE: ReadonlySet<string> = new Set([
  "busy",
  "completion",
  "conformance",
  "demo",
  "hostile-sockets",
  "people",
  "seeds",
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
  const suite = await readSuite();
  const files = names.length === 0 ? suite : suite.filter((file) => names.includes(nameOf(file)));
  const flags = ["--timeout", `${TEST_DEADLINE_MS}`, "--max-concurrency", "2"];
  flags.push("--path-ignore-patterns", "none");
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

/** Its files, in order. */
async function readSuite(): Promise<string[]> {
  const found = await Promise.all(
    FOLDERS.map(async (folder) =>
      (await readdir(join(ROOT, folder))).map((file) => `./${folder}/${file}`),
    ),
  );
  const files = found.flat().filter((file) => file.endsWith(ENDING));
  const withMachines = files.filter((file) => readFileSync(join(ROOT, file), "utf8").includes(LAB));
  return withMachines.filter((file) => !WITHOUT_SERVICE.has(nameOf(file))).sort();
}

function nameOf(file: string): string {
  return basename(file, ENDING);
}
