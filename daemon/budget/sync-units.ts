import type { ProjectId, UserId } from "../../shared/ids.ts";

/** What one call is about: a project, or `own` for the `user` and `global` documents alone. */
export type SyncUnit = ProjectId | "own";

/** The status of an answer about something that does not exist. */
export const NOT_FOUND = 404;

/** The units to keep in step: every followed project, and `own`. */
export function unitsToSync(projects: ReadonlyMap<ProjectId, string>): SyncUnit[] {
  return [...projects.keys(), "own"];
}

/** The names of a unit's documents. */
export function documentsOf(unit: SyncUnit, user: UserId): string[] {
  return unit === "own" ? [`user/${user}`, "global"] : [unit];
}
