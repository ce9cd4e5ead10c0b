import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { type Arrival, changeBetween } from "../../daemon/files/arrivals/arrivals.ts";
import { plainEdit, planSave } from "../../daemon/files/saves/plan-save.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { removeDoubles } from "../../shared/replica/merge/doubles.ts";
import {
  changeForm,
  joinForm,
  plainLines,
  splitForm,
  type TextForm,
  withoutMark,
} from "../../shared/replica/text/text-form.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FollowedMachine } from "../support/followed-machines.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";
import { idsSince } from "../support/ids-since.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const NOW = 1_750_000_000_000;
const CRLF = { bom: false, eol: "crlf", final_newline: true } as const;

const anyForm: fc.Arbitrary<TextForm> = fc.record({
  bom: fc.boolean(),
  eol: fc.constantFrom("lf", "crlf"),
  final_newline: fc.boolean(),
});

function anyMixedText(): fc.Arbitrary<string> {
  const piece = fc.constantFrom("\r", "\n", "\r\n", "\r\r\n", "\uFEFF", "a", "é😀", " ");
  return fc.array(piece, { maxLength: 14 }).map((all) => all.join(""));
}

/** Lines with two ways to end each of them, with and without a byte order mark and a last break. */
function anyEndings() {
  const ending = fc.constantFrom("\n", "\r\n");
  const said = fc.constantFrom("a", "b", "c\rd", "", "\r e", "- f", "a");
  const line = fc.tuple(said, ending, ending);
  const last = fc.tuple(fc.constantFrom("a", "z"), ending, ending);
  const start = fc.constantFrom("", "\uFEFF");
  return fc
    .tuple(fc.array(line, { maxLength: 8 }), last, start, start, fc.nat(3), fc.nat(3))
    .map(([first, end, former, next, ended, stays]) => {
      const lines = [...first, end];
      const written = (which: 1 | 2) => lines.map((each) => each[0] + each[which]).join("");
      const cut = (text: string, isWhole: boolean) => (isWhole ? text : text.replace(/\r?\n$/, ""));
      return {
        before: former + cut(written(1), ended > 0),
        after: next + cut(written(2), stays > 0),
      };
    });
}

