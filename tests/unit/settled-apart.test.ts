import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService } from "../support/exchange-machines.ts";
import { LONG_MS } from "../support/followed-clones.ts";
import { FollowedFolders } from "../support/followed-folders.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const RUN = [
  "## Run\n\n- npm run build\n",
  "- npm run ship\n\n## Other\n\nsome words here\n",
] as const;
const [ALL, ONE] = ["- npm run check --all\n", "- npm run check --one\n"];
const having = (...lines: readonly string[]) => `# Guide\n\n${RUN[0]}${lines.join("")}${RUN[1]}`;
const LINE = "- npm run check\n";
const MOVED = "tell them all about it\n";

let lab: FollowedFolders;

beforeEach(() => {
  lab = new FollowedFolders();
});

afterEach(() => lab.end());

type Machines = readonly [FollowedMachine, FollowedMachine];

/** The texts of what both tell. */
async function told([a, b]: Machines): Promise<string[][]> {
  const listed = await a.listed();
  expect(await b.listed()).toEqual(listed);
  const all = (await a.conflicts()).filter(({ id }) => listed.includes(id));
  return all.map(({ versions }) => versions.map(({ text }) => text));
}

async function waitLong(machines: Machines): Promise<void> {
  for (const each of machines) await each.pass(LONG_MS);
}

/** Two that disagree about a line, for long. */
async function disagreeing(how: "savedStale" | "savedApart"): Promise<Machines> {
  const both = await lab[how](having(LINE), [having(ALL), having(ONE)]);
  await exchange(both);
  await waitLong(both);
  expect(await told(both)).toEqual([[ALL, ONE]]);
  return both;
}

for (const how of ["savedStale", "savedApart"] as const)
  for (const first of ["a", "b"] as const)
    test(`of lines ${how} each takes out another version, and ${first} tells first: both can be chosen again`, async () => {
      const both = await disagreeing(how);
      const [a, b] = both;
      await a.save(having(ALL));
      await b.save(having(ONE));
      await exchangeOverService(first === "a" ? [a, b] : [b, a]);
      expect([await a.doc(), await b.doc()]).toEqual([having(), having()]);
      expect(await told(both)).toEqual([[ALL, ONE]]);
      await b.drain(await b.choiceOf(ONE));
      await exchange(both);
      expect(await a.doc()).toBe(having(ONE));
      expect(await told(both)).toEqual([]);
    });

test("what both have taken out is settled by whoever writes one of the versions again", async () => {
  const both = await disagreeing("savedApart");
  const [a, b] = both;
  await a.save(having(ALL));
  await b.save(having(ONE));
  await exchange(both);
  await waitLong(both);
  await a.save(having(ONE));
  await exchange(both);
  expect(await told(both)).toEqual([]);
});

test("of lines that stand at two places each takes out another one: they can be chosen", async () => {
  const [here, there] = [`# Guide\n\n${MOVED}\n## One\n\none\n`, "\n## Two\n\ntwo\n"];
  const moved = [here.replace(MOVED, ""), there] as const;
  const texts = [`${moved[0]}${MOVED}${there}`, `${moved.join("")}${MOVED}`] as const;
  const both = await lab.savedApart(`${here}${there}`, texts);
  const [a, b] = both;
  await exchange(both);
  await waitLong(both);
  expect(await a.doc()).toBe(`${moved[0]}${MOVED}${there}${MOVED}`);
  await a.save(texts[0]);
  await b.save(texts[1]);
  await exchange(both);
  expect(await a.doc()).toBe(moved.join(""));
  expect(await told(both)).toEqual([[MOVED, MOVED]]);
  await b.drain(await b.choiceOf(MOVED));
  await exchange(both);
  expect(texts as readonly string[]).toContain(await a.doc());
  expect(await told(both)).toEqual([]);
});

for (const [what, ofA, ofB, text] of [
  ["the same version", having(ALL), having(ALL), having(ALL)],
  ["all there is", having(), having(), having()],
  ["one and mends the other", having(ALL), having("- npm run check --all --now\n", ONE), undefined],
] as const)
  test(`who takes out ${what} has not settled it apart`, async () => {
    const both = await disagreeing("savedStale");
    const [a, b] = both;
    await a.save(ofA);
    await b.save(ofB);
    await exchange(both);
    if (text !== undefined) expect(await a.doc()).toBe(text);
    expect(await told(both)).not.toContainEqual([ALL, ONE]);
  });
