// Makes the npm packages as tarballs: `bun scripts/package.ts [FOLDER]`, in `out/npm` when left
// out. They are `memsync`, and the one with the compiled binary for this machine's platform; those
// for others are made on such machines. Prints their paths.
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { executableOf, findPlatform, type Platform } from "./launcher/platforms.ts";
import { type Manifest, mainManifest, platformManifest } from "./npm-manifests.ts";

const ROOT = join(import.meta.dir, "..");

const folder = resolve(process.argv[2] ?? join(ROOT, "out/npm"));

/** Puts the files of the package `memsync` into a folder of their own, and resolves to it. */
async function stageMain(checkout: Manifest, commit: string | undefined): Promise<string> {
  await run([process.execPath, "scripts/build.ts"]);
  const stage = await emptyFolder("memsync");
  // This checkout's own manifest lists its files.
  for (const file of checkout.files as readonly string[]) {
    await cp(join(ROOT, file), join(stage, file), { recursive: true });
  }
  return await withManifest(stage, mainManifest(checkout, commit));
}

/** The same for the package of a platform, which is this machine's. */
async function stagePlatform(
  platform: Platform,
  checkout: Manifest,
  commit: string | undefined,
): Promise<string> {
  const stage = await emptyFolder(`${platform.os}-${platform.cpu}`);
  const made = await emptyFolder("compiled");
  await run([process.execPath, "scripts/compile.ts", made]);
  for (const file of [executableOf(platform), "third-party-notices.txt"]) {
    await rename(join(made, file), join(stage, file));
  }
  await rm(made, { recursive: true });
  await cp(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  return await withManifest(stage, platformManifest(platform, checkout, commit));
}

async function withManifest(stage: string, manifest: Manifest): Promise<string> {
  await Bun.write(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return stage;
}

async function emptyFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  return path;
}

/** The commit that the packages are made of; undefined outside of a checkout. */
async function findCommit(): Promise<string | undefined> {
  const git = Bun.spawn(["git", "rev-parse", "HEAD"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const commit = (await git.stdout.text()).trim();
  return (await git.exited) === 0 ? commit : undefined;
}

/** Resolves to what a command prints; what it says besides is shown. Rejects unless it succeeds. */
async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const said = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  return said;
}

async function pack(stage: string): Promise<void> {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const said = await run([npm, "pack", stage, "--json", "--pack-destination", folder]);
  // npm has packed one folder, and tells one file.
  const [packed] = JSON.parse(said) as [{ readonly filename: string }];
  process.stdout.write(`${join(folder, packed.filename)}\n`);
}

// It is this checkout's own, which has a version.
const checkout = (await Bun.file(join(ROOT, "package.json")).json()) as Manifest;
const commit = await findCommit();
const platform = findPlatform();
await pack(await stageMain(checkout, commit));
if (platform !== undefined) await pack(await stagePlatform(platform, checkout, commit));
