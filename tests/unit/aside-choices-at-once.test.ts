import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { FILE, FollowedClones } from "../support/followed-clones.ts";
import { exchange } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\nalpha\nbeta\ngamma\n";
const OTHERS = START.replace("beta\n", "beta changed by B\nfrom B\n");

let lab: FollowedClones;

beforeEach(() => {
  lab = new FollowedClones();
});

afterEach(() => lab.end());

for (const [who, ofA, ofB] of [
  ["the machine of the discard takes git's", "beta\n", "beta changed by B\nfrom B\n"],
  ["the machine of the discard takes others'", "beta changed by B\nfrom B\n", "beta\n"],
] as const) {
  test(`of what git set aside two machines choose differently at once, and both stay: ${who}`, async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    for (const each of [a, b]) await each.follow({ write: true });
    await b.save(OTHERS);
    await exchange([a, b]);
    a.pass(120_000);
    expect(a.file()).toBe(OTHERS);
    await lab.run(a, "checkout", "--", FILE);
    expect(a.file()).toBe(START);
    await a.settle();
    await exchange([a, b]);
    expect(await a.conflicts()).toMatchObject([{ kind: "set-aside" }]);
    const choices = [await a.choiceOf(ofA), await b.choiceOf(ofB)] as const;
    await a.drain(choices[0]);
    await b.drain(choices[1]);
    await exchange([a, b]);
    await exchange([a, b]);
    for (const each of [a, b]) {
      const lines = (await each.doc()).split("\n");
      expect(lines).toEqual(expect.arrayContaining(["beta", "beta changed by B", "from B"]));
      expect(await each.listed()).toHaveLength(1);
    }
  });
}
