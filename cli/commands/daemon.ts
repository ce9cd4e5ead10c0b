import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { Kysely } from "kysely";
import { ALSO_NAMES, FOLLOWED_NAMES } from "../../daemon/disk/followable-files.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { realPathOf } from "../../daemon/git/working-tree.ts";
import { deletionStatus, readDeletion } from "../../daemon/home/deleted-project.ts";
import { listHeld } from "../../daemon/home/held-store.ts";
import { listLinks } from "../../daemon/home/links.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { countSavedMemories, listUnlinked } from "../../daemon/home/unlinked-projects.ts";
import type { BoundLink } from "../../daemon/links/linked-folders.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { isSynced, syncedProjects } from "../../daemon/status/synced-projects.ts";
import { parseProjectId } from "../../shared/ids.ts";
import { isObject, parseJson } from "../../shared/json.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { realWorld } from "../../shared/world-real.ts";
import { askStatus, type GatewayClient, OWN_DEADLINE_MS } from "../contact/daemon-contact.ts";
import { askSync, callSync, watchSync } from "../contact/sync-progress.ts";
import { forgottenBy, savedAlone } from "../lifecycle/shell-service.ts";
import { joinedNotice } from "../notices/notice.ts";
import { markSeen } from "../notices/notice-files.ts";
import type { Environment } from "../place/environment.ts";
import { findReadyDaemon, getDaemon, noDaemon } from "../place/get-daemon.ts";
import { refuseMistyped } from "../place/known-projects.ts";
import { assertFolder, meantFolder, refuseRenamed, sayMeant } from "../place/meant-folder.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { count, say, sayAside, sayJson, saySentence, sayText } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { findStanding, hereFirst, type Standing } from "../screen/standing.ts";
import { hasTerminal } from "../screen/terminal.ts";
import { tilde } from "../screen/tilde.ts";
import { homeStatusLines, readHomeStatus } from "../status/home-status.ts";
import { boundRemoteLines, boundRemotes, joinedByIdShown } from "../status/linked-remote.ts";
import { conflictCountLines, wholeStatus } from "../status/whole-status.ts";
import { awayWord, whyUnsynced } from "../status/why-unsynced.ts";
import { alsoLines, oneFromNowOn } from "../views/also-lines.ts";
import { isRead, isTextApart, unfollowedFileLines } from "../views/apart-files.ts";
import { apartFolders } from "../views/memory-folders-view.ts";
import { pastProjectLines } from "../views/past-project.ts";
import { settledJoinLines } from "../views/settled-joins.ts";
import { serviceShown } from "../views/shown-remotes.ts";
import { firstOnScreen, statusOnScreen, wholeOnScreen } from "../views/status-summary.ts";
import { unfollowedShown } from "../views/status-view.ts";
import { agreeToBind } from "../writes/agree-to-another.ts";
import {
  agreeToRelink,
  isDeletedHere,
  isKnownNowhere,
  knownNowhere,
} from "../writes/agree-to-relink.ts";
import { cameShown, readTrackedFile } from "../writes/coming-lines.ts";
import { wasDeleted } from "../writes/refuse-deleted.ts";
import { agreeToSendIgnored, keptBackShown } from "../writes/send-ignored.ts";

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
  readonly file?: string;
  /** False: no other file. True, if nothing is said of others. */
  readonly also?: readonly string[] | boolean;
  readonly remote?: string;
  readonly anew?: boolean;
  readonly everywhere?: boolean;
  readonly allowSecret?: boolean;
  readonly allowPersonal?: boolean;
  readonly ofAnother?: boolean;
  readonly sendIgnored?: boolean;
  readonly yes?: boolean;
}

