import { resolve } from "node:path";
import { isObject, type JsonObject, parseJson } from "../../shared/json.ts";

/** What an assistant tells of the moment at which it runs a hook. */
export interface HookPayload {
  /** The assistant's own id of the session. */
  readonly session: string | undefined;
  /** The folder that it works in. */
  readonly folder: string | undefined;
  /** Why a session starts: `startup`, `resume`, `clear`, `compact`, `fork`. */
  readonly source: string | undefined;
  /** The path of the session's transcript. */
  readonly transcript: string | undefined;
  /** What it wrote when it compacted the session. */
  readonly summary: string | undefined;
  /** Whether the assistant is Cursor, whose answers have another form. */
  readonly isCursor: boolean;
}

/** Linux opens no longer path, and nobody works deeper in folders on other systems. */
const PATH_LENGTH_MAX = 4096;

/**
 * Reads a hook's input. Claude Code, Codex and Gemini write `session_id`, VS Code `sessionId`, and
 * Cursor `conversation_id`; each may leave out anything, and add more. Undefined for what is no
 * JSON object, and for a folder that no system can have.
 *
 * ```
 * parsePayload('{"session_id":"1","cwd":"/src"}')?.folder; // "/src"
 * ```
 */
export function parsePayload(text: string): HookPayload | undefined {
  const payload = objectIn(text);
  if (payload === undefined) return undefined;
  const { workspace_roots: roots } = payload;
  const [root] = Array.isArray(roots) ? roots : [];
  const given = textIn(payload.cwd, root);
  // Made absolute, because the reader may have another current folder.
  const folder = given && resolve(given);
  if (folder !== undefined && folder.length > PATH_LENGTH_MAX) return undefined;
  return {
    session: textIn(payload.session_id, payload.sessionId, payload.conversation_id),
    folder,
    source: textIn(payload.source),
    transcript: textIn(payload.transcript_path),
    summary: textIn(payload.compact_summary),
    isCursor: payload.cursor_version !== undefined || payload.conversation_id !== undefined,
  };
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The first of these values that is a text and not empty. */
function textIn(...values: readonly unknown[]): string | undefined {
  return values.find((each): each is string => typeof each === "string" && each !== "");
}
