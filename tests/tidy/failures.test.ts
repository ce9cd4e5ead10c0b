import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "./source-tree.ts";

const TABLE = "docs/design/postgres.md";

/** What a file has to have in it, as a row of the table says. */
interface Named {
  readonly path: string;
  readonly text: string;
}

function namedIn(document: string): Named[] {
  const [, table = ""] = document.split("| failure | injected by |\n");
  const [rows = ""] = table.split("\n\n");
  return [...rows.matchAll(/`((?:tests|scripts)\/[\w./-]+)`: ([^;|]+?) ?(?=[;|])/g)].map(
    ([, path = "", text = ""]) => ({ path, text }),
  );
}

test("every failure that PostgreSQL is tried with is injected by what the table names", async () => {
  const document = await Bun.file(join(ROOT, TABLE)).text();
  const named = namedIn(document);
  expect(named.length).toBe(document.match(/`(tests|scripts)\/[\w./-]+`: /g)?.length ?? 0);
  expect(named.length).toBeGreaterThan(20);
  for (const { path, text } of named) {
    const source = await Bun.file(join(ROOT, path)).text();
    expect([path, text, source.includes(text)]).toEqual([path, text, true]);
  }
});

test("a row whose test has another name is found", () => {
  const document =
    "| failure | injected by |\n| --- | --- |\n| x | `tests/a.ts`: b c; `tests/d.ts`: e |\n\n";
  expect(namedIn(document)).toEqual([
    { path: "tests/a.ts", text: "b c" },
    { path: "tests/d.ts", text: "e" },
  ]);
});
