import { existsSync } from "node:fs";
import type { Home } from "../../daemon/home/home.ts";
import { digestOfToken } from "../../daemon/service/token-digest.ts";
import { failureOf, isShut, listFailing, whyShut } from "../../daemon/status/refused-units.ts";
import type {
  DaemonStatus,
  FolderStatus,
  ProjectStatus,
  UnitStatus,
} from "../../daemon/status/status.ts";
import { followedFilesOf } from "../../daemon/status/synced-projects.ts";
import type { Introduction } from "../../daemon/supervise/introduction.ts";
import { messageOf } from "../../shared/errors.ts";
import { shellWord } from "../../shared/shell-word.ts";
import { takeLock } from "../../shared/sqlite/lock.ts";
import { VERSION } from "../../shared/version.ts";
import { askStatus, contactDaemon } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { forgottenBy, otherService, startedWithout } from "../lifecycle/shell-service.ts";
import type { Environment } from "../place/environment.ts";
import { forgottenMend } from "../place/unkept-variable.ts";
import { count } from "../screen/output.ts";
import { type Finding, noted } from "./finding.ts";
import { ENOUGH } from "./inotify-limits.ts";

/** The daemon's status, if one answers. An answer that can't be read is a finding of its own. */
async function askDaemon(home: Home): Promise<DaemonStatus | undefined> {
  const daemon = await findDaemon(home);
  return daemon && (await askStatus(daemon));
}

export async function checkDaemon(env: Environment): Promise<Finding> {
  const { home } = env;
  const status = await askDaemon(home);
  if (status) return (await serviceFinding(env)) ?? versionFinding(status);
  if (!existsSync(home.lock))
    return noted("daemon-never-started", "never started here; `memsync up` does");
  const lock = await takeLock(home.lock);
  if (lock) {
    lock.release();
    return noted("daemon-not-running", "not running; nothing is synced", "memsync start");
  }
  const mend = "`memsync restart`; one that runs at a terminal has to be ended there";
  return noted("daemon-silent-holder", "a process holds the home and does not answer", mend);
}

/**
 * Compares with what the daemon was started with, which may be another service than this shell's.
 */
async function serviceFinding(env: Environment): Promise<Finding | undefined> {
  const daemon = await contactDaemon(env.home);
  const forgotten = daemon && (await forgottenBy(env, daemon.introduction));
  if (forgotten !== undefined) {
    return noted("daemon-without-service", startedWithout(forgotten), forgottenMend(forgotten));
  }
  const note = daemon && otherService(env, daemon.introduction);
  return note && noted(note.code, note.detail, note.mend);
}

function versionFinding({ version }: DaemonStatus): Finding {
  if (version === VERSION) return noted("daemon-running", `running, ${version}`);
  const detail = `running, of version ${version}; this is ${VERSION}`;
  return noted("daemon-other-version", detail, "memsync restart");
}

/**
 * Services that take none of the running daemon's calls. `told`: the names of the remotes of which
 * a check of this shell's own has found the reason.
 */
export async function checkCalls(
  env: Environment,
  { remotes }: DaemonStatus,
  told: ReadonlySet<string>,
): Promise<Finding[]> {
  const shut = remotes.filter((remote) => isShut(remote) && !told.has(remote.name));
  if (shut.length === 0) return [];
  const daemon = await contactDaemon(env.home);
  return shut.map((remote) => {
    const isItsOwn = remote.default && daemon && hasOwnToken(env, daemon.introduction);
    return noted(
      "daemon-refused",
      `the running daemon's calls fail: ${whyShut(remote)}`,
      isItsOwn ? START_WITH_THIS : "once that is done, `memsync sync` tries again",
    );
  });
}

const START_WITH_THIS =
  "the daemon was started with a MEMSYNC_TOKEN that is not set here: `memsync stop`, then " +
  "`memsync start` in the shell of whoever this home is";

/** Whether a daemon goes on with a variable's token that a new one would not be given here. */
function hasOwnToken(
  { serviceToken }: Environment,
  { environment, service }: Introduction,
): boolean {
  const its = service?.token ?? undefined;
  const here = serviceToken === undefined ? undefined : digestOfToken(serviceToken.trim());
  return environment.has_token && its !== here;
}

/** Files that can't be read, so that nobody knows whether they are synced. */
export function checkFailing(status: DaemonStatus): Finding[] {
  const mend = "see to that, then `memsync sync`; `memsync logs` says since when";
  return listFailing(status).map((folder) => noted("files-failing", failureOf(folder), mend));
}

