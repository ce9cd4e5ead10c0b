import { Database } from "bun:sqlite";
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const AGENTS = "AGENTS.md";
const DEEP = join(".claude", "CLAUDE.md");
const TEXT = "# Guide\n\nBuild with make.\n\nTest with make test.\n\nShip with make ship.\n";
const BESIDE = "@AGENTS.md\n\n## Claude only\n\n- use tools\n";
const ALSO = { also: [AGENTS] };

const lab = clonesOfEach();
let a: FollowedMachine;
let b: FollowedMachine;

/** Both files of both machines have the project's text. */
beforeEach(async () => {
  [a, b] = [await lab.folder("a"), await lab.folder("b")];
  for (const each of [a, b]) {
    each.put(TEXT);
    each.put(TEXT, AGENTS);
    await each.follow(ALSO);
    await exchange([a, b]);
  }
  for (const each of [a, b]) await each.pass(120_000);
});

/** The text of the document, and of both files of both machines. */
async function texts() {
  for (const each of [a, b]) await each.settle();
  await exchange([a, b]);
  return {
    doc: await a.doc(),
    a: [a.file(), a.file(AGENTS)],
    b: [b.file(), b.file(AGENTS)],
  };
}

const WAYS = {
  "an import with lines below it": BESIDE,
  "an import within a sentence": "# Claude\n\nSee @./AGENTS.md, and use tools.\n",
} as const;

for (const [what, text] of Object.entries(WAYS)) {
  test(`${what} stays in its file, in the history, and is asked about`, async () => {
    await a.save(text);
    expect(await texts()).toEqual({ doc: TEXT, a: [text, TEXT], b: [TEXT, TEXT] });
    const command = "memsync link --no-also --file AGENTS.md";
    expect(a.status).toMatchObject({
      state: "left-alone",
      why: { code: "imports-beside", imported: AGENTS, command },
    });
    expect(await a.saves()).toMatchObject({ outcomes: expect.arrayContaining(["held"]) });
    expect((await a.saves()).texts).toContain(text);
    const more = `${TEXT}\nMore.\n`;
    await a.save(more, AGENTS);
    expect(await texts()).toEqual({ doc: more, a: [text, more], b: [more, more] });
    // What the command does.
    await a.follow({ file: AGENTS, also: [] });
    expect(await texts()).toEqual({ doc: more, a: [text, more], b: [more, more] });
    await a.pass(120_000);
    await a.save(TEXT, AGENTS);
    expect(await texts()).toEqual({ doc: TEXT, a: [text, TEXT], b: [TEXT, TEXT] });
  });
}

test("a further file that imports the one that counts, with lines of its own, stays as it is", async () => {
  const text = "@CLAUDE.md\n\n- for Codex\n";
  await a.save(text, AGENTS);
  expect(await texts()).toEqual({ doc: TEXT, a: [TEXT, text], b: [TEXT, TEXT] });
  expect(a.also).toMatchObject([{ why: { code: "imports-beside", imported: "CLAUDE.md" } }]);
});

test("a further file that becomes the import of any other one stays as it is, and deletes nothing", async () => {
  const text = "@docs/guide.md\n";
  await a.save(text, AGENTS);
  expect(await texts()).toEqual({ doc: TEXT, a: [TEXT, text], b: [TEXT, TEXT] });
  expect(a.also).toMatchObject([{ why: { code: "also-imports" } }]);
  expect((await a.saves()).texts).toContain(text);
});

test("a text that imports a file is not written into it, whoever wrote it", async () => {
  await a.setDoc(BESIDE);
  expect(await texts()).toEqual({ doc: BESIDE, a: [BESIDE, TEXT], b: [BESIDE, TEXT] });
  for (const each of [a, b]) expect(each.also).toMatchObject([{ why: { code: "also-imported" } }]);
  await a.setDoc(`${TEXT}\nMore.\n`);
  expect((await texts()).b).toEqual([`${TEXT}\nMore.\n`, `${TEXT}\nMore.\n`]);
});

for (const also of [[], [AGENTS]] as const) {
  test(`a file that counts, beside ${also.length} others, and becomes the import of any file is left alone until somebody clears the text`, async () => {
    for (const each of [a, b]) await each.follow({ also });
    const imports = "@docs/guide.md\n";
    await a.save(imports);
    const { doc, ...files } = await texts();
    expect([doc, files.a[0], files.b[0]]).toEqual([TEXT, imports, TEXT]);
    expect(a.status).toMatchObject({ state: "left-alone", why: { code: "import-instead" } });
    expect((await a.saves()).texts).toContain(imports);
    await b.setDoc(`${TEXT}More.\n`);
    expect((await texts()).a[0]).toBe(imports);
    // As `doc clear` does.
    await a.setDoc("");
    await texts();
    const after = await texts();
    expect([after.doc, after.a[0], after.b[0]]).toEqual([imports, imports, imports]);
    expect(a.status.state).toBe("followed");
    expect(await a.conflicts()).toEqual([]);
  });
}

const INSTEAD = "@docs/guide.md\n\nOur own line.\n";

