import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MEMORY_PROJECT, MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { memoryChanges } from "../support/real-data.ts";

const FLAT = "---\nname: Tests\ndescription: how to test\ntype: feedback\n---\n\nRun bun.\n";
const NESTED =
  '---\nname: deploy\ndescription: "no \\"force\\""\nmetadata: \n  node_type: memory\n' +
  "  type: project\n  unknown: [a, b\n---\r\nBody without an end";

let a: MemoryMachine;
let b: MemoryMachine;
let others: MemoryMachine[];

beforeEach(async () => {
  a = await MemoryMachine.start("anna");
  b = await MemoryMachine.start("ben");
  others = [];
});
afterEach(async () => {
  for (const machine of [a, b, ...others]) await machine.remove();
});

test("what one machine's assistant remembers, the other's finds: byte for byte", async () => {
  a.save("feedback_tests.md", FLAT);
  a.save("deploy.md", NESTED);
  a.save("MEMORY.md", "- [Tests](feedback_tests.md) — how\n- [Deploy](deploy.md)\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["MEMORY.md", "deploy.md", "feedback_tests.md"]);
  for (const name of b.files()) expect(b.read(name)).toBe(a.read(name));
  expect(a.keeper.status).toMatchObject([{ owner: MEMORY_PROJECT, files: 3, notes: [] }]);
});

test("nothing is read before somebody says so, and nothing written by a yes to reading", async () => {
  a.mode = "off";
  b.mode = "read";
  a.save("one.md", "one\n");
  b.save("own.md", "own\n");
  await settleMemories(a, b);
  expect(await a.values("one.md")).toEqual([]);
  a.mode = "write";
  await settleMemories(a, b);
  expect(await b.values("one.md")).toEqual(["one\n"]);
  expect(b.files()).toEqual(["own.md"]);
});

test("two indexes that were written at the same moment lose no line", async () => {
  a.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n");
  await settleMemories(a, b);
  a.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n");
  b.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n- [Three](three.md)\n");
  await settleMemories(a, b);
  expect(a.read("MEMORY.md")).toBe(b.read("MEMORY.md"));
  expect(a.read("MEMORY.md")?.split("\n").filter(Boolean).sort()).toEqual([
    "# Memory",
    "- [One](one.md)",
    "- [Three](three.md)",
    "- [Two](two.md)",
  ]);
  expect(await a.values("MEMORY.md")).toHaveLength(1);
});

test("two sessions on one machine that write what they read a moment ago lose no line", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await a.look();
  a.save("MEMORY.md", `${index}- [Two](two.md)\n`);
  await a.look();
  a.save("MEMORY.md", `${index}- [Three](three.md)\n`);
  await a.look();
  expect(a.read("MEMORY.md")).toBe(`${index}- [Three](three.md)\n- [Two](two.md)\n`);
  expect(await a.history("MEMORY.md")).toContain(`${index}- [Three](three.md)\n`);
  // Whoever takes a line away later has seen it.
  a.world.advance(61_000);
  await a.look();
  a.save("MEMORY.md", `${index}- [Three](three.md)\n`);
  await a.look();
  expect(a.read("MEMORY.md")).toBe(`${index}- [Three](three.md)\n`);
});

test("what a stale save took away stays, though others have written as well", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  a.save("MEMORY.md", index);
  await settleMemories(a, b);
  b.save("MEMORY.md", `- [Zero](zero.md)\n${index}`);
  await b.look();
  a.save("MEMORY.md", `${index}- [Two](two.md)\n`);
  await a.keeper.look();
  await exchangeKept(a, b);
  a.save("MEMORY.md", `${index}- [Three](three.md)\n`);
  await settleMemories(a, b);
  for (const name of ["zero", "one", "two", "three"]) {
    expect(b.read("MEMORY.md")).toContain(`${name}.md`);
  }
  expect(a.read("MEMORY.md")).toBe(b.read("MEMORY.md") ?? "");
});

