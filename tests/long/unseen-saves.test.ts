import { expect } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { anHourLater } from "../support/an-hour-later.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";

interface ShownConflict {
  readonly id: string;
  readonly cause: string;
  readonly lines: number | null;
  readonly versions: readonly {
    readonly text: string;
    readonly machine: string | null;
    readonly at: string | null;
    readonly in_document: boolean;
  }[];
}

interface ShownVersion {
  readonly state: string;
  readonly claude_md_content: string;
  readonly save: { readonly outcome: string; readonly conflicts: readonly string[] } | null;
}

/** Two machines that follow the same text both ways; `b` is the one where somebody saves. */
async function startWith(lab: Lab, account: string, text: string) {
  const [a, b] = await lab.twoMachines(emulator.account(account), { ".gitignore": FILE });
  for (const machine of [a, b]) await save(machine, text);
  await Promise.all([a.up(), b.up()]);
  for (const machine of [a, b]) {
    await waitFor(`${machine.name} to have the text`, async () => {
      return (await machine.memsync("doc")) === text;
    });
  }
  return { a, b };
}

async function save(machine: Machine, text: string): Promise<void> {
  await writeFile(`${machine.folder}/${FILE}`, text);
}

async function read(machine: Machine): Promise<string> {
  return await readFile(`${machine.folder}/${FILE}`, "utf8");
}

async function untilFile(machine: Machine, text: string): Promise<void> {
  await waitFor(`${machine.name}'s file to be ${JSON.stringify(text)}`, async () => {
    return (await read(machine)) === text;
  });
}

async function conflictsOf(machine: Machine): Promise<ShownConflict[]> {
  return JSON.parse(await machine.memsync("conflicts", "--json")) as ShownConflict[];
}

/** The only conflict, once both machines show it. */
async function untilConflict({ a, b }: Pair, cause = "unseen"): Promise<ShownConflict> {
  return await waitFor(`a conflict (${cause}) on both machines`, async () => {
    const [[one], [other]] = await Promise.all([conflictsOf(a), conflictsOf(b)]);
    return one?.cause === cause && one.id === other?.id && one;
  });
}

async function untilNone({ a, b }: Pair): Promise<void> {
  await waitFor("no conflicts", async () => {
    return (await Promise.all([conflictsOf(a), conflictsOf(b)])).flat().length === 0;
  });
}

async function historyOf(machine: Machine): Promise<ShownVersion[]> {
  return JSON.parse(await machine.memsync("doc", "history", "--json")) as ShownVersion[];
}

/** The saved text is in the history of the machine where it was saved. */
async function untilKept(machine: Machine, text: string, outcome: string): Promise<void> {
  await waitFor(`${machine.name} to have kept ${JSON.stringify(text)} (${outcome})`, async () => {
    const found = (await historyOf(machine)).find((each) => each.claude_md_content === text);
    return found?.save?.outcome === outcome;
  });
}

interface Pair {
  readonly a: Machine;
  readonly b: Machine;
}

const START = "# Guide\n\nBuild with make.\n\nTest with make test.\n";

scenario(
  "a line that others have just deleted and a save has stays, and that is said",
  async (lab) => {
    const pair = await startWith(lab, "retyped", START);
    const { a, b } = pair;
    const without = "# Guide\n\nTest with make test.\n";
    await save(a, without);
    await untilFile(b, without);
    const retyped = `${START}\nA note.\n`;
    await save(b, retyped);
    await untilFile(a, retyped);
    await untilFile(b, retyped);
    const conflict = await untilConflict(pair);
    expect(conflict.versions.map(({ text }) => text)).toEqual(["", "Build with make.\n"]);
    expect(conflict.versions.map(({ machine }) => machine)).toEqual([
      expect.stringContaining("home-a"),
      expect.stringContaining("home-b"),
    ]);
    expect(conflict.versions.every(({ at }) => at !== null)).toBe(true);
    await untilKept(b, retyped, "conflict");
    await a.memsync("conflicts", "choose", conflict.id, "1");
    await untilFile(b, "# Guide\n\nTest with make test.\n\nA note.\n");
    await untilNone(pair);
  },
);

