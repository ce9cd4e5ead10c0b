import { expect, test } from "bun:test";
import {
  isArrowFunction,
  isBlock,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isIfStatement,
  isImportSpecifier,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isReturnStatement,
  isStringLiteral,
  type Node,
} from "typescript/unstable/ast";
import { importsOf } from "./imports.ts";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/** A benchmark is no test; of the rest only this one waits, until a condition holds. */
const MAY_WAIT = /^tests\/(bench\/|support\/wait-for\.ts$)/;

const LINES_MAX = 70;

function badTests(sources: readonly Source[]): string[] {
  const tests = sources.filter(({ path }) => path.startsWith("tests/"));
  return tests.flatMap((source) => [
    ...[...nodesIn(source.tree)].flatMap((node) => problemsAt(source, node)),
    ...importsOf(source)
      .filter(({ specifier }) => /^(node:)?timers\/promises$/.test(specifier))
      .map(({ node }) => finding(source, node, "imports timers that sleep")),
  ]);
}

function problemsAt(source: Source, node: Node): string[] {
  const problems = [
    leftOut(source, node),
    renamed(node),
    endsInSilence(node),
    sleeps(source, node),
    misnamed(node),
    tooLong(source, node),
  ];
  return problems.flatMap((problem) =>
    problem === undefined ? [] : [finding(source, node, problem)],
  );
}

/** Says what is missing in the test's name. */
const MAY_LEAVE_OUT = "tests/support/needs.ts";

/** `test.skip`, `describe.only`, `test.todo`, `test.skipIf` and the like, called or not. */
function leftOut({ path }: Source, node: Node): string | undefined {
  if (path === MAY_LEAVE_OUT) return undefined;
  if (!isPropertyAccessExpression(node) && !isElementAccessExpression(node)) return undefined;
  const text = node.getText();
  return /^(test|it|describe)\b.*\b(skip|only|todo|failing|if|(skip|todo|failing)If)\W*$/.test(text)
    ? `leaves out a test by ${text}`
    : undefined;
}

/** Under another name nothing of this would be seen. */
function renamed(node: Node): string | undefined {
  if (!isImportSpecifier(node) || node.propertyName === undefined) return undefined;
  const { text } = node.propertyName;
  return /^(test|it|describe)$/.test(text) ? `gives ${text} another name` : undefined;
}

/** A test that ends before it has found out anything passes, whatever is missing. */
function endsInSilence(node: Node): string | undefined {
  if (!isIfStatement(node) || !isBareReturn(node.thenStatement)) return undefined;
  const body = node.parent.parent;
  const test = body.parent;
  const isOfTest = isArrowFunction(body) && isCallExpression(test) && definesTests(test.expression);
  return isOfTest ? "may end before it has tested anything" : undefined;
}

function isBareReturn(node: Node): boolean {
  if (isBlock(node)) return node.statements.length === 1 && node.statements.every(isBareReturn);
  return isReturnStatement(node) && node.expression === undefined;
}

function sleeps({ path }: Source, node: Node): string | undefined {
  if (!isCallExpression(node) || MAY_WAIT.test(path)) return undefined;
  const called = node.expression.getText();
  return /^(Bun\.sleep|Bun\.sleepSync|setTimeout|globalThis\.setTimeout)$/.test(called)
    ? `sleeps by ${called}`
    : undefined;
}

/** How a name begins that leaves to the group of the test what it is about. */
const WITHOUT_SUBJECT = new RegExp(
  `^(${[
    "it(?! makes no difference)|its|they|them|their|committed|count|so is|so are|also|but|then",
    "is|are|has|have|does|do|may|can|never|to|and|goes|comes|takes|keeps|gives|says|tells",
    "counts|stays|stands|leaves|makes|begins|brings|removes|refuses|holds|finds|yields|cuts",
    "not where|once,|deep",
  ].join("|")}) `,
);

/** `test`, `test.concurrent`, `test.each(…)` and the like. */
function definesTests(called: Node): boolean {
  if (isIdentifier(called)) return /^(test|it)$/.test(called.text);
  if (isPropertyAccessExpression(called)) {
    return called.name.text !== "each" && definesTests(called.expression);
  }
  if (!isCallExpression(called) || !isPropertyAccessExpression(called.expression)) return false;
  const { expression, name } = called.expression;
  return name.text === "each" && definesTests(expression);
}