/** `status`, `link`, `unlink`, `sync` and `env`: what needs a running daemon. */
export function addDaemonCommands(program: Command, env: Environment): void {
  program
    .command("status")
    .description("show what is followed, saved and synced")
    .option("--all", "each project, even where that takes more than a screen")
    .option("--json", "print it as JSON")
    .action((options: StatusFlags) => status(env, options));
  const linking = program
    .command("link [dir]")
    .description("follow a project's folder")
    .option("--id <id>", "the project to link it to, instead of the repository's own")
    .option("--remote <name>", "the remote to bind the project to")
    .option("--allow-secret", "what looks like a secret in the project is to be synced")
    .option("--allow-personal", "lines of your own instructions in it are to be synced")
    .option("--of-another", "with --remote: the project may come to another account or user")
    .option("--write", "also write others' changes into a file that git tracks, or that is missing")
    .option("--no-write", "take that consent back")
    .addOption(
      new Option("--file <name>", "the file that counts, of several").choices(FOLLOWED_NAMES),
    )
    .addOption(
      new Option("--also <name>", "another file that has the project's text, both ways").argParser(
        alsoFile,
      ),
    )
    .option("--no-also", "the one that counts alone has it from now on")
    .option("--everywhere", "with --id: no machine is told any more that this project is joined")
    .option("--anew", "begin a project anew that was deleted, with the file that is here")
    .option("--send-ignored", "send what a .memsyncignore named that is gone, after asking")
    .option("--yes", "do not ask, neither that nor whether --id may mix two projects")
    .option("--json", "print the link as JSON")
    .action((dir: string | undefined, options: LinkFlags) => link(env, dir, options));
  refuseBoth(linking, "write");
  refuseBoth(linking, "also");
  program
    .command("unlink [dir]")
    .description("follow a folder no longer; nothing is deleted")
    .option("--json", "print the folder as JSON")
    .action((dir: string | undefined, options: JsonOption) => unlink(env, dir, options));
  program
    .command("sync")
    .description("sync now, and return when everything local is acknowledged or refused")
    .option("--wait <seconds>", "give up after this long: 30, or sooner where it is offline")
    .option("--json", "print the status as JSON")
    .action((options: JsonOption & { wait?: string }) => sync(env, options));
  program
    .command("env")
    .description("print the gateway's address and token for a shell")
    .option("--remote <name>", "a token that reaches this remote's projects and memories alone")
    .option("--json", "print them as JSON")
    .action((options: JsonOption & { remote?: string }) => printEnv(env, options));
}

async function status(env: Environment, flags: StatusFlags): Promise<void> {
  const { all, json } = flags;
  const daemon = await findReadyDaemon(env);
  if (!daemon) {
    throw await noDaemon(env, await showHome(env, flags));
  }
  const found = await wholeStatus(env, await askStatus(daemon));
  if (json) {
    sayJson(found);
    return;
  }
  const standing = await findStanding(found, env.dir);
  const lines = all ? wholeOnScreen(found, { standing }) : statusOnScreen(found, { standing });
  for (const line of lines) say(line);
  sayText(conflictCountLines(found));
}

/**
 * Shows what the home knows without a daemon; nothing where there is no home, or it can't be read.
 * Returns why it can't.
 */
async function showHome(env: Environment, { all, json }: StatusFlags): Promise<unknown> {
  const { home, unread } = await readHomeStatus(env).then(
    (read) => ({ home: read, unread: undefined }),
    (thrown) => ({ home: undefined, unread: thrown }),
  );
  if (!home) return unread;
  if (json) {
    sayJson(home);
    return undefined;
  }
  const standing = await findStanding(home, env.dir);
  const ways = all ? (["all"] as const) : (["whole", "line", "count"] as const);
  const texts = ways.map((others) => homeStatusLines(home, standing, others));
  for (const line of firstOnScreen(texts)) say(line);
  sayText(conflictCountLines(home));
  return undefined;
}

/** Reads a `--also`, of which there may be several. */
function alsoFile(name: string, before: unknown): string[] {
  if (!ALSO_NAMES.some((each) => each === name)) {
    throw new UsageError(`--also is ${ALSO_NAMES.slice(0, -1).join(", ")} or ${ALSO_NAMES.at(-1)}`);
  }
  return [...(Array.isArray(before) ? before.map(String) : []), name];
}