test("a save over a text that others have changed meanwhile is an edit of what it showed", async () => {
  a.save("topic.md", "one\ntwo\nthree\n");
  await settleMemories(a, b);
  b.save("topic.md", "one\ntwo\nthree\nfour\n");
  await b.look();
  await exchangeKept(a, b);
  a.save("topic.md", "zero\none\ntwo\nthree\n");
  await settleMemories(a, b);
  expect(a.read("topic.md")).toBe("zero\none\ntwo\nthree\nfour\n");
  expect(b.read("topic.md")).toBe("zero\none\ntwo\nthree\nfour\n");
});

test("of two texts of one topic the later counts, and the other is a conflict", async () => {
  a.save("topic.md", FLAT);
  await settleMemories(a, b);
  a.save("topic.md", FLAT.replace("bun", "npm"));
  b.save("topic.md", FLAT.replace("bun", "deno"));
  await settleMemories(a, b);
  expect(a.read("topic.md")).toBe(FLAT.replace("bun", "deno"));
  expect(b.read("topic.md")).toBe(FLAT.replace("bun", "deno"));
  const both = [FLAT.replace("bun", "deno"), FLAT.replace("bun", "npm")];
  expect(await a.values("topic.md")).toEqual(both);
});

test("the same files on both machines are no conflict", async () => {
  for (const machine of [a, b]) {
    machine.save("topic.md", FLAT);
    machine.save("MEMORY.md", "- [Tests](topic.md)\n");
  }
  await settleMemories(a, b);
  expect(new Set(await a.values("topic.md"))).toEqual(new Set([FLAT]));
  expect(b.read("MEMORY.md")).toBe("- [Tests](topic.md)\n");
});

test("files that are gone delete nothing, and one decision brings them back or deletes them", async () => {
  const names = ["one.md", "two.md", "three.md", "four.md"];
  for (const name of names) a.save(name, `${name}\n`);
  await settleMemories(a, b);
  a.drop(".");
  await settleMemories(a, b);
  b.world.advance(61_000);
  await settleMemories(a, b);
  // The index that was made there is not put into a folder that somebody has emptied.
  expect(b.files()).toEqual(["MEMORY.md", ...names].sort());
  expect(a.files()).toEqual([]);
  const asked = a.keeper.status[0]?.asked.map(({ name }) => name);
  expect(asked).toEqual([...names].sort());
  await a.settle("one.md", "restore");
  await a.settle("two.md", "delete");
  await settleMemories(a, b);
  expect(a.read("one.md")).toBe("one.md\n");
  expect(await b.values("two.md")).toEqual([]);
  // Nobody on this machine has said that the file may go.
  expect(b.read("two.md")).toBe("two.md\n");
  expect(b.keeper.status[0]?.asked).toEqual([{ name: "two.md", asked: "deleted" }]);
  await b.settle("two.md", "delete");
  await settleMemories(a, b);
  expect(b.read("two.md")).toBeUndefined();
  expect(await b.history("two.md")).toEqual(["two.md\n"]);
});

test("a file that was deleted elsewhere and is wanted becomes a memory again", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  await a.writeMemory("auto-memory/one.md", undefined);
  await settleMemories(a, b);
  await b.settle("one.md", "restore");
  await settleMemories(a, b);
  expect(await a.values("one.md")).toEqual(["one\n"]);
  expect([a, b].map(({ keeper }) => keeper.status[0]?.asked)).toEqual([[], []]);
});

test("an emptied file deletes nothing", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  truncateSync(join(a.memories, "one.md"));
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  await a.settle("one.md", "restore");
  await settleMemories(a, b);
  expect(a.read("one.md")).toBe("one\n");
});

test("a file that is empty for some seconds is written anew: that is one edit of what it had", async () => {
  a.save("one.md", "one\ntwo\n");
  await settleMemories(a, b);
  truncateSync(join(a.memories, "one.md"));
  await a.keeper.look();
  a.world.advance(7000);
  await a.keeper.look();
  expect(a.keeper.status[0]?.asked).toEqual([]);
  a.save("one.md", "one\nthree\n");
  await settleMemories(a, b);
  expect(await b.values("one.md")).toEqual(["one\nthree\n"]);
  truncateSync(join(a.memories, "one.md"));
  await a.keeper.look();
  a.world.advance(10_000);
  await a.keeper.look();
  expect(a.keeper.status[0]?.asked).toEqual([{ name: "one.md", asked: "missing" }]);
});

