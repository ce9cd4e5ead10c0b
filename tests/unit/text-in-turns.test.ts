import { expect, test } from "bun:test";
import * as Y from "yjs";
import { writePlain } from "../../server/services/plain-write.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import { pick, seededRandom } from "../support/random.ts";
import { address } from "../support/stored.ts";
import { storesOfTests } from "../support/temp-store.ts";

const newStore = storesOfTests();

const NOW = 1000;
const LINES = ["one\n", "two\n", "three\r\n", "\n", "- \n", "a longer line\n", "é😀\n", "one\r\n"];

function textOf(random: () => number): string {
  const lines = Array.from({ length: Math.floor(random() * 12) }, () => pick(random, LINES));
  const whole = `${random() < 0.1 ? "\uFEFF" : ""}${lines.join("")}`;
  if (random() < 0.2) return whole.replace(/\r?\n/g, "\r\n");
  return random() < 0.3 ? whole.trimEnd() : whole;
}

/** All that a document holds of its text, and how much was written. */
function stateOf(document: ReplicaDocument) {
  return {
    content: document.content(),
    form: document.textForm(),
    captured: document.captureText(),
    written: [...Y.decodeStateVector(Y.encodeStateVector(document.ydoc))],
    deleted: Y.snapshot(document.ydoc).ds.clients,
    removed: document.changes.removedText
      .flatMap(({ clock, text }) => text.split("").map((each, at) => `${clock + at} ${each}`))
      .sort(),
  };
}

/** `MEMSYNC_SEED=1` tries that one; a failure prints its own. */
test("a text that is set in turns becomes what it becomes in one", async () => {
  const seed = Number(process.env.MEMSYNC_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  for (let round = 0; round < 400; round++) {
    const [one, other] = [new ReplicaDocument([], 1), new ReplicaDocument([], 1)];
    const updates: Uint8Array[] = [];
    other.ydoc.on("update", (update: Uint8Array) => void updates.push(update));
    for (let edit = 0; edit < 4; edit++) {
      const text = textOf(random);
      const changed = one.setContent(text, NOW + edit);
      expect(await other.setContentInTurns(text, NOW + edit, NO_PAUSE)).toBe(changed);
      expect({ seed, ...stateOf(other) }).toEqual({ seed, ...stateOf(one) });
    }
    expect(new ReplicaDocument(updates, 2).content()).toBe(one.content());
  }
});

const LONG = Array.from({ length: 6000 }, (_, at) => `line ${at}\n`);

test("a long text is compared and written in turns, and nobody sees a part of it", async () => {
  const seen = new Set<string>();
  let pauses = 0;
  const temp = await newStore({
    pause: async () => {
      pauses++;
      const rows = await temp.store.reader.selectFrom("texts").select("content").execute();
      for (const { content } of rows) seen.add(content);
    },
  });
  const write = (text: string) =>
    temp.store.write(async (context) => {
      const open = await context.open(address());
      await writePlain(open, { claude_md_content: text }, context);
      await context.flush(open);
      return open.id;
    });
  const first = LONG.join("");
  await write(first);
  pauses = 0;
  seen.clear();
  const second = LONG.map((line, at) => (at % 3 ? line : `other ${line}`)).reverse();
  const id = await write(second.join(""));
  expect(pauses).toBeGreaterThan(60);
  expect([...seen]).toEqual([first]);
  const rows = await temp.store.reader.selectFrom("updates").select("payload").execute();
  expect(rows).toHaveLength(2);
  const stored = new ReplicaDocument(
    rows.map(({ payload }) => payload),
    7,
  );
  expect(stored.content()).toBe(second.join(""));
  const revisions = await listRevisions(temp.store.reader as never, id, { kind: "text", key: "" });
  expect(revisions.map(({ value }) => value)).toEqual([first]);
});

test("a long text that is refused leaves nothing", async () => {
  const temp = await newStore({ pause: async () => {} });
  const write = (text: string, fails = false) =>
    temp.store.write(async (context) => {
      const open = await context.open(address());
      await writePlain(open, { claude_md_content: text }, context);
      if (fails) throw new Error("refused");
      return open.document.content();
    });
  await write("before\n");
  await expect(write(LONG.join(""), true)).rejects.toThrow("refused");
  expect(await write("before\n")).toBe("before\n");
  expect(await temp.store.reader.selectFrom("updates").select("seq").execute()).toHaveLength(1);
});
