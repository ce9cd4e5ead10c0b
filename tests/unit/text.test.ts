import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import {
  alignBase,
  type CapturedText,
  captureText,
  editFromBase,
  mergeIntoText,
} from "../../shared/replica/text/text.ts";
import { SpanList, SpanReader } from "../../shared/replica/text/text-spans.ts";
import { anyForks, anyTerminatedText, anyText } from "../support/text-arbitraries.ts";
import { agreedText, documentOf, replicaOf, save, textOf } from "../trust/merge-replicas.ts";

/** A text after a few saves, so that tombstones of several clients lie in it. */
function textWithHistory(versions: readonly string[]): Y.Text {
  const doc = documentOf("");
  for (const [i, version] of versions.entries()) {
    doc.clientID = 100 + i;
    save(doc, version);
  }
  return textOf(doc);
}

/** Lines with what follows them, so that a line without its break is another line. */
/** Makes `next` the whole text, by the smallest edit of whole lines. */
function replaceText(ytext: Y.Text, next: string): void {
  editFromBase(ytext, captureText(ytext), next);
}

function wholeLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const line of whole) if (line === part[found]) found++;
  return found === part.length;
}

function throughJson(captured: CapturedText): CapturedText {
  return JSON.parse(JSON.stringify(captured));
}

/** The lines of a version that `chosen` names, in that order. */
function versionOf({ text, spans }: CapturedText, chosen: readonly number[]): CapturedText {
  const reader = (from: number, to: number) => {
    const list = new SpanList();
    new SpanReader(spans).copy(from, to, list);
    return list.spans;
  };
  const lines = text.split(/(?<=\n)/);
  const starts = lines.map((_, i) => lines.slice(0, i).join("").length);
  return {
    text: chosen.map((i) => lines[i]).join(""),
    spans: chosen.flatMap((i) =>
      reader(starts[i] ?? 0, (starts[i] ?? 0) + (lines[i]?.length ?? 0)),
    ),
  };
}

describe("an edit of a version whose lines stand in another order", () => {
  test("deletes, inserts and keeps whole lines, and just those it is about", () => {
    const texts = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(texts, fc.infiniteStream(fc.nat(99)), (lines, draws) => {
        const ytext = textOf(documentOf(`${lines.join("\n")}\n`));
        const draw = () => draws.next().value as number;
        const order = lines.map((_, i) => [draw(), i] as const).sort(([a], [b]) => a - b);
        const shown = order.map(([, i]) => i).slice(draw() % lines.length);
        const [kept, gone] = [shown.filter((i) => i % 2 === 0), shown.filter((i) => i % 2 === 1)];
        const base = versionOf(captureText(ytext), shown);
        const next = kept.flatMap((i) => [lines[i], `NEW ${i}`]).map((line) => `${line}\n`);
        const captured = editFromBase(ytext, base, next.join(""));
        expect(captured.text).toBe(next.join(""));
        const wanted = lines.filter((_, i) => !gone.includes(i));
        expect(wholeLines(ytext.toString()).filter((line) => !line.startsWith("NEW"))).toEqual(
          wanted,
        );
        expect(wholeLines(ytext.toString()).sort()).toEqual(
          [...wanted, ...kept.map((i) => `NEW ${i}`)].sort(),
        );
        // What was captured names the lines that it shows.
        editFromBase(ytext, captured, "");
        const unseen = lines.filter((_, i) => !shown.includes(i));
        expect(wholeLines(ytext.toString())).toEqual(unseen);
      }),
      { numRuns: 500 },
    );
  });

  test("a line that it has twice is deleted once", () => {
    const ytext = textOf(documentOf("one\ntwo\nthree\n"));
    const base = versionOf(captureText(ytext), [1, 0, 1]);
    editFromBase(ytext, base, "one\n");
    expect(ytext.toString()).toBe("one\nthree\n");
  });
});

