import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunningProcess } from "../support/running-process.ts";

const ROOT = join(import.meta.dir, "../..");
const PROGRAM = join(ROOT, "tests/support/free-pages-program.ts");
const folder = mkdtempSync(join(tmpdir(), "memsync-pages-"));

afterAll(() => rmSync(folder, { recursive: true }));

async function sizesWith(command: readonly string[], name: string) {
  const env = { PATH: process.env.PATH ?? "" };
  const started = new RunningProcess([...command, join(folder, name)], { cwd: folder, env });
  const { stdout, stderr } = await started.ended();
  expect(stderr).toBe("");
  return JSON.parse(stdout) as { before: number; after: number };
}

test("free pages go back to the disk under Bun", async () => {
  const { before, after } = await sizesWith([process.execPath, PROGRAM], "bun.db");
  expect(before).toBeGreaterThan(6_000_000);
  expect(after).toBeLessThan(100_000);
});

test("free pages go back to the disk under Node", async () => {
  const built = await Bun.build({
    entrypoints: [PROGRAM],
    target: "node",
    splitting: true,
    outdir: folder,
    naming: { entry: "[name].mjs", chunk: "[hash].mjs" },
    external: ["better-sqlite3", "bun:sqlite"],
  });
  expect(built.success).toBeTrue();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const program = join(folder, "free-pages-program.mjs");
  const { before, after } = await sizesWith(["node", program], "node.db");
  expect(before).toBeGreaterThan(6_000_000);
  expect(after).toBeLessThan(100_000);
});
