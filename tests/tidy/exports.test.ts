import { expect, test } from "bun:test";
import {
  isExportDeclaration,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNamedExports,
  isNamedImports,
  isTypeAliasDeclaration,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import manifest from "../../package.json";
import { importsOf } from "./imports.ts";
import {
  exportedNames,
  finding,
  nodesIn,
  ROOMS,
  readSources,
  type Source,
  sampleSources,
} from "./source-tree.ts";

/** What the package exports is used by others. */
const PUBLISHED = new Set(
  [...JSON.stringify(manifest.exports).matchAll(/dist\/types\/([^"]+)\.d\.ts/g)].map(
    ([, module]) => `${module}.ts`,
  ),
);

/** How often each name stands in a module. */
function namesIn({ tree }: Source): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodesIn(tree)) {
    if (node.kind !== SyntaxKind.Identifier) continue;
    const name = node.getText(tree);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Whether a module imports a name of another one; by a namespace or a call it may be any name. */
function usesOf(source: Source, names: ReadonlyMap<string, number>) {
  const imported = new Map<string, ReadonlySet<string> | "any">();
  for (const { node, path } of importsOf(source)) {
    if (path === undefined) continue;
    const before = imported.get(path) ?? new Set();
    const named = namesImported(node);
    const isAny = before === "any" || named === undefined;
    imported.set(path, isAny ? "any" : new Set([...before, ...named]));
  }
  return (path: string, name: string) => {
    const of = imported.get(path);
    return of === "any" ? names.has(name) : of?.has(name) === true;
  };
}

/** The names in the braces of an import or a re-export; undefined where it has none. */
function namesImported(node: Node): string[] | undefined {
  const named = isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  const list = isExportDeclaration(node) ? node.exportClause : named;
  if (!list || !(isNamedImports(list) || isNamedExports(list))) return undefined;
  return list.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** A type may be exported for what a function of its module takes or gives. */
const isType = (statement: Node) =>
  isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement);

/** What nothing but tests needs, and what is exported for nobody. */
function needlessExports(sources: readonly Source[]): string[] {
  const modules = sources.map((source) => {
    const names = namesIn(source);
    return { source, names, uses: usesOf(source, names) };
  });
  const found: string[] = [];
  for (const { source, names } of modules) {
    if (!ROOMS.test(source.path) || PUBLISHED.has(source.path)) continue;
    for (const statement of source.tree.statements) {
      for (const node of exportedNames(statement)) {
        const name = node.getText(source.tree);
        const users = modules.filter(({ uses }) => uses(source.path, name));
        const inSource = users.some((each) => !each.source.path.startsWith("tests/"));
        if (inSource) continue;
        if (names.get(name) === 1) {
          found.push(finding(source, node, `exports ${name}, which only tests use`));
        } else if (users.length === 0 && !isType(statement)) {
          found.push(finding(source, node, `exports ${name}, which only this module uses`));
        }
      }
    }
  }
  return found;
}

test("what a module exports is used by the product, and by another module", async () => {
  expect(needlessExports(await readSources())).toEqual([]);
});

test("an export that only tests or only its own module use is found", async () => {
  const sources = await sampleSources({
    "shared/one.ts":
      "export const used = 1;\nexport const tested = 1;\nexport const own = 1;\nconst a = own;\n",
    "server/two.ts": 'import { used } from "../shared/one.ts";\nconst b = { used, tested: 1 };\n',
    "tests/one.test.ts": 'import { tested } from "../shared/one.ts";\nconst c = tested;\n',
  });
  expect(needlessExports(sources)).toEqual([
    "shared/one.ts:2 exports tested, which only tests use",
    "shared/one.ts:3 exports own, which only this module uses",
  ]);
});
