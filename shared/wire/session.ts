import { type Static, Type } from "@sinclair/typebox";
import { ProjectIdText, SessionIdText } from "./id.ts";
import { pageFields } from "./page.ts";
import { text } from "./text.ts";
import { parseTimestamp, Timestamp, timestamp, timestampOf } from "./timestamp.ts";

const nullable = Type.Union([Type.String(), Type.Null()]);

/** A coding assistant's session. */
export const Session = Type.Object(
  {
    id: SessionIdText,
    project_id: Type.Union([ProjectIdText, Type.Null()]),
    title: nullable,
    source: Type.String({ description: "which assistant it was" }),
    started_at: Timestamp,
    last_activity_at: Timestamp,
    ended_at: Type.Union([Timestamp, Type.Null()]),
    message_count: Type.Integer(),
    model: nullable,
    git_branch: nullable,
    machine: nullable,
  },
  { title: "Session" },
);
export type Session = Static<typeof Session>;

/** Answer of `GET /v1/sessions`. `total` is of all pages; `next_cursor` null on the last. */
export const SessionList = Type.Object(
  { sessions: Type.Array(Session), ...pageFields },
  { title: "SessionList" },
);
export type SessionList = Static<typeof SessionList>;

/**
 * Limit of each text of a session, in bytes. Titles are people's first words, cut by the sender.
 */
const SESSION_TEXT_BYTES = 4096;
const sessionText = text({ bytesMax: SESSION_TEXT_BYTES });

/** A session in a sync body. */
export const SessionBody = Type.Object(
  {
    id: SessionIdText,
    title: Type.Optional(sessionText),
    source: text({ nonEmpty: true, bytesMax: SESSION_TEXT_BYTES }),
    started_at: timestamp(),
    last_activity_at: timestamp(),
    ended_at: Type.Optional(timestamp()),
    message_count: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    model: Type.Optional(sessionText),
    git_branch: Type.Optional(sessionText),
    machine: Type.Optional(sessionText),
  },
  { title: "SessionUpload" },
);

/** A session to add or replace by id. Its project is the one being synced. */
export type SessionUpload = Omit<Session, "project_id">;

/** The upload of a body that `SessionBody` has accepted: times normalised, nothing absent. */
export function sessionUploadOf(body: Static<typeof SessionBody>): SessionUpload {
  return {
    id: body.id,
    title: body.title ?? null,
    source: body.source,
    started_at: normalised(body.started_at),
    last_activity_at: normalised(body.last_activity_at),
    ended_at: body.ended_at === undefined ? null : normalised(body.ended_at),
    message_count: body.message_count,
    model: body.model ?? null,
    git_branch: body.git_branch ?? null,
    machine: body.machine ?? null,
  };
}

function normalised(value: string): string {
  return timestampOf(parseTimestamp(value) ?? 0);
}
