import { within } from "../../daemon/home/within.ts";
import { realWorld } from "../../shared/world-real.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import type { Environment } from "../place/environment.ts";
import { parsePayload } from "./hook-payload.ts";

/** A session waits at most this long to begin, unless somebody wants it to. */
const START_MS_MAX = 1800;
/** A session waits at most this long to end: Codex gives a second. */
const END_MS_MAX = 400;

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
      return await inTime(hookDeadlineMs(env), async (late) => {
        const { startSession } = await import("./start-session.ts");
        return await startSession(env, payload, late);
      });
    case "post-compact":
      await inTime(hookDeadlineMs(env), async () => {
        const { keepCompacted } = await import("./keep-compacted.ts");
        return await keepCompacted(env, payload);
      });
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

/** The result of `work` if it comes in time and without an error; else nothing. */
async function inTime(
  deadlineMs: number,
  work: (late: AbortSignal) => Promise<string>,
): Promise<string> {
  let given = "";
  const late = new AbortController();
  const done = work(late.signal).then((text) => {
    given = text;
  });
  // An error is dropped, because the assistant that runs the hook can do nothing about it.
  await within(realWorld, deadlineMs, { work: done }).catch(() => undefined);
  late.abort();
  return given;
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
