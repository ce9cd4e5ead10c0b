import type { Kysely } from "kysely";
import {
  type DeletionStatus,
  deletionStatus,
  readDeletion,
} from "../../daemon/home/deleted-project.ts";
import type { Home } from "../../daemon/home/home.ts";
import type { JoinedStatus } from "../../daemon/home/joined-status.ts";
import { type KeptText, keptTextOf } from "../../daemon/home/kept-text.ts";
import { findLastChange } from "../../daemon/home/last-change.ts";
import { type Link, listLinks } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { EMBEDDED, serviceNameOf } from "../../daemon/home/remote.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type OddIgnoreLine, readOddLines } from "../../daemon/ignored/odd-lines.ts";
import { readInbox, readWholeInbox } from "../../daemon/inbox/inbox.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { findEmbeddedOfAnother, type OfAnother } from "../../daemon/remotes/refuse-owners.ts";
import { type RemoteView, readRemotes } from "../../daemon/remotes/remote-view.ts";
import type { AudienceView } from "../../daemon/status/audience-view.ts";
import { type HeldStatus, readHeldStatus } from "../../daemon/status/held-status.ts";
import { joinsOfLinked } from "../../daemon/status/joined-projects.ts";
import { type MachineStatus, readMachineStatus } from "../../daemon/status/machine-status.ts";
import { listUnlinkedProjects } from "../../daemon/status/unlinked-status.ts";
import type { AccountId } from "../../shared/ids.ts";
import { explain } from "../../shared/reasons.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { VERSION } from "../../shared/version.ts";
import { realWorld } from "../../shared/world-real.ts";
import { listConflicts } from "../local/local-conflicts.ts";
import type { Environment } from "../place/environment.ts";
import { ownDocument } from "../place/layer-option.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { bytesShown, count, momentShown } from "../screen/output.ts";
import { hereFirst, isStandingIn, type Standing } from "../screen/standing.ts";
import { tilde } from "../screen/tilde.ts";
import { visible } from "../screen/visible.ts";
import { heldLines } from "../views/held-view.ts";
import { joinedLines } from "../views/joined-view.ts";
import { machineLines } from "../views/machine-lines.ts";
import { oddIgnoreLines } from "../views/odd-ignore-lines.ts";
import { isGone } from "../views/project-list.ts";
import { layerLine, moveAllShown } from "../views/seen-by.ts";
import { unfollowedLines } from "../views/status-view.ts";
import { unlinkedLines } from "../views/waiting-view.ts";
import { localAudience } from "../writes/audience.ts";

type Db = Kysely<DaemonTables>;

/** The name of an account's remote; null while remotes have no names. */
type NameOf = (account: AccountId) => string | null;

/** A linked project, as far as it is known without a daemon. */
interface HomeProject {
  readonly id: string;
  readonly name: string;
  /** The remote that it is bound to; null while remotes have no names. */
  readonly remote: string | null;
  /** Memories, with those that wait for the next daemon. */
  readonly memories: number;
  readonly text: KeptText | null;
  /** When this machine last got anything new of it; null where there is nothing of it yet. */
  readonly changed_at: string | null;
  /** Null for an existing project. */
  readonly deleted: DeletionStatus | null;
  /** Projects to which other machines have linked their folders of it. */
  readonly joined: readonly JoinedStatus[];
  readonly folders: readonly { readonly dir: string }[];
}

interface UnlinkedHomeProject extends Omit<HomeProject, "name"> {
  readonly name: string | null;
  /** Changes that its service has not acknowledged. */
  readonly waiting: number;
  /** How many of them are sent although the project has no link. */
  readonly sending: number;
  /** Why the service refuses it; null where it does not. */
  readonly refused: string | null;
}

/** The `user` and `global` memories of one remote. */
interface HomeLayers {
  /** Null while remotes have no names. */
  readonly remote: string | null;
  /** New links are bound to it. */
  readonly default: boolean;
  /** In both layers. */
  readonly memories: number;
  readonly user: number;
  readonly global: number;
  /** Who can read `global`, as last told; null: nobody else. */
  readonly audience: AudienceView | null;
  /** Why what the embedded service has is not moved there unasked; null: nothing is against it. */
  readonly of_another: OfAnother | null;
}

