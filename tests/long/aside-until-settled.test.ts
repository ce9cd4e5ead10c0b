import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { HISTORY } from "../../shared/replica/history/revisions.ts";
import { exchange } from "../support/exchange-machines.ts";
import { bothHaveAll, clonesOfEach, FILE, LONG_MS } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const START = "# Guide\n\n## One\n- one\n\n## Two\n- two\n- three\n";
const THEIRS = "- from a\n";
const PUT = "- three\n";
const WITH_THEIRS = START.replace("- two\n", `- two\n${THEIRS}`);
/** Both lines stand at one place: what B deleted, and git puts back, is beside what A wrote. */
const DOCUMENT = WITH_THEIRS.replace(PUT, "");

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await lab.pair({ [FILE]: START }));
  for (const each of [a, b]) await each.follow({ write: true });
  await a.save(WITH_THEIRS);
  await both();
  await b.save(DOCUMENT);
  await both();
  expect([a.file(), b.file()]).toEqual([DOCUMENT, DOCUMENT]);
  await lab.run(b, "checkout", "-q", "--", FILE);
  expect(b.file()).toBe(START);
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([START, DOCUMENT, ASIDE]);
});

const ASIDE = [["set-aside", THEIRS, PUT]];

const both = () => bothHaveAll({ a, b });

/** What the listed conflicts say: the kind, and the lines of both versions. */
async function told(): Promise<string[][]> {
  const ids = await b.listed();
  const open = (await b.conflicts()).filter(({ id }) => ids.includes(id));
  return open.map(({ kind, versions }) => [kind, ...versions.map(({ text }) => text)]);
}

test("a line that is typed below what git put back comes below it, and settles nothing", async () => {
  await b.save(`${START}- typed\n`);
  await both();
  expect([await b.doc(), await told()]).toEqual([`${DOCUMENT}- typed\n`, ASIDE]);
  expect(b.file()).toBe(`${START}- typed\n`);
});

test("either version can be chosen once a line was typed below, which stays", async () => {
  await b.save(`${START}- typed\n`);
  await both();
  await a.drain(await a.choiceOf(PUT));
  await both();
  expect([await b.doc(), b.file()]).toEqual([`${START}- typed\n`, `${START}- typed\n`]);
  expect(await told()).toEqual([]);
});

test("what git put back can be chosen once a line was typed above it, and stays below that", async () => {
  const file = START.replace(PUT, `- typed\n${PUT}`);
  await b.save(file);
  await both();
  expect([await b.doc(), await told()]).toEqual([file.replace(PUT, THEIRS), ASIDE]);
  await a.drain(await a.choiceOf(PUT));
  await both();
  expect([await b.doc(), b.file(), await told()]).toEqual([file, file, []]);
});

test("dismissing leaves what git put back in its file, and brings it into the document beside what it took", async () => {
  await b.save(START.replace(PUT, `- typed\n${PUT}`));
  await both();
  const [id = ""] = await a.listed();
  await a.dismiss(id);
  await both();
  const whole = START.replace(PUT, `- typed\n${THEIRS}${PUT}`);
  expect([await b.doc(), b.file(), await told()]).toEqual([whole, whole, []]);
});

test("a conflict of which a version was too long to be kept whole is left to somebody", async () => {
  await b.drain(await b.choiceOf(PUT));
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([START, START, []]);
  const long = Array.from({ length: 9000 }, (_, at) => `- more ${at}\n`).join("");
  await a.save(START.replace(PUT, long));
  await both();
  await lab.run(b, "checkout", "-q", "--", FILE);
  await both();
  const cut = async () =>
    (await b.conflicts()).filter(({ kind, versions }) => {
      return kind === "set-aside" && versions.some((version) => version.cut);
    });
  const [conflict] = await cut();
  expect(conflict).toBeDefined();
  // Now the document has the line that git put in the place of them.
  await a.save(`${START.replace(PUT, long)}${PUT}`);
  await both();
  expect((await cut()).map(({ id }) => id)).toEqual([conflict?.id ?? ""]);
});

test("what git put back in the file stays there, and is told, though others delete what it stands for", async () => {
  await a.save(DOCUMENT.replace(THEIRS, ""));
  await both();
  expect([b.file(), await told()]).toEqual([START, ASIDE]);
  await a.drain(await a.choiceOf(PUT));
  await both();
  expect([await b.doc(), b.file(), await told()]).toEqual([START, START, []]);
});

test("what git put back stays in the file beside the lines that it took, if these are typed again", async () => {
  await b.save(WITH_THEIRS);
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([WITH_THEIRS, DOCUMENT, ASIDE]);
});

const TYPED_AGAIN: Readonly<Record<string, readonly [file: string, document: string]>> = {
  "below what git put back": [`${START}${THEIRS}`, DOCUMENT],
  "above another line": [WITH_THEIRS.replace(PUT, `- typed\n${PUT}`), `${DOCUMENT}- typed\n`],
  "below another line": [
    WITH_THEIRS.replace(THEIRS, `- typed\n${THEIRS}`),
    DOCUMENT.replace(THEIRS, `- typed\n${THEIRS}`),
  ],
};

