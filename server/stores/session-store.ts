import type { Kysely } from "kysely";
import type { AccountId, ProjectId, SessionId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { compiledForMany, ROWS_AT_ONCE } from "../../shared/sqlite/many.ts";
import { chunksOf, type Pause } from "../../shared/turns.ts";
import type { Session, SessionUpload } from "../../shared/wire/session.ts";
import { parseTimestamp } from "../../shared/wire/timestamp.ts";
import type { PageEnd } from "./cursor.ts";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** The sessions that a list or count covers. */
export interface SessionFilter {
  readonly account: AccountId;
  /** Only sessions of these projects; all of the account's when null. */
  readonly projects: readonly ProjectId[] | null;
}

function sessions(db: Db, { account, projects }: SessionFilter) {
  return db
    .selectFrom("sessions")
    .where("account", "=", account)
    .$if(projects !== null, (query) => query.where("project_id", "in", [...(projects ?? [])]));
}

/** Newest activity first, after `from`; all of them if `limit` is undefined. */
export async function listSessions(
  db: Db,
  filter: SessionFilter,
  { from, limit }: { readonly from: PageEnd | undefined; readonly limit: number | undefined },
): Promise<{ readonly session: Session; readonly lastActivityAt: number }[]> {
  const rows = await sessions(db, filter)
    .select(["body", "last_activity_at"])
    .$if(from !== undefined, (query) =>
      query.where((where) =>
        where.or([
          where("last_activity_at", "<", from?.sort ?? 0),
          where.and([
            where("last_activity_at", "=", from?.sort ?? 0),
            where("id", ">", from?.id ?? ""),
          ]),
        ]),
      ),
    )
    .orderBy("last_activity_at", "desc")
    .orderBy("id")
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map((row) => ({
    session: parseStored<Session>(row.body),
    lastActivityAt: row.last_activity_at,
  }));
}

/** How many sessions there are, on all pages. */
export async function countSessions(db: Db, filter: SessionFilter): Promise<number> {
  const { count } = await sessions(db, filter)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The account's session, whether or not a token reaches it; undefined when there is none. */
export async function findSession(
  db: Db,
  account: AccountId,
  id: SessionId,
): Promise<Session | undefined> {
  const [row] = await findBody(db, { account, id });
  return row && parseStored<Session>(row.body);
}

const findBody = compiled(
  (db: Db, { account, id }: { readonly account: AccountId; readonly id: SessionId }) =>
    db.selectFrom("sessions").select("body").where("account", "=", account).where("id", "=", id),
);

/**
 * Adds or replaces sessions by id, none of which is there twice. True if anything changed.
 * `mayReplace` is called for each session of another project, and throws if that is out of reach.
 * `pause` may end the turn.
 */
export async function putSessions(
  db: Db,
  account: AccountId,
  {
    projectId,
    uploads,
    mayReplace,
    pause,
  }: {
    readonly projectId: ProjectId | null;
    readonly uploads: readonly SessionUpload[];
    readonly mayReplace: (projectId: ProjectId | null) => void;
    readonly pause: Pause;
  },
): Promise<boolean> {
  let changed = false;
  // Many at once: each answer is a way to PostgreSQL and back.
  for (const some of chunksOf(uploads, ROWS_AT_ONCE)) {
    const found = await Promise.all(some.map(({ id }) => findSession(db, account, id)));
    const rows: SessionRow[] = [];
    for (const [at, upload] of some.entries()) {
      await pause();
      const known = found[at];
      const project = projectId ?? known?.project_id ?? null;
      const session: Session = { id: upload.id, project_id: project, ...withoutId(upload) };
      const body = JSON.stringify(session);
      if (known && JSON.stringify(known) === body) continue;
      if (known) mayReplace(known.project_id);
      rows.push({
        account,
        id: upload.id,
        projectId: project,
        startedAt: parseTimestamp(upload.started_at) ?? 0,
        lastActivityAt: parseTimestamp(upload.last_activity_at) ?? 0,
        body,
      });
    }
    changed ||= rows.length > 0;
    await putRows(db, rows);
  }
  return changed;
}

interface SessionRow {
  readonly account: AccountId;
  readonly id: SessionId;
  readonly projectId: ProjectId | null;
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly body: string;
}

const putRows = compiledForMany((db: Db, rows: readonly SessionRow[]) =>
  db
    .insertInto("sessions")
    .values(
      rows.map((given) => ({
        account: given.account,
        id: given.id,
        project_id: given.projectId,
        started_at: given.startedAt,
        last_activity_at: given.lastActivityAt,
        body: given.body,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["account", "id"]).doUpdateSet((excluded) => ({
        project_id: excluded.ref("excluded.project_id"),
        started_at: excluded.ref("excluded.started_at"),
        last_activity_at: excluded.ref("excluded.last_activity_at"),
        body: excluded.ref("excluded.body"),
      })),
    ),
);

function withoutId({ id: _, ...rest }: SessionUpload): Omit<SessionUpload, "id"> {
  return rest;
}