/** The parser would take the last one of an option and its opposite. */
function refuseBoth(command: Command, name: string): void {
  const given = new Set<string>();
  for (const each of [name, `no-${name}`]) {
    command.on(`option:${each}`, () => {
      given.add(each);
      if (given.size > 1) throw new UsageError(`--${name} and --no-${name} exclude each other`);
    });
  }
}

async function link(env: Environment, dir: string | undefined, flags: LinkFlags): Promise<void> {
  const id = flags.id === undefined ? undefined : parseProjectId(flags.id);
  if (flags.id !== id) throw new UsageError("--id is proj_ and 1 to 64 of [0-9A-Za-z_-]");
  if (id !== undefined) await withLocal(env, (db) => refuseMistyped(db, id));
  await refuseRenamed(env, dir);
  const folder = await meantFolder(env, dir);
  await assertFolder(folder);
  const { json, yes, also, sendIgnored, ...options } = flags;
  if (flags.everywhere && id === undefined) {
    throw new UsageError("--everywhere needs --id, with the project that the folder stays in");
  }
  await agreeToRelink(env, { dir: await realPathOf(folder), id }, { yes, anew: flags.anew });
  const daemon = await getDaemon(env);
  const place = { dir: await realPathOf(folder), project: id };
  const ofAnother = await agreeToBind(env, place, flags);
  const sent = sendIgnored ? await agreeToSendIgnored(env, place, { yes }) : undefined;
  const others = also === false ? [] : also;
  const named = {
    ...(Array.isArray(others) && { also: others }),
    ...(sent && { sendIgnored: sent }),
    ofAnother,
  };
  const body = { dir: folder, ...options, ...named };
  const known = await withLocal(env, listUnlinkedHere);
  const isNew = id === undefined && !(await withLocal(env, (db) => isLinked(db, folder)));
  const isUnknown = id !== undefined && !flags.remote && (await isKnownNowhere(env, id));
  const tracked = flags.write ? await readTrackedFile(folder, flags.file) : undefined;
  const bound = flags.remote === undefined ? undefined : await boundRemotes(env);
  const calling = daemon.call<BoundLink>("POST", "/_memsync/link", { body });
  const linked = await shownWhile("linking", calling);
  const { projectId, name, write, remote } = linked;
  // Somebody else may have deleted a project that was linked here before, or that is new to this
  // person.
  if (known.includes(projectId) || hasTerminal()) await lookOnce(daemon);
  const deletion = await withLocal(env, async (db) => db && (await readDeletion(db, projectId)));
  const at = flags.remote === undefined ? "" : `, bound to ${remote}`;
  const deleted = deletionStatus(deletion);
  if (json) sayJson({ dir: linked.dir, project_id: projectId, name, write, remote, deleted });
  else saySentence(`linked ${linked.dir} to ${name} (${projectId})${at}`);
  if (isUnknown) sayAside(knownNowhere(id));
  const came = tracked && (await cameShown(env, projectId, tracked));
  if (came !== undefined) sayAside(came);
  const lines = await linkedFileLines(env, daemon, { ...flags, dir: linked.dir });
  for (const line of lines) sayAside(line);
  const remoteLines = bound && (await boundRemoteLines(env, linked, bound.get(projectId)));
  for (const line of remoteLines ?? []) sayAside(line);
  for (const line of pastProjectLines(linked)) sayAside(line);
  if (isNew && !linked.past && (await isKnownHereAlone(linked.dir))) {
    sayAside(joinedByIdShown(linked));
  }
  for (const line of settledJoinLines(linked)) sayAside(line);
  const { ended = [], declined = [] } = linked.joins ?? {};
  // They are over, whatever the daemon has noted of them.
  const over = [...ended, ...declined].map(({ to: other, at: joinedAt }) => {
    return joinedNotice(projectId, { id: other, at: timestampOf(joinedAt) });
  });
  markSeen(env.home, over);
  if (deletion) sayAside(wasDeleted(name, deletion));
  if (flags.everywhere && linked.joins?.ended.length === 0) {
    sayAside(`${name} is joined to no other project: there was nothing to end`);
  }
  if (linked.begun) {
    sayAside(`${name} is begun anew: its memories, metadata and connections stay deleted`);
  } else if (flags.anew && !deletion) {
    sayAside(`${name} was not deleted: there was nothing to begin anew, and nothing has changed`);
  }
  await sayMeant(env, dir, linked.dir);
  for (const gone of linked.gone) {
    const whether = `\`memsync unlink ${shellWord(gone)}\` if it is this one, copied here`;
    sayAside(`${gone} is linked to the same project, and is gone: ${whether}`);
  }
}

