import { expect, test } from "bun:test";
import {
  isCallExpression,
  isIdentifier,
  isImportSpecifier,
  isNewExpression,
  isPropertyAccessExpression,
  type Node,
} from "typescript/unstable/ast";
import { finding, nodesIn, readSources, type Source, sampleSources } from "./source-tree.ts";

/** Where time, timers and randomness are the world's, so that a seed decides everything. */
const GOVERNED = /^(cli|client|conformance|shared|server|daemon)\//;
/** The client's is made of what browsers have, too. */
const WORLDS = ["shared/world-real.ts", "client/platform.ts"];

/** A person waits for the command line, outside of any world. */
const MAY_SET_DEADLINES = /^cli\//;

const MEMBERS = new Map([
  ["Date", /^now$/],
  ["Math", /^random$/],
  ["performance", /./],
  ["crypto", /^(random|getRandom)/],
  ["Bun", /^(sleep|nanoseconds|randomUUID)/],
  ["process", /^(hrtime|uptime)$/],
  ["AbortSignal", /^timeout$/],
]);
const GLOBALS = /^(setTimeout|setInterval|setImmediate|performance)$/;
const IMPORTED =
  /^(random(?!Uint32|Fraction)\w*|getRandomValues|setTimeout|setInterval|setImmediate)$/;
const PACKAGES = /^(node:)?(crypto|timers|timers\/promises|perf_hooks)$/;

function worldlyUses(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => GOVERNED.test(path) && !WORLDS.includes(path))
    .flatMap((source) => [...nodesIn(source.tree)].flatMap((node) => useAt(source, node)));
}

function useAt(source: Source, node: Node): string[] {
  const used = memberUsed(node) ?? globalUsed(node) ?? timeMade(node) ?? randomImported(node);
  if (used === undefined) return [];
  if (used === "AbortSignal.timeout" && MAY_SET_DEADLINES.test(source.path)) return [];
  return [finding(source, node, `uses ${used}`)];
}

function memberUsed(node: Node): string | undefined {
  if (!isPropertyAccessExpression(node) || !isIdentifier(node.expression)) return undefined;
  const [of, name] = [node.expression.text, node.name.text];
  const known = of === "globalThis" ? GLOBALS.test(name) : MEMBERS.get(of)?.test(name) === true;
  return known ? `${of}.${name}` : undefined;
}

/** A timer's name wherever it stands for the global function, even when it is only passed on. */
function globalUsed(node: Node): string | undefined {
  if (!isIdentifier(node) || !/^set(Timeout|Interval|Immediate)$/.test(node.text)) return undefined;
  const { parent } = node;
  const isMember = isPropertyAccessExpression(parent) && parent.name === node;
  return isMember || isImportSpecifier(parent) ? undefined : node.text;
}

function timeMade(node: Node): string | undefined {
  const made = isNewExpression(node) && (node.arguments?.length ?? 0) === 0;
  if (!made && !isCallExpression(node)) return undefined;
  if (!isIdentifier(node.expression) || node.expression.text !== "Date") return undefined;
  return made ? "new Date()" : "Date()";
}

function randomImported(node: Node): string | undefined {
  if (!isImportSpecifier(node)) return undefined;
  const name = (node.propertyName ?? node.name).text;
  const from = node.parent.parent.parent.getText();
  const isWorldly = IMPORTED.test(name) && PACKAGES.test(/from "(.+)"/.exec(from)?.[1] ?? "");
  return isWorldly ? name : undefined;
}

test("only the real world touches the clock, timers and randomness", async () => {
  expect(worldlyUses(await readSources())).toEqual([]);
});

test("every way to the clock, timers and randomness is found", async () => {
  const lines = [
    'import { randomBytes as bytes, createHash } from "node:crypto";',
    'import { setTimeout as sleep } from "node:timers/promises";',
    "export const a = Date.now();",
    "export const b = new Date();",
    "export const c = [1].map(Math.random);",
    "export const d = globalThis.setTimeout;",
    "setInterval(() => {}, 1);",
    "export const e = crypto.randomUUID();",
    "export const f = { timer: setImmediate };",
    "await Bun.sleep(1);",
    "export const g = AbortSignal.timeout(1);",
    "export const h = new Date(0), i = world.setTimeout, j = createHash;",
  ];
  const sources = await sampleSources({
    "shared/a.ts": lines.join("\n"),
    "cli/b.ts": "AbortSignal.timeout(1); Date.now();",
    "shared/world-real.ts": "Date.now();",
    "tests/unit/c.ts": "Date.now();",
  });
  expect(worldlyUses(sources)).toEqual([
    "shared/a.ts:1 uses randomBytes",
    "shared/a.ts:2 uses setTimeout",
    "shared/a.ts:3 uses Date.now",
    "shared/a.ts:4 uses new Date()",
    "shared/a.ts:5 uses Math.random",
    "shared/a.ts:6 uses globalThis.setTimeout",
    "shared/a.ts:7 uses setInterval",
    "shared/a.ts:8 uses crypto.randomUUID",
    "shared/a.ts:9 uses setImmediate",
    "shared/a.ts:10 uses Bun.sleep",
    "shared/a.ts:11 uses AbortSignal.timeout",
    "cli/b.ts:1 uses Date.now",
  ]);
});