for (const [where, [file, document]] of Object.entries(TYPED_AGAIN)) {
  test(`lines that git took stand once if they are typed again ${where}`, async () => {
    await b.save(file);
    await both();
    expect([b.file(), await b.doc(), await told()]).toEqual([file, document, ASIDE]);
  });
}

test("of several lines that git took those that are typed again stand once, above what it put back or below", async () => {
  await b.drain(await b.choiceOf(PUT));
  await both();
  const taken = `${THEIRS}- more\n- and more\n`;
  const before = START.replace(PUT, taken);
  await a.save(before);
  await both();
  await lab.run(b, "checkout", "-q", "--", FILE);
  await both();
  expect([b.file(), await told()]).toEqual([START, [["set-aside", taken, PUT]]]);
  const above = START.replace(PUT, `- more\n${PUT}`);
  for (const file of [above, `${above}- and more\n`]) {
    await b.save(file);
    await both();
    expect([b.file(), await b.doc()]).toEqual([file, before]);
    expect(await told()).toEqual([["set-aside", taken, PUT]]);
  }
});

test("whoever writes in the place of what git put back has one conflict with what it took", async () => {
  await b.save(START.replace(PUT, "- mended\n"));
  await both();
  const [only, ...more] = await told();
  expect([only?.slice(1), more]).toEqual([[THEIRS, "- mended\n"], []]);
});

test("what git put back stays in the file, and is told, though others write an equal line elsewhere", async () => {
  const elsewhere = DOCUMENT.replace("- one\n", `- one\n${PUT}`);
  await a.save(elsewhere);
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([START, elsewhere, ASIDE]);
  // What git took stands once more, too, and is not what the file has.
  const more = elsewhere.replace("- one\n", `- one\n${THEIRS}`);
  await a.save(more);
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([START, more, ASIDE]);
});

test("a file is written again once neither what git took nor what it put back is anywhere", async () => {
  await b.save(START.replace(PUT, ""));
  await both();
  expect(await told()).toEqual([["set-aside", "", THEIRS]]);
  // What is put just in their place would be a mended version of them.
  const after = DOCUMENT.replace(THEIRS, "").replace("# Guide\n", "# Guide\n- later\n");
  await a.save(after);
  await both();
  expect([b.file(), await told()]).toEqual([after, []]);
});

test("what git put back stays in the file of a home that goes on under another id", async () => {
  b.useHome("another");
  await a.save(`${DOCUMENT}- later\n`);
  await both();
  expect([b.file(), await told()]).toEqual([START, ASIDE]);
  await a.drain(await a.choiceOf(PUT));
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([
    `${START}- later\n`,
    `${START}- later\n`,
    [],
  ]);
});

test("a copy of a home settles nothing that git set aside at the home that it is a copy of", async () => {
  await lab.run(a, "clone", "-q", "../origin.git", "../c");
  const c = await lab.open("c", lab.git.path("c"), "b");
  c.useHome(b.home);
  await exchange([a, c]);
  await c.follow({ write: true });
  c.put(DOCUMENT);
  await c.settle();
  await c.save(`${DOCUMENT}- by the copy\n`);
  await exchange([a, b, c]);
  expect([b.file(), await told()]).toEqual([START, ASIDE]);
  expect(c.file()).toBe(`${DOCUMENT}- by the copy\n`);
});

test("whoever deletes the entry of a conflict has settled nothing: it is told again, and can be chosen", async () => {
  const [id = ""] = await a.listed();
  await a.deleteConflict(id);
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([START, DOCUMENT, ASIDE]);
  await a.drain(await a.choiceOf(THEIRS));
  await both();
  expect([b.file(), await b.doc(), await told()]).toEqual([DOCUMENT, DOCUMENT, []]);
});

test("what git put back stays in the file though its conflict is older than conflicts become", async () => {
  for (const each of [a, b]) await each.pass(HISTORY.ageMs + LONG_MS);
  const [one, other] = ["- a\n", "- b\n"].map((line) => DOCUMENT.replace("- one\n", line));
  await a.save(one ?? "");
  await b.setDoc(other ?? "");
  await both();
  const all = await told();
  expect([b.file(), all.length, all]).toEqual([START, 2, expect.arrayContaining(ASIDE)]);
});

test("a conflict that two homes have found holds both their files, and a choice settles it for both", async () => {
  await b.drain(await b.choiceOf(PUT));
  await both();
  await lab.run(a, "clone", "-q", "../origin.git", "../c");
  const c = await lab.open("c");
  await exchange([a, b, c]);
  await c.follow({ write: true });
  await c.save(DOCUMENT);
  const all = [a, b, c];
  await exchange(all);
  for (const each of all) await each.pass(LONG_MS);
  await exchange(all);
  for (const each of [a, b]) await lab.run(each, "checkout", "-q", "--", FILE);
  for (const each of [a, b]) await each.settle();
  await exchange(all);
  expect(await told()).toEqual(ASIDE);
  await c.save(`${DOCUMENT}- later\n`);
  await exchange(all);
  expect([a.file(), b.file()]).toEqual([START, START]);
  await c.drain(await c.choiceOf(THEIRS));
  await exchange(all);
  expect([a.file(), b.file(), await told()]).toEqual([
    `${DOCUMENT}- later\n`,
    `${DOCUMENT}- later\n`,
    [],
  ]);
});
