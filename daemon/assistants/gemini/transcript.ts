import { isObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import {
  objectIn,
  type ReadLine,
  type SessionFacts,
  seenAt,
  textOf,
} from "../transcripts/session-facts.ts";

/**
 * Gemini's chats: a record of the session, then its messages, and `{"$set": {…}}` for what changes
 * of the record (google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts`; as
 * of 0.61). Former versions wrote one object with `messages`. What was taken back by `$rewindTo`
 * was said, and stays counted.
 */
export const readGeminiLine: ReadLine = (facts, line) => {
  if (isObject(line.$set)) return recorded(facts, line.$set);
  if (textOf(line.sessionId) !== undefined) return whole(recorded(facts, line), line.messages);
  return said(facts, line);
};

function recorded(facts: SessionFacts, record: JsonObject): SessionFacts {
  const id = facts.id ?? textOf(record.sessionId);
  const summary = textOf(record.summary);
  const changed = {
    ...facts,
    ...(id !== undefined && { id }),
    ...(summary !== undefined && { title: { ...facts.title, summary } }),
    ...(record.kind === "subagent" && { isPart: true }),
  };
  return seenAt(seenAt(changed, record.startTime), record.lastUpdated);
}

function whole(facts: SessionFacts, messages: JsonValue | undefined): SessionFacts {
  if (!Array.isArray(messages)) return facts;
  const lines: readonly JsonValue[] = messages;
  return lines.filter((each) => isObject(each)).reduce(said, facts);
}

function said(facts: SessionFacts, line: JsonObject): SessionFacts {
  if (line.type !== "user" && line.type !== "gemini") return facts;
  const model = textOf(objectIn(line).model);
  const seen = seenAt(facts, line.timestamp);
  return { ...seen, messages: seen.messages + 1, ...(model !== undefined && { model }) };
}
