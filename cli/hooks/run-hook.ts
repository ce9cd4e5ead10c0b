import { findSummary, keepSummary } from "../../daemon/home/session-summaries.ts";
import { recordsSessions } from "../../daemon/home/session-switch.ts";
import { within } from "../../daemon/home/within.ts";
import { parseSessionId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import { whyLikeSecret } from "../mcp/kept-secret.ts";
import { recall } from "../mcp/recall.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { type HookPayload, parsePayload } from "./hook-payload.ts";
import { isFirst } from "./once-per-session.ts";

/** A session does not wait longer than that to begin, unless somebody wants it to. */
const START_MS_MAX = 1800;
/** Nor to end: Codex gives a second. */
const END_MS_MAX = 400;
const BUDGET_TOKENS = 1900;
/** Claude Code puts more into a file. */
const LENGTH_MAX = 8000;
const SUMMARY_LENGTH_MAX = 32_768;

/** How long an assistant waits for a hook at most, by `MEMSYNC_HOOK_MS`. */
export function hookDeadlineMs({ variables }: Pick<Environment, "variables">): number {
  const wished = Number(variables.MEMSYNC_HOOK_MS || START_MS_MAX);
  return Number.isFinite(wished) && wished > 0 ? wished : START_MS_MAX;
}

/**
 * Does what an assistant's hook asks for, and resolves to what is to be printed. Never rejects, and
 * never takes long: no session may fail or wait for its memories. An event that is unknown does
 * nothing, so that the command in an assistant's settings never has to change.
 *
 * ```
 * await runHook(env, "session-start", '{"session_id":"1","cwd":"/src/widget"}');
 * ```
 */
export async function runHook(env: Environment, event: string, input: string): Promise<string> {
  const payload = parsePayload(input);
  // Codex takes nothing but JSON there.
  const nothing = event === "stop" ? "{}\n" : "";
  if (payload === undefined) return nothing;
  switch (event) {
    case "session-start":
      return await inTime(hookDeadlineMs(env), (late) => startSession(env, payload, late));
    case "post-compact":
      await inTime(hookDeadlineMs(env), () => keepCompacted(env, payload));
      return nothing;
    case "stop":
      await inTime(END_MS_MAX, () => tellDaemon(env, {}));
      return nothing;
    case "session-end":
      await inTime(END_MS_MAX, () => tellDaemon(env, { ended: payload.transcript }));
      return nothing;
    default:
      return nothing;
  }
}

/** What `work` gives, if it does in time and without an error; else nothing. */
async function inTime(
  deadlineMs: number,
  work: (late: AbortSignal) => Promise<string>,
): Promise<string> {
  let given = "";
  const late = new AbortController();
  const done = work(late.signal).then((text) => {
    given = text;
  });
  // Who runs the hook can do nothing about an error.
  await within(realWorld, deadlineMs, { work: done }).catch(() => undefined);
  late.abort();
  return given;
}

/** What a newcomer to the project needs to know; nothing where nothing is known. */
async function startSession(
  env: Environment,
  payload: HookPayload,
  late: AbortSignal,
): Promise<string> {
  const { session, source, folder, isCursor } = payload;
  const place = folder === undefined ? env : { ...env, dir: folder };
  const { text, data } = await recall(place, undefined, {
    budget_tokens: BUDGET_TOKENS,
    outline: false,
  });
  const { memories, sessions } = data as { memories: readonly object[]; sessions?: object[] };
  if (memories.length === 0 && sessions === undefined) return "";
  // What comes too late is not printed, and must not count as told.
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

/** Keeps the summary of a compaction, unless a secret is in it. */
async function keepCompacted(env: Environment, { session, summary }: HookPayload): Promise<string> {
  const id = parseSessionId(`sess_${session ?? ""}`);
  if (id === undefined || summary === undefined || !recordsSessions(env.home)) return "";
  const value = summary.slice(0, SUMMARY_LENGTH_MAX).toWellFormed();
  if (findSummary(env.home, id) === value) return "";
  await withLocal(env, async (db) => {
    if (db && (await whyLikeSecret(db, { key: "", value })) === undefined) {
      keepSummary(env.home, id, value);
    }
  });
  return "";
}

/** Has the daemon read the transcript now, which the assistant may be about to delete. */
async function tellDaemon(
  env: Environment,
  body: { readonly ended?: string | undefined },
): Promise<string> {
  const daemon = await contactDaemon(env.home, END_MS_MAX);
  await daemon?.call("POST", "/_memsync/sessions", { body, deadlineMs: END_MS_MAX });
  return "";
}
