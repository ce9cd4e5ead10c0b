// Runs what holds on every database once more on a PostgreSQL, which comes with npm or is the one
// that `MEMSYNC_TEST_DATABASE` names: the HTTP suite, each call to the next of two servers that
// share a database, who may do what, and what processes that are killed leave. Takes what `bun
// test` does: files in place of these, `-t`.
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");

const SUITES = [
  "client",
  "conformance",
  "description",
  "exchange",
  "idempotency",
  "isolation",
  "limits",
  "memories",
  "projects",
  "published-only",
  "rules",
  "server-limits",
].map((name) => `./tests/http/${name}.test.ts`);

// The other files of tests/http are the emulator's own, which keeps to a file or to memory:
// - emulator: the calls that control what it answers
// - emulator-given-up: the same

const LONG_SUITES = ["kill", "hostile"].map((name) => `./tests/long/${name}.test.ts`);

const asked = process.argv.slice(2);
const flags = ["--path-ignore-patterns", "none", "--timeout", "60000"];
const tests = Bun.spawn(
  [process.execPath, "test", ...flags, ...(asked.length > 0 ? asked : [...SUITES, ...LONG_SUITES])],
  {
    cwd: ROOT,
    env: { ...process.env, MEMSYNC_TEST_ON: "postgres" },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
process.exitCode = await tests.exited;
