import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { changeBetween } from "../../daemon/files/arrivals/arrivals.ts";
import { RunFinder } from "../../daemon/files/lines/line-runs.ts";
import { SpanSet, without } from "../../daemon/files/lines/span-set.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { TextSpan } from "../../shared/replica/text/text-spans.ts";

const anySpans: fc.Arbitrary<TextSpan[]> = fc.array(
  fc.record({
    client: fc.constantFrom(1, 2, null),
    clock: fc.nat(20),
    length: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 8 },
);

function charactersOf(spans: readonly TextSpan[]): Set<string> {
  return new Set(
    spans.flatMap(({ client, clock, length }) =>
      client === null ? [] : Array.from({ length }, (_, at) => `${client} ${clock + at}`),
    ),
  );
}

describe("characters of a document in many pieces", () => {
  test("characters of a document in many pieces are compared as one by one", () => {
    fc.assert(
      fc.property(anySpans, anySpans, (one, other) => {
        const [mine, theirs] = [charactersOf(one), charactersOf(other)];
        const rest = [...mine].filter((each) => !theirs.has(each));
        expect(charactersOf(without(one, other))).toEqual(new Set(rest));
        expect(new SpanSet(one).hasAny(other)).toBe(rest.length < mine.size);
        expect(charactersOf(new SpanSet(one).spans())).toEqual(mine);
      }),
      { numRuns: 2000 },
    );
  });

  test("characters of a document in many pieces come into a file as one piece where one machine wrote them in a row", () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at}\n`);
    const first = new ReplicaDocument([], 1);
    first.setContent(lines.filter((_, at) => at % 2 === 0).join(""), 0);
    const second = new ReplicaDocument([Y.encodeStateAsUpdate(first.ydoc)], 2);
    second.setContent(lines.join(""), 0);
    const captured = { hash: "", base: second.captureText(), form: second.textForm() };
    expect(captured.base.spans).toHaveLength(400);
    const change = changeBetween({ ...captured, base: { text: "", spans: [] } }, captured);
    expect(change?.brought).toHaveLength(2);
  });
});

describe("lines that follow on each other", () => {
  test("lines that follow on each other are found where they stand first, in one group, and are all free", () => {
    const item = fc.constantFrom("a", "b", "c");
    const groups = fc.array(fc.array(item, { maxLength: 6 }), { maxLength: 4 });
    const texts = fc.array(item, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(groups, texts, fc.array(fc.nat(12)), (all, wanted, gone) => {
        let next = 0;
        const items = all.map((group) => group.map((text) => ({ text, id: next++ })));
        const taken = new Set(gone);
        const isFree = ({ id }: { id: number }) => !taken.has(id);
        const expected = items
          .flatMap((group) => group.map((_, at) => group.slice(at, at + wanted.length)))
          .find((run) => run.map(({ text }) => text).join() === wanted.join() && run.every(isFree));
        const finder = new RunFinder(items, ({ text }) => text);
        expect(finder.find(wanted, isFree)).toEqual(expected);
        expect(finder.find(wanted, isFree)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});
