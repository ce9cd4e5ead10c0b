import { expect } from "bun:test";
import { appendFile, readFile, stat } from "node:fs/promises";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";

/** Two machines that follow clones in which the file is tracked, once both hold its text. */
async function startTracked(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(emulator.account(account), { [FILE]: START });
  await Promise.all([a.up(), b.up()]);
  await untilDoc([a, b], START);
  return [a, b];
}

async function untilDoc(machines: readonly Machine[], text: string): Promise<void> {
  for (const machine of machines) {
    const { id } = await machine.projectOf();
    await waitFor(`${machine.name}'s document to be ${JSON.stringify(text)}`, async () => {
      return (await machine.doc(id)) === text;
    });
  }
}

async function write(machine: Machine, text: string): Promise<void> {
  await Bun.write(`${machine.folder}/${FILE}`, text);
}

async function read(machine: Machine): Promise<string> {
  return await readFile(`${machine.folder}/${FILE}`, "utf8");
}

async function untilNoted(machine: Machine, note: RegExp): Promise<void> {
  await waitFor(`${machine.name} to note ${note}`, async () => {
    return note.test((await machine.fileStatus())?.note ?? "");
  });
}

scenario(
  "a tracked file is followed upwards, and nobody's working tree is touched",
  async (lab) => {
    const [a, b] = await startTracked(lab, "upwards");
    const before = await stat(`${b.folder}/${FILE}`, { bigint: true });
    await write(a, `${START}\nFrom a.\n`);
    await untilDoc([a, b], `${START}\nFrom a.\n`);
    expect(await b.memsync("doc")).toBe(`${START}\nFrom a.\n`);
    expect(await lab.git.run(b.folder, "status", "--porcelain")).toBe("");
    const after = await stat(`${b.folder}/${FILE}`, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    expect((await b.fileStatus())?.state).toBe("upwards");
    expect(await b.memsync("status")).toContain("`memsync doc diff` shows them");
    expect(await b.memsync("doc", "diff")).toContain("-From a.");
    await write(b, `From b.\n\n${START}`);
    await untilDoc([a, b], `From b.\n\n${START}\nFrom a.\n`);
    expect(await read(a)).toBe(`${START}\nFrom a.\n`);
  },
);

scenario("what comes by git as well is not there twice", async (lab) => {
  const [a, b] = await startTracked(lab, "pulled");
  const changed = START.replace("make.", "bun run build.");
  await write(a, changed);
  await untilDoc([a, b], changed);
  await lab.git.run(a.folder, "commit", "-q", "-a", "-m", "build");
  await lab.git.run(a.folder, "push", "-q", "origin", "main");
  await lab.git.run(b.folder, "pull", "-q", "--ff-only");
  await b.untilSynced();
  await write(b, `${changed}\nFrom b.\n`);
  await untilDoc([a, b], `${changed}\nFrom b.\n`);
});

scenario("another branch's text is left alone, until the default branch is back", async (lab) => {
  const [a, b] = await startTracked(lab, "branch");
  await lab.git.run(b.folder, "checkout", "-q", "-b", "feature");
  await write(b, `${START}\nOf the feature.\n`);
  await untilNoted(b, /left alone on feature/);
  await write(a, `${START}\nFrom a.\n`);
  await untilDoc([a, b], `${START}\nFrom a.\n`);
  expect(await read(b)).toBe(`${START}\nOf the feature.\n`);
  await lab.git.run(b.folder, "commit", "-q", "-a", "-m", "feature");
  await lab.git.run(b.folder, "checkout", "-q", "main");
  await write(b, `From b.\n\n${START}`);
  await untilDoc([a, b], `From b.\n\n${START}\nFrom a.\n`);
});

scenario("checkouts in quick succession never bring another branch's text", async (lab) => {
  const [a, b] = await startTracked(lab, "checkouts");
  await lab.git.run(a.folder, "checkout", "-q", "-b", "feature");
  await lab.git.commit(a.folder, { [FILE]: "# The feature's own\n" });
  const loop = "for i in $(seq 60); do git checkout -q main; git checkout -q feature; done";
  const { done } = lab.git.start(a.folder, `${loop}; git checkout -q main`);
  let over = false;
  void done.then(() => {
    over = true;
  });
  const { id } = await a.projectOf();
  await waitFor("the checkouts to be over", async () => {
    expect(await a.doc(id)).toBe(START);
    return over;
  });
  await write(a, `${START}\nFrom a.\n`);
  await untilDoc([a, b], `${START}\nFrom a.\n`);
});

scenario("with the user's consent others' changes are written into a tracked file", async (lab) => {
  const [a, b] = await startTracked(lab, "consent");
  await b.memsync("link", "--write");
  await write(a, `${START}\nFrom a.\n`);
  await waitFor("the change in b's file", async () => {
    return (await read(b)) === `${START}\nFrom a.\n`;
  });
  expect(await lab.git.run(b.folder, "status", "--porcelain")).toBe(` M ${FILE}\n`);
  await b.memsync("link", "--no-write");
  await write(a, `${START}\nFrom a, again.\n`);
  await untilDoc([a, b], `${START}\nFrom a, again.\n`);
  expect(await read(b)).toBe(`${START}\nFrom a.\n`);
});

scenario("consent does not reach another branch", async (lab) => {
  const [a, b] = await startTracked(lab, "consent-branch");
  await b.memsync("link", "--write");
  await lab.git.run(b.folder, "checkout", "-q", "-b", "feature");
  await untilNoted(b, /left alone on feature/);
  await write(a, `${START}\nFrom a.\n`);
  await untilDoc([a, b], `${START}\nFrom a.\n`);
  await b.untilSynced();
  expect(await read(b)).toBe(START);
  await lab.git.run(b.folder, "checkout", "-q", "main");
  await waitFor("the change on the default branch", async () => {
    return (await read(b)) === `${START}\nFrom a.\n`;
  });
});

scenario("during a merge the file is left alone, and written when it is over", async (lab) => {
  const [a, b] = await startTracked(lab, "merging");
  await b.memsync("link", "--write");
  const { folder } = b;
  await lab.git.run(folder, "checkout", "-q", "-b", "side");
  await lab.git.commit(folder, { "code.txt": "side\n" });
  await lab.git.run(folder, "checkout", "-q", "main");
  await lab.git.commit(folder, { "code.txt": "main\n" });
  await lab.git.runToFailure(folder, "merge", "-q", "side");
  await untilNoted(b, /left alone during the merge|merge in progress/);
  await write(a, `${START}\nFrom a.\n`);
  await untilDoc([a, b], `${START}\nFrom a.\n`);
  await b.syncOnce();
  expect(await read(b)).toBe(START);
  await lab.git.commit(folder, { "code.txt": "both\n" });
  await waitFor("the change after the merge", async () => {
    return (await read(b)) === `${START}\nFrom a.\n`;
  });
});

scenario("a tracked file that is appended to all the time is sent all the same", async (lab) => {
  const [a, b] = await startTracked(lab, "restless");
  let lines = 0;
  const everyTurn = async () => {
    lines += 1;
    await appendFile(`${a.folder}/${FILE}`, `- line ${lines}\n`);
    return (await b.doc((await b.projectOf()).id)).includes("- line 1\n");
  };
  await waitFor("the other machine to have the first line", everyTurn);
  expect((await a.memsync("conflicts")).trim()).toBe("no conflicts");
});
