import { expect, test } from "bun:test";
import {
  isAsExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isTypeReferenceNode,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/** `value as unknown as Type`: what the compiler would refuse to take `value` for. */
const isForced = (node: Node) =>
  isAsExpression(node) &&
  isAsExpression(node.expression) &&
  node.expression.type.kind === SyntaxKind.UnknownKeyword;

/** `list[at] as Item` and `list.at(-1) as Item`: the compiler does not count how long a list is. */
function isOfList(node: Node): boolean {
  if (!isAsExpression(node)) return false;
  const { expression } = node;
  if (isElementAccessExpression(expression)) return true;
  const called = isCallExpression(expression) ? expression.expression : undefined;
  return called !== undefined && isPropertyAccessExpression(called) && called.name.text === "at";
}

/** Any other cast, but for `as const`. */
function isOther(node: Node): boolean {
  if (!isAsExpression(node) || isForced(node) || isOfList(node)) return false;
  const { type } = node;
  const isConst = isTypeReferenceNode(type) && isIdentifier(type.typeName);
  return !(isConst && type.typeName.text === "const");
}

function withoutReason(source: Source, isMeant: (node: Node) => boolean): string[] {
  const lines = source.text.split("\n");
  return [...nodesIn(source.tree)].filter(isMeant).flatMap((node) => {
    const found = finding(source, node, "forces a type and does not say why that is sound");
    const line = Number(/:(\d+) /.exec(found)?.[1]);
    return /^\s*\/\/ /.test(lines[line - 2] ?? "") ? [] : [found];
  });
}

const forcedWithoutReason = (source: Source) => withoutReason(source, isForced);

/** How many other casts say nothing of why they are sound. It may only fall. */
const OTHERS_MAX = 0;

test("a cast by way of `unknown` says in the line above why it is sound", async () => {
  const sources = (await readSources()).filter(({ path }) => !path.startsWith("tests/"));
  expect(sources.flatMap(forcedWithoutReason)).toEqual([]);
});

test("no more casts than before say nothing of why they are sound", async () => {
  const sources = (await readSources()).filter(({ path }) => !/^(tests|scripts)\//.test(path));
  const found = sources.flatMap((source) => withoutReason(source, isOther));
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(OTHERS_MAX);
});

test("a cast is counted unless it says why, is of a list's item, or is `as const`", async () => {
  const lines = [
    "export const a = JSON.parse(text) as string[];",
    "// Only numbers are in it.",
    "export const b = c as number;",
    "export const d = [1, 2] as const;",
    "export const e = list[0] as string;",
    "export const f = list.at(-1) as string;",
    "export const g = h as Named;",
  ];
  const sources = await sampleSources({ "shared/one.ts": lines.join("\n") });
  expect(sources.flatMap((source) => withoutReason(source, isOther))).toEqual([
    "shared/one.ts:1 forces a type and does not say why that is sound",
    "shared/one.ts:7 forces a type and does not say why that is sound",
  ]);
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
