import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { readFolder, writeFolder } from "../../cli/transfer/folders.ts";
import { isSeenByGit } from "../../cli/transfer/in-git.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { type PortableHome, parsePortableHome } from "../../daemon/portable/format.ts";
import { filesOf, portableHomeOf, REST_FILE } from "../../daemon/portable/markdown-folder.ts";
import { readKnowledgeGraph } from "../../daemon/portable/others-notes.ts";
import { keyOfPortableName, portableNames } from "../../shared/portable-names.ts";

const NOW = "2026-11-24T00:00:00.000Z";
const BEFORE = "2026-03-01T09:30:00.000Z";

const text = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.constantFrom("", "\ufeffbegins with a mark", "a\r\nb\r", "no end", "---\nx: 1\n---\n"),
  )
  .map(cleaned);
const key = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    fc.constantFrom("CLAUDE", "claude", "Build", "build", "BUILD", "a/b", "a%2Fb", "con", "NUL.x"),
    fc.constantFrom(".x", "x.", "x ", " x", "auto-memory/one.md", "ä", "a\u0308", "…", "\u{1F600}"),
    fc.constantFrom("x".repeat(300), `${"x".repeat(300)}y`, "X".repeat(300), "键".repeat(60)),
    fc.constantFrom("a.".repeat(120), "/".repeat(70), `con.${"x".repeat(250)}`, "ё".repeat(256)),
    fc.constantFrom("%", "%25", "..", "a\nb", "ﬁ", "fi"),
  )
  .map(cleaned)
  .filter((each) => each !== "");

/** What a memory can hold: well formed, and without NUL. */
function cleaned(value: string): string {
  return value.toWellFormed().replaceAll("\0", "");
}

const memories = fc
  .uniqueArray(
    fc.record({
      key,
      value: text,
      updated_at: fc.constant(BEFORE),
      conflicts: fc.constantFrom(undefined, [{ value: "lost", updated_at: BEFORE }]),
    }),
    { selector: (each) => each.key, maxLength: 8 },
  )
  .map((all) =>
    all
      .map(({ conflicts, ...each }) => (conflicts ? { ...each, conflicts } : each))
      .sort((one, other) => (one.key < other.key ? -1 : 1)),
  );

const homes = fc
  .record({
    projects: fc.uniqueArray(
      fc.record({
        id: fc.constantFrom("proj_a", "proj_A", "proj_shop", "proj_x-1"),
        name: text.filter((each) => each !== ""),
        claude_md_content: text,
        metadata: fc.constantFrom({}, { language: "Go", own: [1, { a: null }] }),
        memories,
      }),
      { selector: ({ id }) => id, maxLength: 3 },
    ),
    user: fc.record({ memories }),
    global: fc.record({ memories }),
  })
  .map(({ projects, ...layers }): PortableHome => {
    const sorted = projects.sort((one, other) => (one.id < other.id ? -1 : 1));
    return parsePortableHome({ format: 1, projects: sorted, ...layers });
  });

test("a home that was exported as a folder comes back equal", () => {
  fc.assert(
    fc.property(homes, (home) => {
      expect(portableHomeOf(filesOf(home), NOW)).toEqual({ home, leftOut: [] });
    }),
    { numRuns: 300 },
  );
});

