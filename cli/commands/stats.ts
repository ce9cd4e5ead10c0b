import type { Command } from "commander";
import { findAudience } from "../../daemon/home/audience-store.ts";
import { readConnections } from "../../daemon/reading/connected-projects.ts";
import { readRemotes, shownDefault } from "../../daemon/remotes/remote-view.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { realWorld } from "../../shared/world-real.ts";
import { withInbox } from "../local/stats-with-inbox.ts";
import type { Environment } from "../place/environment.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { bytesShown, count, say, sayJson, table } from "../screen/output.ts";
import { styled } from "../screen/terminal.ts";
import { timestampShown } from "../views/version-view.ts";
import { type Answered, answerAsJson, askService, sourceLine } from "../writes/ask-service.ts";

interface JsonFlag {
  readonly json?: boolean;
}

const STATS_HELP = `
The service is asked; where it can't be reached, this machine's replica answers, and which of the
two it was is said. What was saved while no daemon ran counts there, as it will with the next one.

Examples:
  memsync stats
  memsync stats --json | jq .requests.day.remaining`;

/** `stats`: figures of the account. */
export function addStatsCommand(program: Command, env: Environment): void {
  program
    .command("stats")
    .description("show how much there is of everything, and what is left of the requests")
    .option("--json", "print it as JSON")
    .addHelpText("after", STATS_HELP)
    .action((flags: JsonFlag) => stats(env, flags));
}

async function stats(env: Environment, { json }: JsonFlag): Promise<void> {
  let inInbox = 0;
  const answered = await askService(env, {
    path: "/api/projects/stats",
    isAnswer: isStats,
    local: async (db) => {
      const { readServices } = await import("../../daemon/embedded/local-services.ts");
      if (!db) return NOTHING;
      const remote = shownDefault(await readRemotes(db, remoteEnvironment(env)));
      const { account } = remote;
      const { plan } = await findAudience(db, remote);
      const known = await readServices(db, realWorld, { account, plan }).stats(readConnections);
      const { stats: counted, inbox } = await withInbox(db, account, known);
      inInbox = inbox;
      return counted;
    },
  });
  if (json) {
    sayJson({ ...answerAsJson(answered, answered.value), in_inbox: inInbox });
    return;
  }
  for (const line of statsLines(answered)) say(line);
  if (inInbox > 0) {
    const wait = inInbox === 1 ? "waits" : "wait";
    say(styled("dim", `${count(inInbox, "write", "writes")} among it ${wait} for the next daemon`));
  }
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
  return last_synced_at === null ? "none" : `${total}, the last ${timestampShown(last_synced_at)}`;
}

function until(resetsAt: string | null): string {
  return resetsAt === null ? "" : `, all of them again ${timestampShown(resetsAt)}`;
}
