import { expect, test } from "bun:test";
import { isAsExpression, type Node, SyntaxKind } from "typescript/unstable/ast";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/** `value as unknown as Type`: what the compiler would refuse to take `value` for. */
const isForced = (node: Node) =>
  isAsExpression(node) &&
  isAsExpression(node.expression) &&
  node.expression.type.kind === SyntaxKind.UnknownKeyword;

function forcedWithoutReason(source: Source): string[] {
  const lines = source.text.split("\n");
  return [...nodesIn(source.tree)].filter(isForced).flatMap((node) => {
    const found = finding(source, node, "forces a type and does not say why that is sound");
    const line = Number(/:(\d+) /.exec(found)?.[1]);
    return /^\s*\/\/ /.test(lines[line - 2] ?? "") ? [] : [found];
  });
}

test("a cast by way of `unknown` says in the line above why it is sound", async () => {
  const sources = (await readSources()).filter(({ path }) => !path.startsWith("tests/"));
  expect(sources.flatMap(forcedWithoutReason)).toEqual([]);
});

test("a cast by way of `unknown` without a reason is found", async () => {
  const sources = await sampleSources({
    "shared/one.ts":
      "// It is both.\nexport const a = 1 as unknown as string;\nexport const b = 1 as unknown as string;\n",
  });
  expect(sources.flatMap(forcedWithoutReason)).toEqual([
    "shared/one.ts:3 forces a type and does not say why that is sound",
  ]);
});
