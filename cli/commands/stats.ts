import type { Command } from "commander";
import { findAudience } from "../../daemon/home/audience-store.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import { getDefault, readRemotes } from "../../daemon/remotes/remote-view.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { parseTimestamp } from "../../shared/timestamps.ts";
import type { Session } from "../../shared/wire/session.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { realWorld } from "../../shared/world-real.ts";
import { withInbox } from "../local/stats-with-inbox.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { assertKnownProject } from "../place/known-projects.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { UsageError } from "../screen/errors.ts";
import { bytesShown, count, firstLine, say, sayJson, shortName, table } from "../screen/output.ts";
import { styled } from "../screen/terminal.ts";
import { timeShown } from "../views/version-view.ts";
import { type Answered, askService, sourceLine } from "../writes/ask-service.ts";

interface JsonFlag {
  readonly json?: boolean;
}

interface SessionFlags extends JsonFlag {
  readonly project?: string;
  readonly limit: string;
}

interface SessionPage {
  readonly sessions: readonly Session[];
  readonly total: number;
}

const SESSIONS_MAX = 1000;

const STATS_HELP = `
The service is asked; where it can't be reached, this machine's replica answers, and which of the
two it was is said. What was saved while no daemon ran counts there, as it will with the next one.

Examples:
  memsync stats
  memsync stats --json | jq .requests.day.remaining`;

const SESSIONS_HELP = `
The service is asked; where it can't be reached, this machine's replica answers, and which of the
two it was is said.

Examples:
  memsync sessions                      the latest twenty
  memsync sessions --project . --limit 100
  memsync sessions --json | jq .total`;

/** `stats` and `sessions`: figures of the account. */
export function addStatsCommands(program: Command, env: Environment): void {
  program
    .command("stats")
    .description("show how much there is of everything, and what is left of the requests")
    .option("--json", "print it as JSON")
    .addHelpText("after", STATS_HELP)
    .action((flags: JsonFlag) => stats(env, flags));
  program
    .command("sessions")
    .description("list the assistants' sessions, the latest first")
    .option("--project <dir|id|name>", "those of one project")
    .option("--limit <number>", `at most so many, up to ${SESSIONS_MAX}`, "20")
    .option("--json", "print them as JSON")
    .addHelpText("after", SESSIONS_HELP)
    .action((flags: SessionFlags) => sessions(env, flags));
}

async function stats(env: Environment, { json }: JsonFlag): Promise<void> {
  let inInbox = 0;
  const answered = await askService(env, {
    path: "/api/projects/stats",
    isAnswer: isStats,
    local: async (db) => {
      const { readServices } = await import("../../daemon/embedded/local-services.ts");
      if (!db) return NOTHING;
      const remote = getDefault(await readRemotes(db, remoteEnvironment(env)));
      const { account } = remote;
      const { plan } = await findAudience(db, remote);
      const known = await readServices(db, realWorld, { account, plan }).stats();
      const { stats: counted, inbox } = await withInbox(db, account, known);
      inInbox = inbox;
      return counted;
    },
  });
  if (json) {
    sayJson({ ...asJson(answered, answered.value), in_inbox: inInbox });
    return;
  }
  for (const line of statsLines(answered)) say(line);
  if (inInbox > 0) {
    const wait = inInbox === 1 ? "waits" : "wait";
    say(styled("dim", `${count(inInbox, "write", "writes")} among it ${wait} for the next daemon`));
  }
}

function asJson<Value extends object>(answered: Answered<unknown>, value: Value) {
  const by =
    answered.source === "service"
      ? { service: answered.service }
      : { code: answered.code, reason: answered.reason };
  return { source: answered.source, ...by, ...value };
}

const NO_WINDOW = { limit: null, used: 0, remaining: null, resets_at: null };

/** For a home without content. */
const NOTHING: Stats = {
  plan: "pro",
  projects: 0,
  connections: 0,
  memories: { total: 0, project: 0, user: 0, global: 0 },
  sessions: 0,
  storage_bytes: 0,
  syncs: { total: 0, last_synced_at: null },
  requests: { minute: NO_WINDOW, day: NO_WINDOW },
};

function isStats(value: unknown): value is Stats {
  return typeof value === "object" && value !== null && "memories" in value && "requests" in value;
}

