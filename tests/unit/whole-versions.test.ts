import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const ONE = "## One\n\n- a1\n- a2\n\n```sh\nmake one\nmake all\n```\n\n";
const TWO = "## Two\n\n- b1\n- b2\n\n";
const THREE = "## Three\n\n- c1\n- c2\n";
const guide = (...sections: readonly string[]) => `# P\n\nIntro here.\n\n${sections.join("")}`;
const BASE = guide(ONE, TWO, THREE);

const mended = ONE.replace("make all", "make everything");
const mendedTwice = mended.replace("- a1", "- a1, mended");
const renamed = ONE.replace("## One", "## First");
const longer = ONE.replace("- a2\n", "- a2\n- a3\n");
const underlined = (text: string) =>
  text.replace(/^# (.*)$/gm, "$1\n===").replace(/^## (.*)$/gm, "$1\n---");
const FRESH = "## Fresh\n\n- new\n\n```sh\nrun it\n```\n\n";

const lab = foldersOfEach();

/** What two machines make of a text, and what a choice of either's version gives. */
type Met = readonly [texts: readonly [string, string], chosen: readonly [string, string]];

const MET: Readonly<Record<string, Met>> = {
  "one mends a line of a section that the other deletes": [
    [guide(mended, TWO, THREE), guide(TWO, THREE)],
    [guide(mended, TWO, THREE), guide(TWO, THREE)],
  ],
  "one mends two lines of a section that the other deletes": [
    [guide(mendedTwice, TWO, THREE), guide(TWO, THREE)],
    [guide(mendedTwice, TWO, THREE), guide(TWO, THREE)],
  ],
  "one mends the last section, and the other deletes it": [
    [guide(TWO, mended.trimEnd(), "\n"), guide(TWO.trimEnd(), "\n")],
    [guide(TWO, mended.trimEnd(), "\n"), guide(TWO.trimEnd(), "\n")],
  ],
  "one renames a section that the other deletes": [
    [guide(renamed, TWO, THREE), guide(TWO, THREE)],
    [guide(renamed, TWO, THREE), guide(TWO, THREE)],
  ],
  "one adds to a section that the other deletes": [
    [guide(longer, TWO, THREE), guide(TWO, THREE)],
    [guide(longer, TWO, THREE), guide(TWO, THREE)],
  ],
  "one mends a section that the other deletes with the next": [
    [guide(mended, TWO, THREE), guide(THREE)],
    [guide(mended, THREE), guide(THREE)],
  ],
  "one mends a line of a section that the other replaces": [
    [guide(mendedTwice, TWO, THREE), guide(FRESH, TWO, THREE)],
    [guide(mendedTwice, TWO, THREE), guide(FRESH, TWO, THREE)],
  ],
  "one adds to a section that the other replaces": [
    [guide(longer, TWO, THREE), guide(FRESH, TWO, THREE)],
    [guide(longer, TWO, THREE), guide(FRESH, TWO, THREE)],
  ],
  "one moves and mends a section that the other deletes": [
    [guide(TWO, mended, THREE), guide(TWO, THREE)],
    [guide(TWO, mended, THREE), guide(TWO, THREE)],
  ],
  "one mends a section that the other deletes with the next, of underlined headings": [
    [underlined(guide(mended, TWO, THREE)), underlined(guide(THREE))],
    [underlined(guide(mended, THREE)), underlined(guide(THREE))],
  ],
};

/** The base of a case, where it is another one. */
const BASES: Readonly<Record<string, string>> = {
  "one mends the last section, and the other deletes it": guide(TWO, ONE.trimEnd(), "\n"),
  "one mends a section that the other deletes with the next, of underlined headings":
    underlined(BASE),
};

for (const [what, [texts, chosen]] of Object.entries(MET)) {
  for (const first of [0, 1] as const) {
    const order = first === 0 ? [0, 1] : [1, 0];
    test(`a version is all that its side had where ${what}, heard by ${first} first`, async () => {
      const saved = order.map((at) => texts[at]) as [string, string];
      const machines = await lab.savedApart(BASES[what] ?? BASE, saved);
      await exchange(machines);
      for (const machine of machines) {
        const all = await machine.conflicts();
        // Much of the text may be told to be gone besides.
        const [conflict, ...more] = all.filter(({ kind }) => kind !== "deletion");
        expect(more).toEqual([]);
        const becomes: string[] = [];
        for (const { text } of conflict?.versions ?? []) {
          becomes.push(await chosenText(machine, text, conflict?.id));
        }
        expect(becomes.sort()).toEqual([...chosen].sort());
      }
    });
  }
}

/** What one machine saves, and the other from a buffer of before; what each choice gives. */
const STALE: Readonly<Record<string, Met>> = {
  "one mends a line of a section that the other lacks": [
    [guide(mended, TWO, THREE), guide(TWO, THREE)],
    [guide(mended, TWO, THREE), guide(TWO, THREE)],
  ],
  "one deletes a section in which the other mends a line": [
    [guide(TWO, THREE), guide(mendedTwice, TWO, THREE)],
    [guide(TWO, THREE), guide(mendedTwice, TWO, THREE)],
  ],
  "one adds to a section that the other lacks": [
    [guide(longer, TWO, THREE), guide(TWO, THREE)],
    [guide(longer, TWO, THREE), guide(TWO, THREE)],
  ],
  "one renames a section in which the other mends a line": [
    [guide(renamed, TWO, THREE), guide(ONE.replace("- a1", "- a1, mended"), TWO, THREE)],
    [
      guide(renamed.replace("- a1", "- a1, mended"), TWO, THREE),
      guide(ONE.replace("- a1", "- a1, mended"), TWO, THREE),
    ],
  ],
  "one replaces a section in which the other mends a line": [
    [guide(FRESH, TWO, THREE), guide(mendedTwice, TWO, THREE)],
    [guide(FRESH, TWO, THREE), guide(mendedTwice, TWO, THREE)],
  ],
  "one mends a section that the other lacks with the next": [
    [guide(mended, TWO, THREE), guide(THREE)],
    [guide(mended, THREE), guide(THREE)],
  ],
};

for (const [what, [texts, chosen]] of Object.entries(STALE)) {
  test(`a version is all that its side had in a save from a buffer of before, where ${what}`, async () => {
    const [a, b] = await lab.savedStale(BASE, texts);
    await exchange([a, b]);
    for (const machine of [a, b]) {
      const all = await machine.conflicts();
      const [conflict, ...more] = all.filter(({ kind }) => kind !== "deletion");
      expect(more).toEqual([]);
      const becomes: string[] = [];
      for (const { text } of conflict?.versions ?? []) {
        becomes.push(await chosenText(machine, text));
      }
      expect(becomes.sort()).toEqual([...chosen].sort());
    }
  });
}

test("a version of a place has nothing that its side only moved there", async () => {
  const machines = await lab.savedApart(BASE, [
    guide(TWO, renamed, THREE),
    guide(FRESH, TWO, THREE),
  ]);
  await exchange(machines);
  const [conflict] = await machines[0].conflicts();
  expect(conflict?.versions.map(({ text }) => text.trim()).sort()).toEqual([
    renamed.trim(),
    FRESH.trim(),
  ]);
  for (const { text } of conflict?.versions ?? []) {
    const section = text.includes("Fresh") ? FRESH : renamed;
    expect([guide(TWO, section, THREE), guide(section, TWO, THREE)]).toContain(
      await chosenText(machines[0], text),
    );
  }
});

for (const first of [0, 1] as const) {
  test(`a line that only an open conflict kept is of nobody's version, heard by ${first} first`, async () => {
    const text = (line: string) => `# P\n\none\n${line}three\n`;
    const [a, b] = await lab.pair(text(""));
    await b.save(text("two\n"));
    await exchange([a, b]);
    // This may not have seen the line, which stays.
    await a.save(text("two of A\n"));
    await b.save(text("two of B\n"));
    await (first === 0 ? a.receive(b) : b.receive(a));
    await exchange([a, b]);
    const both = (await a.conflicts()).filter(({ kind }) => kind === "both");
    expect(both.map(({ versions }) => versions.map((each) => each.text))).toEqual([
      ["two of A\n", "two of B\n"],
    ]);
  });
}

test("a line that was added among the versions stays where it is, whatever is chosen", async () => {
  const [texts] = MET["one mends a line of a section that the other replaces"] as Met;
  const [a, b] = await lab.savedApart(BASE, texts);
  await exchange([a, b]);
  await a.save(a.file().replace("- new\n", "- new\n- by the way\n"));
  await exchange([a, b]);
  const [conflict] = await b.conflicts();
  for (const { text } of conflict?.versions ?? []) {
    const chosen = await chosenText(b, text);
    expect(chosen.split("\n").filter((line) => line === "- by the way")).toHaveLength(1);
    expect(chosen.replace("- by the way\n", "")).toBe(
      text.includes("Fresh") ? guide(FRESH, TWO, THREE) : guide(mendedTwice, TWO, THREE),
    );
  }
});

test("a line of a version that was mended since stays mended, whichever is chosen", async () => {
  const [texts] = MET["one mends a line of a section that the other deletes"] as Met;
  const [a, b] = await lab.savedApart(BASE, texts);
  await exchange([a, b]);
  await a.save(a.file().replace("make everything", "make it all"));
  await exchange([a, b]);
  expect(await chosenText(b, mended.trimEnd().concat("\n"))).toBe(
    guide(mended.replace("make everything", "make it all"), TWO, THREE),
  );
  await expect(b.choiceOf("")).rejects.toThrow("`make it all` stands where the two versions stood");
});

test("a stale save of two places has a section's version and a line's", async () => {
  const [a, b] = await lab.savedStale(BASE, [
    guide(mended, TWO, THREE.replace("- c2", "- c2 by a")),
    guide(TWO, THREE),
  ]);
  await exchange([a, b]);
  const versions = (await a.conflicts()).map((each) => each.versions.map(({ text }) => text));
  expect(versions.sort()).toEqual([
    ["", mended.trimEnd().concat("\n")],
    ["- c2\n", "- c2 by a\n"],
  ]);
  expect(await chosenText(a, "- c2\n")).toContain("- c1\n- c2\n");
  expect(await chosenText(a, "- c2\n")).not.toContain("by a");
  expect(await chosenText(a, mended.trimEnd().concat("\n"))).toBe(
    guide(mended, TWO, `${THREE}- c2 by a\n`),
  );
});

test("a line of a list that a stale save lacks is taken out, or stays", async () => {
  const list = (...lines: readonly string[]) => `Title\n=====\n\nIntro.\n\n${lines.join("\n")}\n`;
  const [a, b] = await lab.savedStale(list("- x1", "- x2", "- x3", "- x4", "- x5"), [
    list("- x1", "- x2", "- x3 mended", "- x4", "- x5"),
    list("- x1", "- x5"),
  ]);
  await exchange([a, b]);
  expect(await chosenText(a, "")).toBe(list("- x1", "- x5"));
  expect(await chosenText(a, "- x3 mended\n")).toBe(list("- x1", "- x3 mended", "- x5"));
});

test("a section within one that the other deletes comes back with it", async () => {
  const inner = "### Sub A\n\n- s1\n- s2\n\n### Sub B\n\n- t1\n\n";
  const outer = `## One\n\nAbout it.\n\n${inner}`;
  const [a, b] = await lab.savedApart(guide(outer, TWO), [
    guide(outer.replace("- s2", "- s2, mended"), TWO),
    guide(TWO),
  ]);
  await exchange([a, b]);
  const [conflict] = (await a.conflicts()).filter(({ kind }) => kind === "both");
  const whole = conflict?.versions.find(({ text }) => text !== "")?.text ?? "";
  expect(await chosenText(a, whole)).toBe(guide(outer.replace("- s2", "- s2, mended"), TWO));
});

for (const [length, isWhole] of [
  [5_000, true],
  [20_000, false],
] as const) {
  test(`of a section of ${length} characters a version has ${isWhole ? "all" : "the lines alone"}`, async () => {
    const long = ONE.replace("- a2\n", `- a2\n\n${"Much to read. ".repeat(length / 14)}\n`);
    const [a, b] = await lab.savedApart(guide(long, TWO), [
      guide(long.replace("make all", "make everything"), TWO),
      guide(TWO),
    ]);
    await exchange([a, b]);
    const versions = (await b.conflicts()).flatMap((each) => each.versions);
    const said = versions.map(({ text }) => text).filter((text) => text.includes("everything"));
    expect(said).toHaveLength(1);
    expect(said.map((text) => text.includes("## One"))).toEqual([isWhole]);
  });
}

test("of lines that two mend in a section that a third deletes a version has the heading", async () => {
  const [a, b, c] = await lab.machines(["a", "b", "c"], BASE);
  if (!a || !b || !c) throw new Error("there are three machines");
  const [ofA, ofC] = [ONE.replace("- a1", "- a1, mended"), ONE.replace("- a2", "- a2, mended")];
  await a.save(guide(ofA, TWO, THREE));
  await b.save(guide(TWO, THREE));
  await c.save(guide(ofC, TWO, THREE));
  await exchange([a, c]);
  await exchange([b, a, c]);
  const both = ONE.replace("- a1", "- a1, mended").replace("- a2", "- a2, mended");
  const whole = `${both.trimEnd()}\n`;
  expect(await chosenText(b, whole)).toBe(guide(both, TWO, THREE));
  const told = (await b.conflicts()).filter(({ versions }) => {
    return versions.some(({ text }) => text === "");
  });
  expect(told.flatMap(({ versions }) => versions.map(({ text }) => text))).toEqual(["", whole]);
});

test("a conflict is over once nothing is left of the lines that stood", async () => {
  const [texts] = MET["one mends a line of a section that the other deletes"] as Met;
  const [a, b] = await lab.savedApart(BASE, texts);
  await exchange([a, b]);
  await a.save(guide(TWO, THREE));
  await exchange([a, b]);
  await expect(b.choiceOf("")).rejects.toThrow("no conflict has the version");
});

async function chosenText(
  machine: FollowedMachine,
  version: string,
  conflict?: string,
): Promise<string> {
  const writes = await machine.choiceOf(version, conflict);
  const last = writes.findLast((write) => write.kind === "text");
  return last?.kind === "text" ? last.value : machine.file();
}

for (const to of ["over the one above", "into another section"] as const) {
  test(`a mended line of which others deleted more is told still once somebody moves it ${to}`, async () => {
    const [a, b] = await lab.pair(
      guide(TWO.replace("- b2\n", "- b2\n- b3 of it\n- b4\n- b5\n"), THREE),
    );
    const text = await a.doc();
    await a.save(text.replace("- b2\n- b3 of it\n- b4\n", ""));
    await b.save(text.replace("- b3 of it", "- b3 OF it"));
    await exchange([a, b]);
    for (const machine of [a, b]) await machine.pass(70_000);
    const [line, met] = ["- b3 OF it\n", await a.doc()];
    const above = to === "into another section" ? "- c1\n" : "- b1\n";
    await a.save(met.replace(line, "").replace(above, line + above));
    await exchange([a, b]);
    // Where it stands now nobody has shown, so no choice is made of what stands elsewhere.
    for (const machine of [a, b]) {
      expect(await machine.listed()).toHaveLength(1);
      await expect(machine.choiceOf("")).rejects.toThrow("stand at several places");
    }
  });
}