/** What becomes of the folder's files. The daemon has looked at them before it answered. */
async function linkedFileLines(
  env: Environment,
  daemon: GatewayClient,
  { dir, file, also }: LinkFlags & { readonly dir: string },
): Promise<string[]> {
  // If the question fails, the folder is linked nevertheless.
  const { projects = [] } = (await askStatus(daemon).catch(() => undefined)) ?? {};
  const folder = projects.flatMap(({ folders }) => folders).find((each) => each.dir === dir);
  const unfollowed = folder ? unfollowedFileLines([folder]) : [];
  const named = Array.isArray(also) ? also : [];
  const others = folder?.also ?? [];
  const isOne = file !== undefined && unfollowed.length === 0;
  return [
    ...unfollowed,
    ...(isOne ? [oneFromNowOn(file)] : []),
    ...(await withLocal(env, (db) => alsoLines(db, dir, { named, others }))),
    ...unfollowedFileLines(others.filter(({ path }) => !named.includes(path))),
  ];
}

async function isLinked(db: Kysely<DaemonTables> | undefined, dir: string): Promise<boolean> {
  return db !== undefined && (await listLinks(db)).some((each) => each.dir === dir);
}

/** Whether another machine would take the same folder for another project. */
async function isKnownHereAlone(dir: string): Promise<boolean> {
  return (await identifyProject(createGit(), dir)).kind === "none";
}

async function listUnlinkedHere(db: Kysely<DaemonTables> | undefined): Promise<string[]> {
  const unlinked = db ? await listUnlinked(db, await listLinks(db)) : [];
  return unlinked.map(({ id }) => id);
}

/** Asks the services once and waits a moment. `status` shows what they answer later. */
async function lookOnce(daemon: GatewayClient): Promise<void> {
  const asked = callSync(daemon, 0, { unlessOffline: true }).catch(() => undefined);
  await shownWhile("asking the service", asked);
}

async function unlink(env: Environment, dir: string | undefined, { json }: JsonOption) {
  const folder = await meantFolder(env, dir);
  const daemon = await getDaemon(env);
  const links = await withLocal(env, async (db) => (db ? await listLinks(db) : []));
  const id = links.find((each) => each.dir === folder)?.projectId;
  const body = { dir: folder };
  const answer = await daemon.call<{ unlinked: boolean }>("POST", "/_memsync/unlink", { body });
  if (!answer.unlinked) throw new CommandFailed(`${folder} is not linked`, { code: "not-found" });
  // Without a commit or a remote no id can be derived, so the next link would be a new project.
  const link = `memsync link ${shellWord(folder)} --id ${id}`;
  const again = id === undefined ? "" : `: \`${link}\` has them again`;
  if (json) sayJson({ dir: folder, unlinked: true, project_id: id ?? null });
  else if (await isDeletedHere(env, id)) saySentence(`unlinked ${folder}; its project was deleted`);
  else saySentence(`unlinked ${folder}; its memories stay${again}`);
  for (const line of await leftHere(env, folder, id)) sayAside(line);
}

