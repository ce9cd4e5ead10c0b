import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { appendFile, type FileHandle, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../../daemon/disk/read-file.ts";
import type { FileState } from "../../daemon/files/lines/file-state.ts";
import { KEPT_MAX, LateSaves } from "../../daemon/files/saves/late-saves.ts";
import { splitForm } from "../../shared/replica/text/text-form.ts";
import { DISK } from "../support/disk.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { waitFor } from "../support/wait-for.ts";

const folder = mkdtempSync(join(DISK, "memsync-late-"));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, "CLAUDE.md");
const START = "# Start\n";
const { form, lines } = splitForm(START);
const STATE: FileState = { hash: hashOf(START), form, base: { text: lines, spans: [] } };

let world: DrivenWorld;
let late: LateSaves;
let handle: FileHandle;
let saves: string[];
/** Resolves when what was due is taken. */
let taken: Promise<void>;

function take(options?: { readonly isLast: boolean }): Promise<void> {
  return late.take(async (base, { hash, content }) => {
    saves.push(content);
    return { ...base, hash };
  }, options);
}

beforeEach(async () => {
  world = createDrivenWorld();
  saves = [];
  taken = Promise.resolve();
  late = new LateSaves(world, () => {
    taken = taken.then(() => take());
  });
  await writeFile(path, START);
  handle = await open(path, "r");
  await late.add(handle, STATE);
});

afterEach(() => late.close());

test("a replaced file is looked at less and less often, for a minute, and closed then", async () => {
  let now = 0;
  const looks: number[] = [];
  while (handle.fd !== -1) {
    const waitMs = world.nextTimerInMs();
    now += waitMs;
    world.advance(waitMs);
    await waitFor("the look", () => world.timers > 0);
    await taken;
    looks.push(now);
    if (now < 55_000) await writeFile(path, `${START}saved after ${now} ms\n`);
  }
  expect(looks.slice(0, 4)).toEqual([50, 150, 350, 750]);
  expect(looks.slice(-2)).toEqual([51_150, 60_000]);
  expect(saves.at(-1)).toBe(`${START}saved after 51150 ms\n`);
});

test("what is being written when the daemon ends is taken as it stands", async () => {
  const read = handle.read.bind(handle);
  handle.read = (async (...args: Parameters<typeof read>) => {
    const result = await read(...args);
    await appendFile(path, "and more\n");
    return result;
  }) as typeof handle.read;
  await take();
  expect(saves).toEqual([]);
  await take({ isLast: true });
  expect(saves).toHaveLength(1);
  expect(saves[0]).toStartWith(START);
});

test("no replaced file is given up before its minute, however many there are", async () => {
  for (let count = 1; count < KEPT_MAX; count++) {
    expect(late.isFull).toBe(false);
    await late.add(await open(path, "r"), STATE);
  }
  expect(late.isFull).toBe(true);
  await writeFile(path, `${START}of a program that had the first\n`);
  await take();
  expect(saves).toHaveLength(KEPT_MAX);
});
