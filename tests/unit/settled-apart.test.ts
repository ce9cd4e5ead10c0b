import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange, exchangeOverService, toldTexts } from "../support/exchange-machines.ts";
import { LONG_MS } from "../support/followed-clones.ts";
import { foldersOfEach } from "../support/followed-folders.ts";
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

const lab = foldersOfEach();

type Machines = readonly [FollowedMachine, FollowedMachine];

async function waitLong(machines: Machines): Promise<void> {
  for (const each of machines) await each.pass(LONG_MS);
}

/** Two that disagree about a line, for long. */
async function disagreeing(how: "savedStale" | "savedApart"): Promise<Machines> {
  const both = await lab[how](having(LINE), [having(ALL), having(ONE)]);
  await exchange(both);
  await waitLong(both);
  expect(await toldTexts(both)).toEqual([[ALL, ONE]]);
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
      expect(await toldTexts(both)).toEqual([[ALL, ONE]]);
      await b.drain(await b.choiceOf(ONE));
      await exchange(both);
      expect(await a.doc()).toBe(having(ONE));
      expect(await toldTexts(both)).toEqual([]);
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
  expect(await toldTexts(both)).toEqual([]);
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
  expect(await toldTexts(both)).toEqual([[MOVED, MOVED]]);
  await b.drain(await b.choiceOf(MOVED));
  await exchange(both);
  expect(texts as readonly string[]).toContain(await a.doc());
  expect(await toldTexts(both)).toEqual([]);
});

const BUILD = "- npm run build\n";
const fast = (text: string) => text.replace(BUILD, "- npm run build --fast\n");
const VERIFY = "- make verify\n";
const NOW = "- npm run check --all --now\n";

for (const how of ["savedStale", "savedApart"] as const)
  for (const [what, ofA, ofB, written = ""] of [
    ["another version, one of them both for a third text", having(ALL), having(VERIFY), VERIFY],
    ["another version, one of them both", having(ALL), having()],
    ["another version, one of them mending its own", having(NOW), having(ONE), NOW],
    ["another version, and one mends the line above", having(ALL), fast(having(ONE))],
    [
      "another version, and both write beside it",
      fast(having(ALL)),
      having(ONE, "- npm run lint\n"),
    ],
    [
      "another version, and one adds a line there",
      having(ALL, "- npm run lint it\n"),
      having(ONE),
      "- npm run lint it\n",
    ],
    ["another version, and one moves its own", `${having()}${ALL}`, having(ONE)],
  ] as const)
    test(`of lines ${how} each takes out ${what}: both can be chosen again`, async () => {
      const both = await disagreeing(how);
      const [a, b] = both;
      await a.save(ofA);
      await b.save(ofB);
      await exchangeOverService(both);
      await waitLong(both);
      await exchange(both);
      expect(await toldTexts(both)).toContainEqual([ALL, ONE]);
      expect(await a.doc()).toContain(written);
      // What one has written in their place is in neither version: whoever reads it takes it out.
      if (written !== "") await b.save(having());
      await exchange(both);
      await b.drain(await b.choiceOf(ONE));
      await exchange(both);
      expect(await a.doc()).toContain(ONE);
      expect(await toldTexts(both)).not.toContainEqual([ALL, ONE]);
    });

const LINT = "- npm run lint please\n";
const TYPES = "- npm run types too\n";

for (const [what, versions, elsewhere] of [
  ["a version", [ALL, ONE], ALL],
  ["each version", [ALL, ONE], ALL + ONE],
  ["a line of a version", [ALL + LINT, ONE + TYPES], LINT],
] as const)
  test(`of lines each takes out another version, and ${what} stands in another section: both can be chosen again`, async () => {
    const [ofA, ofB] = versions.map((own) => `${having(own)}\n## CI\n\nthe words\n${elsewhere}`);
    const base = having(LINE) + ofA?.slice(having(versions[0]).length);
    const both = await lab.savedApart(base, [ofA ?? "", ofB ?? ""]);
    const [a, b] = both;
    await exchange(both);
    await waitLong(both);
    expect(await toldTexts(both)).toEqual([[...versions]]);
    await a.save(ofA ?? "");
    await b.save(ofB ?? "");
    await exchange(both);
    expect(await a.doc()).not.toContain(`${BUILD}- npm run check`);
    expect(await toldTexts(both)).toEqual([[...versions]]);
  });

for (const [what, how, ofA, ofB, text, left] of [
  ["the same version", "savedStale", having(ALL), having(ALL), having(ALL), []],
  ["the same version", "savedApart", having(ALL), having(ALL), having(ALL), []],
  ["all there is", "savedStale", having(), having(), having(), []],
  ["all there is", "savedApart", having(), having(), having(), []],
  // Whoever has mended one has not chosen.
  [
    "one and mends the other",
    "savedApart",
    having(NOW, ONE),
    having(ALL),
    having(NOW),
    [["", NOW]],
  ],
] as const)
  test(`of lines ${how} who takes out ${what} has not settled it apart`, async () => {
    const both = await disagreeing(how);
    const [a, b] = both;
    await a.save(ofA);
    await b.save(ofB);
    await exchange(both);
    expect(await a.doc()).toBe(text);
    expect(await toldTexts(both)).toEqual(left.map((each) => [...each]));
  });

test("who mends the other's version beside an own one has chosen both, of which another took one out", async () => {
  const both = await disagreeing("savedStale");
  const [a, b] = both;
  await a.save(having(ALL));
  await b.save(having(NOW, ONE));
  await exchange(both);
  expect(await a.doc()).toBe(having(NOW));
  expect(await toldTexts(both)).toEqual([[ALL, ONE]]);
});
