import { expect, setDefaultTimeout, test } from "bun:test";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE, MORE, START } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const inCrlf = (text: string) => text.replaceAll("\n", "\r\n");

const lab = clonesOfEach();

/** Lets git turn line endings, and checks the file out anew. */
async function turn(at: FollowedMachine): Promise<void> {
  await lab.run(at, "config", "core.autocrlf", "true");
  at.remove();
  await lab.run(at, "checkout", "-q", "--", FILE);
  expect(at.file()).toBe(inCrlf(await lab.run(at, "show", `HEAD:${FILE}`)));
}

test("a clone that git checks out with CRLF gives nobody else any", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await turn(a);
  await a.settle();
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([START, START]);
  await a.save(inCrlf(MORE));
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([MORE, MORE]);
  expect([await a.conflicts(), await b.conflicts()]).toEqual([[], []]);
});

test("others' lines are written into it with CRLF, and git finds its endings unchanged", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await turn(a);
  await a.follow({ write: true });
  await b.save(MORE);
  await exchange([a, b]);
  expect(a.file()).toBe(inCrlf(MORE));
  expect(await lab.run(a, "diff", "--stat")).toContain("2 insertions(+)");
  await a.save(inCrlf(`${MORE}\nAnd of a.\n`));
  await exchange([a, b]);
  expect(await b.doc()).toBe(`${MORE}\nAnd of a.\n`);
});

test("a program that writes LF between git's CRLF changes no line's ending", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await turn(a);
  await a.settle();
  await a.save(`${inCrlf(START)}\nOne more.\n`);
  await exchange([a, b]);
  expect([await a.doc(), await b.doc()]).toEqual([MORE, MORE]);
});

test("by an attribute, too, git's line endings are no edit", async () => {
  const { a, b } = await lab.pair({ [FILE]: START, ".gitattributes": "*.md text eol=crlf\n" });
  expect([b.file(), await b.doc()]).toEqual([inCrlf(START), START]);
  await a.save(inCrlf(MORE));
  await exchange([a, b]);
  expect(await b.doc()).toBe(MORE);
});

test("CRLF that git would commit are a person's", async () => {
  const { a, b } = await lab.pair({ [FILE]: START, ".gitattributes": "*.md -text\n" });
  await a.save(inCrlf(MORE));
  await exchange([a, b]);
  expect(await b.doc()).toBe(inCrlf(MORE));
});
