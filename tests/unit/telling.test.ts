import { expect, test } from "bun:test";
import { Telling } from "../../server/services/telling.ts";
import { asAccountId } from "../../shared/ids.ts";

const [ACCOUNT, OTHER] = [asAccountId("acct_a"), asAccountId("acct_b")];

/** What is deferred runs when it is told to. */
function createTelling() {
  const deferred: (() => void)[] = [];
  const telling = new Telling({ defer: (work) => void deferred.push(work) });
  const tell = (seq: number, account = ACCOUNT) =>
    telling.tell(account, () => {
      return { document: "global", projectId: null, user: null, epoch: "e", seq, update: NOTHING };
    });
  const nextTurn = () => deferred.shift()?.();
  return { telling, tell, nextTurn, deferred };
}

const NOTHING = new Uint8Array();

test("a few listeners are told at once, and no other account's", () => {
  const { telling, tell, deferred } = createTelling();
  const heard: number[] = [];
  telling.listen(ACCOUNT, ({ seq }) => heard.push(seq));
  telling.listen(OTHER, () => heard.push(-1));
  tell(1);
  tell(2);
  expect([heard, deferred]).toEqual([[1, 2], []]);
});

test("of many listeners some are told in later turns, each in order, and none after it has ended", () => {
  const { telling, tell, nextTurn, deferred } = createTelling();
  const heard = Array.from({ length: 100 }, (): number[] => []);
  const ends = heard.map((each) => telling.listen(ACCOUNT, ({ seq }) => each.push(seq)));
  const told = () => heard.filter((each) => each.length > 0).length;
  tell(1);
  expect([told(), deferred.length]).toEqual([32, 1]);
  tell(2);
  expect(told()).toBe(32);
  ends[99]?.();
  telling.listen(ACCOUNT, ({ seq }) => expect(seq).toBe(3));
  while (deferred.length > 0) nextTurn();
  expect(heard).toEqual(heard.map((_, at) => (at === 99 ? [] : [1, 2])));
  tell(3);
  while (deferred.length > 0) nextTurn();
  expect(heard[98]).toEqual([1, 2, 3]);
});

test("where changes come faster than they are told, no more wait than a few hundred", () => {
  const { telling, tell, nextTurn, deferred } = createTelling();
  const heard = Array.from({ length: 50 }, (): number[] => []);
  for (const each of heard) telling.listen(ACCOUNT, ({ seq }) => each.push(seq));
  for (let seq = 1; seq <= 1000; seq++) tell(seq);
  expect(Math.min(...heard.map((each) => each.length))).toBeGreaterThan(700);
  while (deferred.length > 0) nextTurn();
  const all = Array.from({ length: 1000 }, (_, at) => at + 1);
  expect(heard).toEqual(heard.map(() => all));
});

test("a listener that fails keeps nobody else from a change", () => {
  const { telling, tell, nextTurn } = createTelling();
  const heard: number[] = [];
  telling.listen(ACCOUNT, () => {
    throw new Error("a bug");
  });
  telling.listen(ACCOUNT, ({ seq }) => heard.push(seq));
  tell(1);
  expect(heard).toEqual([1]);
  expect(nextTurn).toThrow("a bug");
});