describe("a text's form", () => {
  test("every text can be taken apart, whatever its form was, and put together again", () => {
    fc.assert(
      fc.property(anyMixedText(), anyForm, (content, former) => {
        const { form, lines } = splitForm(content, former);
        expect(joinForm(lines, form)).toBe(content);
        expect(lines === "" || lines.endsWith("\n")).toBeTrue();
      }),
      { numRuns: 3000 },
    );
  });

  test("a text's form can become another one, which doubles no CR and loses no word", () => {
    const said = (text: string) => text.replaceAll(/\uFEFF|[\r\n]/g, "");
    fc.assert(
      fc.property(anyMixedText(), anyForm, anyForm, (content, former, to) => {
        const { lines } = splitForm(content, former);
        for (const text of [joinForm(lines, to), changeForm(content, to)]) {
          if (!content.includes("\r\r")) expect(text).not.toContain("\r\r\n");
          expect(said(text)).toBe(said(content));
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("a text's form is that of every line where one is chosen for a mixed text", () => {
    expect(changeForm("one\r\ntwo\nthree", { ...CRLF, final_newline: false })).toBe(
      "one\r\ntwo\r\nthree",
    );
    expect(changeForm("one\ntwo\nthree", CRLF)).toBe("one\r\ntwo\r\nthree\r\n");
    expect(changeForm("one\r\ntwo\n", { ...CRLF, eol: "lf" })).toBe("one\ntwo\n");
  });

  test("a text's form stays where a line with another ending comes, so that no other line changes", () => {
    const document = documentOf("one\r\ntwo\r\n", 1);
    const characters = charactersOf(document);
    document.setContent("one\r\ntwo\r\nnew\n", NOW);
    expect(document.textForm().eol).toBe("crlf");
    expect(charactersOf(document).slice(0, characters.length)).toEqual(characters);
  });
});

function documentOf(content: string, client: number): ReplicaDocument {
  const document = new ReplicaDocument([], client);
  document.setContent(content, NOW);
  return document;
}

/** Which characters of a document its lines consist of, but for how they end. */
function charactersOf(document: ReplicaDocument): string[] {
  const { text, spans } = document.captureText();
  const ids = spans.flatMap(({ client, clock, length }) =>
    Array.from({ length }, (_, at) => `${client} ${clock + at}`),
  );
  return ids.filter((_, at) => !(text[at] === "\r" && text[at + 1] === "\n"));
}

describe("a save that only changes line endings", () => {
  test("a save that only changes line endings adds and removes no line of the document, within the minute or after it", () => {
    fc.assert(
      fc.property(anyEndings(), fc.nat(8), fc.boolean(), ({ before, after }, at, isSeen) => {
        const lines = before.split(/(?<=\n)/);
        const document = documentOf(lines.filter((_, line) => line !== at).join(""), 1);
        const captured = () => ({
          hash: "",
          base: document.captureText(),
          form: document.textForm(),
        });
        const from = captured();
        document.setContent(before, NOW);
        const known = captured();
        const change = changeBetween(from, known);
        const unseen: Arrival[] =
          change && !isSeen ? [{ ...change, id: 1, at: NOW, machine: "desktop" }] : [];
        const characters = charactersOf(document);
        const saved = splitForm(after, known.form);
        const { base } = known;
        const facts = { base, live: base, unseen, author: { machine: "laptop" }, savedAt: NOW };
        const plan = isSeen
          ? plainEdit(base, saved.lines)
          : planSave({ ...facts, lines: saved.lines, isPulled: false });
        const edited = document.editText(plan.base, plan.lines);
        document.setTextForm(saved.form, NOW);
        expect(plan.conflicts).toEqual([]);
        expect(document.content()).toBe(after);
        expect(edited.text).toBe(saved.lines);
        const now = saved.lines.split("\n");
        const isLonger = base.text
          .split("\n")
          .some((line, each) => line.length < (now[each]?.length ?? 0));
        if (!isLonger) expect(charactersOf(document)).toEqual(characters);
      }),
      { numRuns: 2000 },
    );
  });

  test("the lines of a text are those of its format, whatever that is", () => {
    const piece = fc.constantFrom("one", "two", "\r", "\n", "\r\n", "\uFEFF");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { lines } = splitForm(pieces.join(""));
        const expected = lines.split("\n").slice(0, -1).map(withoutMark);
        expect(plainLines(pieces.join(""))).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  test("a save that only changes line endings is no deletion of lines, however many they are", () => {
    expect(plainLines("one\r\ntwo\nthree")).toEqual(plainLines("one\ntwo\r\nthree\r\n"));
  });

  test("a save that only changes line endings goes together with what another machine changes at the same time", () => {
    const [one, three] = [fc.constantFrom("\n", "\r\n"), { minLength: 3, maxLength: 3 }];
    fc.assert(
      fc.property(fc.array(one, three), one, fc.nat(2), (endings, ending, at) => {
        const said = ["one", "two", "three"];
        const start = said.map((line, i) => line + endings[i]).join("");
        const ended = said.map((line) => line + ending).join("");
        const mine = documentOf(start, 1);
        const [update, clocks] = [Y.encodeStateAsUpdate(mine.ydoc), clocksOf(mine)];
        const theirs = new ReplicaDocument([update], 2);
        mine.setContent(ended, NOW);
        theirs.setContent(`${start.replace(said[at] ?? "", "new")}more\n`, NOW);
        const [ours, others] = [mine, theirs].map((each) => idsSince(clocks, clocksOf(each)));
        Y.applyUpdate(mine.ydoc, Y.encodeStateAsUpdate(theirs.ydoc));
        removeDoubles(mine.text, ours ?? new Map(), { theirs: others ?? new Map() });
        expect(mine.content().split(/\r?\n/)).toEqual([
          ...said.map((line, i) => (i === at ? "new" : line)),
          "more",
          "",
        ]);
      }),
    );
  });

  test("a save that only changes line endings is made once where two machines make it at the same time", () => {
    const machines = [1, 2, 3];
    const start = documentOf("one\n\ntwo\nthree\n", 9);
    const [update, clocks] = [Y.encodeStateAsUpdate(start.ydoc), clocksOf(start)];
    const [one, other, third] = machines.map((client) => new ReplicaDocument([update], client));
    if (!one || !other || !third) throw new Error("three machines are made");
    for (const each of [one, other, third]) each.setContent("one\n\r\ntwo\r\nthree\n", NOW);
    for (const [to, from] of [
      [one, other],
      [other, third],
      [one, other],
      [third, one],
      [other, third],
    ] as const) {
      const [held, own] = [clocksOf(to), idsSince(clocks, clocksOf(to))];
      Y.applyUpdate(to.ydoc, Y.encodeStateAsUpdate(from.ydoc));
      removeDoubles(to.text, own, { theirs: idsSince(held, clocksOf(to)) });
    }
    for (const each of [one, other, third]) expect(each.content()).toBe("one\n\r\ntwo\r\nthree\n");
  });
});

function clocksOf({ ydoc }: ReplicaDocument): Map<number, number> {
  return Y.decodeStateVector(Y.encodeStateVector(ydoc));
}

test("a line that goes takes its CR along, also where its author saw it without", () => {
  for (const [live, after] of [
    ["one\ntwo\r\nthree\n", "one\nthree\n"],
    ["one\n\r\nthree\n", "one\nthree\n"],
    ["two\r\nthree\n", "three\n"],
  ] as const) {
    const document = new ReplicaDocument([], 1);
    document.editText(document.captureText(), live);
    const seen = document.alignText(live.replaceAll("\r\n", "\n"));
    document.editText(seen, after);
    expect(document.text.toString()).toBe(after);
  }
});

describe("a followed file with mixed line endings", () => {
  let git: GitSandbox;
  let opened: FollowedMachine[];

  beforeEach(() => {
    git = createGitSandbox();
    opened = [];
  });

  afterEach(async () => {
    for (const machine of opened) await machine.stop();
    git.remove();
  });

  async function untracked(text: string) {
    for (const name of ["a", "b"]) {
      await git.repository(name, { ".gitignore": "CLAUDE.md" });
      const machine = await FollowedMachine.open(
        name,
        git.path(name),
        git.path(`h${name}`),
        git.git,
      );
      opened.push(machine);
      await machine.follow();
    }
    const [a, b] = opened as [FollowedMachine, FollowedMachine];
    await a.save(text);
    await exchange([a, b]);
    expect(b.file()).toBe(text);
    return { a, b };
  }

  const MIXED = "one\r\ntwo\nthree\r\n";
  const MORE = "one\r\nnew\r\ntwo\nthree\r\n";

  for (const [name, ending] of [
    ["CRLF", "\r\n"],
    ["LF", "\n"],
  ] as const) {
    for (const isLater of [false, true]) {
      const when = isLater ? "after the minute" : "within a minute of others' change";
      test(`a followed file with mixed line endings that an editor rewrites to all ${name} ${when} doubles no line`, async () => {
        const { a, b } = await untracked(MIXED);
        await b.pass(120_000);
        await a.save(MORE);
        await exchange([a, b]);
        expect(b.file()).toBe(MORE);
        if (isLater) await b.pass(61_000);
        const rewritten = ["one", "new", "two", "three", ""].join(ending);
        await b.save(rewritten);
        await exchange([a, b]);
        expect([a.file(), b.file(), await a.doc()]).toEqual([rewritten, rewritten, rewritten]);
        expect(await b.conflicts()).toEqual([]);
      });
    }
  }

  test("a followed file with mixed line endings is in dispute with nobody where one save ends all with CRLF and mends a line", async () => {
    const { a, b } = await untracked("one\ntwo\r\nthree\n");
    await a.save("one\r\ntwo, mended\r\nthree\r\n");
    expect(await a.conflicts()).toEqual([]);
    await exchange([a, b]);
    // What comes of it where another machine mends the line alone is one conflict, of these two.
    await b.setDoc("one\r\ntwo, theirs\r\nthree\r\n");
    await a.save("one\ntwo, mine\nthree\n");
    await exchange([a, b]);
    const told = (await a.conflicts()).map(({ versions }) => versions.map(({ text }) => text));
    expect(told).toEqual([["two, mine\n", "two, theirs\n"]]);
  });

  test("of two forms that are given at once one stands, and the other is a conflict", async () => {
    const { a, b } = await untracked("one\ntwo\n");
    await a.save("\uFEFFone\ntwo\n");
    await b.save("one\r\ntwo\r\n");
    await exchange([a, b]);
    expect(await a.doc()).toBe(await b.doc());
    const [told, ...more] = await a.conflicts();
    expect([told?.kind, more]).toEqual(["format", []]);
    expect(told?.versions.map(({ text, machine }) => [machine, JSON.parse(text)])).toEqual([
      ["b", { bom: false, eol: "crlf", final_newline: true }],
      ["a", { bom: true, eol: "lf", final_newline: true }],
    ]);
    expect(await b.conflicts()).toEqual([told as NonNullable<typeof told>]);
    await exchange([a, b]);
    expect(await a.conflicts()).toHaveLength(1);
  });

  test("a followed file with mixed line endings keeps others' new line, once, where a save that has not seen it rewrites it", async () => {
    const { a, b } = await untracked(MIXED);
    await b.pass(120_000);
    await a.save(MORE);
    await exchange([a, b]);
    await b.save("one\r\ntwo\r\nthree\r\n");
    await exchange([a, b]);
    expect(await a.doc()).toBe("one\r\nnew\r\ntwo\r\nthree\r\n");
    const [conflict, ...more] = await b.conflicts();
    expect(more).toEqual([]);
    expect(conflict?.versions.map(({ text }) => text)).toEqual(["", "new\n"]);
  });

  test("a followed file with mixed line endings keeps others' new line that one save ends otherwise and the next has not seen", async () => {
    const { a, b } = await untracked(MIXED);
    await b.pass(120_000);
    await a.save("one\r\nnew\ntwo\nthree\r\n");
    await exchange([a, b]);
    await b.save("one\r\nnew\r\ntwo\nthree\r\n");
    await b.save(MIXED);
    expect(b.file()).toBe("one\r\nnew\r\ntwo\nthree\r\n");
    expect((await b.conflicts()).map(({ kind }) => kind)).toEqual(["unseen"]);
  });

  test("a followed file with mixed line endings is told of where a save brings back line endings that others have just changed", async () => {
    const { a, b } = await untracked(MIXED);
    await b.pass(120_000);
    await a.save("one\ntwo\nthree\n");
    await exchange([a, b]);
    await b.save(`${MIXED}mine\n`);
    await exchange([a, b]);
    expect(await a.doc()).toBe(`${MIXED}mine\n`);
    const [conflict, ...more] = await b.conflicts();
    expect([conflict?.kind, more]).toEqual(["format", []]);
    const shown = conflict?.versions.map(({ text }) => JSON.parse(text).eol);
    expect(shown?.toSorted()).toEqual(["lf", "mixed"]);
  });

  test("a followed file with mixed line endings meets its document without a second copy of any line", async () => {
    const { a, b } = await untracked(MIXED);
    await b.setDoc("one\ntwo\r\nthree\r\n");
    await exchange([a, b]);
    expect([a.file(), b.file()]).toEqual(["one\ntwo\r\nthree\r\n", "one\ntwo\r\nthree\r\n"]);
    await git.repository("c", { ".gitignore": "CLAUDE.md" });
    await git.write(git.path("c/CLAUDE.md"), "one\r\ntwo\r\nthree\r\nmine\r\n");
    const c = await FollowedMachine.open("c", git.path("c"), git.path("hc"), git.git);
    opened.push(c);
    await c.receive(a);
    await c.follow();
    await exchange([a, b, c]);
    expect(await a.doc()).toBe("one\ntwo\r\nthree\r\nmine\n");
    expect(c.file()).toBe(await a.doc());
  });
});
