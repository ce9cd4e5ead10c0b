import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readSeed, startEmulator } from "../../server/emulator/start-emulator.ts";
import { LIMITS } from "../../shared/limits.ts";
import { failureOf } from "../support/failure.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-seed-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of a folder, or of a file, with these contents. */
function written(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return join(folder, name);
}

/** What is wrong with a seed, with its path as somebody in the folder above would see it. */
async function refusalOf(path: string): Promise<string> {
  const { message } = (await failureOf(() => readSeed(path))) as Error;
  return message.replaceAll(`${folder}/`, "");
}

test("a folder's files are memories, byte for byte, its folders projects and layers", async () => {
  const seed = written("seeds", {
    "widget/CLAUDE.md": "# Widget\n",
    "widget/build.md": "\ufeffmake\r\n",
    "my app/notes.md": "none",
    "user/editor.md": "vim",
    "user/CLAUDE.md": "of no project",
    "global/tone.md": "short",
    "widget/.DS_Store": "\0",
    "more.json": JSON.stringify({
      user: { memories: [{ key: "shell", value: "fish" }] },
      projects: [{ id: "proj_widget", memories: [{ key: "test", value: "npm test" }] }],
    }),
  });
  await using emulator = await startEmulator({ seed, random: 1 });
  const found = await emulator.export();
  expect(found.user?.memories).toEqual([
    { key: "CLAUDE", value: "of no project" },
    { key: "editor", value: "vim" },
    { key: "shell", value: "fish" },
  ]);
  expect(found.global?.memories).toEqual([{ key: "tone", value: "short" }]);
  expect(found.projects?.map(({ name }) => name).sort()).toEqual(["my app", "widget"]);
  expect(found.projects?.find(({ id }) => id === "proj_widget")).toMatchObject({
    name: "widget",
    claude_md_content: "# Widget\n",
    memories: [
      { key: "build", value: "\ufeffmake\r\n" },
      { key: "test", value: "npm test" },
    ],
  });
});

test("a folder of Markdown alone is one project", async () => {
  const seed = await readSeed(
    written("gadget", { "CLAUDE.md": "# Gadget\n", "lint.md": "eslint" }),
  );
  expect(seed.projects).toEqual([
    {
      id: "proj_gadget",
      name: "gadget",
      claude_md_content: "# Gadget\n",
      memories: [{ key: "lint", value: "eslint" }],
    },
  ]);
});

test("an export is a seed as a file and in a folder, and a memory without a key gets one", async () => {
  await using first = await startEmulator({
    seed: { projects: [{ id: "proj_a", name: "a", memories: [{ value: "x" }, { value: "y" }] }] },
  });
  const exported = await first.export();
  expect(exported.projects?.[0]?.memories?.map(({ value }) => value).sort()).toEqual(["x", "y"]);
  const path = written("exports", { "all.json": JSON.stringify(exported) });
  for (const seed of [path, join(path, "all.json")]) {
    await using second = await startEmulator({ seed });
    expect(await second.export()).toEqual(exported);
  }
});

test("what `memsync export` writes is a seed, and what an emulator gives, with its sessions", async () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/export.md"), "utf8");
  const [, document = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
  await using first = await startEmulator({ seed: written("home", { "home.json": document }) });
  const times = { started_at: "2026-01-01T00:00:00Z", last_activity_at: "2026-01-01T00:01:00Z" };
  const session = { id: "sess_a", source: "claude-code", message_count: 2, ...times };
  const sessions = [{ ...session, id: "sess_free" }];
  await first.seed({ projects: [{ id: "proj_b", name: "b", sessions: [session] }], sessions });
  const exported = await first.export();
  expect(exported.projects?.map(({ memories }) => memories)).toEqual([
    [],
    [{ key: "build", value: "npm run build" }],
  ]);
  expect(exported.projects?.[0]?.sessions).toMatchObject([{ id: "sess_a", message_count: 2 }]);
  expect(exported.sessions).toMatchObject([{ id: "sess_free", message_count: 2 }]);
  await using second = await startEmulator({ seed: exported });
  expect(await second.export()).toEqual(exported);
  const twice = [session];
  const failure = await failureOf(() => second.seed({ sessions: [...twice, ...twice] }));
  expect(String(failure)).toContain("/sessions/1/id is given twice");
});

test("what is wrong with a file is said with its line", async () => {
  const path = written("wrong", {
    "comma.json": '{\n  "user": {\n    "memories": [,]\n  }\n}\n',
    "places.json": `{
  "projects": [
    { "id": "proj_a", "memories": [{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }] },
    { "memories": [] }
  ],
  "user": { "memories": [
    { "key": "k" }
  ] }
}`,
    "doubles.json": `{ "projects": [
  { "id": "proj_a",
    "memories": [
      { "key": "a", "value": "1" },
      { "key": "a", "value": "2" }] },
  {}
] }`,
    "twice.json": '{\n  "user": {},\n  "projects": [],\n  "user": {}\n}',
    "field.json": '{\n  "user": {},\n  "projcts": []\n}',
    "latin.json": new Uint8Array([0x22, 0xe9, 0x22]),
  });
  const at = (file: string) => refusalOf(join(path, file));
  expect(await at("comma.json")).toBe("wrong/comma.json:3 is not JSON");
  expect(await at("places.json")).toBe("wrong/places.json:7 /user/memories/0/value is required");
  expect(await at("doubles.json")).toBe(
    "wrong/doubles.json:5 /projects/0/memories/1/key is given twice in this request\n" +
      "wrong/doubles.json:6 /projects/1 needs an id or a name",
  );
  expect(await at("twice.json")).toBe('wrong/twice.json:4 "user" is given twice');
  expect(await at("field.json")).toBe("wrong/field.json:3 /projcts is not a field of a seed");
  expect(await at("latin.json")).toBe("wrong/latin.json is not UTF-8");
  expect(await at("none.json")).toMatch(/^wrong\/none.json can't be read: /);
});

test("a folder with something in it that is no seed is refused by the file's name", async () => {
  const cases = [
    ["widget/build.txt", "make", "widget/build.txt is no Markdown"],
    ["widget/ci/linux.md", "apt-get", "widget/ci is a folder in a project's, which is not read"],
    ["user/old.md", new Uint8Array([0xe9]), "user/old.md is not UTF-8"],
    ["LICENSE", "MIT", "LICENSE is no Markdown"],
    [
      "widget/large.md",
      "x".repeat(LIMITS.memoryValueBytes + 1),
      "widget/large.md must be at most 32768 bytes of UTF-8",
    ],
  ] as const;
  for (const [at, [path, content, why]] of cases.entries()) {
    const refused = written(`refused${at}`, { [path]: content });
    expect(await refusalOf(refused)).toBe(`refused${at}/${why}`);
  }
  const twice = written("twice", {
    "w/k.md": "make",
    "m.json": JSON.stringify({
      projects: [{ id: "proj_w", memories: [{ key: "k", value: "x" }] }],
    }),
  });
  expect(await refusalOf(twice)).toBe(
    'twice/m.json has the key "k" of proj_w, as twice/w/k.md does',
  );
  mkdirSync(join(folder, "empty"));
  expect(await refusalOf(join(folder, "empty"))).toBe("empty has neither Markdown nor JSON in it");
});