function statsLines(answered: Answered<Stats>): string[] {
  const { projects, connections, memories, sessions, storage_bytes, syncs, requests, plan } =
    answered.value;
  const { total, project, user, global } = memories;
  const rows = [
    ["projects", `${projects}, ${count(connections, "connected pair", "connected pairs")}`],
    ["memories", `${total}: ${project} of projects, ${user} seen by you alone, ${global} global`],
    ["sessions", `${sessions}`],
    ["storage", bytesShown(storage_bytes)],
    ["syncs", syncLine(syncs)],
    ...Object.entries(requests).flatMap(([name, { limit, remaining, resets_at }]) =>
      limit === null
        ? []
        : [[`a ${name}`, `${remaining} of ${limit} requests left${until(resets_at)}`]],
    ),
    ...(answered.source === "service" ? [["plan", plan]] : []),
  ];
  return [...table(rows), styled("dim", sourceLine(answered))];
}

function syncLine({ total, last_synced_at }: Stats["syncs"]): string {
  return last_synced_at === null ? "none" : `${total}, the last ${shortTime(last_synced_at)}`;
}

function until(resetsAt: string | null): string {
  return resetsAt === null ? "" : `, all of them again ${shortTime(resetsAt)}`;
}

function shortTime(timestamp: string): string {
  const time = parseTimestamp(timestamp);
  return time === undefined ? timestamp : timeShown(time);
}

async function sessions(env: Environment, { project, limit, json }: SessionFlags): Promise<void> {
  const most = Number(limit);
  if (!/^\d+$/.test(limit) || most < 1 || most > SESSIONS_MAX) {
    throw new UsageError(`--limit is a number from 1 to ${SESSIONS_MAX}`);
  }
  const id = project === undefined ? undefined : await projectAsked(env, project);
  const answered = await askService(env, sessionQuestion(env, id, most));
  const { sessions: found, total } = answered.value;
  if (json) {
    sayJson(asJson(answered, { sessions: found, total }));
    return;
  }
  if (found.length > 0) for (const line of table([HEADING, ...found.map(row)], SPARE)) say(line);
  const shown =
    found.length < total
      ? `${found.length} of ${total} sessions`
      : count(total, "session", "sessions");
  say(styled("dim", `${shown}, ${sourceLine(answered)}`));
}

/** The service may have projects that this machine does not have. */
async function projectAsked(env: Environment, named: string): Promise<ProjectId> {
  return parseProjectId(named) ?? (await withLocal(env, (db) => findMeantProject(db, named, env)));
}

function sessionQuestion(env: Environment, id: ProjectId | undefined, limit: number) {
  const query = new URLSearchParams({ limit: String(limit) });
  if (id !== undefined) query.set("project_id", id);
  return {
    path: `/v1/sessions?${query}`,
    isAnswer: isSessionPage,
    local: async (db: Parameters<Parameters<typeof withLocal>[1]>[0]): Promise<SessionPage> => {
      if (id) await assertKnownProject(db, id);
      if (!db) return { sessions: [], total: 0 };
      const { readServices } = await import("../../daemon/embedded/local-services.ts");
      const asked = { limit, cursor: undefined, projectId: id };
      const bound = id && (await findBinding(db, id));
      const account = bound ?? getDefault(await readRemotes(db, remoteEnvironment(env))).account;
      const { items, total } = await readServices(db, realWorld, { account }).sessions(asked);
      return { sessions: items, total };
    },
  };
}

/** Another implementation may return only ids, and no total. */
function isSessionPage(value: unknown): value is SessionPage {
  if (typeof value !== "object" || value === null || !("sessions" in value)) return false;
  if (!("total" in value) || !Array.isArray(value.sessions)) return false;
  return value.sessions.every((each: object) => "last_activity_at" in each);
}

/** The columns to leave out first: machine, number of messages, assistant. */
const SPARE = [3, 2, 1];
const HEADING = ["LAST ACTIVITY", "ASSISTANT", "MESSAGES", "MACHINE", "TITLE"];

function row({ last_activity_at, source, message_count, machine, title, id }: Session): string[] {
  return [
    shortTime(last_activity_at),
    shortName(source),
    String(message_count),
    shortName(machine ?? ""),
    firstLine(title ?? id),
  ];
}
