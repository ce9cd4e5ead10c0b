import { afterEach, beforeEach, expect, test } from "bun:test";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alsoKey } from "../../daemon/files/names/also-file.ts";
import { findSecrets } from "../../daemon/held/secret-scan.ts";
import { listHeld } from "../../daemon/home/held-store.ts";
import { putLink, removeLink } from "../../daemon/home/links.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { projectId } from "../support/project-id.ts";

const [BEGIN, END] = ["<!-- memsync:personal begin: mine -->", "<!-- memsync:personal end -->"];
const BLOCK = `${BEGIN}\nmine alone\n${END}`;

let a: PersonalMachine;
let folder: string;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  folder = join(a.folder, "dots");
  mkdirSync(folder);
});
afterEach(() => a.remove());

/** As after a look that took the file's text for the project. */
async function follow(path: string, also: readonly string[] = []): Promise<void> {
  await a.store.write(async ({ db, now }) => {
    await putLink(
      db,
      { dir: folder, projectId: projectId("d"), name: "dots", write: false, also },
      now,
    );
    const dir = also.includes(path) ? alsoKey(folder, path) : folder;
    const text = JSON.stringify({ text: "", spans: [] });
    const row = { dir, path, hash: "", base: text, form: "{}" };
    await db
      .insertInto("followed_files")
      .values({ ...EMPTY, ...row })
      .execute();
  });
}

const EMPTY = {
  linked_as: null,
  next_hash: null,
  next_base: null,
  next_form: null,
  saved_at: null,
  commit_id: null,
  head: null,
  head_entry: null,
  repository: null,
  base_epoch: null,
  base_seq: null,
  beside: null,
  kept: null,
  marked: null,
  set_aside: null,
  holding: null,
};

const NAMES = [
  ["a symbolic link", "AGENTS.md", symlinkSync, []],
  ["a hard link", "AGENTS.md", linkSync, []],
  ["a link to a further file", "GEMINI.md", symlinkSync, ["GEMINI.md"]],
] as const;

for (const [how, name, make, also] of NAMES) {
  test(`a project's file that is an assistant's by ${how} gets no personal text and gives none`, async () => {
    const path = join(folder, name);
    writeFileSync(path, "# Of all\n");
    make(path, a.pathOf("codex"));
    await follow(name, also);
    for (const assistant of ["claude", "codex"]) await a.on(assistant);
    a.edit("claude", () => "mine\n");
    await settlePersonal(a);
    expect(a.stateOf("codex")).toBe("left-alone personal-in-project");
    expect(a.file("codex")).toBe("# Of all\n");
    // A teammate's, whose edit came by the project.
    a.save("codex", `# Of all\n\n${BLOCK}\n`);
    await settlePersonal(a);
    expect(a.block("claude")).toBe("mine\n");
    expect(await a.standing()).toEqual(["mine\n"]);
    await a.settle("codex", "off");
    expect(a.file("codex")).toContain("mine alone");
    // A file with further names is written by nobody, and so it is done.
    expect(a.stateOf("codex")).toBe(make === linkSync ? "none" : "left-alone personal-unsaved");
    await a.settle("codex", "keep");
    expect(a.stateOf("codex")).toBe("none");
  });
}

test("all of a project's file is not made the personal text", async () => {
  writeFileSync(join(folder, "CLAUDE.md"), "# Of all\n");
  symlinkSync(join(folder, "CLAUDE.md"), a.pathOf("claude"));
  await follow("CLAUDE.md");
  await a.on("claude", { settled: "adopt" });
  await settlePersonal(a);
  expect(a.file("claude")).toBe("# Of all\n");
  expect(await a.standing()).toEqual([]);
  await a.store.write(({ db }) => removeLink(db, folder));
  await a.on("claude");
  expect(a.file("claude")).toContain("memsync:personal begin");
});

test("a memory of a project with a personal text stays on this machine", async () => {
  const b = await MemoryMachine.start("ben");
  try {
    b.save("one.md", `# One\n\n${BLOCK}\n`);
    await settleMemories(b);
    expect(await b.values("one.md")).toEqual([]);
    const [held] = await listHeld(b.store.reader);
    expect(held?.reason).toEqual({ code: "personal-block", line: 3 });
    b.save("one.md", "# One\n");
    await settleMemories(b);
    expect(await b.values("one.md")).toEqual(["# One\n"]);
  } finally {
    await b.remove();
  }
});

test("a personal text is found with marks of any shape, and the line of its versions is none", async () => {
  const found = async (text: string) => (await findSecrets(text)).map((each) => each.text);
  expect(await found(`one\n${BLOCK}\ntwo\n`)).toEqual([BLOCK]);
  expect(await found(`one\n${BEGIN}\nmine\n`)).toEqual([`${BEGIN}\nmine\n`]);
  for (const [begin, end] of [
    ["<!--memsync:personal begin-->", "<!--memsync:personal end-->"],
    ["  <!-- memsync:personal start -->", "  <!-- memsync:personal  end -->"],
  ]) {
    expect(await found(`one\r\n${begin}\r\nmine\r\n${end}\r\n`)).toEqual([
      expect.stringContaining("mine"),
    ]);
  }
  // Where it is put behind other words, and where its beginning was taken out already.
  expect(await found(`my rules: ${BLOCK}`)).toEqual([BLOCK]);
  expect(await found(JSON.stringify({ rules: BLOCK }))).toEqual([
    expect.stringContaining("mine alone"),
  ]);
  expect(await found(`one\nmine alone\n${END}\ntwo\n`)).toEqual([`one\nmine alone\n${END}`]);
  expect(await found(`one\n${BLOCK}\ntwo\n${END}\n`)).toEqual([BLOCK]);
  for (const text of [
    "<!-- memsync:personal version abcdefghij -->\nmine\n",
    `says \`${BEGIN}\`\n`,
    `${END}\n`,
    "memsync:personal is what its marks say\n",
  ]) {
    expect(await found(text)).toEqual([]);
  }
});