scenario("a line that others have just added stays, though a save lacks it", async (lab) => {
  const pair = await startWith(lab, "lacked", START);
  const { a, b } = pair;
  const more = `${START}\nOf the other.\n`;
  await save(a, more);
  await untilFile(b, more);
  const stale = `${START}\nA note.\n`;
  await save(b, stale);
  const both = await waitFor("both lines on both machines", async () => {
    const [one, other] = await Promise.all([read(a), read(b)]);
    return one === other && one.includes("A note.") && one.includes("Of the other.") && one;
  });
  const conflict = await untilConflict(pair);
  expect(conflict.versions.map(({ in_document }) => in_document)).toEqual([true, true]);
  await untilKept(b, stale, "conflict");
  expect(await b.memsync("doc")).toBe(both);
  const mine = conflict.versions.findIndex(({ text }) => text.includes("A note."));
  await b.memsync("conflicts", "choose", conflict.id, String(mine + 1));
  await waitFor(
    "the other's line to be gone",
    async () => !(await read(a)).includes("Of the other"),
  );
  await untilNone(pair);
});

scenario("a deleted section that is pasted back with one line changed is whole", async (lab) => {
  const section = "## Release\n\nTag it.\n\nPush the tag.\n\nWrite the notes.\n";
  const pair = await startWith(lab, "pasted", `${START}\n${section}`);
  const { a, b } = pair;
  await save(a, START);
  await untilFile(b, START);
  const pasted = `${START}\n${section.replace("Push the tag.", "Push the tag by hand.")}`;
  await save(b, pasted);
  await untilFile(a, pasted);
  await untilFile(b, pasted);
  const conflict = await untilConflict(pair);
  expect(`${START}\n${conflict.versions[1]?.text}`).toBe(pasted);
});

