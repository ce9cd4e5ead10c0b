import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { bundleLauncher } from "../../scripts/bundle.ts";
import { executableOf, findPlatform, packageNameOf } from "../../scripts/launcher/platforms.ts";
import { VERSION } from "../../shared/version.ts";
import { buildInto } from "./compiled.ts";

const ROOT = join(import.meta.dir, "../..");

/**
 * Puts the command into a folder as npm does without install scripts: Node runs the launcher, and
 * that the compiled `binary`. Resolves to the command's path; undefined where npm has no package
 * with a binary for this platform.
 */
export async function installLauncher(folder: string, binary: string): Promise<string | undefined> {
  const platform = findPlatform();
  if (platform === undefined) return undefined;
  const packageFolder = join(folder, "node_modules", packageNameOf(platform));
  await Bun.write(join(packageFolder, "package.json"), JSON.stringify({ version: VERSION }));
  await symlink(binary, join(packageFolder, executableOf(platform)));
  return await writeLauncher(join(folder, "node_modules/memsync/dist"));
}

/** The same where npm has no package with a binary: the launcher runs the bundles under Bun. */
export async function installBundles(folder: string): Promise<string> {
  const modules = join(folder, "node_modules");
  const dist = join(modules, "memsync/dist");
  await mkdir(dist, { recursive: true });
  await buildInto(dist);
  await Bun.write(join(dist, "bunfig.toml"), "");
  await symlink(join(ROOT, "node_modules/bun"), join(modules, "bun"));
  return await writeLauncher(dist);
}

async function writeLauncher(dist: string): Promise<string> {
  const launcher = join(dist, "bin/memsync");
  await bundleLauncher(join(ROOT, "scripts/launcher/launcher.ts"), launcher);
  await Bun.write(join(dist, "bin/package.json"), '{ "type": "commonjs" }');
  return launcher;
}
