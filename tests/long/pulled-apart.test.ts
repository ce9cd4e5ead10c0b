import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, type Pair, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const MINUTE_MS = 60_000;
const LINE = "\nOne more.\n";
/** Several lines in one commit, and the same without one of them. */
const LINES = `${START}\nOne more.\nAnother.\nThe last.\n`;
const LESS = `${START}\nOne more.\nThe last.\n`;

const lab = clonesOfEach();

/** While no service answers A commits a text, and B pulls it. `start`: what both had. */
async function pulledApart(text: string, start = START): Promise<Pair> {
  const pair = await lab.pair({ [FILE]: start });
  const { a, b } = pair;
  await a.acknowledge();
  await b.acknowledge();
  await lab.commit(a, text);
  await a.settle();
  await lab.run(a, "push", "-q");
  await lab.run(b, "pull", "-q");
  await b.settle();
  expect(await b.doc()).toBe(text);
  await b.pass(MINUTE_MS);
  await b.pass(MINUTE_MS);
  return pair;
}

/** Which of the two calls the service first once it is back. */
const FIRST = ["a", "b"] as const;

async function meet(pair: Pair, first: (typeof FIRST)[number]): Promise<void> {
  const { a, b } = pair;
  await exchangeOverService(first === "a" ? [a, b] : [b, a]);
  await exchange([a, b]);
}

async function told(at: FollowedMachine) {
  return (await at.conflicts()).map(({ kind, versions }) => [
    kind,
    ...versions.map(({ text }) => text),
  ]);
}

for (const first of FIRST) {
  test(`what one machine pulled and deleted is told, where ${first} calls first`, async () => {
    const pair = await pulledApart(MORE);
    const { a, b } = pair;
    await lab.commit(b, START);
    await b.settle();
    expect(await b.doc()).toBe(START);
    await meet(pair, first);
    expect([await a.doc(), await b.doc()]).toEqual([MORE, MORE]);
    const one = [["both", "", LINE]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
    await lab.run(b, "push", "-q");
    await lab.run(a, "pull", "-q");
    await a.settle();
    await exchange([a, b]);
    expect(await told(b)).toEqual(one);
    await b.drain(await b.choiceOf(""));
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([START, START]);
    expect([await told(a), await told(b)]).toEqual([[], []]);
  });
}

for (const first of FIRST) {
  test(`of several pulled lines the deleted one is told, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await lab.commit(b, LESS);
    await b.settle();
    await meet(pair, first);
    expect([await a.doc(), await b.doc()]).toEqual([LINES, LINES]);
    const one = [["both", "", "Another.\n"]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
  });
}

for (const first of FIRST) {
  test(`a pulled line that one has moved is there once, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await b.save(LESS);
    await b.save(`${LESS}Another.\n`);
    await meet(pair, first);
    expect(await a.doc()).toBe(await b.doc());
    expect((await a.doc()).split("\n").filter((line) => line === "Another.")).toHaveLength(1);
    expect([await told(a), await told(b)]).toEqual([[], []]);
  });
}

for (const first of FIRST) {
  for (const mover of ["a", "b"] as const) {
    test(`a pulled line that ${mover} has moved and the other has deleted is told, where ${first} calls first`, async () => {
      const pair = await pulledApart(LINES);
      const [one, other] = mover === "a" ? [pair.a, pair.b] : [pair.b, pair.a];
      await one.save(LINES.replace("Another.\n", "").replace("# ", "Another.\n\n# "));
      await other.save(LESS);
      await meet(pair, first);
      expect((await pair.a.doc()).split("\n")).toContain("Another.");
      const it = [["both", "", "Another.\n"]];
      expect([await told(pair.a), await told(pair.b)]).toEqual([it, it]);
    });
  }
}

