import { expect, setDefaultTimeout, test } from "bun:test";
import { placedVersions, type TextConflict } from "../../cli/local/local-conflicts.ts";
import { settle } from "../../cli/writes/settle-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { TextConflictRecord } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { waitFor } from "../support/wait-for.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n- one\n- two\n- three\n";
const MENDED = START.replace("- two\n", "- two, mended\n");

const lab = clonesOfEach();

/** Ways by which git takes a mended line out of a file and keeps it elsewhere. */
const WAYS: Readonly<Record<string, (a: FollowedMachine) => Promise<void>>> = {
  "a stash": async (a) => {
    await lab.run(a, "stash", "-q");
  },
  "a commit that a reset undoes": async (a) => {
    await lab.run(a, "commit", "-qam", "x");
    await a.settle();
    await lab.run(a, "reset", "-q", "--hard", "HEAD~1");
  },
  "a commit on another branch": async (a) => {
    await lab.run(a, "checkout", "-qb", "feature");
    await lab.run(a, "commit", "-qam", "x");
    await lab.run(a, "checkout", "-q", "main");
  },
};

for (const [way, act] of Object.entries(WAYS)) {
  test(`either version of a line that git took out by ${way} can be chosen, and one of them stands`, async () => {
    const { a, b } = await lab.pair({ [FILE]: START });
    await a.save(MENDED);
    await exchange([a, b]);
    await a.pass(120_000);
    await act(a);
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toBe(MENDED);
    const open = (await b.conflicts()).filter((each) => !isOver(each, MENDED));
    const [record, ...more] = open;
    if (!record) throw new Error("nothing is told");
    expect([record.kind, more]).toEqual(["set-aside", []]);
    const byText = (text: string) => record.versions.findIndex((each) => each.text === text);
    expect(chosen(record, MENDED, byText("- two\n"))).toBe(START);
    expect(chosen(record, MENDED, byText("- two, mended\n"))).toBe(MENDED);
    expect(isOver(record, START)).toBeTrue();
  });
}

test("a file has both versions as soon as the conflict about lines that git took out is dismissed", async () => {
  const { a, b } = await lab.pair({ [FILE]: START });
  await a.follow({ write: true });
  await a.save(MENDED);
  await exchange([a, b]);
  await a.pass(120_000);
  await lab.run(a, "stash", "-q");
  await a.settle();
  expect(a.file()).toBe(START);
  expect(a.status.why).toEqual({ code: "leave-aside" });
  const [conflict] = await a.conflicts();
  await a.dismiss(conflict?.id ?? "");
  const both = START.replace("- two\n", "- two, mended\n- two\n");
  await waitFor("the lines to be back", () => a.file() === both);
  expect(await a.doc()).toBe(both);
});

function chosen(record: TextConflictRecord, content: string, version: number): string {
  const versions = placedVersions(record, content);
  const conflict = { kind: "text", id: record.id, record, versions, content };
  return settle(conflict as unknown as TextConflict, version).content;
}
