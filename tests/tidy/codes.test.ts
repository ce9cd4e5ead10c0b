import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isCaseClause,
  isConditionalExpression,
  isElementAccessExpression,
  isIdentifier,
  isLiteralTypeNode,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isRegularExpressionLiteral,
  isSpreadAssignment,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { FINDINGS } from "../../cli/doctor/finding-codes.ts";
import { FAILURES } from "../../cli/screen/failure-codes.ts";
import { REASONS } from "../../shared/reasons.ts";
import { finding, nodesIn, ROOT, readSources, type Source, sampleSources } from "./source-tree.ts";

/** Where words of others are looked at, or texts of users, which have no codes. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "cli/demo/story.ts": "the values of the demonstration",
  "cli/help/unknown-command.ts": "the words of Commander, whose code says less",
  "cli/screen/log-view.ts": "the program's name before what it says on standard error",
  "daemon/assistants/opencode/session-rows.ts": "what OpenCode writes in place of a title",
  "daemon/budget/quota-headers.ts": "a date as HTTP writes it",
  "daemon/gateway/gateway.ts": "the scheme of a header",
  "daemon/git/branch-log.ts": "what git writes into its log",
  "daemon/git/commit-makers.ts": "what git writes into its log",
  "daemon/git/git-refusal.ts": "what git says, whose exit status says less",
  "daemon/git/git-refs.ts": "what git writes into a file",
  "daemon/git/run-git.ts": "what stands for git on macOS",
  "daemon/git/tracked-entries.ts": "what git prints",
  "daemon/git/working-tree.ts": "what git writes into a file",
  "daemon/held/assigned-rules.ts": "users' texts",
  "daemon/held/command-rules.ts": "users' texts",
  "daemon/held/file-rules.ts": "users' texts",
  "daemon/held/headed-assignments.ts": "users' texts",
  "daemon/held/own-rules.ts": "users' texts",
  "daemon/held/link-targets.ts": "users' texts",
  "daemon/held/plain-password.ts": "users' texts",
  "daemon/held/sentence-rules.ts": "users' texts",
  "daemon/held/setting-rules.ts": "users' texts",
  "daemon/links/find-moved-tree.ts": "what git prints",
  "daemon/recovery/head-page.ts": "how a database's file begins",
  "daemon/supervise/program-code.ts": "a file of /proc",
  "server/backup/restore.ts": "how a database's file begins",
  "server/http/bearer.ts": "the scheme of a header",
  "shared/postgres/failures.ts": "what PostgreSQL and its driver say, whose codes say less",
  "shared/sqlite/failures.ts": "what SQLite says, whose code says less",
};

const COMPARING: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
]);

const SEARCHING: ReadonlySet<string> = new Set([
  "startsWith",
  "endsWith",
  "includes",
  "indexOf",
  "lastIndexOf",
  "has",
  "match",
  "matchAll",
  "replace",
  "replaceAll",
  "search",
  "split",
]);

/** Words with a space among them; what HTTP calls a request is none. */
function isProse(text: string): boolean {
  const isRequest = /^(GET|HEAD|POST|PUT|PATCH|DELETE) \S+$/.test(text);
  return text.includes(" ") && /[A-Za-z]{2}/.test(text) && !isRequest;
}

