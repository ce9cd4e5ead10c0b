import { expect, test } from "bun:test";
import {
  isAsExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteral,
  isTypeAssertion,
  isTypeReferenceNode,
  type Node,
} from "typescript/unstable/ast";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/** A cast is sound without a word if it is `as const`, or only says that a list has this item. */
function wantsReason(node: Node): boolean {
  if (isTypeAssertion(node)) return true;
  if (!isAsExpression(node) || isOfItem(node.expression)) return false;
  const { type } = node;
  const isConst = isTypeReferenceNode(type) && isIdentifier(type.typeName);
  return !(isConst && type.typeName.text === "const");
}

/**
 * `list[at]` and `list.at(-1)`: the compiler does not count how long a list is. `object["name"]` is
 * no list's item.
 */
function isOfItem(node: Node): boolean {
  if (isElementAccessExpression(node)) return !isStringLiteral(node.argumentExpression);
  const called = isCallExpression(node) ? node.expression : undefined;
  return called !== undefined && isPropertyAccessExpression(called) && called.name.text === "at";
}

function withoutReason(source: Source): string[] {
  const lines = source.text.split("\n");
  return [...nodesIn(source.tree)].filter(wantsReason).flatMap((node) => {
    const found = finding(source, node, "casts, and does not say why that is sound");
    const line = Number(/:(\d+) /.exec(found)?.[1]);
    return /^\s*\/\/ (?!biome-ignore|@ts-)/.test(lines[line - 2] ?? "") ? [] : [found];
  });
}

test("every cast says in the line above why it is sound", async () => {
  const sources = (await readSources()).filter(({ path }) => !path.startsWith("tests/"));
  expect(sources.flatMap(withoutReason)).toEqual([]);
});

test("a cast is found unless it says why, is of a list's item, or is `as const`", async () => {
  const lines = [
    "export const a = JSON.parse(text) as string[];",
    "// Only numbers are in it.",
    "export const b = c as number;",
    "export const d = [1, 2] as const;",
    "export const e = list[0] as string;",
    "export const f = list.at(-1) as string;",
    "export const g = h as Named;",
    "// It is both.",
    "export const i = 1 as unknown as string;",
    "export const j = 1 as unknown as string;",
    "export const k = <string>l;",
    'export const m = n["name"] as string;',
    "// biome-ignore lint/style/x: of a rule",
    "export const o = p as string;",
  ];
  const sources = await sampleSources({ "shared/one.ts": lines.join("\n") });
  const found = new Set(sources.flatMap(withoutReason).map((each) => each.split(" ", 1)[0]));
  expect([...found]).toEqual([
    "shared/one.ts:1",
    "shared/one.ts:7",
    "shared/one.ts:10",
    "shared/one.ts:11",
    "shared/one.ts:12",
    "shared/one.ts:14",
  ]);
});