test("a secret is held, and the file stays as it is", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  const secret = `one\nThe token is ${PLANTED.github}\n`;
  a.save("one.md", secret);
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  expect(a.read("one.md")).toBe(secret);
  const held = await a.store.reader.selectFrom("held").selectAll().execute();
  expect(held).toMatchObject([{ key: "auto-memory/one.md", value: secret }]);
  a.save("one.md", "two\nThe token is in the vault\n");
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("two\nThe token is in the vault\n");
  expect(await a.store.reader.selectFrom("held").selectAll().execute()).toEqual([]);
});

test("a file from elsewhere that no line names gets one, in the form of the assistant", async () => {
  a.save("feedback_tests.md", FLAT);
  a.save("deploy.md", NESTED);
  await settleMemories(a, b);
  b.world.advance(61_000);
  await settleMemories(a, b);
  const index = '# Memory Index\n\n- [deploy](deploy.md) — no \\"force\\"\n';
  expect(b.read("MEMORY.md")).toBe(`${index}- [Tests](feedback_tests.md) — how to test\n`);
  expect(a.read("MEMORY.md")).toBe(b.read("MEMORY.md") ?? "");
});

test("no line is added that an assistant would not read, nor does a merge make an index too long", async () => {
  const lines = Array.from({ length: 150 }, (_, at) => `- [m${at}](m${at}.md)\n`).join("");
  b.save("MEMORY.md", `${lines}${"- more\n".repeat(50)}`);
  await b.look();
  a.save("one.md", FLAT);
  await settleMemories(a, b);
  b.world.advance(61_000);
  await settleMemories(a, b);
  const full = { name: "one.md", why: { code: "memory-index-full" } } as const;
  expect(b.keeper.status[0]?.notes).toEqual([full]);
  const long = `${lines}${"- more\n".repeat(50)}`;
  expect(b.read("MEMORY.md")).toBe(long);
  await b.writeMemory("auto-memory/MEMORY.md", `${long}- one too many\n`);
  await b.look();
  expect(b.keeper.status[0]?.notes).toContainEqual({
    name: "MEMORY.md",
    why: { code: "memory-index-long" },
  });
  expect(b.read("MEMORY.md")).toBe(long);
});

test("what is no text, too large or elsewhere is left alone, and everything else goes on", async () => {
  a.save("bytes.md", new Uint8Array([0xff, 0xfe, 0x00]));
  a.save("zero.md", "a\0b\n");
  a.save("large.md", "x".repeat(40_000));
  writeFileSync(join(a.folder, "outside.md"), "outside\n");
  symlinkSync(join(a.folder, "outside.md"), join(a.memories, "link.md"));
  mkdirSync(join(a.memories, "folder.md"));
  a.save("cafe\u0301.md", "decomposed\n");
  a.save("good.md", "good\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["MEMORY.md", "good.md"]);
  const codes = a.keeper.status[0]?.notes.map(({ name, why }) => `${name} ${why.code}`);
  expect(codes).toEqual([
    "bytes.md not-utf8",
    "cafe\u0301.md memory-form",
    "folder.md not-a-file",
    "large.md memory-too-large",
    "link.md became-link",
    "zero.md has-nul",
  ]);
});

test("indexes that are too long together stay apart, and that is told", async () => {
  const lines = (of: string) => `- ${of} ${"x".repeat(190)}\n`.repeat(100);
  a.save("MEMORY.md", lines("a"));
  b.save("MEMORY.md", lines("b"));
  await settleMemories(a, b);
  expect((await a.values("MEMORY.md")).sort()).toEqual([lines("a"), lines("b")]);
  const apart = { name: "MEMORY.md", why: { code: "memory-index-apart" } } as const;
  for (const { keeper } of [a, b]) expect(keeper.status[0]?.notes).toContainEqual(apart);
  const [line] = String(a.read("MEMORY.md")).split("\n");
  a.world.advance(61_000);
  await a.look();
  a.save("MEMORY.md", `${line}\n`);
  await settleMemories(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status[0]?.notes).not.toContainEqual(apart);
});

test("a stale save of an index takes no line away, though all are too long together", async () => {
  const index = "# Memory\n\n- [One](one.md)\n";
  const long = (of: string) => `${index}${`- ${of} ${"x".repeat(190)}\n`.repeat(100)}`;
  a.save("MEMORY.md", index);
  await a.look();
  a.save("MEMORY.md", long("a"));
  await a.look();
  a.save("MEMORY.md", long("b"));
  await a.look();
  expect((await a.values("MEMORY.md")).sort()).toEqual([long("a"), long("b")]);
  const apart = { name: "MEMORY.md", why: { code: "memory-index-apart" } } as const;
  expect(a.keeper.status[0]?.notes).toContainEqual(apart);
});

test("a file with further names is not written, and says so", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  linkSync(join(b.memories, "one.md"), join(b.folder, "other"));
  a.save("one.md", "two\n");
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  expect(b.keeper.status[0]?.notes).toEqual([{ name: "one.md", why: { code: "memory-linked" } }]);
});

