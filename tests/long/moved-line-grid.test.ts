import { expect, setDefaultTimeout, test } from "bun:test";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import { exchangeOverService } from "../support/exchange-machines.ts";
import { FollowedFolders } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { silentHarms } from "../support/merge-invariants.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(180_000);

interface Section {
  heading: string;
  lines: string[];
}

const NAMES = ["One", "Two", "Three", "Four"] as const;
const made = () =>
  NAMES.map((heading) => ({ heading, lines: ["a", "b", "c"].map((each) => heading + each) }));
const textOf = (sections: readonly Section[]) => {
  const texts = sections.map(({ heading, lines }) => {
    return `## ${heading}\n\n${lines.map((line) => `- ${line}\n`).join("")}`;
  });
  return `# P\n\nIntro.\n\n${texts.join("\n")}`;
};

type Change = (sections: Section[], by: string) => void;
const section = (sections: readonly Section[], heading: string) => {
  const found = sections.find((each) => each.heading === heading);
  if (!found) throw new Error(`there is a section ${heading}`);
  return found;
};

/** Takes a line of section Three elsewhere: the first, the middle or the last one. */
const moveLine =
  (nth: number, to: string, at: number): Change =>
  (sections) => {
    const [line = ""] = section(sections, "Three").lines.splice(nth, 1);
    section(sections, to).lines.splice(at, 0, line);
  };
const moveSection =
  (heading: string, to: number): Change =>
  (sections) => {
    const [own] = sections.splice(sections.indexOf(section(sections, heading)), 1);
    if (own) sections.splice(to, 0, own);
  };
const mend =
  (heading: string, ...nth: number[]): Change =>
  (sections, by) => {
    for (const each of nth) section(sections, heading).lines[each] = `mended ${each} by ${by}`;
  };
const both =
  (...changes: Change[]): Change =>
  (sections, by) => {
    for (const change of changes) change(sections, by);
  };
const rename =
  (heading: string): Change =>
  (sections, by) => {
    section(sections, heading).heading = `${heading} of ${by}`;
  };
const remove =
  (heading: string): Change =>
  (sections) => {
    sections.splice(sections.indexOf(section(sections, heading)), 1);
  };

const LINE_MOVES: Readonly<Record<string, Change>> = {
  "first line to the section above": moveLine(0, "Two", 3),
  "last line to the section below": moveLine(2, "Four", 0),
  "middle line to the front": moveLine(1, "One", 0),
};

const OTHERS: Readonly<Record<string, Change>> = {
  "mends the first line": mend("Three", 0),
  "mends the middle line": mend("Three", 1),
  "mends the last two": mend("Three", 1, 2),
  "adds a line": (sections, by) => void section(sections, "Three").lines.splice(1, 0, `new ${by}`),
  "adds to the end of the section above": (sections, by) =>
    void section(sections, "Two").lines.push(`new ${by}`),
  "renames and mends": both(mend("Three", 1), rename("Three")),
  "moves to the front": moveSection("Three", 0),
  "moves and renames": both(moveSection("Three", 0), rename("Three")),
  "moves the section above": moveSection("Two", 0),
  deletes: remove("Three"),
  "deletes it and moves the last one up": both(remove("Three"), moveSection("Four", 0)),
};

const FORMER = Object.fromEntries(
  NAMES.flatMap((name) => ["a", "b", "c"].map((by) => [`## ${name} of ${by}`, `## ${name}`])),
);

/** Machines that made a change each, and have heard of each other. */
async function met(lab: FollowedFolders, changes: readonly Change[]) {
  const base = textOf(made());
  const machines = await lab.machines(["a", "b", "c"].slice(0, changes.length), base);
  const saved: string[] = [];
  for (const [nth, machine] of machines.entries()) {
    const sections = made();
    changes[nth]?.(sections, machine.name);
    saved.push(textOf(sections));
    await machine.save(textOf(sections));
  }
  await exchangeOverService(machines);
  return { machines, base, saved };
}

async function openIn(machine: FollowedMachine | undefined) {
  const merged = (await machine?.doc()) ?? "";
  const all = (await machine?.conflicts()) ?? [];
  return { merged, conflicts: all.filter((each) => !isOver(each, merged)) };
}

/** What is wrong of what machines come to that made a change each. */
async function wrongOf(changes: readonly Change[]): Promise<string[]> {
  const lab = new FollowedFolders();
  const { machines, base, saved } = await met(lab, changes);
  const { merged, conflicts } = await openIn(machines[0]);
  await lab.end();
  return silentHarms({ base, saved, merged, conflicts, former: FORMER });
}

