import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { type CleanUp, removeDoubles } from "../../shared/replica/merge/doubles.ts";
import { diffSections } from "../../shared/replica/text/line-diff.ts";
import { captureText, editFromBase } from "../../shared/replica/text/text.ts";
import { idsSince } from "../support/ids-since.ts";
import { anyForks, anyTerminatedText, anyText } from "../support/text-arbitraries.ts";
import { type Changes, linesOf, lostLines } from "../trust/merge-judge.ts";
import {
  agreedText,
  cleanedByBoth,
  documentOf,
  exchange,
  mergeInOrder,
  mergeOnTwoMachines,
  replicaOf,
  save,
  stateOf,
  textOf,
} from "../trust/merge-replicas.ts";

/** Lines as a text that ends with a line break. */
function text(...lines: string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** What a save does to the document. */
function editOf(base: readonly string[], side: readonly string[]): Changes {
  const hunks = diffSections(base, side);
  return {
    runs: hunks.map(({ from, added }) => side.slice(from, from + added)),
    deleted: hunks.flatMap(({ at, removed }) => base.slice(at, at + removed)),
  };
}

type Docs = [Y.Doc, Y.Doc, Y.Doc];

/** The text that two machines come to. */
function mergedText(base: string, ours: string, theirs: string): string {
  return mergeOnTwoMachines({ name: "", base, ours, theirs }).text;
}

function conflictsOf(base: string, ours: string, theirs: string): CleanUp["conflicts"] {
  return mergeOnTwoMachines({ name: "", base, ours, theirs }).conflicts;
}

describe("the same change on two machines", () => {
  test("a line added on both machines stands once", () => {
    const added = text("one", "new", "two");
    expect(mergedText(text("one", "two"), added, added)).toBe(added);
  });

  test("a line changed on both machines stands once", () => {
    const changed = text("one", "2", "three");
    expect(mergedText(text("one", "two", "three"), changed, changed)).toBe(changed);
  });

  test("a section added on both machines stands once, blank lines and code included", () => {
    const base = text("# Title", "", "## Last", "", "end");
    const section = ["## New", "", "Say:", "", "```sh", "make", "", "make test", "```", ""];
    const changed = text("# Title", "", ...section, "## Last", "", "end");
    expect(mergedText(base, changed, changed)).toBe(changed);
  });

  test("the same change on two machines is cleaned up beside other changes of either machine", () => {
    const base = text("one", "two", "three", "four", "five");
    const ours = text("1", "two", "same", "three", "four", "five");
    const theirs = text("one", "two", "same", "three", "four", "5");
    expect(mergedText(base, ours, theirs)).toBe(text("1", "two", "same", "three", "four", "5"));
  });

  test("the same change on two machines stands once where one machine added more", () => {
    const base = text("one", "two");
    const ours = text("one", "a", "b", "two");
    const theirs = text("one", "a", "b", "", "c", "two");
    expect(mergedText(base, ours, theirs)).toBe(theirs);
    expect(mergedText(base, theirs, ours)).toBe(theirs);
  });

  test("what was removed is reported", () => {
    const added = text("one", "new", "two");
    const fork = { name: "", base: text("one", "two"), ours: added, theirs: added };
    expect(mergeOnTwoMachines(fork).removed).toEqual(["new"]);
  });
});

describe("different changes at one place", () => {
  test("different changes at one place of one line both stay and are a conflict", () => {
    const [base, ours, theirs] = [
      text("a", "b", "c"),
      text("a", "mine", "c"),
      text("a", "no", "c"),
    ];
    expect(mergedText(base, ours, theirs)).toBe(text("a", "mine", "no", "c"));
    expect(conflictsOf(base, ours, theirs)).toEqual([
      {
        mine: { text: "no\n", places: [{ behind: "a\n", text: "no\n", ahead: "c\n" }] },
        theirs: { text: "mine\n", places: [{ behind: "a\n", text: "mine\n", ahead: "c\n" }] },
        theirClient: 11,
      },
    ]);
  });

  test("different changes at one place that only insert are no conflict", () => {
    const [base, ours, theirs] = [text("a", "c"), text("a", "mine", "c"), text("a", "no", "c")];
    expect(mergedText(base, ours, theirs)).toBe(text("a", "mine", "no", "c"));
    expect(conflictsOf(base, ours, theirs)).toEqual([]);
  });

  test("different changes at one place keep what is common to both once, and their order", () => {
    const base = text("a", "z");
    const ours = text("a", "first", "mine", "last", "z");
    const theirs = text("a", "first", "theirs", "last", "z");
    expect(mergedText(base, ours, theirs)).toBe(text("a", "first", "mine", "theirs", "last", "z"));
  });

  test("different changes at one place with less than half in common stay as they are", () => {
    const [ours, theirs] = [
      ["x", "m1", "m2"],
      ["x", "t1", "t2"],
    ];
    expect(mergedText(text("a", "z"), text("a", ...ours, "z"), text("a", ...theirs, "z"))).toBe(
      text("a", ...ours, ...theirs, "z"),
    );
  });

  test("different changes at one place are not alike because of their blank lines and fences", () => {
    const [ours, theirs] = [
      ["", "```", "", "mine", "", "```", ""],
      ["", "```", "", "no", "", "```", ""],
    ];
    const base = text("a", "z");
    expect(mergedText(base, text("a", ...ours, "z"), text("a", ...theirs, "z"))).toBe(
      text("a", ...ours, ...theirs, "z"),
    );
  });

  test("two code blocks under one heading are both there whole", () => {
    const code = (command: string) => ["## Commands", "", "```sh", command, "```"];
    const merged = mergedText(
      text("a", "z"),
      text("a", ...code("x"), "z"),
      text("a", ...code("y"), "z"),
    );
    expect(merged).toBe(text("a", ...code("x"), ...code("y"), "z"));
  });

  test("an equal code block between other lines goes as a whole", () => {
    const block = ["```sh", "make", "make test", "```"];
    const ours = text("a", "Build it like this:", ...block, "That is all.", "z");
    const theirs = text("a", "Build it like this:", ...block, "Then run it.", "z");
    expect(mergedText(text("a", "z"), ours, theirs)).toBe(
      text("a", "Build it like this:", ...block, "That is all.", "Then run it.", "z"),
    );
  });

  test("two rewritings of a section do not get mixed", () => {
    const ours = ["My first thought.", "", "My second thought.", "", "My third thought."];
    const theirs = ["Another idea.", "", "And one more.", "", "The last idea."];
    const base = text("# Title", "Old one.", "", "Old two.", "", "Old three.", "# End");
    const merged = mergedText(
      base,
      text("# Title", ...ours, "# End"),
      text("# Title", ...theirs, "# End"),
    );
    expect(merged).toBe(text("# Title", ...ours, ...theirs, "# End"));
  });

  test("a line that one side moved and the other deleted stays where it was moved to", () => {
    const base = text("a", "b", "c", "d");
    expect(mergedText(base, text("a", "c", "d", "b"), text("a", "c", "d"))).toBe(
      text("a", "c", "d", "b"),
    );
  });
});

describe("two texts seeded at the same time", () => {
  function mergeSeeds(one: string, other: string): string {
    const [server, doc] = [documentOf(one, 11), documentOf(other, 22)];
    exchange(doc, server, new Map());
    return agreedText([server, doc]);
  }

  test("two equal texts seeded at the same time become one", () => {
    const seed = text("# Title", "", "one", "", "```", "code", "```");
    expect(mergeSeeds(seed, seed)).toBe(seed);
  });

  test("two like texts seeded at the same time become one that holds the lines of both", () => {
    const one = text("# Title", "", "one", "two", "", "three");
    const other = text("# Title", "", "one", "2", "", "three");
    expect(mergeSeeds(one, other)).toBe(text("# Title", "", "one", "two", "2", "", "three"));
  });

  test("two different texts seeded at the same time stand one behind the other", () => {
    const [one, other] = [text("# One", "", "a"), text("# Other", "", "b")];
    expect(mergeSeeds(one, other)).toBe(one + other);
  });
});

describe("a file edit that meets lines merged since its base", () => {
  test("a file edit that meets lines merged since its base adds no line that is there already", () => {
    const doc = documentOf(text("one", "two"));
    const base = captureText(textOf(doc));
    const known = stateOf(doc);
    const other = replicaOf(doc, 22);
    save(other, text("one", "same", "theirs", "two"));
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(other));
    const met = stateOf(doc);
    const cleanUp = doc.transact(() => {
      editFromBase(textOf(doc), base, text("one", "same", "two"));
      return removeDoubles(textOf(doc), idsSince(met, stateOf(doc)), {
        theirs: idsSince(known, met),
      });
    });
    expect(textOf(doc).toString()).toBe(text("one", "same", "theirs", "two"));
    expect(cleanUp.removed).toEqual(["same"]);
  });
});

