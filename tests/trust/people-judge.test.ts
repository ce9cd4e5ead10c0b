import { expect, test } from "bun:test";
import { judge } from "./people/judge.ts";
import { type Change, Ledger } from "./people/ledger.ts";

const LINE = "- one line";

type Step = readonly [place: string, change: Change, unsure?: boolean];

/** What is said of a line that was in so many copies of the text after all of this. */
function judged(steps: readonly Step[], copies: number, isInConflict = false): string[] {
  const ledger = new Ledger(0);
  ledger.allow(LINE);
  for (const [place, change, unsure] of steps) {
    ledger.enter(place, change, "");
    ledger.tell(LINE, change, unsure);
  }
  const { saved: _, ...found } = judge(ledger, `${LINE}\n`.repeat(copies), () => isInConflict);
  return Object.entries(found).flatMap(([name, lines]) => (lines.length > 0 ? [name] : []));
}

test("a line that nobody took away must be there", () => {
  const steps: Step[] = [
    ["a", "put"],
    ["b", "came"],
  ];
  expect(judged(steps, 1)).toEqual([]);
  expect(judged(steps, 0)).toEqual(["lost"]);
});

test("a buffer that never showed a line takes it away only after the minute", () => {
  expect(judged([...PUT_ON_A, ["b", "protected"]], 0)).toEqual(["lost"]);
  expect(judged([...PUT_ON_A, ["b", "overwritten"]], 0)).toEqual(["overwritten"]);
});

const PUT_ON_A: readonly Step[] = [
  ["a", "put"],
  ["b", "came"],
];

test("what was taken away on purpose stays away, unless it was put back or is in a conflict", () => {
  const steps: Step[] = [...PUT_ON_A, ["b", "meant"]];
  expect(judged(steps, 0)).toEqual([]);
  expect(judged(steps, 1)).toEqual(["back"]);
  expect(judged(steps, 1, true)).toEqual(["backInConflict"]);
  expect(judged([...steps, ["a", "put"]], 1)).toEqual([]);
  expect(judged([...steps, ["a", "returned"]], 1)).toEqual(["back"]);
});

test("whoever took away one of two copies wants the other one", () => {
  const ledger = new Ledger(0);
  ledger.allow(`${LINE}\n${LINE}\n`);
  for (const [change, text] of [
    ["put", `${LINE}\n${LINE}\n`],
    ["meant", `${LINE}\n`],
  ] as const) {
    ledger.enter("a", change, text);
    ledger.tell(LINE, change);
  }
  const of = (text: string) => judge(ledger, text, () => false);
  expect(of(`${LINE}\n`)).toMatchObject({ back: [], lost: [] });
  expect(of("")).toMatchObject({ back: [], lost: [LINE] });
});

test("what somebody put back where it was taken away must be there", () => {
  expect(judged([...PUT_ON_A, ["b", "meant"], ["b", "put"]], 0)).toEqual(["lost"]);
  expect(judged([...PUT_ON_A, ["b", "meant"], ["a", "put"]], 0)).toEqual([]);
});

test("what git moved away within seconds may never have been read", () => {
  expect(judged([["a", "put", true]], 0)).toEqual(["unread"]);
  expect(judged([...PUT_ON_A, ["b", "meant", true]], 1)).toEqual([]);
});

test("what git takes away is gone, and what it leaves out is not", () => {
  expect(judged([...PUT_ON_A, ["b", "git took"]], 0)).toEqual([]);
  expect(judged([...PUT_ON_A, ["b", "git left"]], 0)).toEqual(["lost"]);
});

test("what was deleted and comes with others' commits may stay deleted, or come", () => {
  const steps: Step[] = [...PUT_ON_A, ["b", "meant"], ["b", "git brought"]];
  expect(judged(steps, 0)).toEqual([]);
  expect(judged(steps, 1)).toEqual([]);
  expect(judged([["a", "git brought"]], 0)).toEqual(["lost"]);
});

test("more copies than anybody saved are doubled", () => {
  expect(judged(PUT_ON_A, 2)).toEqual(["doubled"]);
  expect(judged(PUT_ON_A, 2, true)).toEqual(["doubledInConflict"]);
});
