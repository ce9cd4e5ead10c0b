import type { DaemonStatus, ProjectStatus, ServiceStatus, UnitStatus } from "./status.ts";

/** All that is synced: what is linked, and what was deleted since it was linked. */
export function syncedProjects({
  projects,
  unlinked,
}: Pick<DaemonStatus, "projects" | "unlinked">): readonly ProjectStatus[] {
  const leaving = unlinked.filter(({ deleted }) => deleted !== null);
  return [...projects, ...leaving.map((each) => ({ ...each, name: each.name ?? each.id }))];
}

/** Whether every service has acknowledged all that can be sent to it, and no file is unknown. */
export function isSynced(status: DaemonStatus): boolean {
  const settled = (unit: UnitStatus) => unit.contacted && unit.waiting === 0;
  const files = status.projects.flatMap((project) => project.folders);
  return (
    status.remotes.every(({ service, own }) => isHeard(service) && settled(own)) &&
    syncedProjects(status).every((project) => settled(project) && isOpen(status, project)) &&
    files.every(({ state }) => state !== "waiting" && state !== "failing")
  );
}

/** It answers, and not only that it does not take the token. */
function isHeard({ online, token_refused }: ServiceStatus): boolean {
  return online && !token_refused;
}

/** A remote that could not be opened says nothing of its projects. */
function isOpen({ remotes }: DaemonStatus, { remote }: ProjectStatus): boolean {
  return remotes.some(({ name }) => name === remote);
}