test("each memory has a file of its own on the disk, from which it comes back", async () => {
  await fc.assert(
    fc.asyncProperty(homes, async (home) => {
      const folder = mkdtempSync(join(tmpdir(), "memsync-markdown-"));
      try {
        await writeFolder(join(folder, "export"), filesOf(home));
        const { files, unread } = await readFolder(join(folder, "export"));
        expect(unread).toEqual([]);
        const layers = [...home.projects, home.user, home.global];
        const texts = home.projects.filter(({ claude_md_content }) => claude_md_content !== "");
        const count = layers.reduce((sum, { memories: all }) => sum + all.length, texts.length);
        expect(files.size).toBe(count + 1);
        expect(portableHomeOf(files, NOW)).toEqual({ home, leftOut: [] });
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: 60 },
  );
});

/** What becomes of a longer key, if nobody knows the whole of it. */
const SHORTENED = /~[0-9a-f]{16}$/;

/** Whether a key has a name as a file, even if each of its bytes is coded (`portableNames`). */
function isNamed(key: string): boolean {
  return new TextEncoder().encode(key).length * "%2F".length <= 200;
}

test("without what Markdown can't say, texts and memories come back all the same", () => {
  fc.assert(
    fc.property(homes, (home) => {
      const files = new Map(filesOf(home));
      files.delete(REST_FILE);
      const { home: back } = portableHomeOf(files, NOW);
      const said = ({ memories: all }: PortableHome["user"]) =>
        all
          .filter(({ key }) => isNamed(key) && !SHORTENED.test(key))
          .map((each) => [each.key, each.value]);
      expect(said(back.user)).toEqual(said(home.user));
      expect(said(back.global)).toEqual(said(home.global));
      for (const project of back.projects) {
        const before = home.projects.find(({ id }) => id === project.id);
        expect(before?.claude_md_content).toBe(project.claude_md_content);
        expect(before && said(before)).toEqual(said(project));
      }
    }),
    { numRuns: 100 },
  );
});

test("every system can have the names of all keys side by side", () => {
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 20 }), (keys) => {
      const names = portableNames(keys, ["CLAUDE"]);
      const seen = new Set(["claude"]);
      for (const [each, name] of names) {
        if (!SHORTENED.test(name)) expect(keyOfPortableName(name)).toBe(each);
        expect(name.length).toBeLessThanOrEqual(200);
        expect(name).toMatch(/^[ -~]+$/);
        expect(name).not.toMatch(/[<>:"/\\|?*]|^[. ]|[. ]$|^(con|nul)(\.|$)/i);
        expect(seen.has(name.toLowerCase())).toBe(false);
        seen.add(name.toLowerCase());
      }
    }),
    { numRuns: 300 },
  );
});

test("an edited file is new, an added one is there, and a deleted one is not", () => {
  const home = parsePortableHome({
    format: 1,
    projects: [],
    user: {
      memories: ["a", "b", "c"].map((each) => ({ key: each, value: each, updated_at: BEFORE })),
    },
    global: { memories: [] },
  });
  const files = new Map(filesOf(home));
  files.set("user/a.md", "edited");
  files.set("user/d.md", "added");
  files.delete("user/c.md");
  expect(portableHomeOf(files, NOW).home.user.memories).toEqual([
    { key: "a", value: "edited", updated_at: NOW },
    { key: "b", value: "b", updated_at: BEFORE },
    { key: "d", value: "added", updated_at: NOW },
  ]);
});

test("an edited file of a long key is that key's, too", () => {
  const memory = { key: "x".repeat(300), value: "long", updated_at: BEFORE };
  const nothing = { memories: [] };
  const home = { format: 1, projects: [], user: { memories: [memory] }, global: nothing };
  const files = new Map(filesOf(parsePortableHome(home)));
  for (const path of files.keys()) if (path !== REST_FILE) files.set(path, "edited");
  const { user } = portableHomeOf(files, NOW).home;
  expect(user.memories).toEqual([{ ...memory, value: "edited", updated_at: NOW }]);
});

test("a memory with a long key whose file is not there is named, of a project without any as well", () => {
  const long = { key: "键".repeat(60), value: "long", updated_at: BEFORE };
  const short = { key: "a", value: "a", updated_at: BEFORE };
  const project = { id: "proj_shop", claude_md_content: "", metadata: {}, memories: [long] };
  const home = parsePortableHome({
    format: 1,
    projects: [project],
    user: { memories: [short, long] },
    global: { memories: [] },
  });
  const files = new Map(filesOf(home));
  for (const path of files.keys()) if (path.includes("~")) files.delete(path);
  files.delete("user/a.md");
  const { home: back, leftOut } = portableHomeOf(files, NOW);
  expect(back.user.memories).toEqual([]);
  const named = leftOut.map(({ name, code }) => [name.replace(/%.*~.*$/, ""), code]);
  expect(named).toEqual([
    ["user/", "no-file"],
    ["proj_shop/", "no-file"],
  ]);
});

const NOWHERE = ["note.md", "user/deep/a.md", "user/a.txt", "no project/a.md"];

test("in a folder that no export wrote a path that fits nowhere has all refused", () => {
  for (const path of NOWHERE) {
    expect(() => portableHomeOf(new Map([[path, "x"]]), NOW)).toThrow();
  }
  expect(() => portableHomeOf(new Map([[REST_FILE, "{"]]), NOW)).toThrow();
});