describe("an edit of the live version", () => {
  test("an edit yields exactly the new text, and the version captured then", () => {
    fc.assert(
      fc.property(fc.array(anyText(), { minLength: 1, maxLength: 4 }), anyText(), (old, next) => {
        const ytext = textWithHistory(old);
        const captured = editFromBase(ytext, captureText(ytext), next);
        expect(ytext.toString()).toBe(next);
        expect(captured).toEqual(captureText(ytext));
      }),
      { numRuns: 500 },
    );
  });

  test("an edit of the live version keeps every character of the lines that stay", () => {
    const doc = documentOf("one\ntwo\nthree\n");
    const before = captureText(textOf(doc)).spans;
    replaceText(textOf(doc), "one\n2\nthree\n");
    expect(captureText(textOf(doc)).spans).toEqual([
      { client: 5, clock: 0, length: 4 },
      { client: doc.clientID, clock: 14, length: 2 },
      { client: 5, clock: 8, length: 6 },
    ]);
    expect(before).toEqual([{ client: 5, clock: 0, length: 14 }]);
  });

  test("an edit of the live version that changes nothing adds nothing to the document", () => {
    const doc = documentOf("one\ntwo");
    const before = Y.encodeStateAsUpdate(doc);
    replaceText(textOf(doc), "one\ntwo");
    expect(Y.encodeStateAsUpdate(doc)).toEqual(before);
  });

  test("an edit of the live version of a megabyte may change every line", () => {
    const lines = (word: string) =>
      Array.from({ length: 30_000 }, (_, i) => (i % 4 ? `${word} ${i} and some more of it` : ""));
    const ytext = textOf(documentOf(lines("old").join("\n")));
    replaceText(ytext, lines("new").join("\n"));
    expect(ytext.toString()).toBe(lines("new").join("\n"));
  });
});

