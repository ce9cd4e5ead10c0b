import type { DaemonStatus, ProjectStatus, ServiceStatus, UnitStatus } from "./status.ts";

/** All projects that are synced: the linked ones, and unlinked ones with a deletion to send. */
export function syncedProjects({
  projects,
  unlinked,
}: Pick<DaemonStatus, "projects" | "unlinked">): readonly ProjectStatus[] {
  const leaving = unlinked.filter(({ deleted }) => deleted !== null);
  return [...projects, ...leaving.map((each) => ({ ...each, name: each.name ?? each.id }))];
}

/** Whether its service has acknowledged everything of it. */
export function isUnitSynced({ contacted, waiting }: UnitStatus): boolean {
  return contacted && waiting === 0;
}

/**
 * Whether every service has acknowledged everything that it takes, and every file could be read.
 */
export function isSynced(status: DaemonStatus): boolean {
  const files = status.projects.flatMap((project) => project.folders);
  return (
    status.remotes.every(({ service, own }) => isHeard(service) && isUnitSynced(own)) &&
    syncedProjects(status).every((project) => isUnitSynced(project) && isOpen(status, project)) &&
    files.every(({ state }) => state !== "waiting" && state !== "failing")
  );
}

/** It answers, and not only to refuse the token. */
function isHeard({ online, token_refused }: ServiceStatus): boolean {
  return online && !token_refused;
}

/** The state of a project whose remote could not be opened is unknown. */
function isOpen({ remotes }: DaemonStatus, { remote }: ProjectStatus): boolean {
  return remotes.some(({ name }) => name === remote);
}
