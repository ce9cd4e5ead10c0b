import { expect, test } from "bun:test";
import { type Import, importsOf } from "./imports.ts";
import { finding, readSources, type Source, sampleSources } from "./source-tree.ts";

/** What the modules that `of` matches may not import, unless they are among the `but`. */
interface Rule {
  readonly of: RegExp;
  readonly not: RegExp;
  readonly but?: RegExp;
}

const LAYERS: readonly Rule[] = [
  { of: /^(cli|client|conformance|daemon|server|shared)\//, not: /^(tests|scripts)\// },
  // The suite judges servers, this one among them, so it shares not even a schema with any.
  { of: /^conformance\//, not: /^(daemon|client|server|shared)\/(?<!^shared\/(?=world\.ts$))/ },
  { of: /^(daemon|client|server|shared)\//, not: /^conformance\// },
  { of: /^shared\//, not: /^(server|daemon|cli)\// },
  { of: /^server\//, not: /^(daemon|cli)\// },
  { of: /^client\//, not: /^(server|daemon|cli)\// },
  { of: /^(cli|shared|server|daemon)\//, not: /^client\// },
  { of: /^server\/routes\//, not: /^server\/stores\// },
  { of: /^cli\//, not: /^server\// },
  {
    of: /^daemon\//,
    not: /^server\//,
    but: /^daemon\/(embedded\/.+|home\/service-schema|gateway\/mount)\.ts$/,
  },
];

/** Where a package may be used: each technology has its place, and can be exchanged there. */
const PACKAGES: readonly Rule[] = [
  {
    of: /^(cli|shared|server|daemon)\//,
    not: /^(elysia|@elysiajs\/)/,
    but: /^server\/(app\/app|http\/(errors-to-response|request-context)|routes\/.+)\.ts$/,
  },
  {
    of: /^(cli|shared|server|daemon)\//,
    not: /^bun:sqlite$/,
    but: /^shared\/sqlite\/connect-bun\.ts$/,
  },
  {
    of: /^(cli|shared|server|daemon)\//,
    not: /^better-sqlite3$/,
    but: /^shared\/sqlite\/connect-node\.ts$/,
  },
  { of: /^(cli|shared|server|daemon)\//, not: /^ws$/, but: /^server\/listen\/listen-node\.ts$/ },
  { of: /^(cli|shared|server|daemon)\//, not: /^chokidar$/, but: /^daemon\/watch\/watch\.ts$/ },
  { of: /^(shared|server|daemon)\//, not: /^commander$/ },
  { of: /^(server|cli)\//, not: /^yjs$/ },
  { of: /^(cli|shared|server|daemon)\//, not: /^(bun:test|fast-check)$/ },
];

function forbiddenImports(sources: readonly Source[]): string[] {
  const rules = [...LAYERS, ...PACKAGES];
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((each) => rules.some((rule) => isForbidden(rule, source.path, each)))
      .map(({ specifier, node }) => finding(source, node, `imports ${specifier}`)),
  );
}

function isForbidden({ of, not, but }: Rule, from: string, { path, specifier }: Import): boolean {
  return of.test(from) && not.test(path ?? specifier) && but?.test(from) !== true;
}

/** Modules that import themselves by way of others, each circle once, types included. */
function circles(sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map((source) => [
      source.path,
      importsOf(source).flatMap(({ path }) => (path === undefined ? [] : [path])),
    ]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, above: readonly string[]) => {
    const at = above.indexOf(path);
    if (at !== -1) found.push([...above.slice(at), path].join(" → "));
    if (at !== -1 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) walk(next, [...above, path]);
    done.add(path);
  };
  for (const path of imports.keys()) walk(path, []);
  return found;
}

test("every module imports only what its layer may", async () => {
  expect(forbiddenImports(await readSources())).toEqual([]);
});

test("no module imports itself by way of others", async () => {
  expect(circles(await readSources())).toEqual([]);
});

test("an import across the layers is found, in whatever form", async () => {
  const sources = await sampleSources({
    "shared/a.ts":
      'import { b } from "../server/b.ts";\nexport type C = import("../daemon/c.ts").C;',
    "server/b.ts": 'export type { C } from "../daemon/c.ts";\nawait import("../daemon/d.ts");',
    "daemon/c.ts": 'import type { App } from "elysia";\nimport { b } from "../server/b.ts";',
    "daemon/gateway/mount.ts": 'import { b } from "../../server/b.ts";',
    "daemon/sync/x.ts": 'import { Database } from "bun:sqlite";',
    "conformance/y.ts": 'import "../shared/wire/z.ts";\nimport "../shared/world.ts";',
    "shared/wire/z.ts": 'import "../../conformance/y.ts";',
  });
  expect(forbiddenImports(sources)).toEqual([
    "shared/a.ts:1 imports ../server/b.ts",
    "shared/a.ts:2 imports ../daemon/c.ts",
    "server/b.ts:1 imports ../daemon/c.ts",
    "server/b.ts:2 imports ../daemon/d.ts",
    "daemon/c.ts:1 imports elysia",
    "daemon/c.ts:2 imports ../server/b.ts",
    "daemon/sync/x.ts:1 imports bun:sqlite",
    "conformance/y.ts:1 imports ../shared/wire/z.ts",
    "shared/wire/z.ts:1 imports ../../conformance/y.ts",
  ]);
});

test("a circle of imports is found", async () => {
  const sources = await sampleSources({
    "shared/a.ts": 'import "./b.ts";',
    "shared/b.ts": 'import type { C } from "./c.ts";',
    "shared/c.ts": 'import "./b.ts";\nimport "./d.ts";',
    "shared/d.ts": "export {};",
  });
  expect(circles(sources)).toEqual(["shared/b.ts → shared/c.ts → shared/b.ts"]);
});