test("a folder with too many files is left alone as a whole", async () => {
  for (let at = 0; at <= 1000; at++) a.save(`m${at}.md`, "m\n");
  await a.keeper.look();
  expect(a.keeper.status[0]?.why).toEqual({ code: "memory-too-many", files: 1001 });
  expect(await a.values("m0.md")).toEqual([]);
});

test("a folder that is a link, or in one, is neither read nor written", async () => {
  a.save("one.md", "one\n");
  renameSync(join(a.memories, ".."), join(a.folder, "elsewhere"));
  symlinkSync(join(a.folder, "elsewhere"), join(a.memories, ".."));
  await a.writeMemory("auto-memory/two.md", "two\n");
  await a.look();
  expect(a.keeper.status).toMatchObject([{ why: { code: "memory-folder-link" } }]);
  expect(await a.values("one.md")).toEqual([]);
  expect(a.files()).toEqual(["one.md"]);
});

test("where the assistant has never begun, its folder is made by a yes to writing alone", async () => {
  rmSync(b.config, { recursive: true });
  b.mode = "read";
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  expect(existsSync(b.config)).toBe(false);
  b.mode = "write";
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  expect(b.keeper.status).toMatchObject([{ owner: MEMORY_PROJECT, notes: [] }]);
});

test("a folder keeps its project when the project's folder is renamed, and the new one has all", async () => {
  a.save("one.md", "one\n");
  await a.look();
  const old = a.memories;
  a.links = [a.linkTo(join(a.folder, "renamed"))];
  mkdirSync(join(a.folder, "renamed"));
  await a.look();
  const paths = a.keeper.status.map(({ path, owner }) => [path, owner]);
  const now = join(a.config, "projects", slugOf(join(a.folder, "renamed")) ?? "", "memory");
  expect(paths).toEqual([
    [now, MEMORY_PROJECT],
    [old, MEMORY_PROJECT],
  ]);
  writeFileSync(join(now, "one.md"), "one\nand two\n");
  await a.look();
  expect(a.read("one.md")).toBe("one\nand two\n");
  const told = a.keeper.status.map(({ movedTo }) => movedTo);
  expect(told).toEqual([undefined, join(a.folder, "renamed")]);
  // Who no longer needs the former one may remove it.
  a.drop(".");
  await a.look();
  expect(a.keeper.status.map(({ path, asked }) => [path, asked])).toEqual([[now, []]]);
  expect(await a.values("one.md")).toEqual(["one\nand two\n"]);
});

test("a text that may be half written is left until it has stood", async () => {
  a.save("one.md", "one\ntwo\n");
  await a.look();
  const waiting = [{ name: "one.md", why: { code: "being-written" } }];
  for (const text of ["one", ""]) {
    a.save("one.md", text);
    await a.keeper.look();
    expect(await a.values("one.md")).toEqual(["one\ntwo\n"]);
    expect(a.keeper.status).toMatchObject([{ notes: waiting }]);
  }
  a.save("one.md", "one\ntwo\nthree\n");
  await a.keeper.look();
  expect(a.keeper.status).toMatchObject([{ notes: [] }]);
  expect(await a.values("one.md")).toEqual(["one\ntwo\nthree\n"]);
});

