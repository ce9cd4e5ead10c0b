import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions } from "../../cli/local/local-conflicts.ts";
import { exchange } from "../support/exchange-machines.ts";
import { foldersOfEach } from "../support/followed-folders.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const TEXT = "# T\n\n- one\n- two\n- three\n";

const lab = foldersOfEach();

test("a line that a choice brings back opens no conflict that was over", async () => {
  const all = await lab.machines(["a", "b", "c"], TEXT);
  const [a, b, c] = all;
  if (!a || !b || !c) throw new Error("there are three machines");
  for (const each of all) await each.pass(86_400_000);
  await a.save(TEXT.replace("- two", "- A"));
  await b.save(TEXT.replace("- two", "- B"));
  await exchange(all);
  const [changed] = await c.listed();
  c.remove();
  await c.settleAfterGrace();
  await c.save("# Own\n");
  await exchange(all);
  const both = await a.conflicts();
  const [renewed] = both.filter(({ kind }) => kind === "renewed");
  expect(await a.listed()).toEqual(both.map(({ id }) => id).sort());
  if (!renewed) throw new Error("the file was made anew");

  await a.setDoc("");
  await exchange(all);
  expect(await a.listed()).toEqual([changed ?? ""]);
  // One line of five: not all that the version has, and enough to be asked about.
  const [kept] = placedVersions(renewed, "- A\n").filter(({ text }) => text !== "# Own\n");
  expect(kept).toMatchObject({ inText: true, inPart: true });
  await a.drain(await a.choiceOf("- A\n", changed));
  await exchange(all);
  for (const each of all) expect([await each.doc(), await each.listed()]).toEqual(["- A\n", []]);
});
