import { beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { keyOfName } from "../../daemon/assistants/memory-folders/memory-names.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { userDocument } from "../../shared/replica/document/address.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { type MemoryMachine, memoriesOfEach, settleMemories } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { memoryCommits } from "../support/real-data.ts";
import { replayMemories } from "../support/replay-memories.ts";
import { SERENA, SERENA_GLOBAL } from "../support/serena-machines.ts";

const CORE = "# Core\r\nSee `mem:lsp/clangd` and `mem:global/style`.\n\nno end";

const start = memoriesOfEach();
let a: MemoryMachine;
let b: MemoryMachine;
beforeEach(async () => {
  a = await start("anna", SERENA);
  b = await start("ben", SERENA);
});

function codes(machine: MemoryMachine): string[] {
  return machine.keeper.status.flatMap(({ notes }) =>
    notes.map(({ name, why }) => `${name} ${why.code}`),
  );
}

test("memories in folders are on the other machine byte for byte, and no index is made", async () => {
  a.save("core.md", CORE);
  a.save("lsp/clangd.md", "# clangd\n");
  a.save("lsp/deep/er.md", "# deeper\n");
  await settleMemories(a, b);
  b.world.advance(61_000);
  await settleMemories(a, b);
  expect(b.files()).toEqual(["core.md", "lsp/clangd.md", "lsp/deep/er.md"]);
  for (const name of b.files()) expect(b.read(name)).toBe(a.read(name) ?? "");
  expect(await b.values("lsp/clangd.md")).toEqual(["# clangd\n"]);
  expect(codes(a)).toEqual([]);
});

test("the person's own memories are of the layer user, and are nowhere made without Serena", async () => {
  const own = join(SERENA_GLOBAL.folderOf(a));
  mkdirSync(join(own, "lang"), { recursive: true });
  writeFileSync(join(own, "lang", "style.md"), "# Style\n");
  writeFileSync(join(own, "private.md"), "# Private\n");
  writeFileSync(join(own, ".memsyncignore"), "private.md\n");
  await a.look();
  const address = userDocument(LOCAL_ACCOUNT, LOCAL_USER);
  const keys = await a.store.write(async (context) => {
    return [...(await context.open(address)).document.memories.keys()];
  });
  expect(keys).toEqual([keyOfName(SERENA_GLOBAL.format, "lang/style.md")]);
  expect(a.keeper.status).toMatchObject([{ owner: "user", kind: "serena", files: 1 }]);
  await b.store.write(async (context) => {
    const { document } = await context.open(address);
    document.setEntry("memories", "serena/global/lang/style.md", { value: "x\n", now: 1 });
  });
  await b.look();
  expect(existsSync(join(b.folder, ".serena"))).toBe(false);
  mkdirSync(join(b.folder, ".serena"));
  await b.keeper.lookAnew();
  expect(existsSync(join(SERENA_GLOBAL.folderOf(b), "lang", "style.md"))).toBe(true);
});

test("a key from elsewhere never leads out of the folder", async () => {
  const bad = [
    "../out.md",
    "lsp/../../out.md",
    "lsp//x.md",
    "/etc/x.md",
    "lsp/.x/y.md",
    "aux/x.md",
  ];
  const more = [
    "lsp./x.md",
    "l:p/x.md",
    "lsp/x",
    "cafe\u0301/x.md",
    " /x.md",
    `${"x".repeat(300)}.md`,
  ];
  for (const name of [...bad, ...more]) await a.writeMemory(a.keyOf(name), "text\n");
  await a.writeMemory(a.keyOf("lsp/good.md"), "text\n");
  await a.look();
  expect(a.files()).toEqual(["lsp/good.md"]);
  expect(codes(a).sort()).toEqual([...bad, ...more].map((name) => `${name} memory-key`).sort());
  expect(existsSync(join(a.folder, "out.md"))).toBe(false);
});

test("a folder that is a link is neither read nor written, wherever it leads", async () => {
  const outside = join(a.folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.md"), "outside\n");
  a.save("core.md", CORE);
  symlinkSync(outside, join(a.memories, "lsp"));
  symlinkSync(join(outside, "secret.md"), join(a.memories, "file.md"));
  await a.writeMemory(a.keyOf("lsp/new.md"), "new\n");
  await a.look();
  expect(await a.values("lsp/secret.md")).toEqual([]);
  expect(existsSync(join(outside, "new.md"))).toBe(false);
  expect(codes(a)).toEqual([
    "lsp memory-folder-link",
    "file.md became-link",
    "lsp/new.md memory-clash",
  ]);
  renameSync(join(a.project, ".serena"), join(a.folder, "elsewhere"));
  symlinkSync(join(a.folder, "elsewhere"), join(a.project, ".serena"));
  await a.look();
  expect(a.keeper.status).toMatchObject([{ why: { code: "memory-folder-link" } }]);
});

test("a folder in the way, or one of another case, is told, and nothing is mixed up", async () => {
  a.save("Lsp/clangd.md", "mine\n");
  await a.look();
  await a.writeMemory(a.keyOf("lsp/pyright.md"), "theirs\n");
  await a.writeMemory(a.keyOf("Lsp/clangd.md/x.md"), "below a file\n");
  await a.look();
  expect(a.files()).toEqual(["Lsp/clangd.md"]);
  expect(codes(a)).toEqual(["Lsp/clangd.md/x.md memory-clash", "lsp/pyright.md memory-clash"]);
});

test("what is too large, too many or no text stays here and is told once", async () => {
  a.save("bytes.md", new Uint8Array([0x66, 0xe4, 0x72]));
  a.save("huge.md", "");
  truncateSync(join(a.memories, "huge.md"), 100 * 1024 * 1024);
  a.save("over.md", "x".repeat(32 * 1024 + 1));
  a.save("good.md", "good\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["good.md"]);
  expect(codes(a)).toEqual([
    "bytes.md not-utf8",
    "huge.md memory-too-large",
    "over.md memory-too-large",
  ]);
  mkdirSync(join(a.memories, "many"));
  for (let at = 0; at < 1000; at++) writeFileSync(join(a.memories, "many", `m${at}.md`), "m\n");
  await a.look();
  expect(a.keeper.status).toMatchObject([{ why: { code: "memory-too-many", files: 1004 } }]);
  expect(b.files()).toEqual(["good.md"]);
});

test("a purged folder asks, and deletes nothing; so does a project's folder that is away", async () => {
  a.save("core.md", CORE);
  a.save("lsp/clangd.md", "# clangd\n");
  await settleMemories(a, b);
  renameSync(a.project, join(a.folder, "away"));
  await settleMemories(a, b);
  expect(a.keeper.status).toEqual([]);
  expect(existsSync(a.project)).toBe(false);
  renameSync(join(a.folder, "away"), a.project);
  rmSync(a.memories, { recursive: true });
  await settleMemories(a, b);
  expect(b.files()).toEqual(["core.md", "lsp/clangd.md"]);
  expect(a.files()).toEqual([]);
  expect(a.keeper.status[0]?.asked.map(({ name }) => name)).toEqual(["core.md", "lsp/clangd.md"]);
  await a.settle("lsp/clangd.md", "restore");
  await a.settle("core.md", "delete");
  await settleMemories(a, b);
  expect(a.files()).toEqual(["lsp/clangd.md"]);
  expect(await b.values("core.md")).toEqual([]);
  expect(b.files()).toEqual(["core.md", "lsp/clangd.md"]);
});

test("another folder at the project's path is neither read nor written", async () => {
  a.save("core.md", CORE);
  await settleMemories(a, b);
  renameSync(a.project, join(a.folder, "away"));
  mkdirSync(a.project);
  a.save("core.md", "of another project\n");
  await settleMemories(a, b);
  expect(await a.values("core.md")).toEqual([CORE]);
  expect(a.keeper.status).toMatchObject([{ why: { code: "folder-another" } }]);
});

test("two edits of one memory are merged, or both stay", async () => {
  a.save("core.md", "one\ntwo\nthree\n");
  await settleMemories(a, b);
  a.save("core.md", "zero\none\ntwo\nthree\n");
  b.save("core.md", "one\ntwo\nthree\nfour\n");
  await settleMemories(a, b);
  const both = new Set([...(await a.values("core.md"))]);
  const said = (text: string) => [...both].some((each) => each.includes(text));
  expect(said("zero") && said("four")).toBe(true);
  expect(a.read("core.md")).toBe(b.read("core.md") ?? "");
});

test("a memory that is saved over others' change of a moment ago is a conflict with it", async () => {
  a.save("core.md", "one\ntwo\n");
  await settleMemories(a, b);
  b.save("core.md", "one\n");
  await b.look();
  await exchangeKept(a, b);
  await a.keeper.look();
  a.save("core.md", "one\ntwo\nthree\n");
  await settleMemories(a, b);
  expect(await b.values("core.md")).toEqual(["one\ntwo\nthree\n", "one\n"]);
});

test("what .memsyncignore names by its path or its key stays, and a secret is held", async () => {
  writeFileSync(join(a.project, ".memsyncignore"), ".serena/memories/own/\nserena/by-key.md\n");
  a.save("own/notes.md", "private\n");
  a.save("by-key.md", "private\n");
  a.save("secret.md", `${PLANTED.github}\n`);
  a.save("open.md", "open\n");
  await a.writeMemory(a.keyOf("own/from-elsewhere.md"), "theirs\n");
  await settleMemories(a, b);
  expect(b.files()).toEqual(["open.md", "own/from-elsewhere.md"]);
  expect(a.read("own/from-elsewhere.md")).toBeUndefined();
  expect(codes(a)).toEqual(["by-key.md ignored", "own/notes.md ignored"]);
  const held = await a.store.reader.selectFrom("held").select("key").execute();
  expect(held).toEqual([{ key: "serena/secret.md" }]);
});

test("a project's history is on the other machine byte for byte, and deletes what is agreed to", async () => {
  await replayMemories([a, b], memoryCommits("small"));
});
