import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import { parseTimestamp } from "../../shared/timestamps.ts";
import type { Session, SessionUpload } from "../../shared/wire/session.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** Stands where a service's words would, of a record that none was asked about. */
const KEPT = "private";

/** At most this many records go by one call. */
const SESSIONS_PER_CALL = 1000;

/** Adds a record of a project's session, or replaces it. Durable with the transaction. */
export async function putSession(db: Db, account: AccountId, session: Session): Promise<void> {
  const values = {
    project_id: session.project_id,
    started_at: parseTimestamp(session.started_at) ?? 0,
    last_activity_at: parseTimestamp(session.last_activity_at) ?? 0,
    body: JSON.stringify(session),
  };
  await db
    .insertInto("sessions")
    .values({ account, id: session.id, ...values })
    .onConflict((conflict) => conflict.columns(["account", "id"]).doUpdateSet(values))
    .execute();
}

/** A session's record; undefined where there is none. */
export async function findSessionRecord(
  db: Db,
  account: AccountId,
  id: Session["id"],
): Promise<Session | undefined> {
  const own = db.selectFrom("sessions").select("body").where("account", "=", account);
  const row = await own.where("id", "=", id).executeTakeFirst();
  return row && parseStored<Session>(row.body);
}

/** Takes a record back that its service lacks, or lacks as it is now. What was sent stays. */
export async function withdrawSession(db: Db, account: AccountId, id: Session["id"]) {
  const sent = await db
    .selectFrom("sent_sessions")
    .select("body")
    .where("account", "=", account)
    .where("id", "=", id)
    .where("refused", "is", null)
    .executeTakeFirst();
  if (sent) {
    const own = db.updateTable("sessions").set({ body: sent.body }).where("account", "=", account);
    await own.where("id", "=", id).execute();
    return;
  }
  const own = db.deleteFrom("sessions").where("account", "=", account);
  await own.where("id", "=", id).execute();
}

/** A record that is to be sent. */
export interface UnsentSession {
  readonly upload: SessionUpload;
  /** As it is saved. */
  readonly body: string;
}

/** A project's records that its service has not had as they are now, the latest activity first. */
export async function unsentSessions(
  db: Db,
  account: AccountId,
  project: ProjectId,
): Promise<UnsentSession[]> {
  const rows = await unsent(db)
    .select("sessions.body")
    .where("sessions.account", "=", account)
    .where("sessions.project_id", "=", project)
    .orderBy("sessions.last_activity_at", "desc")
    .limit(SESSIONS_PER_CALL)
    .execute();
  return rows.map(({ body }) => {
    const { project_id: _, ...upload } = parseStored<Session>(body);
    return { upload, body };
  });
}

/** The projects with such records. */
export async function projectsWithUnsentSessions(db: Db): Promise<ProjectId[]> {
  const rows = await unsent(db)
    .select("sessions.project_id")
    .where("sessions.project_id", "is not", null)
    .distinct()
    .execute();
  return rows.flatMap(({ project_id }) => project_id ?? []);
}

function unsent(db: Db) {
  return db
    .selectFrom("sessions")
    .leftJoin("sent_sessions as sent", (join) =>
      join
        .onRef("sent.account", "=", "sessions.account")
        .onRef("sent.id", "=", "sessions.id")
        .onRef("sent.body", "=", "sessions.body"),
    )
    .where("sent.id", "is", null);
}

/** The service has them: as they are now they are not sent again. */
export async function noteSentSessions(
  db: Db,
  account: AccountId,
  sessions: readonly UnsentSession[],
): Promise<void> {
  for (const each of sessions) await noteSession(db, account, { ...each, refused: null });
}

/** As they are now they stay on this machine, for what is private in their names. See `status`. */
export async function noteKeptSessions(
  db: Db,
  account: AccountId,
  sessions: readonly UnsentSession[],
): Promise<void> {
  for (const each of sessions) await noteSession(db, account, { ...each, refused: KEPT });
}

/** What keeps records here may be allowed or gone by now: they are judged once more. */
export async function forgetKeptSessions(db: Db): Promise<void> {
  await db.deleteFrom("sent_sessions").where("refused", "=", KEPT).execute();
}

/** The service refuses it in these words: as it is now it is not sent again. `status` says so. */
export async function noteRefusedSession(
  db: Db,
  account: AccountId,
  session: UnsentSession & { readonly refused: string },
): Promise<void> {
  await noteSession(db, account, session);
}

async function noteSession(
  db: Db,
  account: AccountId,
  { upload, body, refused }: UnsentSession & { readonly refused: string | null },
): Promise<void> {
  await db
    .insertInto("sent_sessions")
    .values({ account, id: upload.id, body, refused })
    .onConflict((conflict) => conflict.columns(["account", "id"]).doUpdateSet({ body, refused }))
    .execute();
}

/** A record that the service lacks as it is now, and does not get. */
export interface RefusedSession {
  readonly id: Session["id"];
  /** In the service's words; undefined of one that stays on this machine. */
  readonly said: string | undefined;
}

/** Those of a project; of all projects where none is named. The latest activity first. */
export async function refusedSessions(
  db: Db,
  of?: { readonly account: AccountId; readonly project: ProjectId },
): Promise<RefusedSession[]> {
  const all = db
    .selectFrom("sessions")
    .innerJoin("sent_sessions as sent", (join) =>
      join
        .onRef("sent.account", "=", "sessions.account")
        .onRef("sent.id", "=", "sessions.id")
        .onRef("sent.body", "=", "sessions.body"),
    )
    .select(["sessions.body", "sent.refused"])
    .where("sent.refused", "is not", null)
    .orderBy("sessions.last_activity_at", "desc");
  const asked = of
    ? all.where("sessions.account", "=", of.account).where("sessions.project_id", "=", of.project)
    : all;
  const rows = await asked.execute();
  return rows.map(({ body, refused }) => ({
    id: parseStored<Session>(body).id,
    said: refused === KEPT ? undefined : (refused ?? ""),
  }));
}

/**
 * The service of an account was set back to a former state: it may lack what it had, of whichever
 * project. What it has all the same is not changed by being sent again.
 */
export async function forgetSentSessions(db: Db, account: AccountId): Promise<void> {
  const sent = db.deleteFrom("sent_sessions").where("account", "=", account);
  await sent.where("refused", "is", null).execute();
}

/** A transcript as it was read last. */
export interface TranscriptRow {
  readonly path: string;
  /** A `TranscriptState`, as JSON. */
  readonly state: string;
  readonly cwd: string | undefined;
  readonly project: ProjectId | undefined;
}

/** All that were ever read. */
export async function listTranscripts(db: Db): Promise<TranscriptRow[]> {
  const rows = await db.selectFrom("transcripts").selectAll().execute();
  return rows.map(({ path, state, cwd, project_id }) => ({
    path,
    state,
    cwd: cwd ?? undefined,
    project: project_id ?? undefined,
  }));
}

export async function putTranscript(db: Db, transcript: TranscriptRow): Promise<void> {
  const { path, state, cwd = null, project: project_id = null } = transcript;
  const values = { state, cwd, project_id };
  await db
    .insertInto("transcripts")
    .values({ path, ...values })
    .onConflict((conflict) => conflict.column("path").doUpdateSet(values))
    .execute();
}