/** The name of a test is a statement of what holds. */
function misnamed(node: Node): string | undefined {
  if (!isCallExpression(node)) return undefined;
  const [name] = node.arguments;
  if (!name || !definesTests(node.expression)) return undefined;
  if (!isStringLiteral(name) && !isNoSubstitutionTemplateLiteral(name)) return undefined;
  if (/\bshould\b|^tests?\b/i.test(name.text)) {
    return `is named "${name.text}", which is no statement`;
  }
  return WITHOUT_SUBJECT.test(name.text)
    ? `is named "${name.text}", which does not say of what that holds`
    : undefined;
}

/** Biome counts the lines of functions; it would count those that only group tests, too. */
function tooLong(source: Source, node: Node): string | undefined {
  if (!source.path.endsWith(".test.ts") || !isCallExpression(node)) return undefined;
  if (!isIdentifier(node.expression) || !/^(test|it)$/.test(node.expression.text)) return undefined;
  const lines = node.getText().split("\n").length;
  return lines > LINES_MAX ? `is a test of ${lines} lines` : undefined;
}

test("no test is left out, sleeps, is misnamed or too long", async () => {
  expect(badTests(await readSources())).toEqual([]);
});

test("a test that ends where something is missing is found, and so is another name for it", async () => {
  const lines = [
    'import { test as check } from "bun:test";',
    'test("f is g", () => { if (!has) return; expect(1).toBe(1); });',
    'test.each([1])("f is g", async () => { if (!has) { return; } expect(1).toBe(1); });',
    'test("f is g", () => { list.map((each) => { if (!each) return; expect(each).toBe(1); }); });',
    'test("f is g", () => { if (!has) throw new Error("it is not there"); });',
  ];
  const sources = await sampleSources({ "tests/unit/a.test.ts": lines.join("\n") });
  expect(badTests(sources)).toEqual([
    "tests/unit/a.test.ts:1 gives test another name",
    "tests/unit/a.test.ts:2 may end before it has tested anything",
    "tests/unit/a.test.ts:3 may end before it has tested anything",
  ]);
});

test("a test that is left out, sleeps, is misnamed or too long is found", async () => {
  const sources = await sampleSources({
    "tests/unit/a.test.ts": [
      'test.skip("a is b", () => {});',
      'describe.only("c", () => {});',
      'test.todo("d is e");',
      'test.concurrent.skipIf(x)("d is e", () => {});',
      'test("it should work", async () => {});',
      'describe("g", () => { test("is h", () => {}); });',
      'test.each([1])("%d is h", () => {});',
      'test.each([1])("is %d", () => {});',
      'test("it makes no difference who is h", () => {});',
      'test("f is g", async () => { await Bun.sleep(5); });',
      "await new Promise((resolve) => setTimeout(resolve, 5));",
      'import { setTimeout as sleep } from "node:timers/promises";',
      `test("h is i", () => {${"\n".repeat(70)}});`,
    ].join("\n"),
    "tests/support/wait-for.ts": "await Bun.sleep(10);",
    "tests/support/needs.ts": "export const leaveOut = test.skip;",
    "shared/a.ts": "Bun.sleep(1);",
  });
  expect(badTests(sources)).toEqual([
    "tests/unit/a.test.ts:1 leaves out a test by test.skip",
    "tests/unit/a.test.ts:2 leaves out a test by describe.only",
    "tests/unit/a.test.ts:3 leaves out a test by test.todo",
    "tests/unit/a.test.ts:4 leaves out a test by test.concurrent.skipIf",
    'tests/unit/a.test.ts:5 is named "it should work", which is no statement',
    'tests/unit/a.test.ts:6 is named "is h", which does not say of what that holds',
    'tests/unit/a.test.ts:8 is named "is %d", which does not say of what that holds',
    "tests/unit/a.test.ts:10 sleeps by Bun.sleep",
    "tests/unit/a.test.ts:11 sleeps by setTimeout",
    "tests/unit/a.test.ts:13 is a test of 71 lines",
    "tests/unit/a.test.ts:12 imports timers that sleep",
  ]);
});
