import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import {
  at,
  EDITED,
  expectAll,
  followGuide,
  OTHER,
  openFolders,
  POINTER,
  TEXT,
} from "../support/followed-guide.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const lab = clonesOfEach();
/** A folder whose file is followed both ways, and another machine of the project. */
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await openFolders(lab));
});

describe("a second file", () => {
  for (const [what, text] of [
    ["that is a copy", TEXT],
    ["with another text", "# Agents\n\nAsk first.\n"],
    ["that refers to the first", "See AGENTS.md and CLAUDE.md.\n"],
  ] as const) {
    for (const [first, second] of [
      [FILE, OTHER],
      [OTHER, FILE],
    ] as const) {
      test(`${what} changes nothing: ${second} beside ${first}`, async () => {
        await followGuide({ a, b }, first);
        await a.save(text, second);
        expect(a.status).toMatchObject({ path: first, state: "followed" });
        expect(a.beside).toEqual([second]);
        await expectAll({ a, b }, TEXT);
        await a.save(EDITED, first);
        await expectAll({ a, b }, EDITED);
        expect(a.file(second)).toBe(text);
        rmSync(at(a, second));
        await a.settleAfterGrace();
        expect(a.beside).toEqual([]);
        await expectAll({ a, b }, EDITED);
      });
    }
  }

  test("a second file that meets a document says who wrote what the document has beyond it", async () => {
    await followGuide({ a, b });
    const c = await lab.folder("c");
    await writeFile(at(c, OTHER), "# Agents\n\nAsk first.\n");
    await c.receive(a);
    await c.follow();
    const [told, ...others] = await c.conflicts();
    expect([told?.kind, others.length]).toEqual(["renewed", 0]);
    const writers = told?.versions.map(({ text, machine }) => [text.includes("Build"), machine]);
    expect(writers).toEqual([
      [false, "c"],
      [true, "a"],
    ]);
  });

  test("of two files from the beginning the first in order counts", async () => {
    await writeFile(at(a, OTHER), "# Agents\n");
    mkdirSync(at(a, ".claude"));
    await writeFile(at(a, ".claude/CLAUDE.md"), TEXT);
    await a.follow();
    expect(a.status).toMatchObject({ path: ".claude/CLAUDE.md", state: "followed" });
    expect(a.beside).toEqual([OTHER]);
    expect(await a.doc()).toBe(TEXT);
  });

  test("a second file that imports the other and says nothing else does not count", async () => {
    await writeFile(at(a, FILE), POINTER);
    await writeFile(at(a, OTHER), TEXT);
    await a.follow();
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    expect(a.beside).toEqual([]);
    expect(await a.doc()).toBe(TEXT);
    await a.save(`${POINTER}\nAnd more.\n`);
    expect(a.beside).toEqual([FILE]);
    expect(await a.doc()).toBe(TEXT);
  });

  test("a second file of which the document has the text counts, on a machine that comes later", async () => {
    await followGuide({ a, b }, OTHER);
    const c = await lab.folder("c");
    await writeFile(at(c, FILE), "# Claude\n\nSee AGENTS.md.\n");
    await writeFile(at(c, OTHER), EDITED);
    await c.receive(a);
    await c.follow();
    expect(c.status).toMatchObject({ path: OTHER, state: "followed" });
    expect(await c.doc()).not.toContain("Claude");
  });

  test("under a second name of the same file is no second file", async () => {
    await writeFile(at(a, FILE), TEXT);
    linkSync(at(a, FILE), at(a, OTHER));
    await a.follow();
    expect(a.beside).toEqual([]);
    expect(await a.doc()).toBe(TEXT);
  });

  test("a second file does not take the place of one that is deleted, unless it holds the same", async () => {
    await followGuide({ a, b });
    await a.save("# Agents\n\nAsk first.\n", OTHER);
    rmSync(at(a, FILE));
    await a.settleAfterGrace();
    expect(a.status.note).toContain("is gone, which deletes nothing elsewhere");
    expect(a.beside).toEqual([OTHER]);
    await expectAll({ a, b }, TEXT);
    await a.save(TEXT, OTHER);
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    await a.save(EDITED, OTHER);
    await expectAll({ a, b }, EDITED);
  });
});

