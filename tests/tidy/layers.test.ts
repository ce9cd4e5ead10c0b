import { expect, test } from "bun:test";
import {
  finding,
  type Import,
  importsOf,
  readSources,
  type Source,
  sampleSources,
} from "./source-tree.ts";

/** What the modules that `of` matches may not import, unless they are among the `but`. */
interface Rule {
  readonly of: RegExp;
  readonly not: RegExp;
  readonly but?: RegExp;
}

const LAYERS: readonly Rule[] = [
  { of: /^shared\//, not: /^(server|daemon|tests|scripts)\// },
  // The suite judges servers, this one among them, so it shares not even a schema with any.
  { of: /^shared\/conformance\//, not: /^shared\/(?!conformance\/|world\.ts$)/ },
  { of: /^shared\/(?!conformance\/)/, not: /^shared\/conformance\// },
  { of: /^(server|daemon\/(?!cli\/))/, not: /^shared\/conformance\// },
  { of: /^server\//, not: /^(daemon|tests|scripts)\// },
  { of: /^client\//, not: /^(server|daemon|tests|scripts)\// },
  { of: /^(shared|server|daemon)\//, not: /^client\// },
  { of: /^server\/services\//, not: /^server\/routes\// },
  { of: /^server\/stores\//, not: /^server\/(routes|services)\// },
  { of: /^server\/routes\//, not: /^server\/stores\// },
  {
    of: /^daemon\//,
    not: /^server\//,
    but: /^daemon\/(embedded-service|service-schema|local-services|gateway\/mount)\.ts$/,
  },
  { of: /^daemon\//, not: /^(tests|scripts)\// },
  { of: /^daemon\/(?!cli\/)/, not: /^daemon\/cli\// },
];

/** Where a package may be used: each technology has its place, and can be exchanged there. */
const PACKAGES: readonly Rule[] = [
  {
    of: /^(shared|server|daemon)\//,
    not: /^(elysia|@elysiajs\/)/,
    but: /^server\/(app|errors-to-response|request-context|listen-\w+|routes\/.+)\.ts$/,
  },
  {
    of: /^(shared|server|daemon)\//,
    not: /^bun:sqlite$/,
    but: /^shared\/sqlite\/connect-bun\.ts$/,
  },
  {
    of: /^(shared|server|daemon)\//,
    not: /^better-sqlite3$/,
    but: /^shared\/sqlite\/connect-node\.ts$/,
  },
  { of: /^(shared|server|daemon)\//, not: /^ws$/, but: /^server\/listen-node\.ts$/ },
  { of: /^(shared|server|daemon)\//, not: /^chokidar$/, but: /^daemon\/sources\/watch\.ts$/ },
  { of: /^(shared|server|daemon)\//, not: /^commander$/, but: /^daemon\/cli\// },
  { of: /^(server|daemon\/cli)\//, not: /^yjs$/ },
  { of: /^(shared|server|daemon)\//, not: /^(bun:test|fast-check)$/ },
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
    "server/stores/s.ts": 'import "../services/t.ts";',
    "daemon/c.ts": 'import type { App } from "elysia";\nimport { b } from "../server/b.ts";',
    "daemon/gateway/mount.ts": 'import { b } from "../../server/b.ts";',
    "daemon/sync/x.ts": 'import { Database } from "bun:sqlite";',
    "shared/conformance/y.ts": 'import "../wire/z.ts";\nimport "../world.ts";',
    "shared/wire/z.ts": 'import "../conformance/y.ts";',
  });
  expect(forbiddenImports(sources)).toEqual([
    "shared/a.ts:1 imports ../server/b.ts",
    "shared/a.ts:2 imports ../daemon/c.ts",
    "server/b.ts:1 imports ../daemon/c.ts",
    "server/b.ts:2 imports ../daemon/d.ts",
    "server/stores/s.ts:1 imports ../services/t.ts",
    "daemon/c.ts:1 imports elysia",
    "daemon/c.ts:2 imports ../server/b.ts",
    "daemon/sync/x.ts:1 imports bun:sqlite",
    "shared/conformance/y.ts:1 imports ../wire/z.ts",
    "shared/wire/z.ts:1 imports ../conformance/y.ts",
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