function textOf(node: Node): string | undefined {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (isRegularExpressionLiteral(node)) return node.text;
  if (!isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…");
}

/** The names of constants that are prose, wherever they are. */
function proseNames(sources: readonly Source[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { tree } of sources) {
    for (const node of nodesIn(tree)) {
      if (!isVariableDeclaration(node) || !isIdentifier(node.name) || !node.initializer) continue;
      const { text } = node.name;
      const isConstant = /^[A-Z][A-Z0-9_]+$/.test(text);
      if (isConstant && isProse(textOf(node.initializer) ?? "")) names.add(text);
    }
  }
  return names;
}

/** What a node compares with, or looks for in, something else. */
function comparedIn(node: Node): readonly (Node | undefined)[] {
  if (isBinaryExpression(node)) {
    return COMPARING.has(node.operatorToken.kind) ? [node.left, node.right] : [];
  }
  if (isCaseClause(node)) return [node.expression];
  if (isLiteralTypeNode(node)) return [node.literal];
  if (isRegularExpressionLiteral(node)) return [node];
  if (isNewExpression(node)) {
    const isPattern = isIdentifier(node.expression) && node.expression.text === "RegExp";
    return isPattern ? (node.arguments ?? []).flatMap((each) => [...nodesIn(each)]) : [];
  }
  if (isElementAccessExpression(node)) return [node.argumentExpression];
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return [];
  const { expression, name } = node.expression;
  if (!SEARCHING.has(name.text)) return [];
  return [node.arguments[0], ...(isStringLiteral(expression) ? [] : listedIn(expression))];
}

/** What is written out in a list, or in a set that is made of one. */
function listedIn(node: Node): readonly Node[] {
  if (isArrayLiteralExpression(node)) return node.elements;
  return isNewExpression(node) ? (node.arguments ?? []).flatMap(listedIn) : [];
}

/** Comparisons with sentences, which a better wording would break. */
function comparisonsWithProse(sources: readonly Source[]): string[] {
  const inside = sources.filter(({ path }) => !/^(tests|scripts)\//.test(path));
  const names = proseNames(inside);
  const found = inside.flatMap((source) =>
    [...nodesIn(source.tree)].flatMap((node) => {
      const isSo = comparedIn(node).some((each) => {
        if (!each) return false;
        return isIdentifier(each) ? names.has(each.text) : isProse(textOf(each) ?? "");
      });
      return isSo ? [finding(source, node, "compares with words")] : [];
    }),
  );
  return [...new Set(found)];
}

/** What holds others' words where a reason is told: none of it is a sentence of ours. */
const OF_OTHERS: ReadonlySet<string> = new Set(["said", "detail", "reason"]);
/** Folders whose reasons are compared, stored or printed with `--json`. */
const WITH_CODES =
  /^(daemon\/(assistants|disk|files|git|held|home|links|plain|sync|watch)|shared)\//;

/** Whether an expression is a sentence of ours, also by the name of a constant. */
function saysProse(node: Node, names: ReadonlySet<string>): boolean {
  if (isConditionalExpression(node)) {
    return saysProse(node.whenTrue, names) || saysProse(node.whenFalse, names);
  }
  if (isBinaryExpression(node)) return saysProse(node.left, names) || saysProse(node.right, names);
  if (isIdentifier(node)) return names.has(node.text);
  return isProse(textOf(node) ?? "");
}

/** Sentences of ours where a code belongs. */
function sentencesAsState(sources: readonly Source[]): string[] {
  const inside = sources.filter(({ path }) => WITH_CODES.test(path));
  const names = proseNames(inside);
  return inside.flatMap((source) =>
    [...nodesIn(source.tree)].flatMap((node) => {
      if (!isPropertyAssignment(node) || !isIdentifier(node.name)) return [];
      const isSo = OF_OTHERS.has(node.name.text) && saysProse(node.initializer, names);
      return isSo ? [finding(source, node, "has a sentence in place of a code")] : [];
    }),
  );
}

/** What says something to a person, as a field of what may be printed with `--json`. */
const FOR_PEOPLE: ReadonlySet<string> = new Set([
  "detail",
  "message",
  "mend",
  "note",
  "reason",
  "why",
]);
/** What tells a program the same; of a request's fault its place does, as the interface has it. */
const FOR_PROGRAMS: ReadonlySet<string> = new Set(["code", "state", "status", "path"]);
/** Makes a sentence of a reason. */
const EXPLAINS: ReadonlySet<string> = new Set(["explain", "sayTrouble"]);

/** Where a sentence stands alone, for no program reads it. */
const ALONE: Readonly<Record<string, string>> = {
  "cli/contact/scratch-folder.ts": "for standard error alone",
  "cli/lifecycle/shell-service.ts": "for standard error; `doctor` gives it a code of its own",
  "cli/mcp/project-scope.ts": "for an assistant to read",
  "cli/mcp/remember.ts": "for an assistant to read",
  "cli/personal/personal-place.ts": "for the screen alone",
};

function namesOf(object: Node): ReadonlySet<string> {
  if (!isObjectLiteralExpression(object)) return new Set();
  return new Set(
    object.properties.flatMap((each) => {
      if (isSpreadAssignment(each)) return ["code"];
      return each.name && isIdentifier(each.name) ? [each.name.text] : [];
    }),
  );
}

/** Sentences of ours without a code beside them. */
function sentencesAlone(sources: readonly Source[]): string[] {
  const inside = sources.filter(({ path }) => /^(cli|daemon)\//.test(path));
  const names = proseNames(inside);
  const says = (node: Node): boolean => {
    const isExplained = isCallExpression(node) && EXPLAINS.has(node.expression.getText());
    return isExplained || saysProse(node, names);
  };
  return inside.flatMap((source) =>
    [...nodesIn(source.tree)].flatMap((node) => {
      if (!isPropertyAssignment(node) || !isIdentifier(node.name)) return [];
      if (!FOR_PEOPLE.has(node.name.text) || !says(node.initializer)) return [];
      const beside = namesOf(node.parent);
      const isAlone = [...FOR_PROGRAMS].every((name) => !beside.has(name));
      return isAlone ? [finding(source, node, "says something without a code beside it")] : [];
    }),
  );
}

test("what is said to people has its code beside it", async () => {
  const found = sentencesAlone(await readSources());
  const pathOf = (each: string) => each.slice(0, each.indexOf(":"));
  expect(found.filter((each) => !(pathOf(each) in ALONE))).toEqual([]);
  const used = new Set(found.map(pathOf));
  expect(Object.keys(ALONE).filter((path) => !used.has(path))).toEqual([]);
});

test("a sentence without a code beside it is found, also one that is made of a reason", async () => {
  const lines = [
    'export const a = { message: "it can not be done" };',
    "export const b = { name: 1, note: explain(c) };",
    'export const d = (e: boolean) => ({ mend: e ? "do it again" : null });',
    'export const f = { code: "not-now", message: "git is at work" };',
    "export const g = { ...noteOf(h), note: explain(h) };",
    'export const i = { path: "/key", message: "must not be null" };',
    'export const j = { message: "short" };',
  ];
  const sources = await sampleSources({ "cli/a.ts": lines.join("\n") });
  expect(sentencesAlone(sources)).toEqual(
    [1, 2, 3].map((line) => `cli/a.ts:${line} says something without a code beside it`),
  );
});

test("no reason carries a sentence of ours in place of a code", async () => {
  expect(sentencesAsState(await readSources())).toEqual([]);
});

test("a sentence in place of a code is found, also by name or as a choice", async () => {
  const lines = [
    'const UNENDED = "it can not be finished";',
    'export const a = { code: "not-now", said: "git is at work" };',
    'export const b = (c: string) => ({ kind: "unknown", reason: `$'.concat("{c} is odd` });"),
    "export const d = { said: UNENDED };",
    'export const e = (f?: string) => ({ said: f ?? "it gave no answer" });',
    'export const g = (h: boolean) => ({ detail: h ? "a code" : "code" });',
    'export const i = (thrown: Error) => ({ said: thrown.message, reason: "no-answer" });',
  ];
  const sources = await sampleSources({ "shared/a.ts": lines.join("\n") });
  expect(sentencesAsState(sources)).toEqual(
    [2, 3, 4, 5, 6].map((line) => `shared/a.ts:${line} has a sentence in place of a code`),
  );
});

test("nothing is known by a sentence, but for what others say", async () => {
  const found = comparisonsWithProse(await readSources());
  const pathOf = (each: string) => each.slice(0, each.indexOf(":"));
  expect(found.filter((each) => !(pathOf(each) in EXCEPTIONS))).toEqual([]);
  const used = new Set(found.map(pathOf));
  expect(Object.keys(EXCEPTIONS).filter((path) => !used.has(path))).toEqual([]);
});

test("a comparison with words is found in whatever form", async () => {
  const lines = [
    'const REFUSED = "the token may not write";',
    "export const a = (b: string) => b !== `it is $".concat("{b}`;"),
    "export const c = (d: string) => d === REFUSED;",
    'export const e = (f: string) => f.startsWith("is missing");',
    "export const g = /^project none/;",
    'export const h = (i: string) => new RegExp(["all synced"].join("|")).test(i);',
    'export type J = "left alone" | "held";',
    'export function k(l: string) { switch (l) { case "not now": return 1; default: return 2; } }',
    'export const m = (n: string) => n === "GET /v1/memories" || n === "left-alone" || n === " ";',
    'export const o = "a sentence that is only said";',
    'export const p = (q: string) => ["it is missing", "none"].includes(q);',
    'export const r = (s: string) => new Set(["it is missing"]).has(s);',
    'export const t = (u: Record<string, string>) => u["it is missing"];',
  ];
  const sources = await sampleSources({ "shared/a.ts": lines.join("\n") });
  expect(comparisonsWithProse(sources)).toEqual(
    [2, 3, 4, 5, 6, 7, 8, 11, 12, 13].map((line) => `shared/a.ts:${line} compares with words`),
  );
});

test("the document of codes lists each, with its meaning", async () => {
  const text = await Bun.file(join(ROOT, "docs/codes.md")).text();
  const listed = [...text.matchAll(/^\| `[a-z0-9-]+` \| .+ \|$/gm)].map(([line]) => line);
  const known = [
    ...Object.entries(REASONS).map(([code, { meaning }]) => `| \`${code}\` | ${meaning} |`),
    ...Object.entries(FAILURES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    ...Object.entries(FINDINGS).map(([code, [, state, meaning]]) => {
      return `| \`${code}\` | ${state}: ${meaning} |`;
    }),
  ];
  expect(listed).toEqual(known);
});
