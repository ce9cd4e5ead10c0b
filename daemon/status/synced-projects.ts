import { join } from "node:path";
import type {
  DaemonStatus,
  FolderStatus,
  ProjectStatus,
  RemoteStatus,
  ServiceStatus,
  UnitStatus,
} from "./status.ts";

/**
 * All projects that are synced: the linked ones, and unlinked ones that have to say that they were
 * deleted, or where their folder went.
 */
export function syncedProjects({
  projects,
  unlinked,
}: Pick<DaemonStatus, "projects" | "unlinked">): readonly ProjectStatus[] {
  const leaving = unlinked.filter(({ sending }) => sending > 0);
  const named = leaving.map((each) => ({
    ...each,
    name: each.name ?? each.id,
    waiting: each.sending,
  }));
  return [...projects, ...named];
}

/**
 * The followed files of these folders: in each the one that counts, and the further ones that
 * follow the same text.
 */
export function followedFilesOf(folders: readonly FolderStatus[]): FolderStatus[] {
  return folders.flatMap((folder) => [
    folder,
    ...folder.also.map((also) => ({ ...folder, ...also })),
  ]);
}

/** Memories and rules that wait for their end, so that nobody has taken what was saved. */
export function unfinishedMemories({
  auto_memory,
  serena,
  rules,
}: Pick<DaemonStatus, "auto_memory" | "serena" | "rules">): string[] {
  return [auto_memory, serena, rules].flatMap(({ folders }) =>
    folders.flatMap(({ path, notes }) =>
      notes.filter(({ code }) => code === "being-written").map(({ name }) => join(path, name)),
    ),
  );
}

/**
 * Files of the user's own text that are about to be taken or written. One that waits until it is
 * known whose the token is waits for the default remote: it is left out where that is `away`.
 */
export function unfinishedPersonal(
  { personal }: Pick<DaemonStatus, "personal">,
  away: readonly Pick<RemoteStatus, "default">[] = [],
): string[] {
  const isAway = away.some((remote) => remote.default);
  return personal.files.flatMap(({ path, state, code }) => {
    const waits = code === "personal-unheard" ? !isAway : state === "waiting";
    return waits ? [path] : [];
  });
}

/** Whether its service has acknowledged everything of it. */
export function isUnitSynced({ contacted, waiting }: UnitStatus): boolean {
  return contacted && waiting === 0;
}

/**
 * Whether every service has acknowledged everything that it takes, and every file could be read
 * and is taken.
 */
export function isSynced(status: DaemonStatus): boolean {
  const files = status.projects.flatMap(({ folders }) => followedFilesOf(folders));
  return (
    status.remotes.every(({ service, own }) => isHeard(service) && isUnitSynced(own)) &&
    syncedProjects(status).every((project) => isUnitSynced(project) && isOpen(status, project)) &&
    files.every(({ state }) => state !== "waiting" && state !== "failing") &&
    unfinishedMemories(status).length + unfinishedPersonal(status).length === 0
  );
}

/**
 * What keeps a service from telling what others wrote. `away`: it takes no calls, or there is no
 * way to call it; `refused`: it answers only to refuse the token; `reconnecting`: its last answer
 * was fine, and what came since then is not told.
 */
export type ServiceTrouble = "away" | "refused" | "reconnecting";

/**
 * Undefined where all is well with it. Only then a screen says that all is synced. One that could
 * not be opened is away.
 */
export function serviceTroubleOf(
  service: Pick<ServiceStatus, "online" | "token_refused" | "state"> | undefined,
): ServiceTrouble | undefined {
  if (!service?.online) return "away";
  if (service.token_refused) return "refused";
  return service.state === "reconnecting" ? "reconnecting" : undefined;
}

/** Its last answer was fine. */
function isHeard(service: ServiceStatus): boolean {
  const trouble = serviceTroubleOf(service);
  return trouble === undefined || trouble === "reconnecting";
}

/** The state of a project whose remote could not be opened is unknown. */
function isOpen({ remotes }: DaemonStatus, { remote }: ProjectStatus): boolean {
  return remotes.some(({ name }) => name === remote);
}