describe("an edit of an older version", () => {
  test("an edit of an older version leaves every line that this version does not show", () => {
    fc.assert(
      fc.property(anyForks(anyText(), 2), fc.nat(14), ({ base, edits }, at) => {
        const [theirs = "", next = ""] = edits;
        const ytext = textOf(documentOf(base));
        const captured = throughJson(captureText(ytext));
        const marked = theirs.split("\n");
        marked.splice(at, 0, "only theirs", "");
        replaceText(ytext, marked.join("\n"));
        const live = ytext.toString();
        const result = editFromBase(ytext, captured, next);
        expect(result.text).toBe(next);
        const lines = wholeLines(ytext.toString());
        expect(lines).toContain("only theirs");
        const known = new Set([...wholeLines(live), ...wholeLines(next)]);
        expect(lines.filter((line) => !known.has(line))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("an edit of an older version works against a version that was stored, in a copy that collected its garbage", () => {
    fc.assert(
      fc.property(fc.array(anyText(), { minLength: 2, maxLength: 4 }), anyText(), (old, next) => {
        const ytext = textWithHistory(old);
        const captured = throughJson(captureText(ytext));
        const copy = replicaOf(ytext.doc as Y.Doc, 77);
        const edited = editFromBase(textOf(copy), captured, next);
        expect(textOf(copy).toString()).toBe(next);
        expect(edited).toEqual(captureText(textOf(copy)));
      }),
    );
  });

  test("an edit of an older version puts new lines behind the tombstone of the line they stood behind", () => {
    const doc = documentOf("one\ntwo\nthree\n");
    const captured = captureText(textOf(doc));
    replaceText(textOf(doc), "one\ntheirs\nthree\n");
    replaceText(textOf(doc), "one\ntheirs\nthree\nmore\n");
    editFromBase(textOf(doc), captured, "one\ntwo\nmine\nthree\n");
    expect(textOf(doc).toString()).toBe("one\ntheirs\nmine\nthree\nmore\n");
  });

  test("an edit of an older version can be followed by another edit of the version it returned", () => {
    const doc = documentOf("one\ntwo\n");
    const first = captureText(textOf(doc));
    replaceText(textOf(doc), "zero\none\ntwo\n");
    const second = editFromBase(textOf(doc), first, "one\nmine\ntwo\n");
    const third = editFromBase(textOf(doc), throughJson(second), "one\nmine, again\ntwo\n");
    expect(textOf(doc).toString()).toBe("zero\none\nmine, again\ntwo\n");
    expect(third.text).toBe("one\nmine, again\ntwo\n");
  });

  test("an edit of an older version deletes nothing that was deleted and written anew", () => {
    const doc = documentOf("one\ntwo\n");
    const captured = captureText(textOf(doc));
    replaceText(textOf(doc), "one\n");
    replaceText(textOf(doc), "one\ntwo\n");
    editFromBase(textOf(doc), captured, "one\n");
    expect(textOf(doc).toString()).toBe("one\ntwo\n");
  });
});

describe("a last line without a line break", () => {
  test("a last line without a line break is not joined with what another machine appends", () => {
    const server = documentOf("one\ntwo");
    const [mine, theirs] = [replicaOf(server, 11), replicaOf(server, 22)];
    save(mine, "one\ntwo\nmine");
    save(theirs, "one\ntwo\ntheirs");
    Y.applyUpdate(mine, Y.encodeStateAsUpdate(theirs));
    Y.applyUpdate(theirs, Y.encodeStateAsUpdate(mine));
    const lines = agreedText([mine, theirs]).split("\n");
    expect(lines.toSorted()).toEqual(["mine", "one", "theirs", "two"]);
  });

  test("a last line without a line break gets one when an edit puts a line of the live text behind it", () => {
    const doc = documentOf("one\ntwo\n");
    const captured = captureText(textOf(doc));
    replaceText(textOf(doc), "one\ntwo\ntheirs\n");
    const edited = editFromBase(textOf(doc), captured, "one\nmine");
    expect(edited.text).toBe("one\nmine");
    expect(textOf(doc).toString()).toBe("one\nmine\ntheirs\n");
  });
});

describe("a base that is no version of the document", () => {
  test("a base that is no version of the document shares the common lines with the live text", () => {
    fc.assert(
      fc.property(anyText(), anyText(), anyText(), (live, file, next) => {
        const ytext = textOf(documentOf(live));
        const base = throughJson(alignBase(ytext, file));
        expect(ytext.toString()).toBe(live);
        expect(base.text).toBe(file);
        expect(base.spans.reduce((sum, span) => sum + span.length, 0)).toBe(file.length);
        expect(editFromBase(ytext, base, next).text).toBe(next);
        const known = new Set([...wholeLines(live), ...wholeLines(next)]);
        expect(wholeLines(ytext.toString()).filter((line) => !known.has(line))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("a base that is no version of the document changes only what changed in it", () => {
    const ytext = textOf(documentOf("one\nlive\ntwo\nthree\n"));
    const base = alignBase(ytext, "one\nfile\ntwo\nthree\n");
    editFromBase(ytext, base, "one\nfile\ntwo, changed\nthree\n");
    expect(ytext.toString()).toBe("one\nlive\ntwo, changed\nthree\n");
  });

  test("a base that is no version of the document puts what is inserted beside its own lines beside the nearest common line", () => {
    const ytext = textOf(documentOf("one\nlive\ntwo\n"));
    const base = alignBase(ytext, "one\nfile\ntwo\n");
    editFromBase(ytext, base, "one\nfile\nnew\ntwo\n");
    expect(ytext.toString()).toBe("one\nlive\nnew\ntwo\n");
  });
});

describe("a merge without a base", () => {
  test("a merge without a base keeps every live line and every line of the file in its order, common ones once", () => {
    fc.assert(
      fc.property(anyTerminatedText(), anyTerminatedText(), (live, file) => {
        const ytext = textOf(documentOf(live));
        const captured = mergeIntoText(ytext, file);
        const [merged, liveLines, fileLines] = [ytext.toString(), live, file].map((text) =>
          text.split("\n").slice(0, -1),
        ) as [string[], string[], string[]];
        expect(isSubsequence(liveLines, merged)).toBe(true);
        expect(isSubsequence(fileLines, merged)).toBe(true);
        expect(merged.length).toBeLessThanOrEqual(liveLines.length + fileLines.length);
        expect(captured.text).toBe(file);
        editFromBase(ytext, captured, file);
        expect(ytext.toString().split("\n").slice(0, -1)).toEqual(merged);
      }),
      { numRuns: 500 },
    );
  });

  test("a merge without a base invents no line where last lines have no line break", () => {
    fc.assert(
      fc.property(anyText(), anyText(), (live, file) => {
        const ytext = textOf(documentOf(live));
        expect(mergeIntoText(ytext, file).text).toBe(file);
        const merged = wholeLines(ytext.toString());
        const known = new Set([...wholeLines(live), ...wholeLines(file)]);
        expect(merged.filter((line) => !known.has(line))).toEqual([]);
        expect([...known].filter((line) => !merged.includes(line))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("a merge without a base returns a base from which the file's lines can be deleted again", () => {
    const ytext = textOf(documentOf("one\nlive\ntwo\n"));
    const base = mergeIntoText(ytext, "one\nfile\ntwo\n");
    expect(ytext.toString()).toBe("one\nfile\nlive\ntwo\n");
    editFromBase(ytext, base, "one\ntwo\n");
    expect(ytext.toString()).toBe("one\nlive\ntwo\n");
  });
});
