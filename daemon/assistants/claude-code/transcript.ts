import type { JsonObject } from "../../../shared/json.ts";
import {
  objectIn,
  partsOf,
  promptHash,
  type ReadLine,
  type SessionFacts,
  seenAt,
  textOf,
} from "../transcripts/session-facts.ts";

/** What the program itself puts where a user's words stand. */
const NOT_SAID = [
  "<local-command-",
  "<command-name>",
  "<command-message>",
  "<bash-input>",
  "<bash-stdout>",
  "<session-start-hook>",
  "<tick>",
  "[Request interrupted by user",
];

/** Stands in place of a model where none has answered. */
const NO_MODEL = "<synthetic>";

/**
 * Claude Code's transcripts, as versions up to 2.1.330 write them. The format is internal and may
 * change with any of them. Titles in the order of Anthropic's own reader
 * (anthropics/claude-agent-sdk-python, `_internal/sessions.py`), but for those that are made of
 * messages: last prompt and first prompt.
 */
export const readClaudeCodeLine: ReadLine = (facts, line) => {
  if (facts.isPart) return facts;
  switch (line.type) {
    case "custom-title":
      return { ...facts, title: { ...facts.title, custom: textOf(line.customTitle) ?? "" } };
    case "ai-title":
      return { ...facts, title: { ...facts.title, own: textOf(line.aiTitle) ?? "" } };
    case "summary":
      return { ...facts, title: { ...facts.title, summary: textOf(line.summary) ?? "" } };
    case "user":
    case "assistant":
      return said(facts, line);
    default:
      return placed(facts, line);
  }
};

/** Every line of a session says where it is; the first says whose. */
function placed(facts: SessionFacts, line: JsonObject): SessionFacts {
  const cwd = textOf(line.cwd);
  if (cwd === undefined) return seenAt(facts, line.timestamp);
  if (facts.cwd === undefined && line.isSidechain === true) return { ...facts, isPart: true };
  const branch = textOf(line.gitBranch) ?? facts.branch;
  return seenAt(
    { ...facts, cwd: facts.cwd ?? cwd, ...(branch !== undefined && { branch }) },
    line.timestamp,
  );
}

function said(before: SessionFacts, line: JsonObject): SessionFacts {
  const facts = placed(before, line);
  if (facts.isPart || line.isSidechain === true) return facts;
  const message = objectIn(line.message);
  if (line.type === "user") {
    return isSaid(line) ? another(withPrompt(facts, message), textOf(line.uuid)) : facts;
  }
  const model = textOf(message.model);
  if (model === NO_MODEL) return facts;
  const id = textOf(message.id) ?? textOf(line.uuid);
  const answered = model === undefined ? facts : { ...facts, model };
  // An answer has a line for each of its parts.
  return id !== undefined && id === facts.message ? answered : another(answered, id);
}

/** Keeps what was said first, so that a title is known that is the same. */
function withPrompt(facts: SessionFacts, message: JsonObject): SessionFacts {
  if (facts.firstPrompt) return facts;
  const texts = partsOf(message.content).flatMap(({ text }) => textOf(text) ?? []);
  return { ...facts, firstPrompt: texts.map(promptHash) };
}

function another(facts: SessionFacts, id: string | undefined): SessionFacts {
  const { message: _, ...rest } = facts;
  return { ...rest, messages: facts.messages + 1, ...(id !== undefined && { message: id }) };
}

/** Whether a user's line is what somebody said, and not a tool's result or a command. */
function isSaid(line: JsonObject): boolean {
  if (line.isMeta === true || line.isCompactSummary === true) return false;
  return partsOf(objectIn(line.message).content).some(({ type, text }) => {
    if (type === "tool_result") return false;
    const words = textOf(text);
    return words === undefined || !NOT_SAID.some((start) => words.startsWith(start));
  });
}
