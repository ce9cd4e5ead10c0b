import { expect } from "bun:test";
import { readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const FILE = "CLAUDE.md";
const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";
const OTHER = START.replace("make.", "the feature's own tool.");

/** One machine that follows a repository in which the file is tracked. */
async function startOne(lab: Lab, folder?: string): Promise<Machine> {
  const machine = lab.machine("a", folder ?? (await lab.git.repository("a", { [FILE]: START })));
  await machine.up();
  await untilDoc(machine, START);
  return machine;
}

async function docOf(machine: Machine): Promise<string> {
  return await machine.doc((await machine.projectOf()).id);
}

async function untilDoc(machine: Machine, text: string): Promise<void> {
  await waitFor(`the document to be ${JSON.stringify(text)}`, async () => {
    return (await docOf(machine)) === text;
  });
}

async function untilNoted(machine: Machine, note: RegExp): Promise<void> {
  await waitFor(`a note like ${note}`, async () => {
    return note.test((await machine.fileStatus())?.note ?? "");
  });
}

async function untilFollowed(machine: Machine): Promise<void> {
  await waitFor("the file to be followed", async () => {
    return (await machine.fileStatus())?.state === "upwards";
  });
}

async function expectClean(lab: Lab, folder: string): Promise<void> {
  expect(await lab.git.run(folder, "status", "--porcelain")).toBe("");
}

/** A branch whose text is another, checked out and left again. */
async function makeFeature(lab: Lab, folder: string): Promise<void> {
  await lab.git.run(folder, "checkout", "-q", "-b", "feature");
  await lab.git.commit(folder, { [FILE]: OTHER });
  await lab.git.run(folder, "checkout", "-q", "main");
}

/** Nothing of what was left alone is in the document, and what is saved now is. */
async function expectOnlyMain(lab: Lab, machine: Machine, main: string): Promise<void> {
  await expectClean(lab, machine.folder);
  await untilFollowed(machine);
  expect(await docOf(machine)).toBe(main);
  await writeFile(`${machine.folder}/${FILE}`, `${main}\nOf main.\n`);
  await untilDoc(machine, `${main}\nOf main.\n`);
  expect(await machine.memsync("doc", "history")).not.toContain("feature");
}

scenario("a switch to another branch and back leaves its text there", async (lab) => {
  const machine = await startOne(lab);
  await makeFeature(lab, machine.folder);
  await lab.git.run(machine.folder, "switch", "-q", "feature");
  await untilNoted(machine, /left alone on feature/);
  await expectClean(lab, machine.folder);
  expect(await docOf(machine)).toBe(START);
  await lab.git.run(machine.folder, "switch", "-q", "main");
  await expectOnlyMain(lab, machine, START);
});

scenario("a detached head is left alone", async (lab) => {
  const machine = await startOne(lab);
  await makeFeature(lab, machine.folder);
  await lab.git.run(machine.folder, "checkout", "-q", "--detach", "feature");
  await untilNoted(machine, /left alone on a detached HEAD/);
  await expectClean(lab, machine.folder);
  expect(await docOf(machine)).toBe(START);
  await lab.git.run(machine.folder, "checkout", "-q", "main");
  await expectOnlyMain(lab, machine, START);
});

scenario("what a pull brings is this machine's text, forwarded or merged", async (lab) => {
  const [a, b] = await lab.clones({ [FILE]: START });
  const machine = await startOne(lab, a);
  const pulled = START.replace("make.", "bun run build.");
  await lab.git.commit(b, { [FILE]: pulled });
  await lab.git.run(b, "push", "-q", "origin", "main");
  await lab.git.run(a, "pull", "-q", "--ff-only");
  await untilDoc(machine, pulled);
  await expectClean(lab, a);
  await lab.git.commit(b, { [FILE]: `From b.\n\n${pulled}` });
  await lab.git.run(b, "push", "-q", "origin", "main");
  await lab.git.commit(a, { [FILE]: `${pulled}\nFrom a.\n` });
  await lab.git.run(a, "pull", "-q", "--no-rebase", "--no-edit");
  await untilDoc(machine, `From b.\n\n${pulled}\nFrom a.\n`);
  await expectClean(lab, a);
});

/** A rebase of `main` onto the feature, which stops at a conflict in the file. */
async function startRebase(lab: Lab, machine: Machine, mine: string): Promise<void> {
  const { folder } = machine;
  await makeFeature(lab, folder);
  await lab.git.commit(folder, { [FILE]: mine });
  await untilDoc(machine, mine);
  await lab.git.runToFailure(folder, "rebase", "-q", "feature");
  await untilNoted(machine, /during the rebase|rebase in progress/);
  expect(await readFile(`${folder}/${FILE}`, "utf8")).toContain("<<<<<<<");
  await machine.syncOnce();
  expect(await docOf(machine)).toBe(mine);
}

const MINE = START.replace("make.", "main's own tool.");

scenario(
  "a rebase with conflicts brings no marks, and its end brings what it made",
  async (lab) => {
    const machine = await startOne(lab);
    const { folder } = machine;
    await startRebase(lab, machine, MINE);
    const solved = START.replace("make.", "either tool.");
    await writeFile(`${folder}/${FILE}`, solved);
    await lab.git.run(folder, "add", FILE);
    await machine.syncOnce();
    expect(await docOf(machine)).toBe(MINE);
    await lab.git.run(folder, "rebase", "--continue");
    await untilDoc(machine, solved);
    await expectClean(lab, folder);
    expect(await machine.memsync("doc", "history")).not.toContain("<<<<");
  },
);

scenario("a rebase that is given up leaves everything as it was", async (lab) => {
  const machine = await startOne(lab);
  await startRebase(lab, machine, MINE);
  await lab.git.run(machine.folder, "rebase", "--abort");
  await expectOnlyMain(lab, machine, MINE);
});

scenario(
  "a stash takes nothing from the document, and what it brings back stands once",
  async (lab) => {
    const machine = await startOne(lab);
    const { folder } = machine;
    const edited = `${START}\nNot committed.\n`;
    await writeFile(`${folder}/${FILE}`, edited);
    await untilDoc(machine, edited);
    await lab.git.run(folder, "stash", "push", "-q");
    await expectClean(lab, folder);
    // What git keeps nobody has taken back.
    await waitFor("a conflict that says so", async () => {
      return (await machine.memsync("conflicts", "--json")).includes("set-aside");
    });
    expect(await machine.memsync("doc")).toBe(edited);
    await lab.git.run(folder, "stash", "pop", "-q");
    await waitFor("the conflict to be settled", async () => {
      return (await machine.memsync("conflicts")) === "no conflicts\n";
    });
    await untilDoc(machine, edited);
    expect(await readFile(`${folder}/${FILE}`, "utf8")).toBe(edited);
  },
);

scenario(
  "sync says of a file that waits for a conflict that it is read and not written",
  async (lab) => {
    const machine = await startOne(lab);
    const { folder } = machine;
    await machine.memsync("link", "--write");
    const edited = `${START}\nNot committed.\n`;
    await writeFile(`${folder}/${FILE}`, edited);
    await untilDoc(machine, edited);
    await lab.git.run(folder, "stash", "push", "-q");
    await untilNoted(machine, /is not written until it is settled/);
    const said = await machine.memsync("sync");
    expect(said).toMatch(/; read, and not written: \S+CLAUDE.md, for lines in `memsync conflicts`/);
  },
);

scenario("a deletion that git stashes stays, and is told until it is back", async (lab) => {
  const machine = await startOne(lab);
  const { folder } = machine;
  const edited = START.replace("\nTest with make test.\n", "");
  await writeFile(`${folder}/${FILE}`, edited);
  // All of the lab's commits are later than this.
  await utimes(`${folder}/${FILE}`, new Date("2023-01-01"), new Date("2023-01-01"));
  await untilDoc(machine, edited);
  await lab.git.run(folder, "stash", "push", "-q");
  await expectClean(lab, folder);
  await waitFor("a conflict that says so", async () => {
    return (await machine.memsync("conflicts", "--json")).includes("set-aside");
  });
  expect(await machine.memsync("doc")).toBe(edited);
  const [id = ""] = (await machine.memsync("conflicts")).split("\n")[1]?.split(" ") ?? [];
  expect(await machine.memsync("conflicts", "show", id)).toContain("git put these deleted lines");
  await lab.git.run(folder, "stash", "pop", "-q");
  await waitFor("the conflict to be settled", async () => {
    return (await machine.memsync("conflicts")) === "no conflicts\n";
  });
  await untilDoc(machine, edited);
  expect(await readFile(`${folder}/${FILE}`, "utf8")).toBe(edited);
});

scenario("a worktree of another branch is no other text of the project", async (lab) => {
  const machine = await startOne(lab);
  await makeFeature(lab, machine.folder);
  const other = lab.git.path("other");
  await lab.git.run(machine.folder, "worktree", "add", "-q", other, "feature");
  expect((await readFile(`${other}/.git`, "utf8")).startsWith("gitdir: ")).toBe(true);
  await machine.memsync("link", other);
  expect((await machine.projectOf(other)).id).toBe((await machine.projectOf()).id);
  await waitFor("the worktree to be left alone", async () => {
    return /left alone on feature/.test((await machine.fileStatus(other))?.note ?? "");
  });
  await writeFile(`${machine.folder}/${FILE}`, `${START}\nOf main.\n`);
  await untilDoc(machine, `${START}\nOf main.\n`);
  expect(await readFile(`${other}/${FILE}`, "utf8")).toBe(OTHER);
  await expectClean(lab, other);
  await lab.git.run(machine.folder, "worktree", "remove", other);
  await waitFor("the worktree to be gone", async () => {
    return /folder is gone/.test((await machine.fileStatus(other))?.note ?? "");
  });
  expect(await docOf(machine)).toBe(`${START}\nOf main.\n`);
});

scenario(
  "a file whose .git is away is left alone until it is back, or linked anew",
  async (lab) => {
    const machine = await startOne(lab);
    const { folder } = machine;
    const away = lab.git.path("away");
    await rename(`${folder}/.git`, away);
    await untilNoted(machine, /left alone, for its .git is gone: `memsync link` follows it/);
    await writeFile(`${folder}/${FILE}`, `${START}\nWithout git.\n`);
    await machine.syncOnce();
    expect(await docOf(machine)).toBe(START);
    await rename(away, `${folder}/.git`);
    await untilDoc(machine, `${START}\nWithout git.\n`);
    await untilFollowed(machine);
    await rm(`${folder}/.git`, { recursive: true });
    await untilNoted(machine, /left alone, for its .git is gone/);
    const { id } = await machine.projectOf();
    await machine.memsync("link");
    expect((await machine.projectOf()).id).toBe(id);
    await waitFor("the file to be followed", async () => {
      return (await machine.fileStatus())?.state === "followed";
    });
    await writeFile(`${folder}/${FILE}`, `${START}\nFor good.\n`);
    await untilDoc(machine, `${START}\nFor good.\n`);
  },
);

scenario("a submodule is a project of its own, by its own branch", async (lab) => {
  const inner = await lab.git.repository("inner", { [FILE]: START });
  const outer = await lab.git.repository("outer", { [FILE]: "# Outer\n" });
  const allow = ["-c", "protocol.file.allow=always"];
  await lab.git.run(outer, ...allow, "submodule", "--quiet", "add", inner, "sub");
  await lab.git.commit(outer, {});
  const machine = lab.machine("a", `${outer}/sub`);
  await machine.up(outer, `${outer}/sub`);
  await untilDoc(machine, START);
  const outside = await machine.projectOf(outer);
  expect(outside.id).not.toBe((await machine.projectOf()).id);
  await lab.git.run(`${outer}/sub`, "checkout", "-q", "--detach");
  await untilNoted(machine, /left alone on a detached HEAD/);
  expect(await machine.doc(outside.id)).toBe("# Outer\n");
  await expectClean(lab, outer);
});

scenario("a file that becomes tracked, and is untracked again, is followed so", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  await writeFile(`${folder}/${FILE}`, START);
  const machine = lab.machine("a", folder);
  await machine.up();
  await untilDoc(machine, START);
  const untilState = (state: string) =>
    waitFor(`the file to be ${state}`, async () => (await machine.fileStatus())?.state === state);
  await untilState("followed");
  await lab.git.run(folder, "add", FILE);
  await untilState("upwards");
  await lab.git.commit(folder, {});
  const { id } = await machine.projectOf();
  await machine.ask("POST", `/api/projects/${id}/sync`, { claude_md_content: `${START}\nRest.\n` });
  await waitFor("all looks", () => machine.syncOnce());
  await expectClean(lab, folder);
  expect(await readFile(`${folder}/${FILE}`, "utf8")).toBe(START);
  await lab.git.run(folder, "rm", "-q", "--cached", FILE);
  await lab.git.run(folder, "commit", "-q", "-m", "untracked");
  await waitFor("the text in the file", async () => {
    return (await readFile(`${folder}/${FILE}`, "utf8")) === `${START}\nRest.\n`;
  });
  await rm(`${folder}/${FILE}`);
  await untilNoted(machine, /is gone, which deletes nothing elsewhere/);
  expect(await docOf(machine)).toBe(`${START}\nRest.\n`);
});
