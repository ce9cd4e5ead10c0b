import type { Command } from "commander";
import { findProjectName } from "../../daemon/home/project-name.ts";
import type { ServiceState } from "../../daemon/status/service-state.ts";
import type { RemoteStatus } from "../../daemon/status/status.ts";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import { ASKED_DEADLINE_MS, askStatus, type GatewayClient } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { callSync } from "../contact/sync-progress.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { withLocal } from "../place/place.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { sayJson, saySentence } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";

interface JsonFlag {
  readonly json?: boolean;
}

const PATH = "/api/projects/connect";

/** The command ends well anyway, so it waits no longer than this for what follows. */
const HEARD_WITHIN_S = 5;

const HELP = `
A program that asks the service for one of two connected projects gets the other's memories, too:
GET /api/projects/ID has them under connected_projects. \`memsync search\` finds them, too, where
both projects are kept on this machine; \`memsync list\` and \`get\` show a project's own. The
service does it, so it has to be reachable. A and B are linked folders or projects' ids.

Examples:
  memsync connect . ../shop-api
  memsync connect proj_k3j5h2ab proj_x7c2m4qr
  memsync disconnect . ../shop-api`;

/** `connect` and `disconnect`: which projects can read each other's memories. */
export function addConnectCommands(program: Command, env: Environment): void {
  program
    .command("connect <a> <b>")
    .description("let two projects see each other's memories")
    .option("--json", "print the connection as JSON")
    .addHelpText("after", HELP)
    .action((a: string, b: string, flags: JsonFlag) =>
      change(env, "POST", { options: [a, b], jsonFlag: flags }),
    );
  program
    .command("disconnect <a> <b>")
    .description("undo `memsync connect`; no memory is deleted")
    .option("--json", "print the connection as JSON")
    .addHelpText("after", HELP)
    .action((a: string, b: string, flags: JsonFlag) =>
      change(env, "DELETE", { options: [a, b], jsonFlag: flags }),
    );
}

interface Named {
  readonly id: ProjectId;
  readonly name: string;
}

async function change(
  env: Environment,
  method: "POST" | "DELETE",
  {
    options: [a, b],
    jsonFlag: { json },
  }: { readonly options: readonly [string, string]; readonly jsonFlag: JsonFlag },
): Promise<void> {
  const one = await find(env, a);
  const other = await find(env, b);
  if (one.id === other.id) throw new UsageError(`${a} and ${b} are one project: name two`);
  const request = { project_id: one.id, target_project_id: other.id };
  const answer = await ask(env, method, request);
  // Another implementation of the service may only answer that it is done.
  const connection = isObject(answer) ? answer.connection : undefined;
  const done = { project_ids: [one.id, other.id], connected: method === "POST" };
  if (json) sayJson(connection ?? done);
  else if (method === "POST") {
    saySentence(`connected ${one.name} and ${other.name}`);
    saySentence(
      "in one of them, assistants and `memsync search` find the other's memories, too, and a " +
        `program has them under connected_projects of GET /api/projects/${one.id}; ` +
        "`memsync list` shows a project's own",
    );
  } else saySentence(`${one.name} and ${other.name} are not connected now`);
}

async function find(env: Environment, named: string): Promise<Named> {
  return await withLocal(env, async (db) => {
    // The service may have projects that this machine does not have.
    const id = parseProjectId(named) ?? (await findMeantProject(db, named, env));
    return { id, name: (db && (await findProjectName(db, id))) ?? id };
  });
}

async function ask(
  env: Environment,
  method: "POST" | "DELETE",
  request: { readonly project_id: string; readonly target_project_id: string },
): Promise<unknown> {
  const daemon = await findDaemon(env.home);
  if (!daemon) {
    throw new CommandFailed(
      "connections are made by the service, and no daemon is running that could ask it: " +
        "start one with `memsync start`",
      { code: "no-daemon" },
    );
  }
  const options = { deadlineMs: ASKED_DEADLINE_MS };
  const path = method === "POST" ? PATH : `${PATH}?${new URLSearchParams({ ...request })}`;
  const body = method === "POST" ? { body: request } : {};
  const asked = daemon.call(method, path, { ...body, ...options });
  const answer = await shownWhile("asking the service", asked).catch(async (thrown) => {
    throw (await isAway(daemon, request.project_id)) ? asOffline(thrown) : thrown;
  });
  // Both projects' documents say what is connected, and the next command should find it there. If
  // this sync takes too long, that comes by itself.
  const heard = callSync(daemon, HEARD_WITHIN_S, { unlessOffline: true }).catch(() => undefined);
  await shownWhile("syncing", heard);
  return answer;
}

/** States of a service that may be away, if a call to it got no answer. */
const AWAY: readonly ServiceState[] = ["offline", "reconnecting", "connecting"];

/** Whether the daemon does not reach the service of a project. */
async function isAway(daemon: GatewayClient, project: string): Promise<boolean> {
  const status = await askStatus(daemon).catch(() => undefined);
  const name = status?.projects.find(({ id }) => id === project)?.remote;
  const isMeant = (each: RemoteStatus) => (name === undefined ? each.default : each.name === name);
  const service = status?.remotes.find(isMeant)?.service;
  return service !== undefined && AWAY.includes(service.state);
}

/** The interface has no code for a service that is away. */
function asOffline(thrown: unknown): unknown {
  const isUnanswered = thrown instanceof CommandFailed && thrown.code === "internal";
  return isUnanswered ? new CommandFailed(thrown.message, { code: "offline" }) : thrown;
}
