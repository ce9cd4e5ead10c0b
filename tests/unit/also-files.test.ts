import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach } from "../support/followed-clones.ts";
import { openFolders, TEXT } from "../support/followed-guide.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const GEMINI = "GEMINI.md";
const ALSO = { also: [GEMINI] };

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await openFolders(lab));
});

/** Both files have the project's text, and so has the other machine's. */
async function start(): Promise<void> {
  a.put(TEXT);
  a.put(TEXT, GEMINI);
  await a.follow(ALSO);
  await b.follow();
  await exchange([a, b]);
  await b.save(TEXT);
  await exchange([a, b]);
  await a.pass(120_000);
  await b.pass(120_000);
}

test("an edit in either file reaches the other one, and other machines", async () => {
  await start();
  expect(await a.doc()).toBe(TEXT);
  const one = TEXT.replace("make ship", "make release");
  await a.save(one, GEMINI);
  expect(a.file()).toBe(one);
  const two = one.replace("make test", "bun test");
  await a.pass(120_000);
  await a.save(two);
  expect(a.file(GEMINI)).toBe(two);
  await exchange([a, b]);
  expect(b.file()).toBe(two);
  await b.pass(120_000);
  const three = two.replace("Build with make.", "Build with bun.");
  await b.save(three);
  await exchange([a, b]);
  expect([a.file(), a.file(GEMINI)]).toEqual([three, three]);
  expect(await a.conflicts()).toEqual([]);
});

test("two edits at once, one in each file, are merged by lines", async () => {
  await start();
  a.put(TEXT.replace("make ship", "make release"));
  a.put(TEXT.replace("make test", "bun test"), GEMINI);
  await a.settle();
  const both = TEXT.replace("make ship", "make release").replace("make test", "bun test");
  expect([a.file(), a.file(GEMINI), await a.doc()]).toEqual([both, both, both]);
});

test("what each file has alone when they meet comes into the other, and nothing is twice", async () => {
  a.put(TEXT);
  a.put(`${TEXT}\nOf Gemini alone.\n`, GEMINI);
  await a.follow(ALSO);
  for (const line of ["Of Gemini alone.", "Build with make.", "Ship with make ship."]) {
    for (const text of [a.file(), a.file(GEMINI), await a.doc()]) {
      expect(text.split("\n").filter((each) => each === line)).toHaveLength(1);
    }
  }
});

test("a further file that has less than the text gets the rest, and no conflict says so", async () => {
  const less = "# Guide\n\nBuild with make.\n\nShip with make ship.\n";
  a.put(TEXT);
  a.put(less, GEMINI);
  await a.follow(ALSO);
  await b.follow({ write: true });
  await exchange([a, b]);
  b.put(less, GEMINI);
  await b.follow({ ...ALSO, write: true });
  await exchange([a, b]);
  for (const each of [a, b]) {
    expect([each.file(), each.file(GEMINI), await each.doc()]).toEqual([TEXT, TEXT, TEXT]);
    expect(await each.conflicts()).toEqual([]);
  }
  // An edit of what it had all the time is no dispute.
  const edited = TEXT.replace("Build with make.", "Build with just.");
  await a.save(edited, GEMINI);
  expect([a.file(), await a.doc()]).toEqual([edited, edited]);
  expect(await a.conflicts()).toEqual([]);
});

test("two texts that have nothing in common both stay", async () => {
  a.put("# Claude\n\nUse tabs.\n");
  a.put("# Gemini\n\nBe short.\n", GEMINI);
  await a.follow(ALSO);
  for (const text of [a.file(), a.file(GEMINI)]) {
    for (const line of ["# Claude", "Use tabs.", "# Gemini", "Be short."]) {
      expect(text.split("\n")).toContain(line);
    }
  }
  // Each has what the other lacks: the same may be said twice now.
  expect(await a.conflicts()).toMatchObject([{ kind: "renewed" }]);
});

test("a further file that is missing is made by the rules of the one that counts", async () => {
  a.put(TEXT);
  await a.follow(ALSO);
  expect(existsSync(join(a.dir, GEMINI))).toBe(false);
  expect(a.also).toMatchObject([{ state: "left-alone", why: { code: "missing" } }]);
  await a.follow({ ...ALSO, write: true });
  expect(a.file(GEMINI)).toBe(TEXT);
  // A file that goes deletes nothing, in either place.
  a.remove(GEMINI);
  await a.settleAfterGrace();
  expect(a.also).toMatchObject([{ why: { code: "gone" } }]);
  expect([a.file(), await a.doc()]).toEqual([TEXT, TEXT]);
});

test("an emptied file empties the other one no sooner than a followed file does", async () => {
  await start();
  a.put("", GEMINI);
  await a.settle();
  expect(a.file()).toBe(TEXT);
  a.put(TEXT, GEMINI);
  await a.settle();
  expect([a.file(), a.file(GEMINI)]).toEqual([TEXT, TEXT]);
});

