import { type ProjectId, parseSessionId } from "../../../shared/ids.ts";
import { timestampOf } from "../../../shared/timestamps.ts";
import type { Session } from "../../../shared/wire/session.ts";
import { type SessionFacts, titleOf } from "../transcripts/session-facts.ts";

/** Limit of each text of a record, in characters: below the interface's 4 KiB in any script. */
const TEXT_CHARS_MAX = 1000;

/** Whose session it is. */
export interface SessionOwner {
  readonly project: ProjectId;
  /** The assistant. */
  readonly source: string;
  readonly machine: string;
  /** The assistant's own id, where the transcript's name tells it. */
  readonly id: string | undefined;
  /** The title that the assistant keeps beside its transcripts. */
  readonly title: string | undefined;
}

/**
 * The record of a session: times, counts, names and a title that somebody gave it. Nothing of what
 * was said is in it. Undefined for what is no session of its own, and before anybody said anything.
 *
 * ```
 * sessionRecord(facts, owner)?.title; // "Fix the login"
 * ```
 */
export function sessionRecord(facts: SessionFacts, owner: SessionOwner): Session | undefined {
  const { startedAt, lastActivityAt, endedAt, messages } = facts;
  // Undefined where the interface has no form for the assistant's id.
  const id = parseSessionId(`sess_${owner.id ?? facts.id ?? ""}`);
  if (id === undefined || facts.isPart || messages === 0) return undefined;
  if (startedAt === undefined || lastActivityAt === undefined) return undefined;
  return {
    id,
    project_id: owner.project,
    title: shortened(owner.title ?? titleOf(facts)),
    source: owner.source,
    started_at: timestampOf(startedAt),
    last_activity_at: timestampOf(lastActivityAt),
    ended_at: endedAt === undefined ? null : timestampOf(endedAt),
    message_count: messages,
    model: shortened(facts.model),
    git_branch: shortened(facts.branch),
    machine: shortened(owner.machine),
  };
}

/** On one line, without control characters, or a half character at its end. */
function shortened(text: string | undefined): string | null {
  const line = text?.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (!line) return null;
  const characters = [...line.toWellFormed()];
  if (characters.length <= TEXT_CHARS_MAX) return characters.join("");
  return `${characters.slice(0, TEXT_CHARS_MAX - 1).join("")}…`;
}
