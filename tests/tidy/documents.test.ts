import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { listFiles, ROOT } from "./source-tree.ts";

/** What a stranger reads to its end. */
const LINES_MAX = { "README.md": 120, "ARCHITECTURE.md": 100 };

const read = (path: string) => Bun.file(join(ROOT, path)).text();

/** A heading as GitHub and npm name it in a link. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** The links of a document that lead nowhere: to no file, or to no heading of one. */
function brokenLinks(path: string, documents: ReadonlyMap<string, string>): string[] {
  const links = [
    ...(documents.get(path) ?? "").matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g),
  ];
  return links.flatMap(([link, to, anchor]) => {
    const target = to ? normalize(join(dirname(path), to)) : path;
    if (!existsSync(join(ROOT, target))) return [`${path}: ${link}`];
    if (anchor === undefined) return [];
    const headings = [...(documents.get(target) ?? "").matchAll(/^#+ (.+)$/gm)];
    return headings.some(([, text]) => anchorOf(text ?? "") === anchor) ? [] : [`${path}: ${link}`];
  });
}

async function readDocuments(): Promise<ReadonlyMap<string, string>> {
  const paths = (await listFiles()).filter((path) =>
    /^(docs\/.+|tests\/support\/README|[A-Z]+)\.md$/.test(path),
  );
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
}

test.each(Object.entries(LINES_MAX))("%s has at most %d lines", async (path, most) => {
  expect((await read(path)).split("\n").length).toBeLessThanOrEqual(most);
});

test("every link of a document leads to a file, and to a heading of it", async () => {
  const documents = await readDocuments();
  expect([...documents.keys()].flatMap((path) => brokenLinks(path, documents))).toEqual([]);
});

/** The files of this repository that a document names, and that are not there. */
function missingFiles(text: string): string[] {
  const named = [
    ...text.matchAll(/`((?:cli|daemon|server|shared|client|tests|scripts)\/[\w./-]+)`/g),
  ];
  return named.flatMap(([, path = ""]) => (existsSync(join(ROOT, path)) ? [] : [path]));
}

/** Modules that a document names by the end of their path, as `state/glimpses.ts`. */
function missingEnds(text: string, files: readonly string[]): string[] {
  const named = [...text.matchAll(/`([a-z][\w-]*\/[\w./-]+\.ts)`/g)].map(([, end = ""]) => end);
  return named.filter((end) => !files.some((path) => `/${path}`.endsWith(`/${end}`)));
}

test("every module that a document names by the end of its path is there", async () => {
  const files = await listFiles();
  const documents = [...(await readDocuments())];
  expect(
    documents.flatMap(([path, text]) => missingEnds(text, files).map((each) => [path, each])),
  ).toEqual([]);
  expect(missingEnds("`tidy/imports.ts`, `tidy/none.ts`", files)).toEqual(["tidy/none.ts"]);
});

test("every file that a document names is there", async () => {
  const documents = [...(await readDocuments())].filter(([path]) => path !== "CHANGELOG.md");
  expect(
    documents.flatMap(([path, text]) => missingFiles(text).map((each) => [path, each])),
  ).toEqual([]);
  expect(missingFiles("see `shared/ids.ts` and `shared/nowhere.ts`")).toEqual([
    "shared/nowhere.ts",
  ]);
});

/** Modules of the last column of a table; a star is of another folder. */
function modulesOfTable(page: string): string[] {
  const cells = [...page.matchAll(/^\|.*\| ([^|]+) \|$/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => {
    const named = [...cell.matchAll(/`([\w-]+\.ts)`(\\\*)?/g)];
    return named.map(([, name = "", star]) => `${star ? "conflicts" : "merge"}/${name}`);
  });
}

test("every file that the table of merging names is in the room that it says", async () => {
  const named = modulesOfTable(await read("docs/design/merging.md"));
  expect(named.length).toBeGreaterThan(30);
  const isThere = (path: string) => existsSync(join(ROOT, "shared/replica", path));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
  expect(modulesOfTable("| a | `b.ts`\\*, `c.ts` |")).toEqual(["conflicts/b.ts", "merge/c.ts"]);
});

/** What of a list of modules a page does not name, or names though it is not there. */
function misnamed(page: string, modules: readonly string[]): string[] {
  const named = [...page.matchAll(/`([\w-]+\.ts)`/g)].map(([, name = ""]) => name);
  const missing = modules.filter((name) => !named.includes(name));
  return [...missing, ...named.filter((name) => !modules.includes(name))].sort();
}

test("the page of tests/support names each module that is there, and no other", async () => {
  const folder = "tests/support/";
  const modules = (await listFiles()).filter((path) => path.startsWith(folder));
  const names = modules.map((path) => path.slice(folder.length));
  const page = await read(`${folder}README.md`);
  expect(
    misnamed(
      page,
      names.filter((name) => name.endsWith(".ts")),
    ),
  ).toEqual([]);
  expect(misnamed("`a.ts`, `b.ts`", ["a.ts", "c.ts"])).toEqual(["b.ts", "c.ts"]);
});

const WORDS_MAX = 25;

/** The words that the tables of a document explain, by the first column of `| word | means |`. */
function wordsIn(text: string): string[] {
  const [, table = ""] = text.split("| word | means |\n| --- | --- |\n");
  const rows = table.split("\n\n", 1)[0] ?? "";
  return [...rows.matchAll(/^\| (.+?) \|/gm)].map(([, word = ""]) => word);
}

test("the glossary has each of its few words once", async () => {
  const pages = await Promise.all(["ARCHITECTURE.md", "docs/design/words.md"].map(read));
  expect(pages.map((page) => wordsIn(page).length).every((count) => count > 0)).toBe(true);
  const words = pages.flatMap(wordsIn);
  expect(words.length).toBeLessThanOrEqual(WORDS_MAX);
  expect(new Set(words).size).toBe(words.length);
  expect(
    wordsIn("# A\n\n| word | means |\n| --- | --- |\n| a, b | x |\n| c | y |\n\n| d | z |\n"),
  ).toEqual(["a, b", "c"]);
});

test("a link that leads nowhere is found", () => {
  const text = "# A b\n[x](nowhere.md) [y](#a-b) [z](#other) [w](https://example.com/x.md)\n";
  expect(brokenLinks("README.md", new Map([["README.md", text]]))).toEqual([
    "README.md: ](nowhere.md)",
    "README.md: ](#other)",
  ]);
});
