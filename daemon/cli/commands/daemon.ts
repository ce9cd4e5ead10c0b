import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { parseProjectId } from "../../../shared/ids.ts";
import type { BoundLink } from "../../linked-folders.ts";
import { noSuchRemote } from "../../remotes/remote.ts";
import { createGit } from "../../sources/run-git.ts";
import { projectFolder } from "../../sources/working-tree.ts";
import type { DaemonStatus } from "../../status.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { OWN_DEADLINE_MS } from "../daemon-contact.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed, UsageError } from "../errors.ts";
import { getDaemon } from "../get-daemon.ts";
import { say, sayAside, sayJson, table } from "../output.ts";
import { resolveFolder } from "../resolve-folder.ts";
import { statusOnScreen, wholeOnScreen } from "../status-summary.ts";
import { askSync, callSync, watchSync } from "../sync-progress.ts";
import { conflictLines, wholeStatus } from "../whole-status.ts";
import { whyUnsynced } from "../why-unsynced.ts";

const MS_PER_S = 1000;

interface JsonOption {
  readonly json?: boolean;
}

interface StatusFlags extends JsonOption {
  readonly all?: boolean;
}

interface LinkFlags extends JsonOption {
  readonly id?: string;
  readonly write?: boolean;
  readonly remote?: string;
}

/** `status`, `projects`, `link`, `unlink`, `sync` and `env`: what a running daemon does. */
export function addDaemonCommands(program: Command, env: Environment): void {
  program
    .command("status")
    .description("show what is followed, saved and synced")
    .option("--all", "each project, even where that takes more than a screen")
    .option("--json", "print it as JSON")
    .action((options: StatusFlags) => status(env, options));
  program
    .command("projects")
    .description("list the followed projects")
    .option("--json", "print them as JSON")
    .action((options: JsonOption) => projects(env, options));
  program
    .command("link [dir]")
    .description("follow a project's folder")
    .option("--id <id>", "the project to link it to, instead of the repository's own")
    .option("--remote <name>", "the remote to bind the project to")
    .option("--write", "also write others' changes into a file that git tracks, or that is missing")
    .option("--no-write", "take that consent back")
    .option("--json", "print the link as JSON")
    .action((dir: string | undefined, options: LinkFlags) => link(env, dir, options));
  program
    .command("unlink [dir]")
    .description("follow a folder no longer; nothing is deleted")
    .option("--json", "print the folder as JSON")
    .action((dir: string | undefined, options: JsonOption) => unlink(env, dir, options));
  program
    .command("sync")
    .description("sync now, and return when everything local is acknowledged or refused")
    .option("--wait <seconds>", "give up after this long", "30")
    .option("--json", "print the status as JSON")
    .action((options: JsonOption & { wait: string }) => sync(env, options));
  program
    .command("env")
    .description("print the gateway's address and token for a shell")
    .option("--remote <name>", "a token that reaches this remote's projects and memories alone")
    .option("--json", "print them as JSON")
    .action((options: JsonOption & { remote?: string }) => printEnv(env, options));
}

async function readStatus(env: Environment): Promise<DaemonStatus> {
  const daemon = await getDaemon(env);
  const deadlineMs = OWN_DEADLINE_MS;
  return (await daemon.call("GET", "/_memsync/status", undefined, { deadlineMs })) as DaemonStatus;
}

async function status(env: Environment, { all, json }: StatusFlags): Promise<void> {
  const found = await wholeStatus(env, await readStatus(env));
  if (json) {
    sayJson(found);
    return;
  }
  for (const line of all ? wholeOnScreen(found) : statusOnScreen(found)) say(line);
  for (const line of conflictLines(found)) say(line);
}

async function projects(env: Environment, { json }: JsonOption): Promise<void> {
  const found = (await readStatus(env)).projects;
  if (json) {
    sayJson(found);
    return;
  }
  if (found.length === 0) sayAside("no project is followed yet: `memsync link DIR` follows one");
  const rows = found.flatMap(({ id, name, folders }) => folders.map(({ dir }) => [name, id, dir]));
  for (const line of table(rows)) say(line);
}

async function link(env: Environment, dir: string | undefined, flags: LinkFlags): Promise<void> {
  if (flags.id !== undefined && parseProjectId(flags.id) === undefined) {
    throw new UsageError("--id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
  }
  const folder = await folderOf(env, dir);
  const { json, ...options } = flags;
  const daemon = await getDaemon(env);
  const body = { dir: folder, ...options };
  const linked = (await daemon.call("POST", "/_memsync/link", body)) as BoundLink;
  const { projectId, name, write, remote } = linked;
  const at = flags.remote === undefined ? "" : `, bound to ${remote}`;
  if (json) sayJson({ dir: linked.dir, project_id: projectId, name, write, remote });
  else say(`linked ${linked.dir} to ${name} (${projectId})${at}`);
}

async function unlink(env: Environment, dir: string | undefined, { json }: JsonOption) {
  const folder = await folderOf(env, dir);
  const daemon = await getDaemon(env);
  const answer = (await daemon.call("POST", "/_memsync/unlink", { dir: folder })) as {
    unlinked: boolean;
  };
  if (!answer.unlinked) throw new CommandFailed(`${folder} is not linked`);
  if (json) sayJson({ dir: folder, unlinked: true });
  else say(`unlinked ${folder}; its memories stay`);
}

/** A named folder is meant itself; without one, the current project's is. */
async function folderOf(env: Environment, dir: string | undefined): Promise<string> {
  return dir === undefined ? await projectFolder(createGit(), env.dir) : resolveFolder(env, dir);
}

async function sync(env: Environment, options: JsonOption & { wait: string }): Promise<void> {
  const wait = Number(options.wait);
  if (!Number.isFinite(wait) || wait < 0) throw new UsageError("--wait is a number of seconds");
  const daemon = await getDaemon(env, wait * MS_PER_S);
  const answer = await watchSync(
    daemon,
    askSync((seconds) => callSync(daemon, seconds), wait),
  );
  const status = await wholeStatus(env, answer.status);
  if (options.json) sayJson(status);
  if (answer.synced) {
    const { held } = answer.status;
    const note = held.length > 0 ? `; ${held.length} held here: \`memsync held\`` : "";
    if (!options.json) say(`everything is synced${note}`);
    return;
  }
  if (!options.json) {
    for (const line of wholeOnScreen(status)) say(line);
    for (const line of conflictLines(status)) say(line);
  }
  throw new CommandFailed(whyUnsynced(status, realWorld.now()));
}

async function printEnv(
  env: Environment,
  { json, remote }: JsonOption & { remote?: string },
): Promise<void> {
  const { remotes } = await readStatus(env);
  if (remote !== undefined && !remotes.some(({ name }) => name === remote)) {
    throw noSuchRemote(remote);
  }
  const gateway = JSON.parse(await readFile(env.home.gateway, "utf8")) as {
    url: string;
    token: string;
  };
  const { url } = gateway;
  const token = remote === undefined ? gateway.token : `${gateway.token}@${remote}`;
  if (json) {
    sayJson({ MEMSYNC_GATEWAY_URL: url, MEMSYNC_GATEWAY_TOKEN: token });
    return;
  }
  say(`export MEMSYNC_GATEWAY_URL=${url}`);
  say(`export MEMSYNC_GATEWAY_TOKEN=${token}`);
}
