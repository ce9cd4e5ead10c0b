import { homedir } from "node:os";
import { realWorld } from "../../shared/world-real.ts";
import type {
  DaemonStatus,
  FolderStatus,
  ProjectStatus,
  RemoteStatus,
  ServiceStatus,
  UnitStatus,
} from "../status.ts";
import type { UnlinkedProject } from "../unlinked-projects.ts";
import { UNKNOWN_SERVICE } from "../remotes/remote.ts";
import type { DamageNote } from "../recovery/set-aside.ts";
import { POLL_MS } from "../sources/poll-interval.ts";
import { heldLines } from "./held-view.ts";
import { count, shownPlainly, spanShown } from "./output.ts";

/** `memsync status` in a few lines. `now` is in milliseconds since the Unix epoch. */
export function statusLines(status: DaemonStatus, now = realWorld.now()): string[] {
  const several = status.remotes.length > 1;
  const projects = status.projects.flatMap((project) => projectLines(project, several));
  return [
    ...serviceLines(status, several, now),
    `gateway   ${status.gateway.url}   (\`memsync env\` prints its token)`,
    ...(projects.length > 0 ? projects : ["project   none linked; run `memsync link` in one"]),
    ...status.unlinked.flatMap((project) => unlinkedLines(project, several)),
    ...status.remotes.flatMap((remote) => ownLines(remote, several)),
    ...status.damaged.flatMap(damageLines),
    ...heldLines(status.held, several),
  ].map(shownPlainly);
}

const PLAIN_NOTE = "no replica exchange: changes of others are asked for in turn";

function serviceLines({ remotes, home }: DaemonStatus, several: boolean, now: number): string[] {
  return remotes.flatMap(({ name, service, default: isDefault }) => {
    const who = several ? `remote    ${name}${isDefault ? " (default)" : ""}` : "service";
    return [`${who}   ${contactLine(service, home, now)}`, ...requestLines(service, now)];
  });
}

function contactLine(service: ServiceStatus, home: string, now: number): string {
  const { online, message, plain, last_contact_at: contact } = service;
  if (service.name === "embedded" && online) return `embedded, kept in ${tilde(home)}`;
  const last = contact === null ? [] : [`last contact ${spanShown(now - Date.parse(contact))} ago`];
  if (online) {
    const said = message ?? (plain ? PLAIN_NOTE : undefined);
    const notes = [...last, ...(said === undefined ? [] : [said])];
    return notes.length === 0 ? service.name : `${service.name}   (${notes.join("; ")})`;
  }
  const reason = [message ?? "not reached yet", ...last].join("; ");
  if (service.name === UNKNOWN_SERVICE) return `kept here alone: ${reason}`;
  return `${service.name}   offline: ${reason}; everything is saved here and goes when it is back`;
}

/** Nothing where nothing is limited. */
function requestLines({ requests, held_back }: ServiceStatus, now: number): string[] {
  const until = (timestamp: string) => spanShown(Date.parse(timestamp) - now);
  const left = Object.entries(requests).map(([name, { limit, remaining, resets_at }]) => {
    if (limit === remaining) return `${name}: all ${limit} left`;
    const ofLimit = limit === null ? "" : ` of ${limit}`;
    return `${name}: ${remaining}${ofLimit} left, more in ${until(resets_at)}`;
  });
  const [first, ...others] = left;
  if (first === undefined) return [];
  return [
    `requests  ${first}`,
    ...others.map((line) => `          ${line}`),
    ...(held_back
      ? [`          calls wait for another ${until(held_back.until)} to stay within it`]
      : []),
  ];
}

function ownLines({ name, own }: RemoteStatus, several: boolean): string[] {
  const whose = several ? `at ${name}` : "user and global";
  return [`own       ${whose}: ${unitLine(own)}`, ...own.notes.map((note) => `          ${note}`)];
}

function projectLines(project: ProjectStatus, withRemote: boolean): string[] {
  const at = withRemote ? `   at ${project.remote}` : "";
  return [
    `project   ${project.name}   ${project.id}${at}`,
    ...project.folders.flatMap(folderLines),
    `          ${unitLine(
      project,
      project.folders.every(({ state }) => state !== "failing"),
    )}`,
    ...project.notes.map((note) => `          ${note}`),
  ];
}

function unlinkedLines(project: UnlinkedProject, withRemote: boolean): string[] {
  const { id, name, remote, memories, waiting } = project;
  const saved = `${count(memories, "memory", "memories")} saved`;
  const changes = `${count(waiting, "change", "changes")} on this machine only`;
  const at = withRemote && remote !== "" ? `   at ${remote}` : "";
  return [
    `unlinked  ${name === null ? "" : `${name}   `}${id}${at}`,
    `          ${saved}, linked to no folder: ${changes}, until \`memsync link DIR --id ${id}\``,
  ];
}

function damageLines({ found_at, message, set_aside }: DamageNote): string[] {
  return [
    `damaged   ${found_at}: ${message}`,
    `          delete ${tilde(set_aside)}* when nothing is missed, and this is said no more`,
  ];
}

function folderLines(folder: FolderStatus): string[] {
  const { polled, repository } = folder;
  const lines = [
    folderLine(folder),
    ...(polled ? [`looked at every ${POLL_MS / 1000} s, for ${polled.why}`] : []),
    ...(repository !== null ? [repository] : []),
  ];
  return lines.map((line) => `          ${line}`);
}

function folderLine({ dir, path, state, note }: FolderStatus): string {
  const place = `${tilde(dir)}/${path}`;
  if (state === "failing") return `${place}   not followed: ${note ?? "looking at it fails"}`;
  if (note !== null) return `${place}   ${note}`;
  if (state === "upwards") {
    return `${place}   followed upwards: git tracks it, so nothing is written into it`;
  }
  return `${place}   ${state}`;
}

/**
 * What is saved here, and how much of it the service has acknowledged; `isAll` where nothing else
 * belongs to it.
 */
export function unitLine(unit: UnitStatus, isAll = true): string {
  const saved = `${count(unit.memories, "memory", "memories")} saved`;
  if (unit.refused !== null) return `${saved}, refused by the service: ${unit.refused}`;
  if (!unit.contacted) return `${saved}, waiting for the service's first answer`;
  if (unit.waiting === 0) return `${saved}, ${isAll ? "all synced" : "synced; the file is not"}`;
  return `${saved}, ${count(unit.waiting, "change", "changes")} waiting`;
}

function tilde(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
