import type { ProjectId } from "../../shared/ids.ts";
import type { AskedList } from "../stores/cursor.ts";
import type { MemoryQuery, SessionQuery } from "./services.ts";

/** The project that a query names; a header counts where the query itself has none. */
export function namedIn({
  projectId,
  headerProjectId,
}: Pick<MemoryQuery, "projectId" | "headerProjectId">): ProjectId | undefined {
  return projectId ?? headerProjectId;
}

/**
 * A list is identified by what the client has named. The project of an unnamed one may change
 * between two pages.
 */
export function askedMemories(query: MemoryQuery): AskedList {
  const list = query.q === undefined ? "memories" : "found";
  return { list, by: [query.layer, namedIn(query), query.q] };
}

export function askedSessions({ projectId }: SessionQuery): AskedList {
  return { list: "sessions", by: [projectId] };
}

export const ASKED_PROJECTS: AskedList = { list: "projects" };
