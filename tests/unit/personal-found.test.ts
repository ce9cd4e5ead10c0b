import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PersonalRows } from "../../daemon/assistants/personal/personal-rows.ts";
import { textHash } from "../../daemon/assistants/personal/read-personal-file.ts";
import { forgetFollowed } from "../../daemon/files/state/follow-store.ts";
import { putLink, removeLink } from "../../daemon/home/links.ts";
import {
  findPersonalFile,
  forgetPersonalFile,
  settlePersonalFile,
} from "../../daemon/home/personal-files.ts";
import { assert } from "../../shared/errors.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { projectId } from "../support/project-id.ts";

const [BEGIN, END] = ["<!-- memsync:personal begin: mine -->", "<!-- memsync:personal end -->"];

let a: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  await a.on("claude");
  a.edit("claude", () => "mine\n");
  await settlePersonal(a);
});
afterEach(() => a.remove());

/** The file has a block that memsync did not write. */
function save(assistant: string, text: string): void {
  a.save(assistant, `# Of all\n\n${BEGIN}\n${text}${END}\n`);
}

test("a block that was there before is asked about, and is nobody's text until then", async () => {
  save("codex", "of somebody\n");
  await a.on("codex");
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("asked personal-found");
  expect([a.block("claude"), a.block("codex")]).toEqual(["mine\n", "of somebody\n"]);
  expect([await a.standing(), await a.history()]).toEqual([["mine\n"], []]);
  // A restart, and an edit of what nobody has answered yet, change nothing about it.
  await a.end();
  await a.begin();
  save("codex", "of somebody\nanother\n");
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("asked personal-found");
  expect(a.block("claude")).toBe("mine\n");
  await a.settle("codex", "take");
  await settlePersonal(a);
  for (const name of ["claude", "codex"]) {
    expect(a.block(name)?.split("\n").sort()).toEqual(["", "another", "mine", "of somebody"]);
    expect(a.stateOf(name)).toBe("current");
  }
});

test("what came into a block after it was shown is not taken with it", async () => {
  save("codex", "of somebody\n");
  await a.on("codex");
  await settlePersonal(a);
  save("codex", "of somebody\nnever shown\n");
  await a.settle("codex", "take", textHash("of somebody\n"));
  await settlePersonal(a);
  expect([a.stateOf("codex"), a.block("claude")]).toEqual(["asked personal-found", "mine\n"]);
  await a.settle("codex", "take", textHash("of somebody\nnever shown\n"));
  await settlePersonal(a);
  expect(a.block("claude")?.split("\n").sort()).toEqual(["", "mine", "never shown", "of somebody"]);
});

test("what is taken out of a block that was there before is asked about no more", async () => {
  for (const left of ["", "mine\n"]) {
    save("codex", "of somebody\n");
    await a.on("codex");
    save("codex", left);
    await settlePersonal(a);
    expect(a.stateOf("codex")).toBe("current");
    expect([a.block("claude"), a.block("codex")]).toEqual(["mine\n", "mine\n"]);
  }
  save("codex", "of somebody\n");
  await a.on("codex");
  a.save("codex", "# Of all\n");
  await settlePersonal(a);
  expect([a.stateOf("codex"), a.block("codex")]).toEqual(["current", "mine\n"]);
});

test("a block with a version of one's own text is one's own, and gets the last one", async () => {
  a.edit("claude", () => "mine\nand more\n");
  await settlePersonal(a);
  save("codex", "mine\n");
  await a.on("codex");
  await settlePersonal(a);
  expect([a.stateOf("codex"), a.block("codex")]).toEqual(["current", "mine\nand more\n"]);
});

test("a block that came from another machine is known as soon as its text is", async () => {
  const b = await PersonalMachine.start("ben");
  try {
    b.save("claude", a.file("claude"));
    await b.on("claude");
    await b.look();
    expect(b.stateOf("claude")).toBe("asked personal-found");
    await settlePersonal(a, b);
    expect([b.stateOf("claude"), b.block("claude")]).toEqual(["current", "mine\n"]);
  } finally {
    await b.remove();
  }
});

test("who leaves out a block that was there before keeps its lines", async () => {
  save("codex", "of somebody\n");
  await a.on("codex");
  await a.settle("codex", "off");
  expect([a.stateOf("codex"), a.file("codex")]).toEqual(["none", "# Of all\n\nof somebody\n"]);
  expect(await a.standing()).toEqual(["mine\n"]);
});