/** What the home knows without a daemon. `memsync status --json` prints it unchanged. */
export interface HomeStatus {
  readonly version: string;
  readonly home: string;
  readonly machine: MachineStatus;
  readonly running: false;
  readonly projects: readonly HomeProject[];
  /**
   * Projects without a link, except those whose deletion was sent and that have nothing new since;
   * null for a missing name.
   */
  readonly unlinked: readonly UnlinkedHomeProject[];
  /** One for each remote, if there are several. */
  readonly own: readonly HomeLayers[];
  readonly held: readonly HeldStatus[];
  /** Lines of files of ignored names that may not say what was meant. */
  readonly ignore_lines: readonly OddIgnoreLine[];
  readonly conflicts: number;
  /** How many writes wait for the next daemon. */
  readonly in_inbox: number;
}

/** Undefined where there is no replica yet. */
export async function readHomeStatus(env: Environment): Promise<HomeStatus | undefined> {
  return await withLocal(env, async (db) => {
    if (!db) return undefined;
    const view = await readRemotes(db, remoteEnvironment(env));
    const named = view.follows ? [] : view.remotes;
    const remotes = new Map(named.map(({ account, name }) => [account, name]));
    const nameOf: NameOf = (account) => remotes.get(account) ?? null;
    const accounts: AccountId[] = remotes.size === 0 ? [LOCAL_ACCOUNT] : [...remotes.keys()];
    const links = await listLinks(db);
    const own: HomeLayers[] = [];
    for (const account of accounts) {
      const [user, global] = [
        await countOf("user", db, account),
        await countOf("global", db, account),
      ];
      const audience = await localAudience(env, db, account);
      const isDefault = view.default?.account === account;
      const memories = user + global;
      const ofAnother = await findEmbeddedOfAnother(db, account);
      own.push({
        ...{ remote: nameOf(account), default: isDefault, memories, user, global, audience },
        of_another: ofAnother,
      });
    }
    return {
      version: VERSION,
      home: env.home.dir,
      machine: await readMachineStatus(db, env.home, realWorld.now()),
      running: false,
      projects: await projectsOf(db, env.home, { links, nameOf }),
      unlinked: await unlinkedOf(db, links, { view, nameOf }),
      own,
      held: await readHeldStatus(db, nameOf),
      ignore_lines: await readOddLines(db),
      conflicts: (await listConflicts(db)).length,
      in_inbox: (await readWholeInbox(db)).length,
    };
  });
}

async function countOf(layer: "user" | "global", db: Db, account: AccountId): Promise<number> {
  return (await readLocalMemories(db, ownDocument(layer), account)).length;
}

async function projectsOf(
  db: Db,
  home: Home,
  { links, nameOf }: { readonly links: readonly Link[]; readonly nameOf: NameOf },
): Promise<HomeProject[]> {
  const projects = new Map<string, HomeProject>();
  for (const { projectId: id, name, dir } of links) {
    const known = projects.get(id);
    if (known) {
      projects.set(id, { ...known, folders: [...known.folders, { dir }] });
      continue;
    }
    const account = (await findBinding(db, id)) ?? LOCAL_ACCOUNT;
    const deleted = deletionStatus(await readDeletion(db, id));
    const joined = await joinsOfLinked(db, home, { project: id, links });
    const kept = { remote: nameOf(account), deleted, joined, ...(await keptIn(db, id, account)) };
    projects.set(id, { id, name, ...kept, folders: [{ dir }] });
  }
  return [...projects.values()];
}

async function unlinkedOf(
  db: Db,
  links: readonly Link[],
  { view, nameOf }: { readonly view: RemoteView; readonly nameOf: NameOf },
): Promise<UnlinkedHomeProject[]> {
  const serviceOf = (owner: AccountId) =>
    serviceNameOf(view.remotes.find(({ account }) => account === owner));
  const unlinked: UnlinkedHomeProject[] = [];
  for (const each of await listUnlinkedProjects(db, links, serviceOf)) {
    const { id, name, account, deleted, joined, waiting, sending, position } = each;
    const refused = position.refused ? explain(position.refused) : null;
    const kept = { remote: nameOf(account), deleted, joined, ...(await keptIn(db, id, account)) };
    unlinked.push({ id, name, ...kept, folders: [], waiting, sending, refused });
  }
  return unlinked;
}

/** Includes the inbox; null where there is no text. */
async function keptIn(db: Db, id: string, account: AccountId) {
  const text = await readLocalText(db, id);
  const memories = (await readLocalMemories(db, id, account)).length;
  const kept = text && text.value !== "" ? keptTextOf(text.value, text.writtenAt) : null;
  const waiting = (await readInbox(db, id)).map(({ writtenAt }) => writtenAt);
  const changedAt = Math.max((await findLastChange(db, account, id)) ?? 0, ...waiting);
  return { memories, text: kept, changed_at: changedAt > 0 ? timestampOf(changedAt) : null };
}

