import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import { findSummary } from "../../daemon/home/session-summaries.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { parseSessionId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import type { ProjectScope } from "./project-scope.ts";
import { ageShown } from "./shown-memory.ts";

/** What an overview says besides memories. */
export interface Background {
  /** Of the project's document: how long it is, and its headings. */
  readonly instructions?: { readonly lines: number; readonly headings: readonly string[] };
  readonly sessions?: readonly PastSession[];
}

/** A session of an assistant, on any machine. */
export interface PastSession {
  readonly title: string | null;
  readonly age: string;
  /** The beginning of what the assistant wrote when it compacted the session here. */
  readonly summary?: string;
}

const HEADINGS_MAX = 12;
const HEADING_LENGTH_MAX = 80;
const SESSIONS_MAX = 5;
const SUMMARY_LENGTH_MAX = 400;

/** The outline of a project's instructions, and its last sessions that have a title. */
export async function readBackground(
  env: Environment,
  db: Kysely<DaemonTables>,
  { scope, outline }: { readonly scope: ProjectScope; readonly outline: boolean },
): Promise<Background> {
  if (scope.kind === "none") return {};
  const text = outline ? ((await readLocalText(db, scope.id))?.value ?? "") : "";
  const lines = text.split(/\r\n|[\r\n]/);
  const headings = lines.filter((line) => /^#{1,3}\s/.test(line)).slice(0, HEADINGS_MAX);
  const sessions = await lastSessions(env, db, scope.id);
  return {
    ...(text.trim() !== "" && {
      instructions: {
        lines: lines.length - (lines.at(-1) === "" ? 1 : 0),
        headings: headings.map((each) => each.slice(0, HEADING_LENGTH_MAX).toWellFormed()),
      },
    }),
    ...(sessions.length > 0 && { sessions }),
  };
}

async function lastSessions(
  env: Environment,
  db: Kysely<DaemonTables>,
  projectId: Extract<ProjectScope, { kind: "project" }>["id"],
) {
  const { readServices } = await import("../../daemon/embedded/local-services.ts");
  const account = (await findBinding(db, projectId)) ?? LOCAL_ACCOUNT;
  const asked = { limit: SESSIONS_MAX, cursor: undefined, projectId };
  const { items } = await readServices(db, realWorld, { account }).sessions(asked);
  return items.flatMap(({ id, title, last_activity_at: at }): PastSession[] => {
    const known = parseSessionId(id);
    const summary = known && findSummary(env.home, known)?.slice(0, SUMMARY_LENGTH_MAX);
    if (title === null && summary === undefined) return [];
    const age = ageShown(Date.parse(at));
    return [{ title, age, ...(summary !== undefined && { summary: summary.toWellFormed() }) }];
  });
}
