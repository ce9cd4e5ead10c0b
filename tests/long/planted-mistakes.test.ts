import { expect, test } from "bun:test";
import { join } from "node:path";
import { SHORT_LIVED } from "../support/short-lived.ts";
import { MISTAKES, type Mistake } from "../trust/planted/mistakes.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PRELOAD = join(ROOT, "tests/trust/planted/preload.ts");
/** For the test that is to fail. */
const RUN_MS = 120_000;
const TIMEOUT_MS = 600_000;

/** Runs the mistake's test with the mistake in the program; returns what it printed. */
async function printedWith({ name, found: { file, test: wanted } }: Mistake): Promise<string> {
  const only = `^${wanted.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  const path = `./${join("tests", file)}`;
  const anyFile = ["--path-ignore-patterns", "none"];
  const limits = ["--timeout", String(RUN_MS)];
  const args = ["test", "--preload", PRELOAD, ...anyFile, ...limits, path, "-t", only];
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...SHORT_LIVED, MEMSYNC_PLANTED: name },
  });
  const printed = await new Response(child.stderr).text();
  await child.exited;
  return printed;
}

for (const mistake of MISTAKES) {
  test.concurrent(
    `a planted mistake fails a test: ${mistake.name}`,
    async () => {
      // The one test fails: it is neither missing, nor does the program not start.
      expect(await printedWith(mistake)).toMatch(/^ 0 pass\n(.*\n)* 1 fail\n(?! \d+ error)/m);
    },
    TIMEOUT_MS,
  );
}