for (const [what, text] of [
  ["below the import", INSTEAD],
  ["above the import, and a line that was there", "# Guide\n\nOurs.\n\n@docs/guide.md\n"],
  ["around the import", "Everything is in @docs/guide.md.\n"],
] as const) {
  test(`what is typed ${what} that took the place of the text deletes nothing until somebody clears it`, async () => {
    for (const each of [a, b]) await each.follow({ also: [] });
    await a.save("@docs/guide.md\n");
    await texts();
    await a.save(text);
    const { doc, ...files } = await texts();
    expect([doc, files.a[0], files.b[0]]).toEqual([TEXT, text, TEXT]);
    expect(a.status).toMatchObject({ state: "left-alone", why: { code: "import-instead" } });
    expect((await a.saves()).texts).toContain(text);
    // As `doc clear` does, while others write.
    await b.save(`${TEXT}More.\n`);
    await texts();
    await a.setDoc("");
    await texts();
    const after = await texts();
    expect([after.doc, after.a[0], after.b[0]]).toEqual([text, text, text]);
    expect(a.status.state).toBe("followed");
    expect(await a.conflicts()).toEqual([]);
  });
}

test("an import that two files have become takes the place of a text that is cleared once", async () => {
  for (const each of [a, b]) await each.follow({ also: [] });
  const imports = "@docs/guide.md\n";
  for (const each of [a, b]) await each.save(imports);
  await texts();
  await a.setDoc("");
  await texts();
  const after = await texts();
  expect([after.doc, after.a[0], after.b[0]]).toEqual([imports, imports, imports]);
  expect(await a.conflicts()).toEqual([]);
});

test("a file that keeps of its text only the import that it had is left alone, with a line beside it too", async () => {
  for (const each of [a, b]) await each.follow({ also: [] });
  const text = `@docs/guide.md\n\n${TEXT}`;
  await a.save(text);
  expect((await texts()).doc).toBe(text);
  await a.pass(120_000);
  for (const saved of ["@docs/guide.md\n", INSTEAD]) {
    await a.save(saved);
    expect((await texts()).doc).toBe(text);
    expect(a.status.why).toEqual({ code: "import-instead" });
  }
});

test("the import of any file beside most of the text is an edit like any other", async () => {
  for (const each of [a, b]) await each.follow({ also: [] });
  const above = `@docs/guide.md\n\n${TEXT}`;
  await a.save(above);
  expect((await texts()).doc).toBe(above);
  await a.pass(120_000);
  const part = TEXT.replace("Ship with make ship.", "@docs/ship.md");
  await a.save(part);
  expect((await texts()).doc).toBe(part);
  await a.pass(120_000);
  const own = "# Other\n\nAsk @alice.\n";
  await a.save(own);
  expect((await texts()).doc).toBe(own);
});

test("of two files that import each other neither is said to have the text, and both are in the history", async () => {
  const imports = ["@AGENTS.md\n", "@CLAUDE.md\n"] as const;
  await a.save(imports[0]);
  await a.save(imports[1], AGENTS);
  expect(await texts()).toEqual({ doc: TEXT, a: [...imports], b: [TEXT, TEXT] });
  expect(a.status.why).toEqual({ code: "imports-back", imported: AGENTS });
  expect(a.also).toMatchObject([{ why: { code: "imports-back", imported: "CLAUDE.md" } }]);
  expect((await a.saves()).texts).toEqual(expect.arrayContaining([...imports]));
  // Nothing is written, and nothing waited for, at a second look.
  const { outcomes } = await a.saves();
  await a.saveAndLook(imports[0]);
  expect([a.status.why?.code, (await a.saves()).outcomes]).toEqual(["imports-back", outcomes]);
  // What the command does.
  await a.save(await a.doc(), AGENTS);
  expect(await texts()).toEqual({ doc: TEXT, a: [imports[0], TEXT], b: [TEXT, TEXT] });
  expect(a.status.why).toEqual({ code: "also-imports" });
});

test("a name in code, or of a file with another text, is no import", async () => {
  for (const text of ["```\n@AGENTS.md\n```\n", "Write `@AGENTS.md` or a@AGENTS.md.\n"]) {
    await a.save(`${TEXT}\n${text}`);
    expect((await texts()).a).toEqual([`${TEXT}\n${text}`, `${TEXT}\n${text}`]);
  }
});

test("a text that imports a file as its own folder has it is not written into that file", async () => {
  const deep = await lab.folder("deep");
  mkdirSync(join(deep.dir, ".claude"));
  deep.put(TEXT, DEEP);
  deep.put(TEXT, AGENTS);
  await deep.follow(ALSO);
  const text = BESIDE.replace("@AGENTS.md", "@../AGENTS.md");
  await deep.setDoc(text);
  expect([deep.file(DEEP), deep.file(AGENTS)]).toEqual([text, TEXT]);
  expect(deep.also).toMatchObject([{ why: { code: "also-imported" } }]);
  // There it is a file beside the project, which may have such a one above.
  await a.receive(deep);
  expect([a.file(), a.file(AGENTS)]).toEqual([text, text]);
});

test("a text of code blocks alone is read at once", async () => {
  const text = `${TEXT}\n${"```\n".repeat(60_000)}`;
  await a.save(text);
  expect((await texts()).b).toEqual([text, text]);
});

test("a long line of dots behind an @ is read at once", async () => {
  const text = `${TEXT}\n@x${".".repeat(200_000)}a\n`;
  await a.save(text);
  expect((await texts()).b).toEqual([text, text]);
});

test("a text that could not be kept at the look that left it alone is kept at the next", async () => {
  const database = new Database(join(lab.git.path("home-a"), "memsync.db"));
  database.run("CREATE TRIGGER full BEFORE INSERT ON saves BEGIN SELECT RAISE(ABORT, 'full'); END");
  await a.save(BESIDE);
  expect((await a.saves()).texts).not.toContain(BESIDE);
  database.run("DROP TRIGGER full");
  database.close();
  await a.settle();
  expect((await a.saves()).texts).toContain(BESIDE);
});
