import { expect, test } from "bun:test";
import { isExportDeclaration, isImportDeclaration, SyntaxKind } from "typescript/unstable/ast";
import { type Import, importsOf } from "./imports.ts";
import { readSources, type Source, sampleSources } from "./source-tree.ts";

/** Whether it is evaluated before the module that imports it: not for a type, nor by a call. */
function isEvaluated({ node }: Import): boolean {
  if (isImportDeclaration(node)) {
    return node.importClause?.phaseModifier !== SyntaxKind.TypeKeyword;
  }
  return isExportDeclaration(node) && !node.isTypeOnly;
}

/** The packages that are loaded before a module can run, and the modules through which they are. */
function packagesBehind(path: string, sources: readonly Source[]): Map<string, string> {
  const packages = new Map<string, string>();
  const modules = new Map([[path, path]]);
  for (const [module, way] of modules) {
    const source = sources.find((each) => each.path === module);
    for (const each of source === undefined ? [] : importsOf(source).filter(isEvaluated)) {
      const { path: next, specifier } = each;
      if (next === undefined && !specifier.startsWith("node:")) packages.set(specifier, way);
      else if (next !== undefined && !modules.has(next)) modules.set(next, `${way} → ${next}`);
    }
  }
  return packages;
}

test("the command line loads no package but commander before it knows the command", async () => {
  const behind = packagesBehind("cli/main.ts", await readSources());
  expect([...behind.keys()]).toEqual(["commander"]);
});

test("get, set and list load no package but kysely", async () => {
  const behind = packagesBehind("cli/commands/memories.ts", await readSources());
  // The ways are shown where it is another one.
  expect([...behind].filter(([name]) => name !== "kysely")).toEqual([]);
  expect(behind.has("kysely")).toBe(true);
});

test("the end of a session waits for no package", async () => {
  const sources = await readSources();
  for (const path of ["cli/commands/hook.ts", "cli/hooks/run-hook.ts"]) {
    expect([...packagesBehind(path, sources)]).toEqual([]);
  }
});

/**
 * In the compiled binary `process.execPath` is memsync: who starts it must have thought of that,
 * by asking it to be Bun (`BUN_BE_BUN`) or by leaving the program's path out (`/$bunfs/`).
 */
function blindStarts(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => /^(cli|shared|server|daemon)\//.test(path))
    .filter(({ text }) => /\bexecPath\b/.test(text) && !/\bBUN_BE_BUN\b|\$bunfs\b/.test(text))
    .map(({ path }) => path);
}

test("no module takes its own executable for Bun, which in the binary it is not", async () => {
  expect(blindStarts(await readSources())).toEqual([]);
});

test("a module that takes its own executable for Bun is found", async () => {
  const sources = await sampleSources({
    "daemon/a.ts": 'spawn(process.execPath, ["-e", "1"]);',
    "daemon/b.ts": 'spawn(process.execPath, ["-e", "1"], { env: { BUN_BE_BUN: "1" } });',
    "daemon/c.ts": 'const { execPath } = process; spawn(execPath, ["x.ts"]);',
    "daemon/d.ts":
      'if (Bun.main.startsWith("/$bunfs/")) spawn(process.execPath);\nspawn(process.execPath, []);',
    "scripts/e.ts": "spawn(process.execPath, []);",
  });
  expect(blindStarts(sources)).toEqual(["daemon/a.ts", "daemon/c.ts"]);
});

test("a package that is loaded is found, and one that is not is not", async () => {
  const sources = await sampleSources({
    "a.ts": `import type { A } from "types-only";
      import { type C, d } from "./d.ts";
      export { e } from "./e.ts";
      export type { F } from "./f.ts";
      export const g = () => import("./g.ts");`,
    "d.ts": 'import "loaded";\nimport type { A } from "./a.ts";',
    "e.ts": 'import Default from "loaded-too";',
    "f.ts": 'import "not-loaded";',
    "g.ts": 'import "loaded-later";',
  });
  expect([...packagesBehind("a.ts", sources)]).toEqual([
    ["loaded", "a.ts → d.ts"],
    ["loaded-too", "a.ts → e.ts"],
  ]);
});