/**
 * The commands that follow the current folder if no daemon runs: as before, or for the first time.
 */
const START_HERE = { again: "memsync start .", first: "memsync up" };

/**
 * The home's status in a few lines, the current folder's project first. The others are shown
 * completely (`all`: with all that is to be said, however long that is), in one line each, or
 * counted.
 */
export function homeStatusLines(
  status: HomeStatus,
  standing: Standing,
  others: "all" | "whole" | "line" | "count" = "whole",
): string[] {
  const own = status.own.filter((layers) => !isEmptyEmbedded(status, layers));
  const several = own.length > 1;
  const isHere = (project: HomeProject) => isStandingIn(standing, project);
  const here = status.projects.filter(isHere);
  const rest = status.projects.filter((project) => !isHere(project));
  const shown = others === "count" ? [] : rest;
  const start = START_HERE[status.projects.length > 0 ? "again" : "first"];
  const unfollowed = unfollowedLines(standing, start);
  const left = count(rest.length - shown.length, "project", "projects");
  return [
    ...here.flatMap((project) => {
      const folders = hereFirst(standing, project.folders);
      return projectLines({ ...project, folders }, true, several);
    }),
    ...unfollowed,
    ...shown.flatMap((project) => {
      const lines = projectLines(project, false, several);
      return others === "line" ? lines.slice(0, 1) : lines;
    }),
    ...(shown.length < rest.length
      ? [`projects  ${left} more: \`memsync projects\` lists each`]
      : []),
    ...(status.projects.length === 0 && unfollowed.length === 0
      ? [`project   none linked; run \`${start}\` in one`]
      : []),
    ...unlinkedLines(status.unlinked, several),
    ...own.flatMap((layers) => layerLines(layers, several)),
    ...leftEmbeddedLines(own),
    ...machineLines(status.machine),
    ...heldLines(status.held, status.projects, several),
    ...oddIgnoreLines(status.ignore_lines, others === "all" ? Infinity : undefined),
  ].map(visible);
}

/**
 * Whether everything was moved out of the embedded service. Then it is not shown, as with a daemon.
 */
function isEmptyEmbedded(status: HomeStatus, layers: HomeLayers): boolean {
  if (layers.remote !== EMBEDDED || layers.default || layers.memories > 0) return false;
  const { projects, unlinked, held } = status;
  return [...projects, ...unlinked, ...held].every(({ remote }) => remote !== EMBEDDED);
}

function layerLines({ remote, audience, user, global }: HomeLayers, several: boolean): string[] {
  const whose = { remote: several ? (remote ?? undefined) : undefined, audience };
  const saved = (memories: number) => `${count(memories, "memory", "memories")} saved`;
  return [layerLine("user", whose, saved(user)), layerLine("global", whose, saved(global))];
}

/** What `login --move` has not moved yet, if anything. */
function leftEmbeddedLines(own: readonly HomeLayers[]): string[] {
  const left = own.find((layers) => layers.remote === EMBEDDED && !layers.default);
  const to = own.find((layers) => layers.default);
  if (!left || !to?.remote) return [];
  const { global } = left;
  return [`remote    embedded: ${moveAllShown({ ...to, name: to.remote, global })}`];
}

function projectLines(project: HomeProject, isHere: boolean, several: boolean): string[] {
  const { id, name, remote, memories, text, deleted, joined, folders } = project;
  const at = several && remote !== null ? `   at ${remote}` : "";
  const there = text === null ? "no text" : textShown(text);
  const kept = deleted ? `deleted ${momentShown(deleted.at, realWorld.now())}` : there;
  return [
    `${isHere ? "here   " : "project"}   ${name}   ${id}${at}`,
    ...folders.map((each) => `          ${tilde(each.dir)}${isGone(each) ? "   is gone" : ""}`),
    `          ${kept}, ${count(memories, "memory", "memories")} saved`,
    ...joinedLines(joined, realWorld.now()),
  ];
}

function textShown({ lines, bytes, changed_at }: KeptText): string {
  const moment = momentShown(changed_at, realWorld.now());
  return `${count(lines, "line", "lines")} (${bytesShown(bytes)}) of ${moment}`;
}
