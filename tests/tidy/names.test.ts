import { expect, test } from "bun:test";
import {
  type ConstructorDeclaration,
  type FunctionDeclaration,
  type FunctionTypeNode,
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionTypeNode,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  type MethodDeclaration,
  type MethodSignatureDeclaration,
  type Node,
} from "typescript/unstable/ast";
import {
  exportedNames,
  finding,
  nodesIn,
  ROOMS,
  readSources,
  type Source,
  sampleSources,
} from "./source-tree.ts";

/** One module of each is loaded, whichever the runtime can load. */
const SEAMS: Readonly<Record<string, readonly string[]>> = {
  connect: ["shared/sqlite/connect-bun.ts", "shared/sqlite/connect-node.ts"],
};

/** A function with more takes an object, whose names are read at each call. */
const PARAMETERS_MAX = 3;

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

type Declared =
  | FunctionDeclaration
  | ConstructorDeclaration
  | MethodDeclaration
  | MethodSignatureDeclaration
  | FunctionTypeNode;

/**
 * What this project declares by a name, and what it says of functions that it is given; of others'
 * callbacks others say what they are given.
 */
function isDeclared(node: Node): node is Declared {
  if (isFunctionDeclaration(node) || isConstructorDeclaration(node)) return true;
  if (isMethodSignatureDeclaration(node) || isFunctionTypeNode(node)) return true;
  return isMethodDeclaration(node) && isClassDeclaration(node.parent);
}

function manyParameters(source: Source): string[] {
  const found: string[] = [];
  for (const node of nodesIn(source.tree)) {
    if (!isDeclared(node) || node.parameters.length <= PARAMETERS_MAX) continue;
    const { parameters } = node;
    found.push(finding(source, node, `takes ${parameters.length} parameters`));
  }
  return found;
}

test("what a module exports has a name of its own in the whole tree", async () => {
  const sources = (await readSources()).filter(({ path }) => ROOMS.test(path));
  expect(namesTwice(sources)).toEqual([]);
});

test("functions take at most three parameters by their order", async () => {
  const sources = (await readSources()).filter(({ path }) => !path.startsWith("tests/"));
  expect(sources.flatMap(manyParameters)).toEqual([]);
});

test("a name that two modules export is found, and so is a fourth parameter", async () => {
  const sources = await sampleSources({
    "shared/one.ts": "export type Same = 1;\nexport const Same = 1;\nexport const other = 2;\n",
    "server/two.ts": "export interface Same {}\nexport class Alone {}\n",
    "server/three.ts":
      "export function f(a: 1, b: 1, c: 1, d: 1): void {}\n" +
      "export type G = (a: 1, b: 1, c: 1, d: 1) => void;\n" +
      "export interface I { f(a: 1, b: 1, c: 1, d: 1): void }\n",
  });
  expect(namesTwice(sources)).toEqual(["Same is exported by shared/one.ts and server/two.ts"]);
  expect(sources.flatMap(manyParameters)).toEqual(
    [1, 2, 3].map((line) => `server/three.ts:${line} takes 4 parameters`),
  );
});
