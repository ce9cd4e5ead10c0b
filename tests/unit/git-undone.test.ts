import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const lab = clonesOfEach();

test("a line that was removed, and that git and a pull bring into the file again, is told of", async () => {
  const { a, b } = await lab.pair({ [FILE]: MORE });
  await a.save(START);
  await exchange([a, b]);
  expect(await b.doc()).toBe(START);
  await lab.commit(b, `Of b.\n\n${MORE}`);
  await b.settle();
  await exchange([a, b]);
  expect(await a.doc()).toBe(`Of b.\n\n${START}`);
  await lab.run(b, "push", "-q");
  // One after the other, before anybody looks: to the daemon it is as if the edit was discarded.
  await lab.run(a, "commit", "-qam", "x");
  await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
  await lab.run(a, "pull", "-q");
  await a.settle();
  await exchange([a, b]);
  for (const machine of [a, b]) {
    expect(await machine.doc()).toBe(`Of b.\n\n${MORE}`);
    const [conflict, ...more] = await machine.conflicts();
    expect(more).toEqual([]);
    expect(conflict?.kind).toBe("renewed");
    expect(conflict?.versions.map(({ text }) => text)).toEqual(["", "One more.\n"]);
  }
});
