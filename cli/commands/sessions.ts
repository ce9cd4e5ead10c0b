import type { Command } from "commander";
import { prepareHome } from "../../daemon/home/home.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import { recordsSessions, switchSessions } from "../../daemon/home/session-switch.ts";
import { readRemotes, shownDefault } from "../../daemon/remotes/remote-view.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import type { Session } from "../../shared/wire/session.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { assertKnownProject } from "../place/known-projects.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { UsageError } from "../screen/errors.ts";
import {
  count,
  firstLine,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { timestampShown } from "../views/version-view.ts";
import { answerAsJson, askService, sourceLine } from "../writes/ask-service.ts";

interface SessionFlags {
  readonly json?: boolean;
  readonly project?: string;
  readonly limit: string;
}

interface SessionPage {
  readonly sessions: readonly Session[];
  readonly total: number;
}

const SESSIONS_MAX = 1000;

const SESSIONS_HELP = `
The service is asked; where it can't be reached, this machine's replica answers, and which of the
two it was is said.

Examples:
  memsync sessions                      the latest twenty
  memsync sessions --project . --limit 100
  memsync sessions --json | jq .total
  memsync sessions off                  record none on this machine, and send none

Sessions of Claude Code, Codex, Gemini and OpenCode in linked folders are recorded by themselves:
which assistant, model, branch and machine, the times, how many messages, and the title that the
session was given. Nothing of what was said leaves the machine.`;

/** `sessions`: what assistants did, where and when. */
export function addSessionsCommand(program: Command, env: Environment): void {
  const sessions = program
    .command("sessions")
    .enablePositionalOptions()
    .description("list the assistants' sessions, the latest first; turn their recording off and on")
    .option("--project <dir|id|name>", "those of one project")
    .option("--limit <number>", `at most so many, up to ${SESSIONS_MAX}`, "20")
    .option("--json", "print them as JSON")
    .addHelpText("after", SESSIONS_HELP)
    .action((flags: SessionFlags) => list(env, flags));
  sessions
    .command("off")
    .description("record no sessions on this machine from now on, and send none")
    .option("--json", "print it as JSON")
    .action((_: SessionFlags, command: Command) => turn(env, false, command.optsWithGlobals()));
  sessions
    .command("on")
    .description("record them again, but none that ran while they were off")
    .option("--json", "print it as JSON")
    .action((_: SessionFlags, command: Command) => turn(env, true, command.optsWithGlobals()));
}

/** A daemon that runs looks at it before each of its looks and calls. */
function turn({ home }: Environment, on: boolean, { json }: SessionFlags): void {
  const was = recordsSessions(home);
  prepareHome(home);
  switchSessions(home, on, realWorld.now());
  if (json) {
    sayJson({ recorded: on });
    return;
  }
  const still = was === on ? "still " : "";
  const apart = was ? "" : "; nothing more of those that ran meanwhile";
  if (on) saySentence(`sessions are ${still}recorded, and sent with their projects${apart}`);
  else
    saySentence(
      `sessions are ${still}neither recorded nor sent; those sent before stay at the service`,
    );
}

async function list(env: Environment, { project, limit, json }: SessionFlags): Promise<void> {
  const most = Number(limit);
  if (!/^\d+$/.test(limit) || most < 1 || most > SESSIONS_MAX) {
    throw new UsageError(`--limit is a number from 1 to ${SESSIONS_MAX}`);
  }
  const id = project === undefined ? undefined : await projectAsked(env, project);
  const answered = await askService(env, sessionQuestion(env, id, most));
  const { sessions: found, total } = answered.value;
  if (json) {
    sayJson(answerAsJson(answered, { sessions: found, total }));
    return;
  }
  if (found.length > 0) sayRows(table([HEADING, ...found.map(row)], SPARE));
  const shown =
    found.length < total
      ? `${found.length} of ${total} sessions`
      : count(total, "session", "sessions");
  saySentence(`${shown}, ${sourceLine(answered)}`, "remark");
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
      const account = bound ?? shownDefault(await readRemotes(db, remoteEnvironment(env))).account;
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
    timestampShown(last_activity_at),
    shortName(source),
    String(message_count),
    shortName(machine ?? ""),
    firstLine(title ?? id),
  ];
}
