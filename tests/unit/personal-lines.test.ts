import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowSecretsOf } from "../../daemon/held/judge.ts";
import { personalLinesReason } from "../../daemon/held/personal-lines.ts";
import { listHeld } from "../../daemon/home/held-store.ts";
import type { Reason } from "../../shared/reasons.ts";
import { MemoryMachine, settleMemories } from "../support/memory-machines.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";

const [BEGIN, END] = ["<!-- memsync:personal begin: mine -->", "<!-- memsync:personal end -->"];
const TEXT = "# Rules\n\n- mine alone\n---\nIn short:\nbrief\n1. answer  in verse\n";
const BLOCK: Reason = { code: "personal-block", line: 3 };

let a: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
});
afterEach(() => a.remove());

const reasonFor = (
  text: string,
  { former, already = ["# Of all\n"] }: { former?: Former; already?: string[] } = {},
) =>
  personalLinesReason(a.store.reader, former ?? { value: whole(TEXT), reason: BLOCK }, {
    text,
    already,
  });

interface Former {
  readonly value: string;
  readonly reason: Reason;
}

function whole(text: string): string {
  return `# Of all\n\n${BEGIN}\n${text}${END}\n`;
}

test("lines of a held block are known without their marks, whatever signs stand before them", async () => {
  expect(await reasonFor("# Of all\n\nmine alone\r\n  * answer in verse\n")).toEqual({
    code: "personal-lines",
    lines: [3, 4],
  });
  expect(await reasonFor("# Of all\n")).toBeUndefined();
  // What anybody has holds nothing, nor what is said in other words.
  expect(await reasonFor("# Rules\n\n---\nIn short:\nbrief\nmine, alone\n")).toBeUndefined();
  const already = ["# Of all\nmine alone\n"];
  expect(await reasonFor("# Of all\n- mine alone\n", { already })).toBeUndefined();
});

test("lines of a held block are known again after each such save, until somebody allows them", async () => {
  const held = {
    value: "one\nmine alone\n",
    reason: { code: "personal-lines", lines: [2] },
  } as const;
  expect(await reasonFor("mine alone\ntwo more lines\n", { former: held })).toEqual({
    code: "personal-lines",
    lines: [1],
  });
  // A line beside them is nobody's own.
  expect(await reasonFor("one\n", { former: held })).toBeUndefined();
  await a.store.write(({ db, now }) => allowSecretsOf(db, { kind: "file", key: "", ...held }, now));
  expect(await reasonFor("mine alone\n", { former: held })).toBeUndefined();
  expect(await reasonFor("answer in verse\n")).toEqual({ code: "personal-lines", lines: [1] });
});

test("what the text has had is known as well, and only where a block was held", async () => {
  await a.on("claude");
  a.edit("claude", () => "a former line of mine\n");
  await settlePersonal(a);
  a.edit("claude", () => "another line\n");
  await settlePersonal(a);
  const text = "# Of all\na former line of mine\n";
  expect(await reasonFor(text)).toEqual({ code: "personal-lines", lines: [2] });
  const former = { value: "# Of all\n", reason: { code: "no-room" } } as const;
  expect(await reasonFor(text, { former })).toBeUndefined();
});

test("a memory that was held for a personal text stays so without the marks", async () => {
  const b = await MemoryMachine.start("ben");
  try {
    b.save("one.md", whole("mine alone\n"));
    await settleMemories(b);
    b.save("one.md", "# Of all\n\nmine alone\n");
    await settleMemories(b);
    expect(await b.values("one.md")).toEqual([]);
    const reasons = (await listHeld(b.store.reader)).map(({ reason }) => reason.code);
    expect(reasons).toContain("personal-lines");
    b.save("one.md", "# Of all\n");
    await settleMemories(b);
    expect(await b.values("one.md")).toEqual(["# Of all\n"]);
  } finally {
    await b.remove();
  }
});