for (const first of FIRST) {
  test(`what one machine pulled and nobody changed is there once, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await meet(pair, first);
    expect([await a.doc(), await told(a), await told(b)]).toEqual([LINES, [], []]);
  });
}

const section = (name: string, more = "") => `## ${name}\n\n${name} one.\n${name} two.\n${more}\n`;
/** A text of sections, with something at the end of the first and of the last. */
const guide = (top = "", end = "") =>
  `# Guide\n\n${section("Top", top)}${section("Middle")}${section("End", end)}`;
const block = (command: string) => `\n\`\`\`bash\n${command}\n\`\`\`\n`;

for (const first of FIRST) {
  test(`a block of code that both pulled is told whole, where ${first} calls first`, async () => {
    const pair = await pulledApart(`${START}${block("make all")}`);
    const { a, b } = pair;
    await lab.commit(b, START);
    await b.settle();
    await meet(pair, first);
    const one = [["both", "", block("make all")]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
  });

  test(`an equal line elsewhere is no pulled one, where ${first} calls first`, async () => {
    const pair = await pulledApart(guide("Run it.\n"), guide());
    const { a, b } = pair;
    await lab.commit(b, guide());
    await b.settle();
    await a.save(guide("Run it.\n", "Run it.\n"));
    await meet(pair, first);
    const one = [["both", "", "Run it.\n"]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
    await b.drain(await b.choiceOf(""));
    await exchange([a, b]);
    expect([await a.doc(), await b.doc()]).toEqual([
      guide("", "Run it.\n"),
      guide("", "Run it.\n"),
    ]);
  });

  test(`what was deleted before the commit is none of it, where ${first} calls first`, async () => {
    const pair = await lab.pair({ [FILE]: guide("", block("make old")) });
    const { a, b } = pair;
    await b.save(guide());
    await exchange([a, b]);
    await a.acknowledge();
    await b.acknowledge();
    await a.pass(MINUTE_MS);
    await lab.commit(a, guide("More.\n"));
    await a.settle();
    await lab.run(a, "push", "-q");
    await lab.run(b, "checkout", "-q", FILE);
    await lab.run(b, "pull", "-q");
    await b.settle();
    await b.pass(MINUTE_MS);
    await a.save(guide("More.\n", block("make new")));
    const before = [await told(a), await told(b)];
    await meet(pair, first);
    expect([await told(a), await told(b)]).toEqual(before);
  });

  test(`what its author wrote after the commit is none of it, where ${first} calls first`, async () => {
    const both = guide("Run it.\n");
    const pair = await pulledApart(`${both}More.\n`, both);
    const { a, b } = pair;
    await lab.commit(b, `${guide()}More.\n`);
    await b.settle();
    await a.save(`${guide("Run it.\nThen again:\nRun it.\n")}More.\n`);
    await meet(pair, first);
    expect([await told(a), await told(b)]).toEqual([[], []]);
    expect(await a.doc()).toBe(`${guide("Then again:\nRun it.\n")}More.\n`);
  });

  test(`what one typed and took out again is no pulled line, where ${first} calls first`, async () => {
    const pair = await lab.apart();
    const { a, b } = pair;
    await a.save(guide());
    await exchange([a, b]);
    await b.pass(MINUTE_MS);
    await b.save(guide());
    await b.save(guide("", block("npm install")));
    await b.save(guide());
    await b.save(guide("", "A note.\n"));
    await a.save(guide(block("make new")));
    await meet(pair, first);
    expect([await told(a), await told(b)]).toEqual([[], []]);
    expect(await a.doc()).toBe(guide(block("make new"), "A note.\n"));
  });

  test(`what was saved, and committed after a restart, is told, where ${first} calls first`, async () => {
    const { a: before, b } = await lab.pair({ [FILE]: START });
    await before.acknowledge();
    await b.acknowledge();
    await before.save(LINES);
    await before.stop();
    const a = await lab.restarted(before);
    await lab.commit(a, LINES);
    await a.settle();
    await lab.run(a, "push", "-q");
    await lab.run(b, "pull", "-q");
    await b.settle();
    await b.pass(MINUTE_MS);
    await b.pass(MINUTE_MS);
    await lab.commit(b, LESS);
    await b.settle();
    await meet({ a, b }, first);
    expect([await a.doc(), await b.doc()]).toEqual([LINES, LINES]);
    const one = [["both", "", "Another.\n"]];
    expect([await told(a), await told(b)]).toEqual([one, one]);
  });
}

for (const first of FIRST) {
  test(`a deletion beside what its author changed since is told, where ${first} calls first`, async () => {
    const pair = await pulledApart(LINES);
    const { a, b } = pair;
    await lab.commit(b, LESS);
    await b.settle();
    await a.save(LINES.replace("The last.", "The very last."));
    await meet(pair, first);
    expect((await told(a)).flat().join("")).toContain("Another.\n");
    expect((await told(b)).flat().join("")).toContain("Another.\n");
    expect((await a.doc()).split("\n").filter((line) => line === "Another.")).toHaveLength(1);
  });
}