/** What was sent nowhere, and stays on this machine alone. */
async function leftHere(env: Environment, dir: string, id: string | undefined): Promise<string[]> {
  const kept = await keptBackShown(env, dir);
  const held = await withLocal(env, async (db) => (db ? await listHeld(db) : []));
  const { length } = held.filter(({ document }) => document === id);
  const left = await leftOfDeleted(env, id);
  const are = length === 1 ? "is" : "are";
  const writes = `${count(length, "write", "writes")} of it ${are} held here`;
  return [
    ...(kept === undefined ? [] : [kept]),
    ...(left === 0
      ? []
      : [`${count(left, "memory", "memories")} of it here: \`memsync list --project ${id}\``]),
    ...(length === 0 ? [] : [`${writes}: \`memsync held\` lists what it is, and what sends it`]),
  ];
}

/** How many memories this machine has of a project that was deleted. */
async function leftOfDeleted(env: Environment, id: string | undefined): Promise<number> {
  if (id === undefined || !(await isDeletedHere(env, id))) return 0;
  return await withLocal(env, async (db) => {
    const found = db && (await findLocalDocument(db, id));
    return found ? await countSavedMemories(db, found.id) : 0;
  });
}

/** Says what is not sent although everything that may be sent is. */
async function syncedShown(status: DaemonStatus, { dir }: Environment): Promise<string> {
  const standing = await findStanding(status, dir);
  const unfollowed = unfollowedShown(standing);
  const note = syncedNote(status, standing);
  if (unfollowed === undefined) return `everything is synced${note}`;
  return `everything that is followed is synced${note}; ${unfollowed}`;
}

function syncedNote(status: DaemonStatus, standing: Standing): string {
  const { held } = status;
  const notes = held.length > 0 ? [`${held.length} held here: \`memsync held\``] : [];
  const told = syncedProjects(status).flatMap((each) => each.notes.map(({ code }) => code));
  if (told.includes("sessions-refused")) {
    notes.push("records of sessions are refused: see `memsync status`");
  }
  if (told.includes("sessions-private")) {
    notes.push("records of sessions stay here: see `memsync status`");
  }
  notes.push(...deletedNotes(status));
  const odd = status.ignore_lines.length;
  if (odd > 0) {
    const lines = count(odd, "line of .memsyncignore is", "lines of .memsyncignore are");
    notes.push(`${lines} not clear: see \`memsync status\``);
  }
  const folders = syncedProjects(status).flatMap((project) => project.folders);
  const apart = hereFirst(standing, folders.filter(isTextApart));
  const [unwritten, unread] = [apart.filter(isRead), apart.filter((each) => !isRead(each))];
  for (const { what, files, where } of [
    { what: "not followed", files: unread, where: "see `memsync status`" },
    { what: "read, and not written", files: unwritten, where: "for lines in `memsync conflicts`" },
  ]) {
    const [first, ...others] = files;
    if (!first) continue;
    const file = tilde(join(first.dir, first.path));
    const more = others.length > 0 ? ` and ${count(others.length, "other", "others")}` : "";
    notes.push(`${what}: ${file}${more}, ${where}`);
  }
  notes.push(...apartFolders([status.auto_memory, status.serena, status.rules]));
  return notes.map((note) => `; ${note}`).join("");
}

/** What was written into a project while somebody deleted it is kept, and goes nowhere. */
function deletedNotes({ projects }: DaemonStatus): string[] {
  return projects.flatMap(({ deleted, name, memories }) => {
    if (deleted === null || memories === 0) return [];
    const what = count(memories, "memory", "memories");
    return [`${name} was deleted, and its ${what} here no more synced: see \`memsync status\``];
  });
}

const WAIT_SECONDS = 30;
/** A wait of at most this long is short enough to say nothing while it lasts. */
const SHORT_WAIT_SECONDS = 5;

