import { parseJson } from "../../../shared/json.ts";
import { prepareRows, type SqliteConnection } from "../../../shared/sqlite/connection.ts";
import { NO_FACTS, objectIn, type SessionFacts, textOf } from "../transcripts/session-facts.ts";

/**
 * A session of OpenCode's database (anomalyco/opencode,
 * `packages/opencode/src/session/session.sql.ts`; as of 1.18). Times are milliseconds since the
 * Unix epoch.
 */
export interface SessionRow {
  readonly id: string;
  /** That of which it is a sub-agent's. */
  readonly parent_id: string | null;
  readonly directory: string;
  readonly title: string | null;
  readonly time_created: number;
  readonly time_updated: number;
  readonly time_archived: number | null;
  /** JSON, with an `id`. */
  readonly model: string | null;
  /** Rows of messages. */
  readonly messages: number;
}

/** What a session is called before it has a title. */
const NO_TITLE = /^(new|child) session - /i;
/**
 * Whoever asks for a title without giving one gets the prompt, cut off by that, perhaps in the
 * midst of a character. A fork's title is that of its session, with a number.
 */
const CUT = /[\uFFFD\uD800-\uDFFF]*(\.\.\.|…)?( \(fork #\d+\))*$/;

/** Later versions may lack columns that nothing here depends on. */
const OPTIONAL = ["time_archived", "model"];

/** All sessions. Throws where the database is not as it is known here. */
export function listRows(db: SqliteConnection): SessionRow[] {
  return prepareRows<SessionRow>(db, `${selection(db)} ORDER BY s.id`).all([]);
}

function selection(db: SqliteConnection): string {
  const columns = prepareRows<{ name: string }>(db, "PRAGMA table_info(session)").all([]);
  const names = new Set(columns.map(({ name }) => name));
  const optional = OPTIONAL.map((name) => (names.has(name) ? `s.${name}` : `NULL AS ${name}`));
  return `SELECT s.id, s.parent_id, s.directory, s.title, s.time_created, s.time_updated,
    ${optional.join(", ")},
    (SELECT count(*) FROM message m WHERE m.session_id = s.id) AS messages
    FROM session s`;
}

/** Of what was said: how much, when, and which model answered. A compaction says nothing. */
const SAID = `SELECT count(*) AS messages, max(time_updated) AS last
  FROM message WHERE session_id = ? AND json_valid(data)
  AND CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END IN ('user', 'assistant')
  AND CASE WHEN json_valid(data) THEN json_extract(data, '$.summary') END IS NOT 1`;

/** What a session's rows tell. Nothing of a message is in it. */
export function sessionFactsOf(db: SqliteConnection, id: string): SessionFacts {
  const [row] = prepareRows<SessionRow>(db, `${selection(db)} WHERE s.id = ?`).all([id]);
  if (row === undefined) return NO_FACTS;
  const [said] = prepareRows<{ messages: number; last: number | null }>(db, SAID).all([id]);
  const title = titleIn(db, row);
  const model = modelIn(row.model);
  return {
    id,
    cwd: row.directory,
    startedAt: row.time_created,
    lastActivityAt: said?.last ?? row.time_created,
    messages: said?.messages ?? 0,
    ...(row.time_archived !== null && { endedAt: row.time_archived }),
    ...(title !== undefined && { title: { own: title } }),
    ...(model !== undefined && { model }),
    ...(row.parent_id !== null && { isPart: true }),
  };
}

/** Undefined for a title that is the beginning of something that the user said. */
function titleIn(db: SqliteConnection, { id, title }: SessionRow): string | undefined {
  if (title === null || title.trim() === "" || NO_TITLE.test(title)) return undefined;
  const said = prepareRows<{ text: string | null }>(db, PROMPTS).all([id]);
  const words = onOneLine(title).replace(CUT, "").trimEnd();
  return said.some(({ text }) => onOneLine(text ?? "").startsWith(words)) ? undefined : title;
}

const PROMPTS = `SELECT substr(json_extract(p.data, '$.text'), 1, 1000) AS text
  FROM part p JOIN message m ON m.id = p.message_id
  WHERE m.session_id = ? AND json_valid(m.data) AND json_valid(p.data)
  AND CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') END = 'user'
  AND CASE WHEN json_valid(p.data) THEN json_extract(p.data, '$.type') END = 'text'`;

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function modelIn(model: string | null): string | undefined {
  try {
    return textOf(objectIn(parseJson(model ?? "{}")).id);
  } catch {
    return undefined;
  }
}
