import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  cellsOf,
  openOfTable,
  playRow,
  readConflictTable,
  TABLE_LINES,
  textOfCell,
  versionOfCell,
} from "../support/conflict-table.ts";
import { exchange } from "../support/exchange-machines.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

let sandbox: GitSandbox;

beforeAll(() => {
  sandbox = createGitSandbox();
});

afterAll(() => sandbox.remove());

for (const [at, row] of readConflictTable().entries()) {
  const { kind, versions, text, edits, unheardBy } = row;
  const made = edits.map((edit, by) => `${edit || "nothing"}${by === unheardBy ? " unheard" : ""}`);
  test(`${kind} of ${versions.join(" and ")} where ${text} stands, of which a makes ${made.join(" and b ")}`, async () => {
    const [ofA, ofB] = await playRow(row, { sandbox, nth: `${at}` });
    expect(cellsOf(ofA, kind)).toEqual([...row.after]);
    expect(ofB).toEqual(ofA);
  });
}

test("a conflict of which one takes a version out unheard stays though the two meet elsewhere, too", async () => {
  const folders = { sandbox, nth: "elsewhere" };
  const [a, b] = [await openOfTable("a", folders), await openOfTable("b", folders)];
  await a.setDoc(textOfCell("A B"));
  await exchange([a, b]);
  await a.tell({ kind: "both", versions: [versionOfCell("A", "a"), versionOfCell("B", "b")] });
  await a.setDoc(textOfCell("A B").replace("some words", "some good words"));
  await b.setDoc(textOfCell("A").replace("some words", "some bad words"));
  await exchange([a, b]);
  const told = (await b.conflicts()).map(({ versions }) => versions.map(({ text }) => text));
  expect(told).toContainEqual([TABLE_LINES.get("A") ?? "", TABLE_LINES.get("B") ?? ""]);
  expect(told).toHaveLength(2);
  for (const each of [a, b]) await each.stop();
});

test("what both took out is asked again though one of its lines stands elsewhere, too", async () => {
  const folders = { sandbox, nth: "equal-line" };
  const [a, b] = [await openOfTable("a", folders), await openOfTable("b", folders)];
  const textWith = (lines: string) =>
    textOfCell("- /")
      .replace("some words", "- later\nsome words")
      .replace("- npm run build\n", `- npm run build\n${lines}`);
  const [ofA, ofB] = ["- npm run check --one\n", "- later\n- npm install comes first\n"];
  const versionOf = (text: string, machine: string) => {
    const places = [{ behind: "- npm run build\n", text }];
    return { text, machine, at: 1, places, isStanding: false };
  };
  await a.setDoc(textWith(ofB));
  await exchange([a, b]);
  await a.setDoc(textWith(ofA + ofB));
  await a.tell({ kind: "both", versions: [versionOf(ofA, "a"), versionOf(ofB, "b")] });
  await a.setDoc(textWith(ofB));
  await b.setDoc(textWith(""));
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect(await each.doc()).toBe(textWith(""));
    const all = await each.conflicts();
    expect(all.map(({ versions }) => versions.map(({ text }) => text))).toEqual([[ofB, ofA]]);
    expect(await each.listed()).toEqual(all.map(({ id }) => id));
    await each.stop();
  }
});
