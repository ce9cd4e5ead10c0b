import { readFile, statfs } from "node:fs/promises";
import { arch, platform } from "node:os";
import { createGit, troubleOf } from "../../daemon/git/run-git.ts";
import { GIT_NEEDED, sayTrouble } from "../../shared/git-reasons.ts";
import { bytesShown } from "../screen/output.ts";
import { type Finding, noted } from "./finding.ts";
import { ENOUGH } from "./inotify-limits.ts";

const DISK_BYTES_MIN = 64 * 1024 * 1024;
const DISK_BYTES_ENOUGH = 1024 * 1024 * 1024;

/** A project takes a few watches and one instance; an editor takes thousands of watches. */
const INOTIFY_WATCHES_ENOUGH = 8192;
const INOTIFY_INSTANCES_ENOUGH = 128;
const INOTIFY = "/proc/sys/fs/inotify";

/** Everything runs on Bun, so there is little to go wrong; reports begin with the versions. */
export function checkRuntime(): Finding {
  const { bun, node } = process.versions;
  const place = `${platform()} ${arch()}`;
  if (bun !== undefined) return noted("runtime-bun", `Bun ${bun} on ${place}`);
  const mend = "start it by `memsync` itself or `bunx memsync`, which run it on Bun";
  return noted("runtime-node", `Node.js ${node} on ${place}, which can't run the daemon`, mend);
}

export async function checkGit(): Promise<Finding> {
  const result = await createGit()("/", ["--version"]);
  if (result.kind === "done") {
    const version = result.stdout.toString().trim();
    if (!isOlder(version, GIT_NEEDED)) return noted("git-found", version);
    const what = "what others have committed to followed files is not read";
    const detail = `${version} is too old: ${what}`;
    return noted("git-old", detail, `install git ${GIT_NEEDED} or later`);
  }
  if (result.kind === "no-program") {
    const detail = "not found; folders with a .git are left alone, others are followed";
    return noted("git-not-found", detail, "install git");
  }
  return noted(
    "git-fails",
    `does not run: ${sayTrouble(troubleOf(result))}`,
    "mend the installation of git",
  );
}

/** Whether the version that git prints is older than a needed one. */
function isOlder(said: string, needed: string): boolean {
  const [major, minor] = /\d+\.\d+/.exec(said)?.[0].split(".").map(Number) ?? [];
  const [least = 0, leastMinor = 0] = needed.split(".").map(Number);
  if (major === undefined || minor === undefined) return false;
  return major < least || (major === least && minor < leastMinor);
}

/** The free space where the home is or will be. */
export async function checkDisk(dir: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const detail = `${bytesShown(free)} free`;
  if (free >= DISK_BYTES_ENOUGH) return noted("disk-enough", detail);
  const mend = `make room on the disk of ${dir}, or move the home and set MEMSYNC_HOME`;
  return free >= DISK_BYTES_MIN
    ? noted("disk-low", detail, mend)
    : noted("disk-full", detail, mend);
}

/** Only Linux limits how many files an account may watch. */
export async function checkWatches(): Promise<Finding> {
  if (platform() !== "linux") return noted("watching-unlimited", "the system sets no limit");
  const watches = await readLimit("max_user_watches");
  const instances = await readLimit("max_user_instances");
  const detail = `${watches} watches and ${instances} instances allowed`;
  const short = [
    ...(watches < INOTIFY_WATCHES_ENOUGH ? [["max_user_watches", ENOUGH.max_user_watches]] : []),
    ...(instances < INOTIFY_INSTANCES_ENOUGH
      ? [["max_user_instances", ENOUGH.max_user_instances]]
      : []),
  ];
  if (short.length === 0) return noted("watching-enough", detail);
  const settings = short.map(([name, value]) => `fs.inotify.${name}=${value}`).join(" ");
  return noted(
    "watching-short",
    detail,
    `sudo sysctl ${settings}, and into /etc/sysctl.d to keep it`,
  );
}

async function readLimit(name: string): Promise<number> {
  return Number(await readFile(`${INOTIFY}/${name}`, "utf8"));
}
