import { findSummary, keepSummary } from "../../daemon/home/session-summaries.ts";
import { recordsSessions } from "../../daemon/home/session-switch.ts";
import { parseSessionId } from "../../shared/ids.ts";
import { whyLikeSecret } from "../mcp/kept-secret.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import type { HookPayload } from "./hook-payload.ts";

const SUMMARY_LENGTH_MAX = 32_768;

/** Keeps the summary of a compaction, unless a secret is in it. */
export async function keepCompacted(
  env: Environment,
  { session, summary }: HookPayload,
): Promise<string> {
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
