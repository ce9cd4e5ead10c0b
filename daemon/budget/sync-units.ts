import type { ProjectId, UserId } from "../../shared/ids.ts";

/** What one call to the service is about: a project, or `user` and `global` alone. */
export type SyncUnit = ProjectId | "own";

/** Status of an answer about what is not there. */
export const NOT_FOUND = 404;

/** The units to keep in step: every followed project, and `user` and `global` by themselves. */
export function unitsToSync(projects: ReadonlyMap<ProjectId, string>): SyncUnit[] {
  return [...projects.keys(), "own"];
}

/** The names of a unit's documents. */
export function documentsOf(unit: SyncUnit, user: UserId): string[] {
  return unit === "own" ? [`user/${user}`, "global"] : [unit];
}
