import { beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { settleText } from "../../daemon/assistants/memory-folders/settled-text.ts";
import { listTold, settleLine } from "../../daemon/files/arrivals/told-lines.ts";
import { LIMITS } from "../../shared/limits.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

const INDEX = "MEMORY.md";
const fits = () => true;

test("a line that is kept is where a former text had it, else at the end", () => {
  const settled = [{ line: "- b", as: "keep" }] as const;
  const front = "---\nname: i\n---\n# Index\n";
  const formers = [`${front}- a\n- c\n`, `${front}- a\n- b\n## More\n- c\n`];
  const { text, done } = settleText(`${front}- a\n## More\n- d\n`, { settled, formers, fits });
  expect(text).toBe(`${front}- a\n- b\n## More\n- d\n`);
  expect(done).toEqual([...settled]);
  const atEnd = (before: string) => settleText(before, { settled, formers: [], fits }).text;
  expect(atEnd(`${front}- a\n`)).toBe(`${front}- a\n- b\n`);
  expect(atEnd(`${front}- a`)).toBe(`${front}- a\n- b`);
  expect(atEnd("one\r\n")).toBe("one\r\n- b\r\n");
  expect(atEnd("- b\n- a\n")).toBe("- b\n- a\n");
});

test("a line that is dropped is there no more, however often it was", () => {
  const settled = [{ line: "- dup", as: "drop" }] as const;
  const { text } = settleText("# S1\n- dup\n# S2\n- dup\n", { settled, formers: [], fits });
  expect(text).toBe("# S1\n# S2\n");
});

test("a decision for which there is no room is not done, and others are", () => {
  const settled = [
    { line: "- long", as: "keep" },
    { line: "- a", as: "drop" },
  ] as const;
  const isShort = (text: string) => !text.includes("long");
  expect(settleText("- a\n- b\n", { settled, formers: [], fits: isShort })).toEqual({
    text: "- b\n",
    done: [{ line: "- a", as: "drop" }],
  });
});

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;

beforeEach(async () => {
  [a, b] = [await start("anna"), await start("ben")];
});

async function decide(line: string, as: "drop" | "keep"): Promise<void> {
  const path = join(a.memories, INDEX);
  await a.store.write(({ db, now }) => settleLine(db, path, { line, as, at: now }));
  await a.keeper.lookAnew();
}

async function toldCodes(): Promise<unknown[]> {
  const asked = { path: join(a.memories, INDEX), text: a.read(INDEX) ?? "", now: a.world.now() };
  return (await listTold(a.store.reader, asked)).map(({ code, line }) => [code, line]);
}

test("a line for which an index has no room waits, and is told, until it has", async () => {
  const full = `# Index\n- a\n${"x".repeat(LIMITS.memoryValueBytes - 100)}\n`;
  const line = `- ${"y".repeat(200)}`;
  a.save(INDEX, full);
  await settleMemories(a, b);
  await decide(line, "keep");
  await settleMemories(a, b);
  expect([a.read(INDEX), ...(await a.values(INDEX))]).toEqual([full, full]);
  expect(await toldCodes()).toEqual([["line-waits", line]]);
  a.save(INDEX, "# Index\n- a\n");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe(`# Index\n- a\n${line}\n`);
  expect(await toldCodes()).toEqual([]);
});

test("a decision about a held index waits, and the last one counts", async () => {
  a.save(INDEX, "# Index\n- a\n- b\n");
  await settleMemories(a, b);
  a.save(INDEX, `# Index\n- a\n- b\nThe token is ${PLANTED.github}\n`);
  await a.look();
  await decide("- a", "drop");
  await decide("- b", "drop");
  await decide("- b", "keep");
  expect(b.read(INDEX)).toBe("# Index\n- a\n- b\n");
  expect(await toldCodes()).toEqual([
    ["line-waits", "- a"],
    ["line-waits", "- b"],
  ]);
  a.save(INDEX, "# Index\n- a\n- b\n- c\n");
  await settleMemories(a, b);
  expect(b.read(INDEX)).toBe("# Index\n- b\n- c\n");
  expect(await toldCodes()).toEqual([]);
});

test("a decision in the midst of a look is brought about by the next one", async () => {
  const lines = Array.from({ length: 12 }, (_, at) => `- line ${at}`);
  a.save(INDEX, `# Memory\n\n${lines.join("\n")}\n`);
  await settleMemories(a);
  const write = a.store.write.bind(a.store);
  for (const [after, line] of lines.entries()) {
    // So nothing is to be done, but for what is decided behind so many writes of the look.
    a.world.advance(61_000);
    await a.look();
    a.world.advance(61_000);
    let writes = 0;
    let next: Promise<void> | undefined;
    a.store.write = async (work) => {
      const done = await write(work);
      if (writes++ === after) next = decide(line, "drop");
      return done;
    };
    await a.keeper.look();
    a.store.write = write;
    await (next ?? decide(line, "drop"));
    expect([after, a.read(INDEX)?.includes(`${line}\n`)]).toEqual([after, false]);
  }
});
