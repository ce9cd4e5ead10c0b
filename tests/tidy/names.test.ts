import { expect, test } from "bun:test";
import {
  isClassDeclaration,
  isEnumDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { readSources, type Source, sampleSources } from "./source-tree.ts";

/**
 * The rooms that stand on each other. The client's names are those of the published package, and
 * the conformance suite shares nothing with the rest.
 */
const ROOMS = /^(cli|daemon|server|shared)\//;

/** One module of each is loaded, whichever the runtime can load. */
const SEAMS: Readonly<Record<string, readonly string[]>> = {
  connect: ["shared/sqlite/connect-bun.ts", "shared/sqlite/connect-node.ts"],
};

/** What a statement exports, by name; a type and a value of one name are one. */
function exportedNames(statement: Node): readonly Node[] {
  const isDeclaration =
    isFunctionDeclaration(statement) ||
    isClassDeclaration(statement) ||
    isInterfaceDeclaration(statement) ||
    isTypeAliasDeclaration(statement) ||
    isEnumDeclaration(statement);
  if (!isDeclaration && !isVariableStatement(statement)) return [];
  const isExported = (statement.modifiers ?? []).some(
    ({ kind }) => kind === SyntaxKind.ExportKeyword,
  );
  if (!isExported) return [];
  if (isDeclaration) return statement.name ? [statement.name] : [];
  return statement.declarationList.declarations.map(({ name }) => name).filter(isIdentifier);
}

function namesTwice(sources: readonly Source[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, tree } of sources) {
    for (const name of tree.statements.flatMap(exportedNames)) {
      const text = name.getText(tree);
      if (SEAMS[text]?.includes(path)) continue;
      places.set(text, (places.get(text) ?? new Set()).add(path));
    }
  }
  return [...places].flatMap(([name, paths]) => {
    return paths.size > 1 ? [`${name} is exported by ${[...paths].join(" and ")}`] : [];
  });
}

test("what a module exports has a name of its own in the whole tree", async () => {
  const sources = (await readSources()).filter(({ path }) => ROOMS.test(path));
  expect(namesTwice(sources)).toEqual([]);
});

test("a name that two modules export is found", async () => {
  const sources = await sampleSources({
    "shared/one.ts": "export type Same = 1;\nexport const Same = 1;\nexport const other = 2;\n",
    "server/two.ts": "export interface Same {}\nexport class Alone {}\n",
  });
  expect(namesTwice(sources)).toEqual(["Same is exported by shared/one.ts and server/two.ts"]);
});
