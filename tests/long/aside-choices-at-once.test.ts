import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\nalpha\nbeta\ngamma\n";
const OTHERS = START.replace("beta\n", "beta changed by B\nfrom B\n");

const lab = clonesOfEach();

for (const [who, ofA, ofB] of [
  ["the machine of the discard takes git's", "beta\n", "beta changed by B\nfrom B\n"],
  ["the machine of the discard takes others'", "beta changed by B\nfrom B\n", "beta\n"],
] as const) {
  test(`of what git set aside two machines choose differently at once, and both stay: ${who}`, async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    for (const each of [a, b]) await each.follow({ write: true });
    await b.save(OTHERS);
    await exchange([a, b]);
    await a.pass(120_000);
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

const WAYS: Readonly<Record<string, string>> = {
  "one line was mended": START.replace("beta\n", "beta changed by B\n"),
  "one line was mended, and one added": OTHERS,
  "one line was added": START.replace("beta\n", "beta\nfrom B\n"),
};

for (const [what, text] of Object.entries(WAYS)) {
  for (const [isDismissedHere, isHereFirst] of [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ]) {
    const who = isDismissedHere ? "the machine of the discard" : "the other";
    const first = isHereFirst ? "the machine of the discard" : "the other";
    test(`where ${what}, and ${who} dismisses what git set aside while git's version is chosen, all stays and is told; ${first} hears first`, async () => {
      const { a, b } = await lab.pair({ [FILE]: START });
      for (const each of [a, b]) await each.follow({ write: true });
      await b.save(text);
      await exchange([a, b]);
      for (const each of [a, b]) await each.pass(120_000);
      expect(a.file()).toBe(text);
      await lab.run(a, "checkout", "--", FILE);
      expect(a.file()).toBe(START);
      await a.settle();
      await exchange([a, b]);
      for (const each of [a, b]) await each.pass(120_000);
      const [conflict, ...more] = await a.conflicts();
      expect([conflict?.kind, more]).toEqual(["set-aside", []]);
      const [dismisser, chooser] = isDismissedHere ? [a, b] : [b, a];
      const put = conflict?.versions.find(({ isStanding }) => !isStanding)?.text ?? "";
      const choice = await chooser.choiceOf(put);
      await dismisser.dismiss(conflict?.id ?? "");
      await chooser.drain(choice);
      const order = isHereFirst ? [a, b] : [b, a];
      await exchange(order);
      await exchange(order);
      for (const each of [a, b]) {
        const lines = (await each.doc()).split("\n");
        expect(lines).toEqual(expect.arrayContaining(text.split("\n")));
        expect(lines).toContain("beta");
        expect((await each.listed()).length).toBeGreaterThan(0);
      }
    });
  }
}
