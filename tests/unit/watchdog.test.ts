import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../support/wait-for.ts";

const PROGRAM = join(import.meta.dir, "../support/hanging-program.ts");

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memsync-watchdog-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function startProgram(...successor: readonly string[]) {
  const log = join(folder, "daemon.log");
  const child = Bun.spawn([process.execPath, PROGRAM, log, ...successor], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = child.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("beating\n");
  return { child, log };
}

/** The log's lines, but for the time in them. */
function logged(log: string): unknown[] {
  const lines = readFileSync(log, "utf8").trim().split("\n");
  return lines.map((line) => ({ ...JSON.parse(line), time: 0 }));
}

const SAID = { level: 50, time: 0, msg: "the daemon hangs and is killed" };

test("a process that hangs is killed, and its successor started apart from it", async () => {
  const told = join(folder, "told");
  const script = `echo "$PASSED_ON $(pwd) $(ls /proc/self/fd 2>&1 | wc -l)" > '${told}.new'
    mv '${told}.new' '${told}'`;
  const { child, log } = await startProgram("sh", "-c", script);
  child.stdin.end();
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  await waitFor("the successor", () => existsSync(told));
  expect(readFileSync(told, "utf8")).toStartWith("yes / ");
  expect(logged(log)).toEqual([SAID]);
});

test("where somebody else starts the next one, it is only killed", async () => {
  const { child, log } = await startProgram();
  child.stdin.end();
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(logged(log)).toEqual([SAID]);
});
