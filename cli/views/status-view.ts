import { lostTreeShown } from "../../daemon/git/working-tree.ts";
import { UNKNOWN_SERVICE } from "../../daemon/home/remote.ts";
import type { DamageNote } from "../../daemon/recovery/set-aside.ts";
import { tokenAdvice } from "../../daemon/service/token-advice.ts";
import type {
  DaemonStatus,
  FolderStatus,
  PlaceStatus,
  ProjectStatus,
  RemoteStatus,
  ServiceStatus,
  ThrottledStatus,
  UnitStatus,
} from "../../daemon/status/status.ts";
import {
  followedFilesOf,
  isUnitSynced,
  serviceTroubleOf,
} from "../../daemon/status/synced-projects.ts";
import { POLL_MS } from "../../daemon/watch/poll-interval.ts";
import { realWorld } from "../../shared/world-real.ts";
import {
  bytesShown,
  clockShown,
  comingShown,
  count,
  momentShown,
  spanShown,
} from "../screen/output.ts";
import { renamedShown } from "../screen/renamed-folder-shown.ts";
import { hereFirst, isStandingIn, type Standing } from "../screen/standing.ts";
import { cut, shownColumns } from "../screen/text-width.ts";
import { tilde } from "../screen/tilde.ts";
import { toned } from "../screen/tones.ts";
import { visible } from "../screen/visible.ts";
import { heldLines } from "./held-view.ts";
import { joinedLines } from "./joined-view.ts";
import { machineLines } from "./machine-lines.ts";
import { memoryFolderLines } from "./memory-folders-view.ts";
import { oddFolders } from "./odd-folders.ts";
import { oddIgnoreLines } from "./odd-ignore-lines.ts";
import { personalLines } from "./personal-view.ts";
import { layerLine, moveAllShown } from "./seen-by.ts";
import { isEmbedded, shownRemotes } from "./shown-remotes.ts";
import { tokenExpiryLines } from "./token-expiry.ts";
import { refusedShown, unlinkedLines, waitingShown } from "./waiting-view.ts";

/** How a status is to be shown. */
export interface StatusView {
  /** The reader's current folder, which is shown first. */
  readonly standing?: Standing | undefined;
  /** In milliseconds since the Unix epoch. */
  readonly now?: number;
  /** Leaves out what changes by time alone. */
  readonly calm?: boolean;
  /** Leaves out the gateway, and layers that are synced and say nothing else. */
  readonly short?: boolean;
  /** Names everything that could be counted instead. */
  readonly all?: boolean;
  /** A line about the projects that are left out. */
  readonly rest?: string;
  /** The projects that are left out. They are still named in what is said of held writes. */
  readonly left?: readonly ProjectStatus[];
  /** Projects, by id, that get only one line of this width. */
  readonly brief?: { readonly ids: ReadonlySet<string>; readonly columns: number };
}

/** `memsync status` in a few lines: the current folder, the services, and what else is followed. */
export function tonedStatusLines(status: DaemonStatus, view: StatusView = {}): string[] {
  const { standing = { kind: "nowhere" }, now = realWorld.now(), calm = false } = view;
  const { brief, rest, left = [], short = false } = view;
  const named = namedProjects(status, left);
  const remotes = shownRemotes(status);
  const several = remotes.length > 1;
  const time = { now, calm };
  const linesOf = (isHere: boolean) =>
    status.projects
      .filter((project) => isStandingIn(standing, project) === isHere)
      .flatMap((project) => {
        const remote = status.remotes.find(({ name }) => name === project.remote);
        const shown = { several, now, isHere, standing, ...keeperOf(remote) };
        return brief?.ids.has(project.id)
          ? [briefLine(project, shown, brief.columns)]
          : projectLines(project, shown);
      });
  const unfollowed = unfollowedLines(standing);
  const none = status.projects.length === 0 && unfollowed.length === 0;
  return [
    ...linesOf(true),
    ...unfollowed,
    ...serviceLines({ ...status, remotes }, several, time),
    ...unusedLines(status),
    ...(short ? [] : [`gateway   ${status.gateway.url}   (\`memsync env\` prints its token)`]),
    ...linesOf(false),
    ...(rest !== undefined ? [rest] : none ? [NONE_LINKED] : []),
    ...unlinkedLines(status.unlinked, several),
    ...remotes.flatMap((remote) => layerLines(remote, { several, short })),
    ...machineLines(status.machine),
    ...status.damaged.flatMap(damageLines),
    ...heldLines(status.held, named, several),
    ...memoryFolderLines("auto-memory", status.auto_memory, named),
    ...memoryFolderLines("serena", status.serena, named),
    ...memoryFolderLines("rules", status.rules, named),
    ...personalLines(status.personal),
    ...oddIgnoreLines(status.ignore_lines, view.all ? status.ignore_lines.length : undefined),
  ].map(visible);
}

