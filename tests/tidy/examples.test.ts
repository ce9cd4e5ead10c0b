import { expect, test } from "bun:test";
import { dirname } from "node:path";
import { isClassDeclaration, isInterfaceDeclaration } from "typescript/unstable/ast";
import { exportedNames, readSources, type Source, sampleSources } from "./source-tree.ts";

/** The rooms of the house, the client and the conformance suite among them. */
const HOUSE = /^(cli|client|conformance|daemon|server|shared)\//;

/** A docstring with lines of code in it. */
const EXAMPLE = /^ *\* ```$/m;

const hasType = ({ tree }: Source) =>
  tree.statements.some((each) => {
    const isType = isInterfaceDeclaration(each) || isClassDeclaration(each);
    return isType && exportedNames(each).length > 0;
  });

/** The folders that have types of their own, and show nobody how one of them is used. */
function withoutExample(sources: readonly Source[]): string[] {
  const folders = Map.groupBy(
    sources.filter(({ path }) => HOUSE.test(path)),
    ({ path }) => dirname(path),
  );
  return [...folders].flatMap(([folder, modules]) => {
    const isShown = modules.some(({ text }) => EXAMPLE.test(text));
    return modules.some(hasType) && !isShown ? [folder] : [];
  });
}

test("a folder with types of its own has a docstring that shows how one is used", async () => {
  expect(withoutExample(await readSources())).toEqual([]);
});

test("a folder without an example is found, unless it has no types of its own", async () => {
  const sources = await sampleSources({
    "shared/one/a.ts": "/** Is said and not shown. */\nexport interface A {}\n",
    "shared/two/b.ts": "export class B {}\n",
    "shared/two/c.ts": "/**\n * ```\n * new B();\n * ```\n */\nexport const c = 1;\n",
    "shared/three/d.ts": "interface D {}\nexport function f(d: D): void {}\n",
    "tests/e.ts": "export interface E {}\n",
  });
  expect(withoutExample(sources)).toEqual(["shared/one"]);
});