/** The names of the remotes whose token may only read. */
type ReadOnly = ReadonlySet<string>;

/** Whether the token's rights are the reason. */
function isForbidden({ refused_code: code }: UnitStatus): boolean {
  return code === "token-forbids" || code === "call-forbidden";
}

function stays({ waiting }: UnitStatus): string {
  const changes = `${count(waiting, "change stays", "changes stay")} on this machine`;
  return `${changes}, for the token may only read`;
}

const KEPT_HERE = "nothing to do if that is meant; `memsync login` with a token that may write";

/** Refused memories of the user and the account, which belong to no project. */
export function checkOwn({ remotes }: DaemonStatus, readOnly: ReadOnly): Finding[] {
  return remotes.flatMap(({ name, own }) => {
    if (own.refused === null || own.waiting === 0) return [];
    if (readOnly.has(name) && isForbidden(own)) {
      return [noted("own-read-only", `user and global: ${stays(own)}`, KEPT_HERE)];
    }
    if (own.refused_code === "out-of-reach") {
      const left = count(own.waiting, "change stays", "changes stay");
      return [noted("own-out-of-reach", `user and global: ${left} on this machine`, own.refused)];
    }
    const detail = `user and global are refused by ${name}: ${own.refused}`;
    return [
      noted("own-refused", detail, "`memsync status` says what waits, `memsync sync` tries again"),
    ];
  });
}

/** Files that are left alone, and projects that the service refuses. */
export function checkProjects({ projects }: DaemonStatus, readOnly: ReadOnly): Finding {
  const folders = projects.flatMap((project) => project.folders);
  const left = folders.filter(({ state }) => state === "left-alone");
  const isMeant = (project: ProjectStatus) => {
    return readOnly.has(project.remote) && isForbidden(project);
  };
  const refused = projects.filter((project) => project.refused !== null);
  const kept = refused.find(isMeant);
  const project = refused.find((each) => !isMeant(each));
  if (project) {
    const detail = `${project.name} is refused by the service: ${project.refused}`;
    return noted(
      "projects-refused",
      detail,
      "`memsync status` says what waits, `memsync sync` tries again",
    );
  }
  if (kept) return noted("projects-read-only", `${kept.name}: ${stays(kept)}`, KEPT_HERE);
  const [folder] = left;
  const all = count(projects.length, "project", "projects");
  const isFailing = followedFilesOf(folders).some(({ state }) => state === "failing");
  if (!folder) return noted("projects-followed", `${all} ${isFailing ? "linked" : "followed"}`);
  const detail = `${folder.dir}/${folder.path} ${folder.note ?? "is left alone"}`;
  return noted("projects-left-alone", detail, mendOf(folder));
}

function mendOf({ dir, why }: FolderStatus): string {
  return why === "folder-gone"
    ? `bring the folder back, or \`memsync unlink ${shellWord(dir)}\``
    : "nothing to do if that is meant; `memsync status` shows all";
}

/** Polled folders, and the limit to raise if that is the reason. */
export function checkPolled({ projects }: DaemonStatus): Finding {
  const folders = projects.flatMap((project) => project.folders);
  const polled = folders.flatMap((folder) => folder.polled ?? []);
  const [first] = polled;
  const all = count(folders.length, "folder", "folders");
  if (!first) return noted("watched-by-events", `${all}, by the system's events`);
  const looked = `${polled.length} of ${all} looked at every few seconds`;
  const limit = polled.find((each) => each.limit !== null)?.limit;
  if (!limit) return noted("watched-by-looks", `${looked}: ${first.why}`);
  const raise = `sudo sysctl fs.inotify.${limit}=${ENOUGH[limit]}`;
  const mend = `${raise}, keep it in /etc/sysctl.d, then \`memsync restart\``;
  return noted("watched-at-limit", `${looked}: fs.inotify.${limit} is reached`, mend);
}

/** The findings of `check` about the daemon's answers, or why those could not be read. */
export async function withStatus(
  home: Home,
  check: (status: DaemonStatus) => Finding[] | Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    const status = await askDaemon(home);
    return status ? await check(status) : [];
  } catch (thrown) {
    return [noted("daemon-unreadable", `answers badly: ${messageOf(thrown)}`, "memsync restart")];
  }
}