test("in an export what fits nowhere is left out, and takes nothing else with it", () => {
  const memory = { key: "a", value: "a", updated_at: BEFORE };
  const home = parsePortableHome({
    format: 1,
    projects: [],
    user: { memories: [memory] },
    global: { memories: [] },
  });
  const files = new Map(filesOf(home));
  for (const path of NOWHERE) files.set(path, "x");
  files.set("user/%61.md", "the same key");
  files.set("user/large.md", "x".repeat(40_000));
  const { home: back, leftOut } = portableHomeOf(files, NOW);
  expect(back).toEqual(home);
  expect(leftOut.map(({ name, code }) => [name, code])).toEqual([
    ...NOWHERE.map((path) => [path, "unfit-name"]),
    ["user/%61.md", "double-name"],
    ["user/large.md", "unfit-text"],
  ]);
});

test("the reference server's entities are memories, with their relations", () => {
  const lines = [
    { type: "entity", name: "Ann", entityType: "person", observations: ["likes Go"] },
    { type: "relation", from: "Ann", to: "Shop", relationType: "works on" },
    { type: "entity", name: "Shop", entityType: "project", observations: [] },
  ];
  const graph = lines.map((line) => JSON.stringify(line)).join("\n");
  const notes = [
    { key: "Ann", value: "Ann (person)\n\n- likes Go\n- works on: Shop", updated_at: NOW },
    { key: "Shop", value: "Shop (project)\n", updated_at: NOW },
  ];
  expect(readKnowledgeGraph(graph, NOW)).toEqual({ notes, bad: [] });
  expect(readKnowledgeGraph('{"format":1}', NOW).notes).toEqual([]);
  // A line that can't be read takes no other one with it.
  const wrong = [
    '{"type":"entity","na',
    "[]",
    '{"type":"entity","name":""}',
    '{"type":"relation"}',
    '{"type":"relation","from":"Ann","relationType":"knows"}',
    '{"type":"relation","from":"Ann","to":"Bob"}',
  ];
  const mixed = [wrong[0], graph, "", ...wrong.slice(1)].join("\n");
  expect(readKnowledgeGraph(mixed, NOW)).toEqual({
    notes,
    bad: [
      { number: 1, reason: "is no JSON object" },
      { number: 6, reason: "is neither an entity nor a relation" },
      { number: 7, reason: "is an entity without a name" },
      { number: 8, reason: "is a relation without a beginning" },
      { number: 9, reason: "is a relation without an end" },
      { number: 10, reason: "is a relation without a type" },
    ],
  });
});

test("whatever the reference server's observations are, nothing of them is lost", () => {
  const lines = [
    { type: "entity", name: "one", entityType: "x", observations: "likes Go" },
    { type: "entity", name: "more", entityType: { a: 1 }, observations: [{ b: 2 }, null, ["c"]] },
    { type: "entity", name: "none", entityType: "x" },
    { type: "entity", name: "object", entityType: "x", observations: { d: 3 } },
    { type: "relation", from: "none", to: { e: 4 }, relationType: "knows" },
  ];
  const { notes, bad } = readKnowledgeGraph(
    lines.map((each) => JSON.stringify(each)).join("\n"),
    NOW,
  );
  expect(bad).toEqual([]);
  expect(Object.fromEntries(notes.map(({ key, value }) => [key, value]))).toEqual({
    one: "one (x)\n\n- likes Go",
    more: 'more ({"a":1})\n\n- {"b":2}\n- null\n- ["c"]',
    none: 'none (x)\n\n- knows: {"e":4}',
    object: 'object (x)\n\n- {"d":3}',
  });
});

test("what is written where git would show it is known, and what git ignores is not", async () => {
  const repo = mkdtempSync(join(tmpdir(), "memsync-in-git-"));
  try {
    const git = createGit();
    const outside = join(repo, "outside");
    await writeFolder(outside, new Map([["a.md", "x"]]));
    expect(await isSeenByGit(outside)).toBe(false);
    await git(repo, ["init", "-q"]);
    writeFileSync(join(repo, ".gitignore"), "ignored/\n");
    const [seen, ignored] = [join(repo, "seen"), join(repo, "ignored")];
    for (const each of [seen, ignored]) await writeFolder(each, new Map([["a.md", "x"]]));
    expect([await isSeenByGit(seen), await isSeenByGit(ignored)]).toEqual([true, false]);
  } finally {
    rmSync(repo, { recursive: true });
  }
});
