import { AppError } from "../../shared/errors.ts";
import { pageOf, parseCursor } from "../stores/cursor.ts";
import { countSessions, findSession, listSessions } from "../stores/session-store.ts";
import { assertReaches, getProject } from "./access.ts";
import { askedSessions } from "./asked-lists.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Services } from "./services.ts";

/** Sessions in one store, read only. Syncs write them. */
export function createSessionService(store: Pick<ServiceStore, "reader">): Services["sessions"] {
  return {
    async list(caller, query) {
      const from = parseCursor(askedSessions(query), query.cursor);
      if (query.projectId !== undefined) await getProject(store.reader, caller, query.projectId);
      const projects = query.projectId === undefined ? caller.boundTo : [query.projectId];
      const filter = { account: caller.account, projects };
      const limit = query.limit === undefined ? undefined : query.limit + 1;
      const found = await listSessions(store.reader, filter, { from, limit });
      const { rows, nextCursor } = pageOf(askedSessions(query), found, {
        limit: query.limit,
        endOf: (row) => ({
          sort: row.lastActivityAt,
          id: row.session.id,
        }),
      });
      const total = await countSessions(store.reader, filter);
      return { items: rows.map((row) => row.session), total, nextCursor };
    },

    async get(caller, id) {
      const session = await findSession(store.reader, caller.account, id);
      if (!session) throw new AppError("not_found", "there is no such session");
      assertReaches(caller, session.project_id);
      return session;
    },
  };
}
