import { expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clonesOfEach } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const FILE = "CLAUDE.md";
const OTHER = "AGENTS.md";
const NOTES = "notes.md";
const TEXT = "# Guide\n\nBuild with make.\n\nTest with make test.\n\nShip with make ship.\n";
const EDITED = TEXT.replace("make ship", "make release");
const OTHERS = "\nOf others.\n";

const lab = clonesOfEach();

const at = ({ dir }: FollowedMachine, name: string) => join(dir, name);
const git = ({ dir }: FollowedMachine, ...args: string[]) => lab.git.run(dir, ...args);

/** A machine whose link git tracks, as it does the target. */
async function followTrackedLink(name: string): Promise<FollowedMachine> {
  await lab.git.repository(name, { [NOTES]: TEXT });
  const made = await lab.folder(name);
  await symlink(NOTES, at(made, FILE));
  await git(made, "add", FILE);
  await git(made, "commit", "-q", "-m", "link");
  await made.follow({ write: true });
  expect(made.status).toMatchObject({ path: NOTES, state: "followed" });
  return made;
}

/** As `sed -i` does. */
async function saveByRename(machine: FollowedMachine, text: string): Promise<void> {
  await writeFile(at(machine, "saved"), text);
  renameSync(at(machine, "saved"), at(machine, FILE));
  await machine.settleAfterGrace();
  expect(machine.status).toMatchObject({ path: FILE, state: "followed" });
  expect(await machine.doc()).toBe(text);
}

/** The target is followed again, both ways. */
async function expectLinked(machine: FollowedMachine, text: string): Promise<void> {
  await machine.settleAfterGrace();
  expect(machine.status).toMatchObject({ path: NOTES, state: "followed" });
  expect(machine.beside).toEqual([]);
  expect([await machine.doc(), machine.file(NOTES)]).toEqual([text, text]);
  expect(await machine.conflicts()).toEqual([]);
  await machine.setDoc(`${text}\nMore of others.\n`);
  await machine.settleAfterGrace();
  expect(machine.file(NOTES)).toBe(`${text}\nMore of others.\n`);
  await machine.save(`${text}\nMore of others.\n\nMore of mine.\n`, NOTES);
  await machine.settleAfterGrace();
  expect(await machine.doc()).toBe(`${text}\nMore of others.\n\nMore of mine.\n`);
  expect(lstatSync(at(machine, FILE)).isSymbolicLink()).toBe(true);
  expect(await machine.conflicts()).toEqual([]);
}

/** How a link comes back into its place. */
const LINKS_BACK: Readonly<Record<string, (machine: FollowedMachine) => Promise<unknown>>> = {
  "git checkout": (machine) => git(machine, "checkout", "-q", "--", FILE),
  "git stash": (machine) => git(machine, "stash", "-q"),
  "a copy into the target": async (machine) => {
    await writeFile(at(machine, NOTES), machine.file());
    rmSync(at(machine, FILE));
    await symlink(NOTES, at(machine, FILE));
  },
};

for (const [how, putBack] of Object.entries(LINKS_BACK)) {
  for (const isStopped of [false, true]) {
    const when = isStopped ? " while no daemon runs" : "";
    test(`a link that a save replaced and that ${how} puts back${when} is followed to its target again`, async () => {
      let t = await followTrackedLink("t");
      await saveByRename(t, EDITED);
      await t.setDoc(`${EDITED}${OTHERS}`);
      await t.settleAfterGrace();
      expect(t.file()).toBe(`${EDITED}${OTHERS}`);
      await t.pass(120_000);
      if (isStopped) await t.stop();
      await putBack(t);
      if (isStopped) {
        t = await lab.folder("t");
        await t.follow({ write: true });
      }
      // What was saved at the link's name stays, as does what others wrote there.
      await expectLinked(t, `${EDITED}${OTHERS}`);
    });
  }
}

test("a link that a save replaced is followed to its target again, which was edited meanwhile", async () => {
  const t = await followTrackedLink("t");
  await saveByRename(t, EDITED);
  await t.setDoc(`${EDITED}${OTHERS}`);
  await t.settleAfterGrace();
  const mine = TEXT.replace("Build with make.", "Build with bun.");
  await t.save(mine, NOTES);
  expect(await t.doc()).toBe(`${EDITED}${OTHERS}`);
  await git(t, "checkout", "-q", "--", FILE);
  await expectLinked(t, `${EDITED.replace("Build with make.", "Build with bun.")}${OTHERS}`);
});

test("a link that is a file on another branch is followed to its target again", async () => {
  const t = await followTrackedLink("t");
  await git(t, "checkout", "-q", "-b", "other");
  rmSync(at(t, FILE));
  await writeFile(at(t, FILE), EDITED);
  await git(t, "add", FILE);
  await git(t, "commit", "-q", "-m", "a file");
  await t.settleAfterGrace();
  expect(t.status).toMatchObject({ path: FILE, state: "left-alone" });
  await git(t, "checkout", "-q", "-");
  await expectLinked(t, TEXT);
});

test("a link that a save replaced while it led to a file of no repository is followed again", async () => {
  const a = await lab.folder("a");
  await writeFile(at(a, NOTES), TEXT);
  await symlink(NOTES, at(a, FILE));
  await a.follow();
  await saveByRename(a, EDITED);
  await a.setDoc(`${EDITED}${OTHERS}`);
  await a.pass(120_000);
  rmSync(at(a, FILE));
  await symlink(NOTES, at(a, FILE));
  await expectLinked(a, `${EDITED}${OTHERS}`);
});

test("a text at the link's place that no look could take is in the history once the link is back", async () => {
  const t = await followTrackedLink("t");
  rmSync(at(t, FILE));
  await t.saveAndLook(EDITED);
  await t.saveAndLook(EDITED);
  await git(t, "checkout", "-q", "--", FILE);
  await expectLinked(t, TEXT);
  expect((await t.history()).map(({ value }) => value)).toContain(EDITED);
});

test("a tracked file whose place a link takes is followed where it leads", async () => {
  for (const [name, target] of [
    [FILE, NOTES],
    [OTHER, FILE],
  ] as const) {
    await lab.git.repository(`of-${name}`, { [name]: TEXT });
    const t = await lab.folder(`of-${name}`);
    await t.follow({ write: true });
    await t.settleAfterGrace();
    await git(t, "mv", name, target);
    await symlink(target, at(t, name));
    await t.settleAfterGrace();
    expect(t.status).toMatchObject({ path: target, state: "followed" });
    await t.setDoc(EDITED);
    await t.settleAfterGrace();
    expect([t.file(target), readlinkSync(at(t, name))]).toEqual([EDITED, target]);
    expect(await t.conflicts()).toEqual([]);
  }
});

test("a line that was deleted in the link's place stays deleted when the link is back", async () => {
  const made = await lab.folder("deleted");
  await writeFile(at(made, NOTES), TEXT);
  await symlink(NOTES, at(made, FILE));
  await made.follow();
  const less = TEXT.replace("Test with make test.\n\n", "");
  await saveByRename(made, less);
  await made.pass(120_000);
  // The target has the line yet, and is edited.
  await writeFile(at(made, NOTES), TEXT.replace("Build with make.", "Build with bun."));
  rmSync(at(made, FILE));
  await symlink(NOTES, at(made, FILE));
  await expectLinked(made, less.replace("Build with make.", "Build with bun."));
});
