import type { Command } from "commander";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Daemon } from "../../daemon.ts";
import { createGit } from "../../sources/run-git.ts";
import { projectFolder } from "../../sources/working-tree.ts";
import type { DaemonStatus, FolderStatus } from "../../status.ts";
import { confirm, Interrupted, isTerminal } from "../ask.ts";
import { OWN_DEADLINE_MS } from "../daemon-contact.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed, unforeseen } from "../errors.ts";
import { findDaemon, type GatewayClient } from "../gateway-client.ts";
import { linkFolders } from "../link-folders.ts";
import { say, sayAside, sayJson } from "../output.ts";
import { resolveFolder } from "../resolve-folder.ts";
import { runDaemon } from "../run-daemon.ts";
import { wholeOnScreen } from "../status-summary.ts";
import { callSync, watchSync } from "../sync-progress.ts";
import { takeHome } from "../take-home.ts";
import { isTokenUnused, UNUSED_TOKEN, UNUSED_TOKEN_MEND } from "../unused-token.ts";
import { conflictLines, wholeStatus } from "../whole-status.ts";

interface UpOptions {
  readonly json?: boolean;
}

/** How long `up` lets the first contact and the first look at the files take before it speaks. */
const FIRST_SYNC_SECONDS = 3;

/** How long what only shows the status waits for the service's first answer. */
const SETTLED_DEADLINE_MS = 1000;
const SETTLED_POLL_MS = 20;

/** `up`: the daemon in the foreground. */
export function addUpCommand(program: Command, env: Environment): void {
  program
    .command("up [dirs...]")
    .description("run the daemon here, following these projects (default: the current one)")
    .option("--json", "print the status as JSON")
    .action((dirs: string[], options: UpOptions) => up(env, dirs, options));
}

async function up(env: Environment, dirs: readonly string[], options: UpOptions): Promise<void> {
  const folders = await foldersOf(env, dirs);
  const lock = await takeHome(env.home);
  if (!lock) {
    const status = await joinRunning(env, folders);
    await show(env, status, "memsync is running already; linked there", options);
    return;
  }
  await runDaemon(lock, {
    env,
    started: "foreground",
    onUp: (daemon) => begin(env, daemon, folders, options),
  });
}

async function begin(
  env: Environment,
  daemon: Daemon,
  folders: readonly string[],
  options: UpOptions,
): Promise<void> {
  const known = (await daemon.status()).projects.flatMap(({ folders: all }) => all);
  await linkFolders(folders, (dir) => daemon.link(dir));
  const { status } = await watchSync(daemon, daemon.settle(FIRST_SYNC_SECONDS));
  const headline = "memsync is up; leave this running, or stop it with Ctrl-C";
  // What can't be shown is no reason to end.
  await show(env, status, headline, options).catch((thrown) => sayAside(unforeseen(thrown)));
  for (const dir of folders) {
    if (known.some((folder) => folder.dir === dir)) continue;
    await askForConsent(daemon, dir).catch(endIfInterrupted);
  }
}

async function foldersOf(env: Environment, dirs: readonly string[]): Promise<string[]> {
  if (dirs.length === 0) return [await projectFolder(createGit(), env.dir)];
  return dirs.map((dir) => resolveFolder(env, dir));
}

async function joinRunning(env: Environment, folders: readonly string[]): Promise<DaemonStatus> {
  const daemon = await findDaemon(env.home);
  if (!daemon) throw new CommandFailed("the daemon that ran has ended: try again");
  return await linkAndLook(daemon, folders);
}

/** Links the folders, and resolves to the status after a first look at them. */
export async function linkAndLook(
  daemon: GatewayClient,
  folders: readonly string[],
): Promise<DaemonStatus> {
  await linkFolders(folders, (dir) => daemon.call("POST", "/_memsync/link", { dir }));
  return (await watchSync(daemon, callSync(daemon, FIRST_SYNC_SECONDS, "settle"))).status;
}

/** The status, once it is known whether the services answer, or a moment later without that. */
export async function settledStatus(daemon: GatewayClient): Promise<DaemonStatus> {
  const deadline = realWorld.monotonic() + SETTLED_DEADLINE_MS;
  for (;;) {
    const options = { deadlineMs: OWN_DEADLINE_MS };
    const read = await daemon.call("GET", "/_memsync/status", undefined, options);
    const status = read as DaemonStatus;
    const isKnown = status.remotes.every(
      ({ service: { online, message } }) => online || message !== null,
    );
    if (isKnown || realWorld.monotonic() > deadline) return status;
    await delay(realWorld, SETTLED_POLL_MS);
  }
}

/** Asked once, when a folder is linked for the first time at a terminal. */
async function askForConsent(daemon: Daemon, dir: string): Promise<void> {
  const { projects } = await daemon.status();
  const folder = projects.flatMap(({ folders }) => folders).find((each) => each.dir === dir);
  if (!folder || !wantsConsent(folder) || !isTerminal() || !process.stdout.isTTY) return;
  const question = `May memsync write others' changes into ${folder.path} here?`;
  if (await confirm(question)) await daemon.link(dir, { write: true });
}

/** Nothing of what is typed there reaches the process as a signal while it is asked. */
function endIfInterrupted(thrown: unknown): void {
  if (!(thrown instanceof Interrupted)) throw thrown;
  process.kill(process.pid, "SIGINT");
}

function wantsConsent({ state, note }: FolderStatus): boolean {
  return state === "upwards" || (note?.startsWith("is missing") ?? false);
}

/** Prints a headline and the status, or the status as JSON. */
export async function show(
  env: Environment,
  found: DaemonStatus,
  headline: string,
  { json }: UpOptions,
): Promise<void> {
  const status = await wholeStatus(env, found);
  if (json) sayJson(status);
  else for (const line of [headline, ...wholeOnScreen(status), ...conflictLines(status)]) say(line);
  if (isTokenUnused(env, status)) sayAside(`${UNUSED_TOKEN}: ${UNUSED_TOKEN_MEND}`);
}