test("a file that imports the other one, or is a link to it, is the same text already", async () => {
  for (const text of ["@CLAUDE.md\n", "@./CLAUDE.md"]) {
    a.put(TEXT);
    a.put(text, GEMINI);
    await a.follow(ALSO);
    expect(a.also).toMatchObject([{ state: "left-alone", why: { code: "also-imports" } }]);
    expect([a.file(), a.file(GEMINI)]).toEqual([TEXT, text]);
  }
  unlinkSync(join(a.dir, GEMINI));
  symlinkSync("CLAUDE.md", join(a.dir, GEMINI));
  await a.follow({ ...ALSO, write: true });
  expect(a.also).toMatchObject([{ state: "left-alone", why: { code: "became-link" } }]);
  expect(a.file()).toBe(TEXT);
});

test("a text that becomes an import of the other file deletes nothing there", async () => {
  await start();
  await a.save("@CLAUDE.md\n", GEMINI);
  expect([a.file(), await a.doc()]).toEqual([TEXT, TEXT]);
});

test("a file that counts and becomes an import of the further one deletes nothing there", async () => {
  await start();
  await a.save("@./GEMINI.md\n");
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "also-imports" } });
  expect([a.file(), a.file(GEMINI), await a.doc()]).toEqual(["@./GEMINI.md\n", TEXT, TEXT]);
  await a.save(`${TEXT}More.\n`, GEMINI);
  expect([a.file(), await a.doc()]).toEqual(["@./GEMINI.md\n", `${TEXT}More.\n`]);
  // It is one of the two files again.
  await a.save(`${TEXT}More.\nAnd more.\n`);
  expect(a.file(GEMINI)).toBe(`${TEXT}More.\nAnd more.\n`);
});

test("what was saved before a file became an import is in the history", async () => {
  const [short, next] = ["Build.\n", "Build with make.\n"];
  a.put(short);
  a.put(short, GEMINI);
  await a.follow(ALSO);
  const release = await a.holdLook();
  for (const text of [next, "@GEMINI.md\n"]) await a.saveDuringLook(text);
  await release();
  expect(a.status).toMatchObject({ why: { code: "also-imports" } });
  expect([await a.doc(), (await a.saves()).texts]).toEqual([short, expect.arrayContaining([next])]);
});

test("a file that counts and becomes an import of another one deletes nothing", async () => {
  a.put(TEXT);
  a.put("# Others\n", "AGENTS.md");
  await a.follow({});
  await a.save("@AGENTS.md\n");
  expect(a.status).toMatchObject({ why: { code: "imports", imported: "AGENTS.md" } });
  expect(await a.doc()).toBe(TEXT);
});

test("a file that only imports the one that counts is not offered, and not merged where it is chosen", async () => {
  a.put(TEXT, "AGENTS.md");
  a.put("@AGENTS.md\n");
  await a.follow({});
  expect([a.status.path, a.beside]).toEqual(["AGENTS.md", []]);
  b.put(TEXT, "AGENTS.md");
  b.put("@AGENTS.md\n");
  await b.receive(a);
  await b.follow({ file: "CLAUDE.md" });
  expect(b.status).toMatchObject({ path: "CLAUDE.md", why: { code: "imports" } });
  expect([b.file(), b.file("AGENTS.md"), await b.doc()]).toEqual(["@AGENTS.md\n", TEXT, TEXT]);
});

test("no CLAUDE.md comes beside an AGENTS.md that is the only file", async () => {
  a.put(TEXT, "AGENTS.md");
  await a.follow({ also: ["AGENTS.md"], write: true });
  expect(a.status.path).toBe("AGENTS.md");
  expect(a.also).toMatchObject([{ why: { code: "also-counts" } }]);
  expect(existsSync(join(a.dir, "CLAUDE.md"))).toBe(false);
});

test("while the file that counts is missing, a further one waits", async () => {
  a.put("of Gemini\n", GEMINI);
  await a.follow(ALSO);
  expect(a.also).toMatchObject([{ state: "left-alone", why: { code: "also-waits" } }]);
  expect(await a.doc()).toBe("");
  await a.save(TEXT);
  await a.pass(60_000);
  await a.settle();
  expect(await a.doc()).toContain("of Gemini");
  expect(a.file()).toContain("of Gemini");
});

test("git's rules hold for each file: a tracked one is read, and written with consent", async () => {
  const dir = await lab.git.repository("tracked", { "CLAUDE.md": TEXT, [GEMINI]: TEXT });
  const c = await lab.folder("tracked", dir);
  await c.placeFromGit();
  await c.follow(ALSO);
  expect(c.also).toMatchObject([{ state: "upwards" }]);
  const edited = TEXT.replace("make ship", "make release");
  await c.save(edited, GEMINI);
  expect(await c.doc()).toBe(edited);
  expect(c.file()).toBe(TEXT);
  await c.follow({ ...ALSO, write: true });
  expect(c.file()).toBe(edited);
});

test("an ignored further file is left alone, and one that was ignored is no edit", async () => {
  writeFileSync(join(a.dir, ".memsyncignore"), "GEMINI.md\n");
  a.put(TEXT);
  a.put("mine\n", GEMINI);
  await a.follow({ ...ALSO, write: true });
  expect(a.also).toMatchObject([{ state: "left-alone", why: { code: "ignored" } }]);
  expect([await a.doc(), a.file(GEMINI)]).toEqual([TEXT, "mine\n"]);
});
