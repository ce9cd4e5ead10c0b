import { isObject, type JsonObject, type JsonValue } from "../../../shared/json.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { hashOf } from "../../disk/read-file.ts";

/**
 * What a transcript has told of its session so far. It is JSON, and is kept between two looks, so
 * that only what was appended is read. Of messages it has the hashes of the first prompt alone.
 *
 * ```
 * const facts = lines.reduce(claudeCode.read, NO_FACTS);
 * ```
 */
export interface SessionFacts {
  /** The assistant's own id, where the transcript's name does not tell it. */
  readonly id?: string;
  /** The folder in which the session began. */
  readonly cwd?: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt?: number;
  readonly lastActivityAt?: number;
  /** Where the transcript tells it. */
  readonly endedAt?: number;
  /** What people and models said; no results of tools, no commands, nothing of sub-agents. */
  readonly messages: number;
  /** The id of the latest message, which may go on in the next line. */
  readonly message?: string;
  readonly model?: string;
  readonly branch?: string;
  readonly title?: SessionTitles;
  /** Hashes of what was said first, part by part: a title that is the same tells a message. */
  readonly firstPrompt?: readonly string[];
  /** It belongs to another session, as a sub-agent's does, and is no session of its own. */
  readonly isPart?: boolean;
}

/** Titles from several hands; the first that there is counts. */
export interface SessionTitles {
  /** The user's. */
  readonly custom?: string;
  /** The assistant's. */
  readonly own?: string;
  readonly summary?: string;
}

export const NO_FACTS: SessionFacts = { messages: 0 };

/** Adds one line of a transcript. A line of an unknown kind changes nothing. */
export type ReadLine = (facts: SessionFacts, line: JsonObject) => SessionFacts;

/**
 * The title that counts; undefined if nobody gave one. What an assistant made is none if it is the
 * first prompt.
 */
export function titleOf({ title = {}, firstPrompt = [] }: SessionFacts): string | undefined {
  const made = [title.own, title.summary].filter((each) => {
    return each && !firstPrompt.includes(promptHash(each));
  });
  return [title.custom, ...made].find((each) => each);
}

/** The hash of what somebody said. How it is broken into lines is no part of it. */
export function promptHash(text: string): string {
  return hashOf(text.trim().split(/\s+/).join(" "));
}

/** The facts, after something happened at this time. */
export function seenAt(facts: SessionFacts, value: JsonValue | undefined): SessionFacts {
  const at = parseTimestamp(textOf(value) ?? "");
  if (at === undefined) return facts;
  const { startedAt = at, lastActivityAt = at } = facts;
  return {
    ...facts,
    startedAt: Math.min(startedAt, at),
    lastActivityAt: Math.max(lastActivityAt, at),
  };
}

/** A text that says something; undefined for anything else. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An object; empty for anything else. */
export function objectIn(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The texts of a message's content, which is a text or a list of parts. */
export function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts: readonly JsonValue[] = Array.isArray(content) ? content : [];
  return parts.filter((each) => isObject(each));
}
