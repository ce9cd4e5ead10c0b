import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPlatform, packageNameOf } from "../../scripts/launcher/platforms.ts";
import { type Registry, startRegistry } from "../support/registry.ts";
import { type Consumer, createConsumer, type Outcome, ROOT } from "./consumer.ts";

/** What `npm run package` makes on this machine. */
export interface Packed extends AsyncDisposable {
  /** Path of the tarball of the package `memsync`. */
  readonly path: string;
  /** Path of the one with the binary; undefined where this platform has none. */
  readonly binaryPath: string | undefined;
  /** Has the package with the binary, and none of another platform. */
  readonly registry: Registry;
  /** Where better-sqlite3's install script finds what its makers would give it. */
  readonly prebuilds: string;
}

/** The name of this platform's package; undefined where it has none. */
export const PLATFORM_PACKAGE = nameOfPlatformPackage();

function nameOfPlatformPackage(): string | undefined {
  const platform = findPlatform();
  return platform && packageNameOf(platform);
}

/** Builds and packs this checkout. */
export async function pack(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-packed-"));
  await using builder = await createConsumer();
  const script = join(ROOT, "scripts/package.ts");
  const { stdout } = succeeded(
    "npm run package",
    await builder.run(process.execPath, script, folder),
  );
  const [path = "", binaryPath] = stdout.trim().split("\n");
  const registry = startRegistry();
  if (binaryPath !== undefined) await registry.hold(binaryPath);
  const prebuilds = join(folder, "prebuilds");
  await packAddon(builder, prebuilds);
  return {
    path,
    binaryPath,
    registry,
    prebuilds,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Puts better-sqlite3's addon into a folder as its makers offer it for download: the one of this
 * checkout, which may have been compiled. None where it does not run; an installation then
 * downloads or compiles its own, which takes a minute.
 */
async function packAddon(builder: Consumer, folder: string): Promise<void> {
  const source = join(ROOT, "node_modules/better-sqlite3");
  const addon = "build/Release/better_sqlite3.node";
  const script = `
    const { arch, platform, versions } = process;
    const Database = require(${JSON.stringify(source)});
    new Database(":memory:").close();
    console.log("node-v" + versions.modules + "-" + platform + "-" + arch);`;
  const { status, stdout } = await builder.run("node", "-e", script);
  if (status !== 0) return;
  const { version } = await Bun.file(join(source, "package.json")).json();
  const files = { [addon]: await Bun.file(join(source, addon)).bytes() };
  const archive = new Bun.Archive(files, { compress: "gzip" });
  const name = `better-sqlite3-v${version}-${stdout.trim()}.tar.gz`;
  await Bun.write(join(folder, name), await archive.bytes());
}

/** The manifest and the paths of the files in a tarball, from the package's folder. */
export async function contentsOf(
  tarball: string,
): Promise<{ readonly manifest: Record<string, unknown>; readonly files: readonly string[] }> {
  const files = await new Bun.Archive(await Bun.file(tarball).bytes()).files();
  return {
    manifest: JSON.parse((await files.get("package/package.json")?.text()) ?? ""),
    files: [...files.keys()].map((path) => path.slice("package/".length)).sort(),
  };
}

/** Without a manifest npm would install into a folder above that has one. */
const MANIFEST = {
  private: true,
  allowScripts: { memsync: true, "better-sqlite3": true, bun: true },
};

/** Someone who installed the package, and nothing else. */
export async function installed(packed: Packed, ...flags: readonly string[]): Promise<Consumer> {
  const { prebuilds } = packed;
  const consumer = await createConsumer({ npm_config_better_sqlite3_local_prebuilds: prebuilds });
  await consumer.write({ "package.json": JSON.stringify(MANIFEST) });
  succeeded("npm install", await npmInstall(consumer, packed, ...flags));
  return consumer;
}

/**
 * Someone who installed the package for all of their projects, below a folder with a space in its
 * name, and without install scripts, as Homebrew does. `prefix` is relative to their folder.
 */
export async function installedGlobally(
  packed: Packed,
): Promise<{ readonly consumer: Consumer; readonly prefix: string }> {
  const consumer = await createConsumer();
  const prefix = "pre fix";
  const flags = ["--global", "--ignore-scripts", "--prefix", prefix];
  succeeded("npm install", await npmInstall(consumer, packed, ...flags));
  return { consumer, prefix };
}

/** What is in memsync's own scope comes from the test's registry, all else from npm's. */
function npmInstall(
  consumer: Consumer,
  { path, registry }: Packed,
  ...flags: readonly string[]
): Promise<Outcome> {
  const scope = `--@memsync:registry=${registry.url}/`;
  return consumer.run("npm", "install", scope, ...flags, path);
}

/** An outcome that must be good for anything else to be tried. */
function succeeded(what: string, outcome: Outcome): Outcome {
  if (outcome.status !== 0) throw new Error(`${what} failed: ${outcome.stderr}`);
  return outcome;
}
