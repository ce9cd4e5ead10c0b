import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AgreedItem,
  type ItemSides,
  mergeItems,
  type TheirItem,
} from "../../daemon/plain/merge-items.ts";

const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"];

type Values = Record<string, number>;

const values = fc.dictionary(fc.constantFrom(...KEYS), fc.integer({ min: 1, max: 3 }));
const sides = fc
  .record({
    base: values,
    mine: values,
    theirs: values,
    complete: fc.boolean(),
    putBack: fc.boolean(),
  })
  .map(({ base, mine, theirs, ...flags }) => ({
    base: agreed(base),
    mine: new Map(Object.entries(mine)),
    theirs: shown(theirs),
    ...flags,
  }));

function shown(from: Values): Map<string, TheirItem> {
  return new Map(
    Object.entries(from).map(([key, value]) => [key, { value, id: `mem_${key}`, createdAt: null }]),
  );
}

function agreed(from: Values): Map<string, AgreedItem> {
  return new Map([...shown(from)].map(([key, item]) => [key, { ...item, seen: true }]));
}

/** What each side holds once a merge is carried out. */
function carriedOut({ mine, theirs }: ItemSides, merged: ReturnType<typeof mergeItems>) {
  const here = new Map(mine);
  const there = new Map([...theirs].map(([key, { value }]) => [key, value]));
  for (const { key, value } of merged.take) here.set(key, value);
  for (const key of merged.drop) here.delete(key);
  for (const { key, value } of merged.send) there.set(key, value);
  for (const { key } of merged.remove) there.delete(key);
  return { here, there };
}

test("after a merge of all that there is both sides are equal", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const merged = mergeItems({ ...each, complete: true });
      const { here, there } = carriedOut(each, merged);
      expect([...here].sort()).toEqual([...there].sort());
    }),
  );
});

test("nothing is shown that neither side had", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const { here, there } = carriedOut(each, mergeItems(each));
      for (const [key, value] of [...here, ...there]) {
        expect([each.mine.get(key), each.theirs.get(key)?.value]).toContain(value);
      }
    }),
  );
});

test("a value that one side wrote since it was agreed is not deleted", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const { here, there } = carriedOut(each, mergeItems(each));
      for (const key of KEYS) {
        const base = each.base.get(key)?.value;
        const [mine, theirs] = [each.mine.get(key), each.theirs.get(key)?.value];
        const isWritten = (value: unknown) => value !== undefined && value !== base;
        if (isWritten(mine)) expect(there.has(key)).toBe(true);
        if (isWritten(theirs)) expect(here.get(key)).toBe(theirs);
        if (isWritten(mine) && theirs === base) expect(there.get(key)).toBe(mine);
      }
    }),
  );
});

test("each deletion there that a write here undoes is named", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const { undone, send, lost } = mergeItems(each);
      const isBelieved = each.complete && !each.putBack && !lost;
      const isUndone = (key: string) => {
        const [base, mine] = [each.base.get(key)?.value, each.mine.get(key)];
        const isChanged = mine !== undefined && base !== undefined && mine !== base;
        return isBelieved && isChanged && !each.theirs.has(key);
      };
      expect([...undone].sort()).toEqual(KEYS.filter(isUndone));
      expect(send.map(({ key }) => key)).toEqual(expect.arrayContaining([...undone]));
    }),
  );
});

test("nothing is deleted here for being absent from what is not all", () => {
  fc.assert(
    fc.property(sides, (each) => {
      expect(mergeItems({ ...each, complete: false }).drop).toEqual([]);
      expect(mergeItems({ ...each, putBack: true }).drop).toEqual([]);
    }),
  );
});

test("of what was agreed never half is deleted here at once, if it is more than three", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const { drop, lost } = mergeItems(each);
      expect(drop.length <= 3 || drop.length * 2 < each.base.size).toBe(true);
      if (lost) expect(drop).toEqual([]);
    }),
  );
});

test("what the service holds is what is agreed next, and then there is nothing to do", () => {
  fc.assert(
    fc.property(sides, (each) => {
      const merged = mergeItems({ ...each, complete: true });
      const held = [...each.theirs].map(([key, { value }]) => [key, value]);
      expect([...merged.base].map(([key, { value }]) => [key, value]).sort()).toEqual(held.sort());
      const { here, there } = carriedOut(each, merged);
      const theirs = shown(Object.fromEntries(there) as Values);
      const next = { base: merged.base, mine: here, theirs, complete: true, putBack: false };
      const { take, drop, send, remove } = mergeItems(next);
      expect([take, drop, send, remove]).toEqual([[], [], [], []]);
    }),
  );
});