describe("a file that is renamed", () => {
  for (const [from, to] of [
    [FILE, OTHER],
    [OTHER, FILE],
    [FILE, ".claude/CLAUDE.md"],
  ] as const) {
    test(`a file that is renamed and edited at once is an edit under its new name: ${from} to ${to}`, async () => {
      await followGuide({ a, b }, from);
      mkdirSync(at(a, ".claude"), { recursive: true });
      renameSync(at(a, from), at(a, to));
      await writeFile(at(a, to), EDITED);
      await a.settle();
      expect(a.status.state).toBe("waiting");
      await a.settleAfterGrace();
      expect(a.status).toMatchObject({ path: to, state: "followed" });
      await expectAll({ a, b }, EDITED);
      expect(await a.conflicts()).toEqual([]);
      expect(existsSync(at(a, from))).toBe(false);
      await b.pass(120_000);
      await b.save(TEXT);
      await exchange([a, b]);
      expect(a.file(to)).toBe(TEXT);
    });
  }

  test("while no daemon runs, and edited, is the same", async () => {
    await followGuide({ a, b });
    await a.stop();
    renameSync(at(a, FILE), at(a, OTHER));
    await writeFile(at(a, OTHER), EDITED);
    a = await lab.folder("a");
    await a.follow();
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    await expectAll({ a, b }, EDITED);
  });

  test("a file that is renamed and has another text keeps what the document has, and that is told", async () => {
    await followGuide({ a, b });
    rmSync(at(a, FILE));
    await writeFile(at(a, OTHER), "# Agents\n\nAsk first.\n");
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    await exchange([a, b]);
    expect(await b.doc()).toContain("Ask first.");
    expect(await b.doc()).toContain("Ship with make ship.");
    expect(a.file(OTHER)).toBe(await a.doc());
    const [told, ...others] = await b.conflicts();
    expect([told?.kind, others.length]).toEqual(["renewed", 0]);
    expect(told?.versions.map(({ machine }) => machine)).toEqual(["a", "a"]);
  });

  test("a file that is renamed and leaves a word of where it went is followed there", async () => {
    await followGuide({ a, b });
    renameSync(at(a, FILE), at(a, OTHER));
    await a.save(POINTER);
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    expect(a.beside).toEqual([]);
    await expectAll({ a, b }, TEXT);
    expect(a.file()).toBe(POINTER);
    await a.save(EDITED, OTHER);
    await expectAll({ a, b }, EDITED);
  });

  test("a file that is renamed by a copy, after which it refers to that, is followed there", async () => {
    await followGuide({ a, b });
    await a.save(TEXT, OTHER);
    await a.save(POINTER);
    expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
    await expectAll({ a, b }, TEXT);
  });

  test("a file that is renamed and written anew under its old name is an edit there, when that is the same text", async () => {
    await followGuide({ a, b });
    await a.save(TEXT, OTHER);
    await a.save(EDITED);
    expect(a.status).toMatchObject({ path: FILE, state: "followed" });
    await expectAll({ a, b }, EDITED);
  });

  test("a file that is renamed to one of two new names is asked about", async () => {
    await followGuide({ a, b });
    rmSync(at(a, FILE));
    mkdirSync(at(a, ".claude"));
    await writeFile(at(a, ".claude/CLAUDE.md"), EDITED);
    await writeFile(at(a, OTHER), `${TEXT}\nOne more.\n`);
    await a.settleAfterGrace();
    expect(a.status.note).toContain("is gone");
    expect(a.beside).toEqual([".claude/CLAUDE.md", OTHER]);
    await expectAll({ a, b }, TEXT);
  });
});

describe("a tracked file that git renames", () => {
  async function clones() {
    await lab.git.repository("first", { [FILE]: TEXT });
    await lab.git.run(lab.git.folder, "clone", "-q", "--bare", "first", "origin.git");
    for (const name of ["c", "d"])
      await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", name);
    const [c, d] = [await lab.folder("c"), await lab.folder("d")];
    await c.follow();
    await d.follow();
    await exchange([c, d]);
    return { c, d };
  }

  test("a tracked file that git renames and a person edits is an edit, here and where it is pulled", async () => {
    const { c, d } = await clones();
    await lab.git.run(c.dir, "mv", FILE, OTHER);
    await writeFile(at(c, OTHER), EDITED);
    await lab.git.run(c.dir, "commit", "-qam", "renamed");
    await c.settleAfterGrace();
    expect(c.status).toMatchObject({ path: OTHER, state: "upwards" });
    expect(await c.doc()).toBe(EDITED);
    await exchange([c, d]);
    await lab.git.run(c.dir, "push", "-q");
    await lab.git.run(d.dir, "pull", "-q");
    await d.settleAfterGrace();
    expect(d.status).toMatchObject({ path: OTHER, state: "upwards" });
    await exchange([c, d]);
    expect([await c.doc(), await d.doc()]).toEqual([EDITED, EDITED]);
    expect(await c.conflicts()).toEqual([]);
    // Until a look has found what git brought standing a minute later, it is in doubt.
    for (const milliseconds of [60_000, 60_000]) await d.pass(milliseconds);
    await d.save(TEXT, OTHER);
    await exchange([c, d]);
    expect(await c.doc()).toBe(TEXT);
  });

  test("a tracked file that git renames by a commit of a stranger is an edit", async () => {
    const { c, d } = await clones();
    const stranger = lab.git.path("first");
    await lab.git.run(stranger, "mv", FILE, OTHER);
    await lab.git.commit(stranger, { [OTHER]: EDITED, [FILE]: POINTER });
    await lab.git.run(stranger, "push", "-q", lab.git.path("origin.git"), "main");
    await lab.git.run(c.dir, "pull", "-q");
    await c.settleAfterGrace();
    expect(c.status).toMatchObject({ path: OTHER, state: "upwards" });
    await exchange([c, d]);
    expect(await d.doc()).toBe(EDITED);
  });

  test("a tracked file that git renames on another branch is left alone, and nothing is changed by the way back", async () => {
    const { c } = await clones();
    await lab.git.run(c.dir, "checkout", "-q", "-b", "feature");
    await lab.git.run(c.dir, "mv", FILE, OTHER);
    await lab.git.commit(c.dir, { [OTHER]: EDITED });
    await c.settleAfterGrace();
    expect(c.status.note).toContain("is left alone on feature");
    await lab.git.run(c.dir, "checkout", "-q", "main");
    await c.settleAfterGrace();
    expect(c.status).toMatchObject({ path: FILE, state: "upwards" });
    expect(await c.doc()).toBe(TEXT);
    await lab.git.run(c.dir, "merge", "-q", "feature");
    await c.settleAfterGrace();
    expect(await c.doc()).toBe(EDITED);
  });
});