/** All projects that have a name, linked or not, shown or left out. */
function namedProjects(
  { projects, unlinked }: DaemonStatus,
  left: readonly ProjectStatus[],
): { id: string; name: string }[] {
  const others = unlinked.flatMap(({ id, name }) => (name === null ? [] : [{ id, name }]));
  return [...projects, ...left, ...others];
}

/**
 * That the current folder is not followed, and why, or whose clone it is, if that is known.
 * `command`: what follows it; `memsync link` needs a daemon.
 */
export function unfollowedLines(standing: Standing, command = "memsync link"): string[] {
  if (standing.kind === "lost") return [`here      ${lostTreeShown(standing.lost)}`];
  if (standing.kind !== "unfollowed") return [];
  const { dir, renamed } = standing;
  return [`here      ${tilde(renamed?.to ?? dir)}   ${notFollowed(standing, command)}`];
}

/** The same in a sentence; undefined of a folder in which there is nothing to follow. */
export function unfollowedShown(standing: Standing): string | undefined {
  if (standing.kind === "lost") return lostTreeShown(standing.lost);
  if (standing.kind !== "unfollowed") return undefined;
  const { dir, file, others, renamed } = standing;
  if (!(file || others || renamed)) return undefined;
  return `${tilde(renamed?.to ?? dir)} is ${notFollowed(standing, "memsync link")}`;
}

function notFollowed(standing: Extract<Standing, { kind: "unfollowed" }>, command: string): string {
  const { file, others, renamed } = standing;
  if (renamed) return `not followed: ${renamedShown(renamed)}`;
  const which = file === undefined ? "" : `, nor its ${file}`;
  const also = others ? `, though ${others.name} is in ${tilde(others.dir)}` : "";
  return `not followed${which}${also}: \`${command}\` follows it`;
}

const NONE_LINKED = "project   none linked; run `memsync link` in one";
/** The service that keeps a project, as far as its lines depend on it. */
interface Keeper {
  /** It is the embedded one. */
  readonly isLocal: boolean;
  /** Whether the service says nothing now, so that nobody knows what others wrote. */
  readonly isMute: boolean;
  /** Whether it can't be called, for want of a token for example. Then nobody waits for it. */
  readonly isBlocked: boolean;
}

function keeperOf(remote: RemoteStatus | undefined): Keeper {
  return {
    isLocal: isEmbedded(remote),
    isMute: serviceTroubleOf(remote?.service) !== undefined,
    isBlocked: remote?.service.state === "blocked",
  };
}

const PLAIN_NOTE = "no replica exchange: changes of others are asked for in turn";
const NO_SOCKET_NOTE = "no live connection: changes of others are asked for in turn";

type Time = Required<Pick<StatusView, "now" | "calm">>;

function serviceLines({ remotes, home }: DaemonStatus, several: boolean, time: Time): string[] {
  const elsewhere = remotes.filter((each) => !isEmbedded(each));
  const to = elsewhere.find((each) => each.default) ?? elsewhere[0];
  const place = { home, to };
  return remotes.flatMap((remote) => {
    const { name, service, default: isDefault } = remote;
    const who = several ? `remote    ${name}${isDefault ? " (default)" : ""}` : "service";
    return [
      `${who}   ${contactLine(remote, place, time)}`,
      ...tokenExpiryLines(remote, time),
      ...requestLines(service, time),
    ];
  });
}

function unusedLines({ unused_remotes: unused }: DaemonStatus): string[] {
  return unused.map(({ name, url, has_token: hasToken }) => {
    const binds = `nothing here is bound to it: \`memsync link --remote ${name}\``;
    const login = hasToken ? "" : `no token: \`memsync login --remote ${name}\`; `;
    return `remote    ${name}   ${url}: ${login}${binds}`;
  });
}

/** Where the embedded service is kept, and the remote that what it has can be moved to. */
interface Place {
  readonly home: string;
  readonly to: Pick<RemoteStatus, "name" | "audience" | "of_another"> | undefined;
}

