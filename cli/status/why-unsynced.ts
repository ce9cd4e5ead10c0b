import { EMBEDDED } from "../../daemon/home/remote.ts";
import { listRefusals } from "../../daemon/status/refused-units.ts";
import type { DaemonStatus, RemoteStatus, UnitStatus } from "../../daemon/status/status.ts";
import {
  followedFilesOf,
  syncedProjects,
  unfinishedMemories,
  unfinishedPersonal,
} from "../../daemon/status/synced-projects.ts";
import { comingShown, count, spanShown } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { serviceShown } from "../views/shown-remotes.ts";

/** At most this many waiting units are named. */
const NAMED_MAX = 3;

/**
 * Why a sync did not finish, in one sentence: what was refused, since waiting does not help there;
 * else what waits, and which service did not answer. `now`: by the wall clock.
 *
 * ```
 * if (!synced) saySentence(whyUnsynced(status, realWorld.now()));
 * ```
 */
export function whyUnsynced(status: DaemonStatus, now: number): string {
  const [first, ...others] = listRefusals(status);
  if (first !== undefined) {
    const more =
      others.length > 0 ? `; and ${others.length} more: \`memsync status\` shows them` : "";
    return `not everything is synced: ${first}${more}`;
  }
  const silent = status.remotes.flatMap((remote) => {
    return silenceOf(remote.service, serviceShown(remote, status.remotes), now);
  });
  const unsure = silent.length > 0 ? ["what others wrote was not asked for"] : [];
  const waiting = waitingUnits(status);
  const left = waiting.length > 0 ? [shortened(waiting)] : unsure;
  // A pause that the service asked for is said with the service.
  const isThrottled = status.remotes.some(({ service: { throttled, busy_until } }) => {
    return throttled && !(busy_until !== null && throttled.code === "requests-refused");
  });
  const throttled = isThrottled ? ["calls wait for more requests, as `memsync status` shows"] : [];
  const all = [...left, ...silent, ...throttled];
  return `not everything is synced yet${all.length > 0 ? `: ${all.join("; ")}` : ""}`;
}

/**
 * The word for services that are not online: away, busy, or part of this home, which fails only if
 * it can't save anything.
 */
export function awayWord(remotes: readonly RemoteStatus[]): "offline" | "busy" | "failing" {
  const away = remotes.flatMap(({ service }) => (service.online ? [] : [service]));
  if (away.length === 0) return "offline";
  if (away.every(({ name }) => name === EMBEDDED)) return "failing";
  return away.every(({ state }) => state === "busy") ? "busy" : "offline";
}

/** What to say about a service's silence; nothing if it answered the last call. */
function silenceOf(service: RemoteStatus["service"], name: string, now: number): string[] {
  const { online, message, unanswered_since: since, busy_until } = service;
  if (since !== null) {
    return [`${name} has not answered for ${spanShown(now - Date.parse(since))}`];
  }
  if (online) return [];
  if (busy_until !== null) {
    const said = message === null ? "" : ` (${message})`;
    return [`${name} is busy${said}, asked again ${comingShown(busy_until, now)}`];
  }
  return [`${name} has not answered${message === null ? "" : ` (${message})`}`];
}

/** Each unit that is not synced, with the number of waiting changes, and files that wait. */
function waitingUnits(status: DaemonStatus): string[] {
  const { remotes } = status;
  const projects = syncedProjects(status);
  const own = remotes.map((remote) => {
    const at = remotes.length > 1 ? ` at ${remote.name}` : "";
    return { ...remote.own, name: `user and global${at}`, folders: [] };
  });
  const units = [...projects, ...own].flatMap((unit) => {
    const what = waitingOf(unit, followedFilesOf(unit.folders));
    return what === undefined ? [] : [`${unit.name} (${what})`];
  });
  const files = [...unfinishedMemories(status), ...unfinishedPersonal(status)];
  return [...units, ...files.map(tilde)];
}

function waitingOf(
  { contacted, waiting }: UnitStatus,
  folders: readonly { readonly state: string; readonly path: string }[],
): string | undefined {
  if (waiting > 0) return count(waiting, "change", "changes");
  if (!contacted) return "no first answer yet";
  const file = folders.find(({ state }) => state === "waiting");
  return file && `${file.path} waits`;
}

function shortened(units: readonly string[]): string {
  const named = units.slice(0, NAMED_MAX).join(", ");
  const more = units.length - NAMED_MAX;
  return `${named}${more > 0 ? ` and ${more} more` : ""} ${units.length > 1 ? "wait" : "waits"}`;
}