describe("last lines without a line break", () => {
  test("last lines without a line break that two machines changed differently stand on two lines", () => {
    expect(mergedText("one\ntwo", "one\nmine", "one\ntheirs")).toBe("one\nmine\ntheirs");
  });

  test("last lines without a line break that two machines changed alike stand once", () => {
    expect(mergedText("one\ntwo", "one\nnew", "one\nnew")).toBe("one\nnew");
  });

  test("last lines without a line break cost no document its client id", () => {
    const server = documentOf("one\ntwo");
    const [mine, theirs] = [replicaOf(server, 11), replicaOf(server, 22)];
    const agreed = stateOf(server);
    save(mine, "one\nmine");
    save(theirs, "one\ntheirs");
    exchange(mine, server, agreed);
    exchange(theirs, server, agreed);
    expect(theirs.clientID).toBe(22);
  });
});

test("machines that clean up while they are apart do not each drop the copy that the other keeps", () => {
  const server = documentOf(text("one", "two"));
  const agreed = stateOf(server);
  const [first, third, second] = [11, 22, 33].map((id) => replicaOf(server, id)) as Docs;
  save(first, text("one", "same", "same too", "two"));
  save(second, text("one", "same", "same too", "two"));
  save(third, text("one", "other", "two"));
  // The service has the first's lines from a machine that got them from there.
  for (const doc of [first, third]) Y.applyUpdate(server, Y.encodeStateAsUpdate(doc));
  const late = replicaOf(server, 44);
  Y.applyUpdate(late, Y.encodeStateAsUpdate(second));
  exchange(second, replicaOf(server, 44), agreed);
  exchange(first, late, agreed);
  for (const doc of [first, second]) Y.applyUpdate(server, Y.encodeStateAsUpdate(doc));
  const lines = linesOf(textOf(server).toString());
  expect(lines.filter((line) => line.startsWith("same"))).toEqual(["same", "same too"]);
});