/** The state of the contact with a service: one word for each state, and details. */
function contactLine(remote: RemoteStatus, { home, to }: Place, time: Time): string {
  const { state, name, message, plain, last_contact_at: contact } = remote.service;
  const last = contact === null ? [] : [`last contact ${agoShown(contact, time)}`];
  const said = message === null ? [] : [message];
  const why = message ?? "nobody knows why";
  // Does not say that everything is saved: the disk may be full.
  const saved = "what is saved here";
  switch (state) {
    case "embedded":
      return `embedded, kept in ${tilde(home)}: ${
        to === undefined
          ? "`memsync login` syncs with other machines"
          : moveAllShown({ ...to, global: remote.global.memories })
      }`;
    case "connected":
      return `${name}   connected${message === null ? "" : ` (${message})`}`;
    case "reconnecting":
      return `${name}   ${["reconnecting", ...last, ...said].join("; ")}`;
    case "asked":
      said.push(plain ? PLAIN_NOTE : NO_SOCKET_NOTE);
      return `${name}   ${["answers", ...last, ...said].join("; ")}`;
    case "connecting":
      if (contact !== null) return `${name}   ${["connecting", ...last, ...said].join("; ")}`;
      return `${name}   connecting: not reached yet; ${saved} goes when it is`;
    case "busy":
      return `${name}   ${toned("pending", busyShown(remote.service, time))}; ${saved} goes then`;
    case "offline":
      // The embedded service is part of this home. It is never away, and what it could not keep is
      // not saved.
      if (isEmbedded(remote)) return `embedded, kept in ${tilde(home)}: ${toned("bad", why)}`;
      last.push(`${saved} goes when it is back`);
      return `${name}   ${toned("bad", `offline: ${[why, ...last].join("; ")}`)}`;
    case "token-refused":
      return `${name}   ${toned("bad", `refuses the token (${why}): ${tokenAdvice(remote)}`)}`;
    case "blocked":
      if (name === UNKNOWN_SERVICE) return `kept here alone: ${why}`;
      return `${name}   ${toned("bad", `can't be called: ${why}; ${saved} stays here meanwhile`)}`;
  }
}

/** Why it takes no calls now, and when it is asked again. */
function busyShown({ message, busy_until }: ServiceStatus, { now, calm }: Time): string {
  const said = message === null ? "" : `${message}; `;
  if (busy_until === null) return `busy: ${said}asked again later`;
  const at = `at ${clockShown(Date.parse(busy_until))}`;
  return `busy: ${said}asked again ${calm ? at : comingShown(busy_until, now)}`;
}

function agoShown(timestamp: string, { now, calm }: Time): string {
  if (calm) return momentShown(timestamp, now);
  return `${spanShown(now - Date.parse(timestamp))} ago`;
}

/** Nothing where nothing is limited. */
function requestLines({ requests, throttled }: ServiceStatus, { now, calm }: Time): string[] {
  if (calm) {
    if (!throttled) return [];
    return [`requests  ${throttledLine(throttled, `at ${momentShown(throttled.until, now)}`)}`];
  }
  const until = (timestamp: string) => spanShown(Date.parse(timestamp) - now);
  const left = Object.entries(requests).map(([name, { limit, remaining, resets_at }]) => {
    if (limit === remaining) return `${name}: all ${limit} left`;
    const ofLimit = limit === null ? "" : ` of ${limit}`;
    const told = `${name}: ${remaining}${ofLimit} left`;
    // A time that is past was told by the last answer, and the next one will tell another.
    return Date.parse(resets_at) > now ? `${told}, more in ${until(resets_at)}` : told;
  });
  const [first, ...others] = left;
  if (first === undefined) return [];
  return [
    `requests  ${first}`,
    ...others.map((line) => `          ${line}`),
    ...(throttled ? [`          ${throttledLine(throttled, `in ${until(throttled.until)}`)}`] : []),
  ];
}

/** What waits, when the next call goes, and why not before. */
function throttledLine({ projects, reason }: ThrottledStatus, when: string): string {
  const what = projects > 0 ? count(projects, "project", "projects") : "user and global";
  return `${what} still to go, the next ${when}: ${reason}`;
}