test("what stands in a block after a project had the file is asked about", async () => {
  const folder = join(a.folder, "dots");
  mkdirSync(folder);
  writeFileSync(join(folder, "AGENTS.md"), "");
  symlinkSync(join(folder, "AGENTS.md"), a.pathOf("codex"));
  await a.on("codex");
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("current");
  await a.store.write(async ({ db, now }) => {
    const link = { dir: folder, projectId: projectId("d"), name: "dots", write: false };
    await putLink(db, link, now);
    const base = JSON.stringify({ text: "", spans: [] });
    const row = { dir: folder, path: "AGENTS.md", hash: "", base, form: "{}" };
    await db.insertInto("followed_files").values(row).execute();
  });
  await a.keeper.lookAnew();
  expect(a.stateOf("codex")).toBe("left-alone personal-in-project");
  // What a person agrees to is what stands there then.
  await a.settle("codex", "take");
  a.edit("codex", (text) => `${text}of a teammate\n`);
  await settlePersonal(a);
  await a.store.write(({ db }) => removeLink(db, folder));
  await a.keeper.lookAnew();
  expect(a.stateOf("codex")).toBe("asked personal-found");
  expect(a.block("claude")).toBe("mine\n");
  await a.settle("codex", "take");
  await settlePersonal(a);
  expect(a.block("claude")).toBe("mine\nof a teammate\n");
});

test("what a project's member wrote is asked about, also where nobody looked before unlink", async () => {
  const folder = join(a.folder, "dots");
  mkdirSync(folder);
  writeFileSync(join(folder, "AGENTS.md"), "");
  symlinkSync(join(folder, "AGENTS.md"), a.pathOf("codex"));
  await a.on("codex");
  await settlePersonal(a);
  await a.keeper.stop();
  await a.store.write(async ({ db, now }) => {
    const link = { dir: folder, projectId: projectId("d"), name: "dots", write: false };
    await putLink(db, link, now);
    const base = JSON.stringify({ text: "", spans: [] });
    const row = { dir: folder, path: "AGENTS.md", hash: "", base, form: "{}" };
    await db.insertInto("followed_files").values(row).execute();
  });
  a.edit("codex", (text) => `${text}of a teammate\n`);
  await a.store.write(async ({ db }) => {
    await forgetFollowed(db, folder);
    await removeLink(db, folder);
  });
  await a.store.close();
  await a.begin();
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("asked personal-found");
  expect([a.block("claude"), await a.history()]).toEqual(["mine\n", []]);
  expect(a.stateOf("claude")).toBe("current");
});

test("what a command decides in the midst of a look is not overwritten by it", async () => {
  await a.on("codex");
  await settlePersonal(a);
  const rows = new PersonalRows();
  await a.store.write(async ({ db, now }) => {
    const [claude] = await rows.list(db);
    assert(claude?.assistant === "claude", "it was turned on first");
    await settlePersonalFile(db, "claude", { settled: "off" });
    await rows.put(db, { ...claude, held: "text" }, now);
    expect(await findPersonalFile(db, "claude")).toMatchObject({ settled: "off", held: "text" });
    // Nor by what the same look puts there next; and what is gone stays so.
    await rows.put(db, { ...claude, held: undefined }, now);
    expect(await findPersonalFile(db, "claude")).toMatchObject({ settled: "off", held: undefined });
    await forgetPersonalFile(db, "claude");
    await rows.put(db, claude, now);
    expect(await findPersonalFile(db, "claude")).toBeUndefined();
  });
});

test("a link that is led to another file is asked about, like a block that was there before", async () => {
  const [mine, teams] = ["mine.md", "teams.md"].map((name) => join(a.folder, "dotfiles", name));
  assert(mine && teams, "both have a path");
  mkdirSync(join(a.folder, "dotfiles"));
  const block = (text: string) => `${BEGIN}\n${text}${END}\n`;
  writeFileSync(mine, block("mine\n"));
  writeFileSync(teams, block("of the team\n"));
  const link = a.pathOf("codex");
  symlinkSync(mine, link);
  await a.on("codex");
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("current");
  const lead = (to: string) => {
    rmSync(link);
    symlinkSync(to, link);
  };
  lead(teams);
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("asked personal-found");
  expect([a.block("claude"), readFileSync(teams, "utf8")]).toEqual([
    "mine\n",
    block("of the team\n"),
  ]);
  // Back at the file with one's own text there is nothing to ask.
  lead(mine);
  await settlePersonal(a);
  expect(a.stateOf("codex")).toBe("current");
  // Who saves over the link has seen what it had.
  rmSync(link);
  a.save("codex", block("mine\nand one more\n"));
  await settlePersonal(a);
  expect([a.stateOf("codex"), a.block("claude")]).toEqual(["current", "mine\nand one more\n"]);
});