async function sync(env: Environment, options: JsonOption & { wait?: string }): Promise<void> {
  const wait = Number(options.wait ?? WAIT_SECONDS);
  if (!Number.isFinite(wait) || wait < 0) throw new UsageError("--wait is a number of seconds");
  const daemon = await getDaemon(env, wait * MS_PER_S);
  const answer = await watchSync(
    daemon,
    askSync(({ seconds, ...part }) => callSync(daemon, seconds, part), wait, {
      whileLess: options.wait === undefined,
      // A person who says how long to wait may know that the service will be back.
      onOffline({ status: { remotes } }) {
        if (options.wait === undefined || wait === 0) return false;
        const away = remotes.filter(({ service }) => !service.online);
        const names = away.map((remote) => serviceShown(remote, remotes));
        const what = awayWord(remotes);
        sayAside(
          `${what}: waiting up to ${count(wait, "second", "seconds")} for ${names.join(", ")}`,
        );
        return true;
      },
    }),
    (late) => {
      if (wait > SHORT_WAIT_SECONDS) sayAside(lateNote(late, wait, options.wait === undefined));
    },
  );
  const status = await wholeStatus(env, answer.status);
  if (options.json) sayJson(status);
  if (answer.synced) {
    const alone = savedAlone(await forgottenBy(env, daemon.introduction));
    if (alone !== undefined) throw new CommandFailed(alone, { code: "not-synced" });
    if (!options.json) saySentence(await syncedShown(answer.status, env));
    return;
  }
  if (!options.json) {
    // Offline the sentence below says all: which service is silent since when, and what waits.
    const standing = await findStanding(status, env.dir);
    if (!answer.offline) for (const line of wholeOnScreen(status, { standing })) say(line);
    sayText(conflictCountLines(status));
  }
  const why = whyUnsynced(status, realWorld.now());
  throw new CommandFailed(answer.offline ? `${awayWord(status.remotes)}: ${why}` : why, {
    code: answer.offline ? "offline" : "not-synced",
  });
}

/** What is still waited for, and for how long. */
function lateNote(status: DaemonStatus, wait: number, isOpen: boolean): string {
  const projects = syncedProjects(status).length;
  const what = isSynced(status)
    ? `looking again at ${count(projects, "project", "projects")}, here and at the service`
    : whyUnsynced(status, realWorld.now());
  const until = `waiting for up to ${count(wait, "second", "seconds")}`;
  return `${what}; ${until}${isOpen ? ", or for longer while less and less is left" : ""}`;
}

async function printEnv(
  env: Environment,
  { json, remote }: JsonOption & { remote?: string },
): Promise<void> {
  const daemon = await getDaemon(env);
  const gateway = await readGateway(env);
  const { url } = gateway;
  const token = remote === undefined ? gateway.token : await askToken(daemon, remote);
  if (json) {
    sayJson({ MEMSYNC_GATEWAY_URL: url, MEMSYNC_GATEWAY_TOKEN: token });
    return;
  }
  say(`export MEMSYNC_GATEWAY_URL=${url}`);
  say(`export MEMSYNC_GATEWAY_TOKEN=${token}`);
}

/** The address of the gateway, and its token, as the daemon has written them. */
async function readGateway({ home }: Environment): Promise<{ url: string; token: string }> {
  try {
    const gateway = parseJson(await readFile(home.gateway, "utf8"));
    const { url, token } = isObject(gateway) ? gateway : {};
    if (typeof url === "string" && typeof token === "string") return { url, token };
  } catch {
    // The parser's own message quotes the file, and so the token.
  }
  throw new CommandFailed(`${home.gateway} can't be read: \`memsync restart\` writes it anew`);
}

/** The token that is valid for one remote only. */
async function askToken(daemon: GatewayClient, remote: string): Promise<string> {
  const options = { body: { remote }, deadlineMs: OWN_DEADLINE_MS };
  return (await daemon.call<{ token: string }>("POST", "/_memsync/token", options)).token;
}