/** The layers that belong to no project, with who can read each. */
function layerLines(
  remote: RemoteStatus,
  { several, short }: { readonly several: boolean; readonly short: boolean },
): string[] {
  const { name, audience } = remote;
  const whose = { remote: several ? name : undefined, audience };
  const line = (unit: UnitStatus) => unitLine(unit, keeperOf(remote));
  const notes = (unit: UnitStatus) => unit.notes.map(({ message }) => `          ${message}`);
  const layers = ["user", "global"] as const;
  const at = several ? ` at ${name}` : "";
  const isOut = layers.every(
    (layer) => isOutOfReach(remote[layer]) && remote[layer].memories === 0,
  );
  if (isOut && isUnitSynced(remote.own)) return [`own       user and global${at}: ${OUT_OF_REACH}`];
  return layers.flatMap((layer) => {
    const unit = remote[layer];
    if (short && unit.refused === null && unit.notes.length === 0 && isUnitSynced(unit)) return [];
    return [layerLine(layer, whose, line(unit)), ...notes(unit)];
  });
}

const OUT_OF_REACH = "out of the token's reach, which is bound to projects";

/** Whether the token was made for other projects: then nothing is wrong. */
function isOutOfReach({ refused_code }: UnitStatus): boolean {
  return refused_code === "out-of-reach";
}

interface ProjectView extends Keeper {
  /** There are several remotes, so the project's is named. */
  readonly several: boolean;
  readonly now: number;
  readonly isHere: boolean;
  readonly standing: Standing;
}

function projectLines(project: ProjectStatus, view: ProjectView): string[] {
  const { several, isHere, standing, now } = view;
  const at = several ? `   at ${project.remote}` : "";
  return [
    `${isHere ? "here   " : "project"}   ${project.name}   ${project.id}${at}`,
    ...hereFirst(standing, project.folders).flatMap(folderLines),
    `          ${keptLine(project, view)}`,
    ...joinedLines(project.joined, now),
    ...project.notes.map(({ message }) => `          ${message}`),
  ];
}

/** A project in one line: its state, and its folder if there is room. */
function briefLine(project: ProjectStatus, view: ProjectView, columnsMax: number): string {
  const { name, folders, remote, deleted } = project;
  const at = view.several ? `   at ${remote}` : "";
  const [first, ...others] = folders;
  const where = first === undefined ? "" : `   ${tilde(first.dir)}`;
  const more = others.length > 0 ? ` and ${count(others.length, "folder", "folders")} more` : "";
  // For a folder that was moved, the file is followed nevertheless.
  const odd = oddFolders(project).find(({ state }) => state !== "followed" && state !== "upwards");
  const how =
    deleted !== null
      ? ["deleted", elsewhereShown(project)].filter(Boolean).join(", ")
      : odd
        ? oddShown(odd)
        : (elsewhereShown(project) ?? syncedShown(project, view));
  const ways = [`${name}${at}${where}${more}`, `${name}${at}`, name];
  const lines = ways.map((each) => `project   ${each}   ${how}`);
  const fitting = lines.find((line) => shownColumns(line) <= columnsMax);
  if (fitting !== undefined) return fitting;
  // Whether all is well has to be seen, however long the name is.
  const room = columnsMax - shownColumns(`project      ${how}`);
  const least = odd ? NAME_COLUMNS_BESIDE_NOTE : NAME_COLUMNS_MIN;
  return cut(`project   ${cut(name, Math.max(room, least))}   ${how}`, columnsMax);
}

/** A name is not cut to less. */
const NAME_COLUMNS_MIN = 6;
/** The same for a name beside a longer remark, which says nothing without it. */
const NAME_COLUMNS_BESIDE_NOTE = 16;

/** Where its folders went on other machines, in a few words. */
function elsewhereShown({ joined: [first] }: ProjectStatus): string | undefined {
  const how = first?.is_return ? "no more joined by" : "joined to";
  return first && toned("pending", `${how} ${first.name ?? first.id} elsewhere`);
}

function oddShown({ path, state, note }: FolderStatus): string {
  const said = note ?? state;
  if (state === "failing") return toned("bad", `not followed: ${said}`);
  return state === "waiting" ? said : toned("pending", `${path} ${said}`);
}

/** A project's text and memories, and whether all of it is synced. */
function keptLine(project: ProjectStatus, view: ProjectView): string {
  const { now } = view;
  const hasFailing = followedFilesOf(project.folders).some(({ state }) => state === "failing");
  const rest = unitLine(project, { ...view, hasFailing });
  const { text, deleted } = project;
  if (deleted !== null) {
    // The service has everything, but the present content of a file is not read, so nobody can say
    // that all is synced.
    const isSent = project.refused === null && isUnitSynced(project);
    const memories = count(project.memories, "memory", "memories");
    const left = isSent ? `${memories} saved here, no more synced` : rest;
    return `deleted ${momentShown(deleted.at, now)}, ${left}`;
  }
  if (text === null) return `no text, ${rest}`;
  const size = `${count(text.lines, "line", "lines")} (${bytesShown(text.bytes)})`;
  return `${size} of ${momentShown(text.changed_at, now)}, ${rest}`;
}