scenario("others' new line that is cut, saved, pasted and saved stands once", async (lab) => {
  const { a, b } = await startWith(lab, "cut", START);
  const more = `${START}\nOf the other.\n`;
  await save(a, more);
  await untilFile(b, more);
  await save(b, START);
  await waitFor("the line to be back", async () => (await read(b)).includes("Of the other."));
  await save(b, "# Guide\n\nOf the other.\n\nBuild with make.\n\nTest with make test.\n");
  await waitFor("it to have moved on both machines", async () => {
    const texts = await Promise.all([read(a), read(b)]);
    return texts.every((text) => /# Guide\n\nOf the other\.\n\nBuild/.test(text));
  });
  expect((await read(a)).match(/Of the other/g)).toHaveLength(1);
});

scenario(
  "lines that others have just moved are not doubled by a save that has not seen it",
  async (lab) => {
    const pair = await startWith(lab, "moved", START);
    const { a, b } = pair;
    const moved = "# Guide\n\nTest with make test.\n\nBuild with make.\n";
    await save(a, moved);
    await untilFile(b, moved);
    await save(b, `${START}\nA note.\n`);
    const text = await waitFor("the note on both machines", async () => {
      const [one, other] = await Promise.all([read(a), read(b)]);
      return one === other && one.includes("A note.") && one;
    });
    expect(text.match(/Build with make/g)).toHaveLength(1);
    expect(text.match(/Test with make test/g)).toHaveLength(1);
    await untilConflict(pair, "moved");
  },
);

scenario("a byte order mark that is taken away at once stays away", async (lab) => {
  const pair = await startWith(lab, "mark", START);
  const { a, b } = pair;
  await save(a, `\uFEFF${START}`);
  await untilFile(b, `\uFEFF${START}`);
  await save(b, START);
  await untilFile(a, START);
  await untilFile(b, START);
  const conflict = await untilConflict(pair, "format");
  expect(await b.memsync("conflicts", "show", conflict.id)).toContain("a byte order mark");
  const mark = conflict.versions.findIndex(({ text }) => text.includes('"bom":true'));
  await b.memsync("conflicts", "choose", conflict.id, String(mark + 1));
  await untilFile(a, `\uFEFF${START}`);
  await untilNone(pair);
});

/** Saves an hour later, while no daemon runs: then nothing came into the file lately. */
async function saveLater(machine: Machine, text: string): Promise<void> {
  await machine.down();
  anHourLater(machine);
  await save(machine, text);
  await machine.up();
}

scenario("after the minute a save means all that it says, without a conflict", async (lab) => {
  const { a, b } = await startWith(lab, "later", START);
  const more = `${START}\nOf the other.\n`;
  await save(a, more);
  await untilFile(b, more);
  await saveLater(b, "# Guide\n\nTest with make test.\n\nMine.\n");
  await untilFile(a, "# Guide\n\nTest with make test.\n\nMine.\n");
  expect(await conflictsOf(a)).toEqual([]);
});

const SECTION = "## Build\n\nUse make.\nThen strip.\n";
/** Of two blocks that change places the shorter one is moved. */
const RULES = ["one", "two", "three", "four", "five", "six"].map((each) => `Rule ${each}.\n`);
const TESTS = RULES.map((rule) => rule.replace("Rule", "Test"));
const REST = `# Guide\n\n${RULES.join("")}\n## Test\n\n${TESTS.join("")}`;
const [WHOLE, LAST] = [REST.replace("## Test", `${SECTION}\n## Test`), `${REST}\n${SECTION}`];

/** What each saves while the other hears nothing of it. */
async function saveApart({ a, b }: Pair, ofA: string, ofB: string): Promise<void> {
  for (const machine of [a, b]) await machine.untilSynced();
  await Promise.all([a.down(), b.down()]);
  await save(a, ofA);
  await save(b, ofB);
  await a.up();
  await a.untilSynced();
  await b.up();
}

scenario(
  "what two machines move to different places stands twice until one chooses",
  async (lab) => {
    const pair = await startWith(lab, "moved-twice", WHOLE);
    const first = REST.replace("Rule one.", `${SECTION}\nRule one.`);
    await saveApart(pair, LAST, first);
    const conflict = await untilConflict(pair, "twice");
    expect(conflict.versions.map(({ text, in_document }) => [text, in_document])).toEqual([
      [SECTION, true],
      [SECTION, true],
    ]);
    const shown = await pair.b.memsync("conflicts", "show", conflict.id);
    expect(shown).toContain('behind "# Guide":');
    expect(shown).toContain('behind "Test six.":');
    const places = conflict.versions.map(({ machine }) => machine?.endsWith("home-a"));
    await pair.b.memsync("conflicts", "choose", conflict.id, `${places.indexOf(true) + 1}`);
    await untilNone(pair);
    for (const machine of [pair.a, pair.b]) {
      await waitFor("one copy", async () => (await read(machine)).split("## Build").length === 2);
      expect((await read(machine)).indexOf("## Build")).toBeGreaterThan(REST.indexOf("## Test"));
    }
    // What was chosen was never gone for the others.
    const texts = (await historyOf(pair.a)).map((version) => version.claude_md_content);
    expect(texts.filter((text) => !text.includes("## Build"))).toEqual([]);
  },
);

scenario(
  "a line deleted in a block that another moves is told, and can be chosen away",
  async (lab) => {
    const pair = await startWith(lab, "moved-deleted", WHOLE);
    await saveApart(pair, LAST, WHOLE.replace("Then strip.\n", ""));
    const conflict = await untilConflict(pair, "both");
    expect(conflict.versions.map(({ text }) => text)).toEqual(["", "Then strip.\n"]);
    await untilFile(pair.b, LAST);
    await pair.a.memsync("conflicts", "choose", conflict.id, "1");
    for (const machine of [pair.a, pair.b])
      await untilFile(machine, LAST.replace("Then strip.\n", ""));
    await untilNone(pair);
  },
);

const LONG = Array.from({ length: 14 }, (_, at) => `Rule ${at + 1} of the house.\n`).join("");

scenario(
  "a deletion of most of a text is shown everywhere, and one command undoes it",
  async (lab) => {
    const pair = await startWith(lab, "large", LONG);
    const { a, b } = pair;
    await save(b, "Rule 1 of the house.\nRule 9 of the house.\nA new one.\n");
    const notice = await untilConflict(pair, "deletion");
    expect(notice.lines).toBe(12);
    expect(notice.versions[0]).toMatchObject({
      text: "",
      machine: expect.stringContaining("home-b"),
    });
    expect(await a.memsync("conflicts")).toContain("12 lines deleted");
    await a.memsync("conflicts", "restore", notice.id);
    const text = await waitFor("the lines to be back", async () => {
      const found = await read(b);
      return found.includes("Rule 14") && found;
    });
    for (let rule = 1; rule <= 14; rule++) expect(text).toContain(`Rule ${rule} of the house.`);
    expect(text).toContain("A new one.");
    await untilNone(pair);
  },
);

scenario("a deletion of most of a text that the next save takes back is settled", async (lab) => {
  const pair = await startWith(lab, "steps", LONG);
  const { b } = pair;
  // As a program does that writes its file in steps.
  await save(b, "Rule 1 of the house.\n");
  await untilConflict(pair, "deletion");
  await save(b, `${LONG}One more.\n`);
  await untilNone(pair);
});

scenario("each save is in the history as it was, and what became of it", async (lab) => {
  const { a, b } = await startWith(lab, "kept", START);
  const texts = [`${START}\nOne.\n`, `\uFEFF${START}\nTwo.\n`, START.replaceAll("\n", "\r\n")];
  for (const text of texts) {
    await save(b, text);
    await untilFile(a, text);
  }
  for (const text of texts) await untilKept(b, text, "taken");
  const [elsewhere] = (await historyOf(a)).filter((each) => each.claude_md_content === texts[1]);
  expect(elsewhere?.save).toBeNull();
  const secret = `${START}\n${PLANTED.github}\n`;
  await save(b, secret);
  await untilKept(b, secret, "held");
  const listed = await b.memsync("doc", "history");
  expect(listed).toContain("saved here, held");
  expect(await a.memsync("doc", "history")).not.toContain(PLANTED.github);
});

scenario("choosing settles what says no more than the conflict that is shown", async (lab) => {
  const text = "# Guide\n\none\ntwo\n\n## Build\n\nthree\nfour\n";
  const pair = await startWith(lab, "covered", text);
  const { a, b } = pair;
  const changed = text.replace("one\n", "one of a\n").replace("three\n", "three of a\n");
  await save(a, changed);
  await untilFile(b, changed);
  for (const more of ["first", "second", "third"]) {
    const stale = text.replace("two\n", `two\n${more} of b\n`);
    await save(b, stale);
    await untilKept(b, stale, "conflict");
    await waitFor("what others wrote in the file again", async () => {
      return (await read(b)).includes("one of a\n");
    });
  }
  for (const machine of [b, a]) await machine.untilSynced();
  const shown = await waitFor("one conflict on both machines", async () => {
    const [[one, ...more], [other]] = await Promise.all([conflictsOf(a), conflictsOf(b)]);
    return more.length === 0 && one !== undefined && one.id === other?.id && one;
  });
  const mine = shown.versions.findIndex((each) => each.text === "one of a\nthree of a\n");
  await a.memsync("conflicts", "choose", shown.id, `${mine + 1}`);
  await untilNone(pair);
  expect(await a.memsync("doc")).not.toMatch(/^(one|three)$/m);
  expect(await a.memsync("doc")).toContain("three of a\n");
});
