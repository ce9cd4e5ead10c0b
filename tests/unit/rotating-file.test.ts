import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOG_FILES_MAX, logFiles, RotatingFile } from "../../daemon/supervise/rotating-file.ts";

const BYTES_MAX = 100;

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memsync-log-"));
  path = join(folder, "daemon.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

function contents(): string[] {
  return logFiles(path).map((each) => (existsSync(each) ? readFileSync(each, "utf8") : ""));
}

test("a log is bounded, keeps the newest lines in order and is its owner's alone", () => {
  writeFileSync(path, "before\n");
  chmodSync(path, 0o644);
  const file = new RotatingFile(path, BYTES_MAX);
  const lines = Array.from({ length: 60 }, (_, at) => `line ${String(at).padStart(3, "0")} …\n`);
  for (const line of lines) file.write(line);
  file.close();
  const found = contents();
  expect(found).toHaveLength(LOG_FILES_MAX);
  for (const text of found) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES_MAX);
  const kept = found.join("");
  expect(kept.length).toBeGreaterThan(BYTES_MAX);
  expect(`before\n${lines.join("")}`).toEndWith(kept);
  for (const each of logFiles(path)) expect(statSync(each).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.${LOG_FILES_MAX}`)).toBe(false);
});

test("what writes to the same file otherwise goes on in the present one", () => {
  const other = openSync(path, "a");
  const file = new RotatingFile(path, BYTES_MAX);
  file.write(`${"x".repeat(BYTES_MAX - 1)}\n`);
  file.write("after\n");
  writeSync(other, "a crash\n");
  closeSync(other);
  file.close();
  expect(contents().at(-1)).toBe("after\na crash\n");
});

test("a line longer than a file is written whole, into a file of its own", () => {
  const file = new RotatingFile(path, BYTES_MAX);
  const long = `${"x".repeat(3 * BYTES_MAX)}\n`;
  file.write(long);
  file.write("after\n");
  file.close();
  expect(contents().slice(-2)).toEqual([long, "after\n"]);
});

test("a line that can't be written ends nobody's work", () => {
  const file = new RotatingFile(path, BYTES_MAX);
  file.close();
  file.write("line\n");
  expect(contents().join("")).toBe("");
});