function damageLines({ found_at, message, set_aside }: DamageNote): string[] {
  return [
    toned("bad", `damaged   ${found_at === null ? "" : `${found_at}: `}${message}`),
    `          delete ${tilde(set_aside)}* when nothing is missed, and this is said no more`,
  ];
}

function folderLines(folder: FolderStatus): string[] {
  const { polled, repository, place, beside } = folder;
  const lines = [
    ...followedFilesOf([folder]).map(folderLine),
    ...(place ? [placeLine(place, unwrittenFiles(folder))] : []),
    ...beside.map(besideLine),
    ...(polled ? [`looked at every ${POLL_MS / 1000} s, for ${polled.why}`] : []),
    ...(repository !== null ? [repository] : []),
  ];
  return lines.map((line) => `          ${line}`);
}

/** The line above says which file counts. */
function besideLine(path: string): string {
  return `${path} is there, too, and is not followed: \`memsync link --file ${path}\` follows it`;
}

function placeLine(place: PlaceStatus, unwritten: readonly string[]): string {
  const isBarred = place.wrote && unwritten.length > 0;
  const files = unwritten.join(", ");
  const barred = `nothing is written into ${files} until \`memsync link --write\` there`;
  if (place.kind === "moved") {
    const moved = `was moved from ${tilde(place.from)}, followed here again`;
    return isBarred ? `${moved}; ${barred}` : moved;
  }
  const where = place.moved_to === null ? "" : `, which is ${tilde(place.moved_to)} now`;
  const what = `took the place of the folder that was linked here${where}: followed as well`;
  return isBarred
    ? `${what}, and ${barred}`
    : `${what}; \`memsync unlink\` there if it is not to be`;
}

/**
 * The folder's files that lack nothing but consent to be written: git tracks them, or they are
 * missing and git does not ignore them. All others are written without it.
 */
function unwrittenFiles(folder: FolderStatus): string[] {
  return followedFilesOf([folder])
    .filter(({ state, why }) => state === "upwards" || why === "missing")
    .map(({ path }) => path);
}

function folderLine({ dir, path, state, note }: FolderStatus): string {
  const place = `${tilde(dir)}/${path}`;
  if (state === "failing") {
    return `${place}   ${toned("bad", `not followed: ${note ?? "looking at it fails"}`)}`;
  }
  if (note !== null) return `${place}   ${note}`;
  if (state === "upwards") {
    const why = "git tracks it, so others' changes are not written into it";
    return `${place}   followed upwards: ${why}; \`memsync doc diff\` shows them`;
  }
  return `${place}   ${state}`;
}

interface UnitView extends Keeper {
  /** One of its files can't be read. */
  readonly hasFailing?: boolean;
}

/** What is saved here, and how much of it the service has acknowledged. */
function unitLine(unit: UnitStatus, view: UnitView): string {
  const saved = `${count(unit.memories, "memory", "memories")} saved`;
  const isSynced = unit.refused === null && isUnitSynced(unit);
  if (isSynced && view.isLocal && !view.isMute) {
    const memories = count(unit.memories, "memory", "memories");
    if (view.hasFailing) return `${saved} here; the file is not`;
    return `${memories} ${toned("good", "saved here")}`;
  }
  return `${saved}, ${syncedShown(unit, view)}`;
}

/** How much of it the service has acknowledged. */
function syncedShown(unit: UnitStatus, view: UnitView): string {
  const { hasFailing = false, isLocal, isMute, isBlocked } = view;
  if (isOutOfReach(unit)) {
    if (isUnitSynced(unit)) return OUT_OF_REACH;
    const stays = count(unit.waiting, "change stays", "changes stay");
    return toned("pending", `${stays} on this machine: ${unit.refused}`);
  }
  if (unit.refused !== null) return refusedShown(unit.refused);
  if (!unit.contacted && isBlocked) return "kept here until its service can be called";
  if (!unit.contacted) return "waiting for the service's first answer";
  if (unit.waiting > 0) return waitingShown(unit.waiting);
  if (isMute) return "nothing waiting";
  if (isLocal) return toned("good", "saved here");
  return hasFailing ? "synced; the file is not" : toned("good", "all synced");
}
