// Makes `dist/`, which is all of the package but its documents: `bun scripts/build.ts`.
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { bundleTesting } from "./build-testing.ts";
import { bundle, bundleLauncher, bundleLibrary, noticesOf } from "./bundle.ts";
import { emitTypes, type Library } from "./emit-types.ts";
import { manPage } from "./man-page.ts";
import { wireTypes } from "./wire-types.ts";

const ROOT = join(import.meta.dir, "..");
const DIST = join(ROOT, "dist");
const EMULATOR = "server/emulator/start-emulator.ts";
const TESTING = "server/testing/use-memsync.ts";
const CLIENT = "client/client.ts";
const COMMAND_LINE = "cli/main.ts";

/** The command, what replaces it at the installation, and the whole command line for Bun. */
async function buildCommand(): Promise<Set<string>> {
  const bin = join(DIST, "bin");
  await bundleLauncher("scripts/launcher/launcher.ts", join(bin, "memsync"));
  await bundleLauncher("scripts/launcher/link-binary.ts", join(bin, "link-binary.cjs"));
  await chmod(join(bin, "memsync"), 0o755);
  // The command's name has no extension that would say which kind of module it is.
  await Bun.write(join(bin, "package.json"), '{ "type": "commonjs" }\n');
  // Empty: it stands in for one in the folder where the user happens to be.
  await Bun.write(join(DIST, "bunfig.toml"), "");
  return await bundle({ programs: { [COMMAND_LINE]: "cli.js" }, target: "bun", dist: DIST });
}

/** What runs on Node as well: the emulator as a library, and the command line for `emulator`. */
async function buildForNode(): Promise<Set<string>> {
  const programs = { [EMULATOR]: "emulator.mjs", [COMMAND_LINE]: "cli-node.mjs" };
  const packages = await bundle({ programs, target: "node", dist: DIST });
  await writeCommonJs("emulator", EMULATOR);
  return packages;
}

/**
 * The CommonJS face of a library all of whose functions are asynchronous: each loads the module at
 * its first call, so that one process never holds two copies of it.
 */
async function writeCommonJs(name: string, source: string): Promise<void> {
  // Not loaded: this process has a copy of what is in it already.
  const text = await Bun.file(join(DIST, `${name}.mjs`)).text();
  const functions = new Bun.Transpiler({ loader: "js" }).scan(text).exports.toSorted();
  const values = functions.map(
    (each) =>
      `exports.${each} = async (...args) => (await import("./${name}.mjs")).${each}(...args);\n`,
  );
  const types = `"./types/${source.replace(/\.ts$/, ".js")}"`;
  const mode = '{ "resolution-mode": "import" }';
  const declarations = functions.map(
    (each) => `export declare const ${each}: typeof import(${types}, { with: ${mode} }).${each};\n`,
  );
  await Bun.write(join(DIST, `${name}.cjs`), `"use strict";\n${values.join("")}`);
  await Bun.write(
    join(DIST, `${name}.d.cts`),
    `export type * from ${types} with ${mode};\n${declarations.join("")}`,
  );
}

/** The declarations of the libraries. */
async function declareLibraries(): Promise<void> {
  const written = { "client/wire.ts": wireTypes() };
  const libraries: readonly Library[] = [
    { entry: CLIENT, kinds: ["js", "cjs"], written },
    { entry: EMULATOR, kinds: ["js"] },
    { entry: TESTING, kinds: ["js", "cjs"] },
  ];
  await emitTypes(ROOT, libraries, join(DIST, "types"));
}

process.chdir(ROOT);
await rm(DIST, { recursive: true, force: true });
await declareLibraries();
await bundleTesting(TESTING, DIST);
await bundleLibrary({ source: CLIENT, name: "client", dist: DIST });
const packages = [...(await buildCommand()), ...(await buildForNode())];
await Bun.write(join(DIST, "memsync.1"), await manPage());
await Bun.write(join(DIST, "third-party-notices.txt"), await noticesOf(new Set(packages)));
