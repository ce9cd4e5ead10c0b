import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReplica } from "../../daemon/open-replica.ts";
import {
  addVersion,
  type FileState,
  VERSION_AGE_MS_MAX,
} from "../../daemon/sources/follow-store.ts";
import { SaveBase } from "../../daemon/sources/save-base.ts";
import type { DaemonTables } from "../../daemon/tables.ts";
import type { ReplicaStore } from "../../shared/replica/store.ts";
import { PLAIN_FORM } from "../../shared/replica/text-form.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";

const DIR = "/project";

let folder: string;
let world: TestWorld;
let store: ReplicaStore<DaemonTables>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-save-base-"));
  world = createTestWorld();
  store = await openReplica(join(folder, "memsync.db"), world);
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function stateOf(text: string): FileState {
  const spans = text === "" ? [] : [{ client: 1, clock: 0, length: text.length }];
  return { hash: text, base: { text, spans }, form: PLAIN_FORM };
}

/** Our writes, a few seconds apart: each text is written over by the one behind it. */
async function write(saveBase: SaveBase, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await store.write(({ db, now }) => addVersion(db, DIR, stateOf(text), now));
    saveBase.replaces(stateOf(text));
    saveBase.wrote();
    world.advance(3000);
  }
}

test("a save of a file that we made a moment ago deletes nothing that we have written since", async () => {
  const saveBase = new SaveBase(DIR, world);
  const [first, second, third] = ["one\n", "one\ntwo\n", "one\ntwo\nthree\n"] as const;
  await write(saveBase, ["", first, second]);
  const file = { content: "mine\none\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, stateOf(third), file));
  expect(base.base.text).toBe(first);
});

test("a file made from the template that ours is of, too, deletes nothing of ours", async () => {
  const saveBase = new SaveBase(DIR, world);
  const ours = "# Guide\n\n## Build\nnpm run build\nnpm test\n";
  await write(saveBase, [""]);
  const file = { content: "# Guide\n\n## Build\nmake\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, stateOf(ours), file));
  expect(base.base.text).toBe("# Guide\n\n## Build\n");
});

test("an edit of a file that we made a moment ago deletes what it leaves out", async () => {
  const saveBase = new SaveBase(DIR, world);
  const ours = "one\ntwo\nthree\n";
  await write(saveBase, [""]);
  const file = { content: "one\nthree\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, stateOf(ours), file));
  expect(base.base.text).toBe(ours);
});

test("a write that came to nothing does not stand before those that were made", async () => {
  const saveBase = new SaveBase(DIR, world);
  await write(saveBase, ["one\n"]);
  world.advance(3000);
  const second = stateOf("one\ntwo\n");
  await store.write(({ db, now }) => addVersion(db, DIR, second, now));
  saveBase.replaces(second);
  const file = { content: "mine\none\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, second, file));
  expect(base.base.text).toBe("one\n");
});

test("a clock that is set forward makes no buffer older", async () => {
  const saveBase = new SaveBase(DIR, world);
  await write(saveBase, ["one\n"]);
  world.setWallClock(60 * 60 * 1000);
  const current = stateOf("one\ntwo\n");
  const file = { content: "mine\none\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, current, file));
  expect(base.base.text).toBe("one\n");
});

test("an hour later a buffer has seen what we had written", async () => {
  const saveBase = new SaveBase(DIR, world);
  await write(saveBase, ["one\n"]);
  world.advance(60 * 60 * 1000);
  const current = stateOf("one\ntwo\n");
  const file = { content: "mine\none\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, current, file));
  expect(base).toBe(current);
});

test("of a line that our writes left once, the copy that they left is the one that was saved", async () => {
  const saveBase = new SaveBase(DIR, world);
  const doubled = stateOf("tool\ntodo\ntool\n");
  const cleaned: FileState = {
    ...stateOf("todo\ntool\n"),
    base: { text: "todo\ntool\n", spans: [{ client: 1, clock: 5, length: 10 }] },
  };
  saveBase.replaces(doubled);
  saveBase.wrote();
  const file = { content: "tool\nnew\n", hash: "saved", savedAt: world.now() };
  const base = await store.write((context) => saveBase.find(context, cleaned, file));
  expect(base.base).toEqual(cleaned.base);
});

test("a save into a file that we replaced may come from a buffer older than that file", async () => {
  const saveBase = new SaveBase(DIR, world);
  await write(saveBase, ["one\n", "one\ntwo\n", "one\ntwo\nthree\n"]);
  const file = { content: "mine\none\n", hash: "saved", savedAt: world.now() };
  const late = (replaced: string) =>
    store.write((context) => saveBase.findLate(context, stateOf(replaced), file));
  expect((await late("one\ntwo\n")).base.text).toBe("one\n");
  expect((await late("never ours\n")).base.text).toBe("never ours\n");
});

test("what we set out to write over long ago counts again as it is stored", async () => {
  const saveBase = new SaveBase(DIR, world);
  const savedAt = world.now() + 3000;
  await write(saveBase, ["one\n"]);
  const file = { content: "mine\none\n", hash: "saved", savedAt };
  const [second, third] = [stateOf("one\ntwo\n"), stateOf("one\ntwo\nthree\n")];
  world.advance(VERSION_AGE_MS_MAX + 1);
  saveBase.replaces(second);
  const base = await store.write((context) => saveBase.find(context, third, file));
  expect(base.base.text).toBe("one\n");
});
