import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readClaudeMem } from "../../daemon/portable/claude-mem.ts";

const NOW = "2026-11-24T00:00:00.000Z";
const MADE = "2023-11-14T22:13:20.000Z";
const AT = Date.parse(MADE);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memsync-claude-mem-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Cell = string | number | bigint | Uint8Array | null;

/** What is read of these observations, whose columns take anything. */
async function read(rows: readonly Readonly<Record<string, Cell>>[]) {
  const path = join(folder, "claude-mem.db");
  const database = new Database(path);
  const columns = ["id", "project", "type", "title", "text", "facts", "created_at_epoch"];
  database.run(`create table observations (${columns.join(", ")})`);
  const marks = columns.map(() => "?").join(", ");
  const put = database.prepare(`insert into observations values (${marks})`);
  for (const [at, row] of rows.entries()) {
    const usual = { id: at + 1, project: "shop", type: "x", created_at_epoch: AT };
    const cells: Readonly<Record<string, Cell>> = { ...usual, ...row };
    put.run(...columns.map((column) => cells[column] ?? null));
  }
  database.close();
  const found = await readClaudeMem(path, NOW);
  if (!found) throw new Error("it is claude-mem's");
  return found;
}

test("an observation comes in whatever its time is", async () => {
  const times: readonly (readonly [Cell, string])[] = [
    [AT, MADE],
    [AT + 0.5, MADE],
    [String(AT), MADE],
    [MADE, MADE],
    [null, NOW],
    ["yesterday", NOW],
    [9e15, NOW],
    [-9e15, NOW],
    [8e15, NOW],
    [new Uint8Array([255]), NOW],
  ];
  const { projects } = await read(times.map(([at]) => ({ text: "t", created_at_epoch: at })));
  const { notes = [], bad } = projects.get("shop") ?? {};
  expect(notes.map(({ updated_at }) => updated_at)).toEqual(times.map(([, time]) => time));
  expect(bad).toEqual([]);
});

test("what can't be read of an observation is named, and all else comes in", async () => {
  const { projects, others } = await read([
    { title: new Uint8Array([255, 254]), text: "kept" },
    { title: new TextEncoder().encode("bytes of a text"), facts: 7 },
    { title: null, text: " " },
    { text: new Uint8Array([255]) },
    { project: null, text: "of nobody" },
  ]);
  expect(others).toBe(1);
  const { notes = [], bad } = projects.get("shop") ?? {};
  expect(notes.map(({ key, value }) => [key, value])).toEqual([
    ["claude-mem/x-1", "kept\n"],
    ["claude-mem/x-2", "bytes of a text\n\n- 7\n"],
  ]);
  expect(bad?.map(({ key, reason }) => [key, reason])).toEqual([
    ["claude-mem/x-1", "its title is no text, and is left out"],
    ["claude-mem/x-3", "has no text"],
    ["claude-mem/x-4", "its text is no text, and is left out"],
  ]);
});
