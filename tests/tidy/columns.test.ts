import { expect, test } from "bun:test";
import { isIdentifier, isPropertyAccessExpression } from "typescript/unstable/ast";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/**
 * What may run on a PostgreSQL names its columns: a statement that is prepared there fails for good
 * once a newer server adds one to what it returns.
 */
const GOVERNED = /^(server|shared)\//;

const EXCEPTIONS: Readonly<Record<string, string>> = {
  "server/copy/table-rows.ts": "copies each column there is, and ends",
  "server/stores/data-images.ts": "the emulator's, which is on SQLite",
};

const EVERY_COLUMN = /\b(select|returning)\s+(\w+\.)?\*/i;

function columnProblems(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => GOVERNED.test(path) && EXCEPTIONS[path] === undefined)
    .flatMap((source) => [
      ...[...nodesIn(source.tree)]
        .filter(isPropertyAccessExpression)
        .filter(({ name }) => isIdentifier(name) && /^(select|returning)All$/.test(name.text))
        .map(({ name }) => finding(source, name, `${name.text} names no columns`)),
      ...source.text
        .split("\n")
        .flatMap((line, at) =>
          EVERY_COLUMN.test(line) ? [`${source.path}:${at + 1} * names no columns`] : [],
        ),
    ]);
}

test("a statement for a PostgreSQL names its columns", async () => {
  const sources = await readSources();
  expect(columnProblems(sources)).toEqual([]);
  const paths = sources.map(({ path }) => path);
  expect(Object.keys(EXCEPTIONS).filter((path) => !paths.includes(path))).toEqual([]);
});

test("a statement that names no columns is found", async () => {
  const sources = await sampleSources({
    "server/a.ts": 'db.selectFrom("a").selectAll().execute();\nrun("SELECT * FROM a");',
    "shared/b.ts": 'db.selectFrom("a").select("b");\nrun("SELECT count(*) FROM a");',
    "daemon/c.ts": 'db.selectFrom("a").selectAll().execute();',
  });
  expect(columnProblems(sources)).toEqual([
    "server/a.ts:1 selectAll names no columns",
    "server/a.ts:2 * names no columns",
  ]);
});
