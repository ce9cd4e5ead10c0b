// Publishes a release on npm: `bun scripts/release.ts FOLDER [--dry-run]`, where FOLDER holds the
// tarballs that `npm run package` has made on a machine of each platform. Refuses tarballs that do
// not belong together. Where one of them can't be published it ends, and run again it goes on with
// what is missing. npm's own configuration says where to, by whom and under which tag.
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { VERSION } from "../shared/version.ts";
import { MAIN, releaseProblems, type Tarball } from "./release-problems.ts";

const NPM = process.platform === "win32" ? "npm.cmd" : "npm";
const MANIFEST = "package.json";
const IN_TARBALL = "package/";
const FAILED = 1;
const USED_WRONGLY = 2;

/** A tarball with what npm calls its integrity. */
interface Candidate extends Tarball {
  readonly path: string;
  readonly integrity: string;
}

async function readTarball(folder: string, file: string): Promise<Candidate> {
  const path = join(folder, file);
  const bytes = await Bun.file(path).bytes();
  const files = await new Bun.Archive(bytes).files();
  const manifest = JSON.parse((await files.get(IN_TARBALL + MANIFEST)?.text()) ?? "{}");
  return {
    path,
    file,
    manifest,
    paths: new Set([...files.keys()].map((each) => each.slice(IN_TARBALL.length))),
    integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
  };
}

/** The integrity of a version that the registry has; undefined when it has none. */
async function publishedIntegrity(name: string): Promise<string | undefined> {
  // `npm run --silent` hands its silence on, and then nothing would say why there is no answer.
  const command = [NPM, "view", `${name}@${VERSION}`, "dist.integrity", "--json"];
  command.push("--loglevel=error");
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] });
  const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  // npm was asked for one field, which is a text.
  if ((await child.exited) === 0) return JSON.parse(said) as string;
  if (/\bE404\b/.test(complaint)) return undefined;
  throw new Error(`the registry does not say whether it has ${name}: ${complaint}`);
}

/** Whether it still has to be published. Throws where the registry has another one of its name. */
async function isMissing({ manifest, file, integrity }: Candidate): Promise<boolean> {
  const published = await publishedIntegrity(manifest.name);
  if (published === undefined || published === integrity) return published === undefined;
  throw new Error(
    `${manifest.name} ${VERSION} is published already, and is not ${file}: ` +
      "publish the same tarballs, or a new version",
  );
}

async function publish({ path, file }: Candidate): Promise<void> {
  // npm may ask for a one-time password.
  const child = Bun.spawn([NPM, "publish", path], { stdio: ["inherit", "inherit", "inherit"] });
  if ((await child.exited) !== 0) {
    throw new Error(`${file} could not be published: run this again to go on`);
  }
}

async function release(folder: string, isTrial: boolean): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".tgz")).sort();
  const tarballs: Candidate[] = [];
  for (const file of files) tarballs.push(await readTarball(folder, file));
  const problems = releaseProblems(VERSION, tarballs);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  // Last, so that whoever installs it finds the others.
  const inOrder = tarballs.sort(
    (one, other) => Number(one.manifest.name === MAIN) - Number(other.manifest.name === MAIN),
  );
  const missing: Candidate[] = [];
  for (const each of inOrder) if (await isMissing(each)) missing.push(each);
  for (const each of missing) {
    process.stdout.write(`${isTrial ? "would publish" : "publishing"} ${each.file}\n`);
    if (!isTrial) await publish(each);
  }
  if (missing.length === 0) process.stdout.write(`memsync ${VERSION} is published already\n`);
}

const args = process.argv.slice(2);
const folders = args.filter((each) => each !== "--dry-run");
const [folder] = folders;
if (folder === undefined || folders.length > 1 || folder.startsWith("-")) {
  process.stderr.write("usage: npm run -s release -- FOLDER [--dry-run]\n");
  process.exit(USED_WRONGLY);
}
try {
  await release(resolve(process.env.INIT_CWD ?? ".", folder), args.includes("--dry-run"));
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : thrown}\n`);
  process.exit(FAILED);
}