for (const [what, change] of Object.entries(LINE_MOVES)) {
  test(`one moves the ${what} of a section: nothing strays, whatever the other does`, async () => {
    const wrong: string[] = [];
    for (const [other, second] of Object.entries(OTHERS)) {
      for (const [who, pair] of [
        ["b", [change, second]],
        ["a", [second, change]],
      ] as const) {
        const found = await wrongOf(pair);
        wrong.push(...found.map((each) => `${who} ${other}: ${each}`));
      }
    }
    expect(wrong).toEqual([]);
  });
}

const ORDERS: Readonly<Record<string, Change>> = {
  "moves the section up": moveSection("Three", 1),
  "moves it to the end": moveSection("Three", 3),
  "moves the one above it to the end": moveSection("Two", 3),
};

const deleteLine =
  (heading: string, nth: number): Change =>
  (sections) =>
    void section(sections, heading).lines.splice(nth, 1);

const BESIDE: Readonly<Record<string, Change>> = {
  "its first line": deleteLine("Three", 0),
  "its last line": deleteLine("Three", 2),
  "a line above it": deleteLine("Two", 1),
  "the last line above it": deleteLine("Two", 2),
  "the section below": remove("Four"),
};

for (const [what, order] of Object.entries(ORDERS)) {
  test(`one ${what} and deletes something: nothing is back untold, whatever order the other makes`, async () => {
    const wrong: string[] = [];
    for (const [line, deletion] of Object.entries(BESIDE)) {
      for (const [other, second] of Object.entries(ORDERS)) {
        for (const [who, pair] of [
          ["a", [both(deletion, order), second]],
          ["b", [second, both(deletion, order)]],
        ] as const) {
          const found = await wrongOf(pair);
          wrong.push(...found.map((each) => `${who} ${line}, ${other}: ${each}`));
        }
      }
    }
    expect(wrong).toEqual([]);
  });
}

test("what is told of a line that a clean-up put elsewhere names the machine that wrote it", async () => {
  const order = moveSection("Three", 1);
  for (const [writer, pair] of [
    ["b", [both(deleteLine("Two", 2), order), order]],
    ["a", [order, both(deleteLine("Two", 2), order)]],
  ] as const) {
    const lab = new FollowedFolders();
    const { machines } = await met(lab, pair);
    const { conflicts } = await openIn(machines[0]);
    const told = conflicts.flatMap(({ versions }) => versions);
    expect(told.find(({ text }) => text === "- Twoc\n")?.machine).toBe(writer);
    await lab.end();
  }
});

const moveInto =
  (line: string, heading: string, at: number): Change =>
  (sections) => {
    const from = sections.find(({ lines }) => lines.includes(line));
    from?.lines.splice(from.lines.indexOf(line), 1);
    section(sections, heading).lines.splice(at, 0, line);
  };

const THREE: Readonly<Record<string, readonly Change[]>> = {
  "one mends a line, one changes the order, one moves a line and a section that it renames": [
    mend("Four", 1),
    moveSection("One", 1),
    both(moveInto("Threeb", "Two", 2), moveSection("Four", 2), rename("Four")),
  ],
  "one moves and renames, one renames and mends, one moves that": [
    both(moveSection("Three", 1), rename("Three")),
    both(mend("One", 0), rename("One")),
    moveSection("One", 2),
  ],
  "one mends a line, two move the one above it to different places": [
    mend("Four", 1),
    moveInto("Foura", "Three", 3),
    moveInto("Foura", "Three", 2),
  ],
  "one deletes a section, one moves a line of it, one mends it": [
    both(remove("Two"), moveSection("Four", 0)),
    moveInto("Twoa", "Four", 3),
    mend("Two", 1),
  ],
};

for (const [what, [one, two, three]] of Object.entries(THREE)) {
  test(`of three ${what}: nothing strays`, async () => {
    const wrong: string[] = [];
    for (const order of [
      [one, two, three],
      [three, one, two],
      [three, two, one],
    ]) {
      wrong.push(...(await wrongOf(order.flatMap((each) => each ?? []))));
    }
    expect(wrong).toEqual([]);
  });
}

for (const [what, besides] of Object.entries({
  "deleted a line": deleteLine("Three", 0),
  "renamed it": rename("Three"),
}))
  for (const nth of [0, 1])
    test(`a section that both moved, and of which one ${what}, is one conflict`, async () => {
      const lab = new FollowedFolders();
      const changes = [moveSection("Three", 3), both(moveSection("Three", 0), besides)];
      const { machines, saved } = await met(lab, changes);
      const [first] = machines;
      const { conflicts } = await openIn(first);
      expect(conflicts.length).toBe(1);
      const chosen = conflicts[0]?.versions[nth]?.text ?? "";
      await first?.drain(await first.choiceOf(chosen));
      expect(saved).toContain((await first?.doc()) ?? "");
      expect((await openIn(first)).conflicts).toEqual([]);
      await lab.end();
    });