describe("machines that clean up while they are apart", () => {
  test("machines that clean up while they are apart leave a copy of every line, whoever heard of whom", () => {
    const machine = fc.nat(3);
    const pulls = fc.array(fc.record({ by: machine, of: machine }), { maxLength: 8 });
    fc.assert(
      fc.property(anyForks(anyTerminatedText(), 4), pulls, ({ base, edits }, steps) => {
        const server = documentOf(base);
        const agreed = stateOf(server);
        const machines = edits.map((edit, i) => {
          const doc = replicaOf(server, 11 * (i + 1));
          save(doc, edit);
          return doc;
        });
        for (const { by, of } of steps) {
          exchange(machines[by] as Y.Doc, replicaOf(machines[of] as Y.Doc, 99), agreed);
        }
        for (const doc of machines) Y.applyUpdate(server, Y.encodeStateAsUpdate(doc));
        const inserted = edits.flatMap((side) => editOf(linesOf(base), linesOf(side)).runs.flat());
        const kept = new Set(linesOf(textOf(server).toString()));
        expect(inserted.filter((line) => !kept.has(line))).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("whatever two machines do", () => {
  test("it makes no difference who cleans up, and a second clean-up changes nothing", () => {
    fc.assert(
      fc.property(anyForks(anyText(), 2), ({ base, edits: [ours = "", theirs = ""] }) => {
        const fork = { name: "", base, ours, theirs };
        const merged = mergeOnTwoMachines(fork, [11, 22], [0, 1]);
        expect(mergeOnTwoMachines(fork, [11, 22], [1, 0]).text).toBe(merged.text);
        expect(merged.textCleanedAgain).toBe(merged.text);
      }),
      { numRuns: 2000 },
    );
  });

  test("no line is lost and none is there that nobody wrote", () => {
    fc.assert(
      fc.property(
        anyForks(anyTerminatedText(), 2),
        fc.boolean(),
        ({ base, edits: [ours = "", theirs = ""] }, swapped) => {
          const ids = swapped ? [22, 11] : [11, 22];
          const { text } = mergeOnTwoMachines({ name: "", base, ours, theirs }, ids);
          const sides = [ours, theirs].map((side) => editOf(linesOf(base), linesOf(side)));
          expect(lostLines(linesOf(base), sides, linesOf(text))).toEqual([]);
          const known = new Set([base, ours, theirs].flatMap(linesOf));
          expect(linesOf(text).filter((line) => !known.has(line))).toEqual([]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("both may clean up at once, and the one that is heard second makes it one clean-up", () => {
    fc.assert(
      fc.property(anyForks(anyTerminatedText(), 2), ({ base, edits: [ours = "", theirs = ""] }) => {
        const fork = { name: "", base, ours, theirs };
        expect(cleanedByBoth(fork)).toBe(mergeOnTwoMachines(fork).text);
      }),
      { numRuns: 500 },
    );
  });

  test("no lines are joined where last lines have no line break", () => {
    fc.assert(
      fc.property(anyForks(anyText(), 2), ({ base, edits: [ours = "", theirs = ""] }) => {
        const { text } = mergeOnTwoMachines({ name: "", base, ours, theirs });
        const known = new Set(["", ...[base, ours, theirs].flatMap((one) => one.split("\n"))]);
        expect(text.split("\n").filter((line) => !known.has(line))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test("three machines agree, in whatever order they reach the server", () => {
    fc.assert(
      fc.property(
        anyForks(anyTerminatedText(), 3),
        fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
        ({ base, edits }, order) => {
          const merged = mergeInOrder(base, edits, order).split("\n");
          const known = new Set([base, ...edits].flatMap((one) => one.split("\n")));
          expect(merged.filter((line) => !known.has(line))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("the ids since a state", () => {
  test("the ids since a state are those of known clients that went on, and all of new clients", () => {
    const before = new Map([
      [1, 10],
      [2, 5],
    ]);
    const after = new Map([
      [1, 12],
      [2, 5],
      [3, 7],
    ]);
    expect(idsSince(before, after)).toEqual(
      new Map([
        [1, [[10, 12]]],
        [3, [[0, 7]]],
      ]),
    );
  });
});
