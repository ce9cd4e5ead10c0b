import type { JsonObject } from "../../../shared/json.ts";
import {
  objectIn,
  partsOf,
  type ReadLine,
  type SessionFacts,
  seenAt,
  textOf,
} from "../transcripts/session-facts.ts";

/** What Codex itself sends in a user's name. */
const NOT_SAID = [
  "<environment_context>",
  "<permissions instructions>",
  "<user_instructions>",
  "# AGENTS.md instructions",
];

/**
 * Codex' rollouts: lines `{timestamp, type, payload}`
 * (openai/codex, `codex-rs/rollout/src`; as of 0.169).
 */
export const readCodexLine: ReadLine = (facts, line) => {
  const payload = objectIn(line.payload);
  const seen = seenAt(facts, line.timestamp);
  switch (line.type) {
    case "session_meta":
      return begun(seen, payload);
    case "turn_context":
      return withModel(seen, payload);
    case "response_item":
      return isSaid(payload) ? { ...seen, messages: seen.messages + 1 } : seen;
    case "event_msg":
      return named(seen, payload);
    default:
      return seen;
  }
};

/** A forked session repeats the line of the one that it came from; the first is its own. */
function begun(facts: SessionFacts, payload: JsonObject): SessionFacts {
  if (facts.id !== undefined) return facts;
  const id = textOf(payload.id) ?? textOf(payload.session_id);
  const cwd = textOf(payload.cwd);
  const branch = textOf(objectIn(payload.git).branch);
  const isPart = payload.thread_source === "subagent" || "subagent" in objectIn(payload.source);
  return seenAt(
    {
      ...facts,
      ...(id !== undefined && { id }),
      ...(cwd !== undefined && { cwd }),
      ...(branch !== undefined && { branch }),
      ...(isPart && { isPart }),
    },
    payload.timestamp,
  );
}

function withModel(facts: SessionFacts, { model }: JsonObject): SessionFacts {
  const named = textOf(model);
  return named === undefined ? facts : { ...facts, model: named };
}

function named(facts: SessionFacts, payload: JsonObject): SessionFacts {
  if (payload.type !== "thread_name_updated") return facts;
  const custom = textOf(payload.thread_name) ?? textOf(payload.name) ?? "";
  return { ...facts, title: { ...facts.title, custom } };
}

function isSaid(payload: JsonObject): boolean {
  if (payload.type !== "message") return false;
  if (payload.role === "assistant") return true;
  if (payload.role !== "user") return false;
  return partsOf(payload.content).some(({ text }) => {
    const words = textOf(text);
    return words === undefined || !NOT_SAID.some((start) => words.startsWith(start));
  });
}