test("what was taken is known after a start, and what was saved meanwhile is an edit of it", async () => {
  a.save("one.md", "one\n");
  await settleMemories(a, b);
  await a.end();
  a.save("one.md", "one\ntwo\n");
  b.save("one.md", "zero\none\n");
  await b.look();
  await a.begin();
  await exchangeKept(a, b);
  await settleMemories(a, b);
  expect(a.read("one.md")).toBe("zero\none\ntwo\n");
  expect(b.read("one.md")).toBe("zero\none\ntwo\n");
});

test("an index that is begun anew after a purge takes nothing from the others", async () => {
  a.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n- [Two](two.md)\n- Ask Ben first\n");
  a.save("one.md", "one\n");
  a.save("two.md", "two\n");
  await settleMemories(a, b);
  // After the minute in which any line would stay.
  a.world.advance(61_000);
  await a.look();
  // In one step, as when no daemon runs.
  a.drop(".");
  a.save("MEMORY.md", "# Memory\n\n- [Three](three.md)\n");
  await settleMemories(a, b);
  for (const name of ["one", "two", "three"]) expect(b.read("MEMORY.md")).toContain(`${name}.md`);
  expect(b.read("MEMORY.md")).toContain("Ask Ben first");
  expect(b.files()).toEqual(["MEMORY.md", "one.md", "two.md"]);
  expect(a.keeper.status[0]?.asked.map(({ name }) => name)).toEqual(["one.md", "two.md"]);
});

test("who mends the only line of an index has it mended everywhere, and once", async () => {
  a.save("MEMORY.md", "# Memory\n\n- The server is at 10.0.0.1\n");
  await settleMemories(a, b);
  const mended = "# Memory\n\n- The server is at 10.0.0.2\n";
  a.world.advance(61_000);
  await a.look();
  a.save("MEMORY.md", mended);
  await settleMemories(a, b);
  expect(a.read("MEMORY.md")).toBe(mended);
  expect(b.read("MEMORY.md")).toBe(mended);
});

test("who mends a line of an index at once after it was added has it mended", async () => {
  a.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n");
  await settleMemories(a, b);
  a.save("MEMORY.md", "# Memory\n\n- [One](one.md)\n- [Server](server.md) — at 10.0.0.1\n- By");
  await settleMemories(a, b);
  const mended = "# Memory\n\n- [One](one.md)\n- [Server](server.md) — at 10.0.0.2\n- By night\n";
  a.save("MEMORY.md", mended);
  await settleMemories(a, b);
  expect(a.read("MEMORY.md")).toBe(mended);
  expect(b.read("MEMORY.md")).toBe(mended);
});

test("a topic that is written anew after it was missed is a version beside the other", async () => {
  a.save("one.md", "one\ntwo\nthree\n");
  await settleMemories(a, b);
  a.drop("one.md");
  await settleMemories(a, b);
  a.save("one.md", "another\n");
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("another\n");
  expect(await b.values("one.md")).toEqual(["another\n", "one\ntwo\nthree\n"]);
});

test("another machine's empty folder deletes nothing, and is filled", async () => {
  a.save("one.md", "one\n");
  await a.look();
  mkdirSync(b.memories, { recursive: true });
  await settleMemories(a, b);
  expect(b.read("one.md")).toBe("one\n");
  rmSync(b.memories, { recursive: true });
});

test("a project's real memories are on the other machine byte for byte, and none is deleted", async () => {
  const changes = memoryChanges().slice(0, 60);
  const names = new Map<string, string>();
  for (const change of changes) {
    const name = change.key.replaceAll("/", "_").replace(/(?:\.md)?$/, ".md");
    if (change.op === "delete") {
      if (a.read(name) !== undefined) a.drop(name);
    } else {
      a.save(name, change.value);
      names.set(name, change.value);
    }
    await a.look();
  }
  await settleMemories(a, b);
  for (const [name, text] of names) expect(b.read(name)).toBe(text);
  for (const { name } of a.keeper.status[0]?.asked ?? []) await a.settle(name, "delete");
  await settleMemories(a, b);
  expect(a.keeper.status[0]?.asked).toEqual([]);
  expect(b.keeper.status[0]?.asked.length).toBe(
    [...names.keys()].filter((name) => a.read(name) === undefined).length,
  );
});
