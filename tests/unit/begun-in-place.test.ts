import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { link, rename, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../../daemon/disk/read-file.ts";
import { clearBegunWrite, finishBegunWrite } from "../../daemon/files/saves/begun-write.ts";
import type { FileContent } from "../../daemon/files/state/file-edit.ts";
import { DISK } from "../support/disk.ts";

const SUPPORT = join(import.meta.dir, "..", "support");
const PROGRAM = join(SUPPORT, "replace-file-program.ts");
const KILL = join(SUPPORT, "kill-in-write.ts");
const PAGE = 4096;
const FILE = "CLAUDE.md";

const LINES = Array.from({ length: 1200 }, (_, at) => `- rule ${at}, naïve or not\n`);
const SHORT = LINES.slice(100, 900).join("");
const LONG = `# Rules\n\n${LINES.join("")}`;
const SAVED = LONG.replace("rule 500", "rule 500 of mine");

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(DISK, "memsync-in-place-"));
  file = join(dir, FILE);
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A file with a second name, whose write was killed when so many bytes were in it. */
async function killAfter(bytes: number, before: string, next: string): Promise<void> {
  writeFileSync(file, before);
  await link(file, join(dir, "second-name"));
  const command = [process.execPath, "--preload", KILL, PROGRAM, file, next, hashOf(before)];
  const env = { ...process.env, KILLED_AFTER_BYTES: String(bytes) };
  const program = Bun.spawn(command, { env, stdout: "ignore", stderr: "inherit" });
  await program.exited;
  expect(program.signalCode).toBe("SIGKILL");
  expect(ours()).toHaveLength(1);
}

function ours(): string[] {
  return readdirSync(dir).filter((name) => name.endsWith(".memsync"));
}

/** As at the next start. */
async function startAgain(before: string, next: string) {
  const write = { path: file, former: before, intended: next };
  const isFinished = await finishBegunWrite(write);
  const taken: string[] = [];
  const takeLate = async ({ content }: FileContent) => void taken.push(content);
  await clearBegunWrite({ ...write, takeLate });
  expect(ours()).toEqual([]);
  expect(await finishBegunWrite(write)).toBe(false);
  return { isFinished, taken };
}

test("a write that was killed in the middle is finished, and taken for nobody's save", async () => {
  for (const [before, next] of [
    [SHORT, LONG],
    [LONG, SHORT],
  ] as const) {
    for (const bytes of [PAGE, 3 * PAGE, Number.MAX_SAFE_INTEGER]) {
      await killAfter(bytes, before, next);
      const isWhole = readFileSync(file, "utf8") === next;
      expect(await startAgain(before, next)).toEqual({ isFinished: !isWhole, taken: [] });
      expect(readFileSync(file, "utf8")).toBe(next);
      expect(readFileSync(join(dir, "second-name"), "utf8")).toBe(next);
      expect((await stat(file)).nlink).toBe(2);
      rmSync(join(dir, "second-name"));
    }
  }
});

test("a write that was killed before it began leaves the file as it was", async () => {
  await killAfter(0, SHORT, LONG);
  expect(await startAgain(SHORT, LONG)).toEqual({ isFinished: false, taken: [] });
  expect(readFileSync(file, "utf8")).toBe(SHORT);
});

test("what somebody saved after a kill is theirs, in the same file or in another", async () => {
  await killAfter(PAGE, SHORT, LONG);
  writeFileSync(file, SAVED);
  expect(await startAgain(SHORT, LONG)).toEqual({ isFinished: false, taken: [] });
  expect(readFileSync(file, "utf8")).toBe(SAVED);
  rmSync(join(dir, "second-name"));
  await killAfter(PAGE, SHORT, LONG);
  writeFileSync(`${file}.new`, SAVED);
  await rename(`${file}.new`, file);
  expect(await startAgain(SHORT, LONG)).toEqual({ isFinished: false, taken: [] });
  expect(readFileSync(file, "utf8")).toBe(SAVED);
});

test("what looks like a mix and was saved long after it is somebody's", async () => {
  await killAfter(PAGE, SHORT, LONG);
  const mix = readFileSync(file, "utf8");
  const { mtimeMs } = await stat(file);
  await utimes(file, mtimeMs / 1000 + 60, mtimeMs / 1000 + 60);
  expect(await startAgain(SHORT, LONG)).toEqual({ isFinished: false, taken: [] });
  expect(readFileSync(file, "utf8")).toBe(mix);
});
