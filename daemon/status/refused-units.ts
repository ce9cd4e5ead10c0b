import { join } from "node:path";
import { tokenAdvice } from "../service/token-advice.ts";
import type {
  DaemonStatus,
  FolderStatus,
  RemoteStatus,
  ServiceStatus,
  UnitStatus,
} from "./status.ts";
import {
  followedFilesOf,
  isUnitSynced,
  syncedProjects,
  unfinishedMemories,
  unfinishedPersonal,
} from "./synced-projects.ts";

/** Why waiting does not sync what is left, in one sentence each. */
export function listRefusals(status: DaemonStatus): string[] {
  const { remotes } = status;
  const projects = syncedProjects(status);
  const shut = remotes.filter(isShut);
  const own = remotes.map((remote) => {
    const name = remotes.length > 1 ? `user and global at ${remote.name}` : "user and global";
    return { ...remote.own, name, remote: remote.name };
  });
  const refused = [...projects, ...own].filter((unit) => {
    return unit.refused !== null && !isUnitSynced(unit) && !isAt(shut, unit);
  });
  return [
    ...shut.map(whyShut),
    ...refused.map(({ name, refused: why, refused_code: code }) => {
      return `${code === "out-of-reach" ? "not sent:" : "the service refuses"} ${name}: ${why}`;
    }),
    ...listFailing(status).map(failureOf),
  ];
}

/** Whether a remote's service accepts no call until a person has done something. */
export function isShut({ service }: RemoteStatus): boolean {
  return service.blocked || service.token_refused;
}

/** Why such a service takes no call, and what to do, in one sentence. */
export function whyShut(remote: RemoteStatus): string {
  const { name, service } = remote;
  if (service.blocked) return `${name} can't be called: ${service.message}`;
  return `${service.name} refuses the token (${service.message}): ${tokenAdvice(remote)}`;
}

/** The followed files that can't be read, so that their state is unknown. */
export function listFailing({ projects }: DaemonStatus): FolderStatus[] {
  return projects.flatMap(({ folders }) =>
    followedFilesOf(folders).filter(({ state }) => state === "failing"),
  );
}

/** Which file is not followed, and why. */
export function failureOf({ dir, path, note }: FolderStatus): string {
  return `${join(dir, path)} is not followed: ${note ?? "looking at it fails"}`;
}

/**
 * Whether waiting is useless: everything that is not synced was just refused, can't be read, or is
 * for a service that needs a person first. False while another service does not answer, or calls
 * wait for the budget.
 */
export function isRefused(status: DaemonStatus): boolean {
  const { remotes } = status;
  const projects = syncedProjects(status);
  const shut = remotes.filter(isShut);
  const open = remotes.filter((remote) => !isShut(remote));
  const openProjects = projects.filter((project) => !isAt(shut, project));
  const units: readonly UnitStatus[] = [...openProjects, ...open.map(({ own }) => own)];
  const left = units.filter((unit) => !isUnitSynced(unit));
  return (
    open.every(({ service }) => service.online && service.throttled === null) &&
    left.length + shut.length + listFailing(status).length > 0 &&
    left.every(({ refused }) => refused !== null) &&
    unfinishedMemories(status).length + unfinishedPersonal(status, shut).length === 0 &&
    openProjects.every(({ refused, folders }) => {
      return refused !== null || followedFilesOf(folders).every(({ state }) => state !== "waiting");
    })
  );
}

/**
 * Whether everything that is not synced is for services that were just called and can't be reached,
 * or that are busy beyond `busyMax`, in milliseconds since the Unix epoch. False while another
 * service still has something to do.
 */
export function isOffline(status: DaemonStatus, busyMax: number): boolean {
  return isAllFor(status, ({ online, message, unanswered_since, busy_until, throttled }) => {
    if (busy_until !== null) return Date.parse(busy_until) > busyMax;
    return !online && message !== null && unanswered_since === null && throttled === null;
  });
}

/** What a person waits for an answer of a service's. */
const PERSON_MS = 10_000;

/**
 * Whether everything that is not synced is for services that take calls and say nothing. Where the
 * live connection answers, a call may just be long. `now`: by the wall clock.
 */
export function isSilent(status: DaemonStatus, now: number): boolean {
  return isAllFor(status, ({ online, live, unanswered_since: since }) => {
    return !online && !live && since !== null && now - Date.parse(since) >= PERSON_MS;
  });
}

/** Whether everything that is not synced is for services that are `away`. */
function isAllFor(status: DaemonStatus, away: (service: ServiceStatus) => boolean): boolean {
  const { remotes } = status;
  const projects = syncedProjects(status);
  const offline = remotes.filter(({ service }) => away(service));
  const others = remotes.filter((remote) => !offline.includes(remote));
  const otherProjects = projects.filter((project) => !isAt(offline, project));
  return (
    offline.length > 0 &&
    others.every(({ service }) => service.online) &&
    [...otherProjects, ...others.map(({ own }) => own)].every(isUnitSynced) &&
    otherProjects.every(({ folders }) =>
      followedFilesOf(folders).every(({ state }) => state !== "waiting"),
    ) &&
    unfinishedMemories(status).length + unfinishedPersonal(status, offline).length === 0
  );
}

function isAt(remotes: readonly RemoteStatus[], { remote }: { readonly remote: string }): boolean {
  return remotes.some(({ name }) => name === remote);
}
