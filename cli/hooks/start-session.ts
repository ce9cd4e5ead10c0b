import { realWorld } from "../../shared/world-real.ts";
import { recall } from "../mcp/recall.ts";
import type { Environment } from "../place/environment.ts";
import type { HookPayload } from "./hook-payload.ts";
import { isFirst } from "./once-per-session.ts";
import { readByItself } from "./read-by-itself.ts";

const BUDGET_TOKENS = 1900;
/** Claude Code puts a longer text into a file. */
const LENGTH_MAX = 8000;

/** What a newcomer to the project needs to know; nothing where nothing is known. */
export async function startSession(
  env: Environment,
  payload: HookPayload,
  late: AbortSignal,
): Promise<string> {
  const { session, source, folder, transcript, isCursor } = payload;
  const place = folder === undefined ? env : { ...env, dir: folder };
  const { text, data } = await recall(place, undefined, {
    budget_tokens: BUDGET_TOKENS,
    outline: false,
    isKnown: (db) => readByItself(db, transcript),
  });
  const { memories, sessions } = data;
  if (memories.length === 0 && sessions === undefined) return "";
  // An answer that comes too late is not printed, and so must not count as told.
  if (late.aborted) return "";
  if (session !== undefined && !isFirst(env.home, { session, source }, realWorld)) return "";
  const context = `What memsync keeps:\n${text}`.slice(0, LENGTH_MAX).toWellFormed();
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: context };
  // Cursor runs Claude Code's hooks as well; which form it wants then, nobody says.
  const answer = isCursor
    ? { additional_context: context, hookSpecificOutput }
    : { hookSpecificOutput };
  return `${JSON.stringify(answer)}\n`;
}
