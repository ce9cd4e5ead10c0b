import type { Command } from "commander";
import type { Kysely } from "kysely";
import { readDeletion } from "../../daemon/home/deleted-project.ts";
import { dropHeldOf, listHeld } from "../../daemon/home/held-store.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listJoinedInto } from "../../daemon/status/joined-projects.ts";
import type { ProjectStatus } from "../../daemon/status/status.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { realWorld } from "../../shared/world-real.ts";
import { askStatus, OWN_DEADLINE_MS } from "../contact/daemon-contact.ts";
import type { GatewayClient } from "../contact/gateway-client.ts";
import { joinedNotice } from "../notices/notice.ts";
import { markSeen } from "../notices/notice-files.ts";
import type { Environment } from "../place/environment.ts";
import { findReadyDaemon, getDaemon, noDaemon } from "../place/get-daemon.ts";
import { findNamedProject } from "../place/named-project.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import { count, sayJson, saySentence } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { findStanding } from "../screen/standing.ts";
import { readHomeStatus } from "../status/home-status.ts";
import { joinedShown } from "../views/joined-view.ts";
import { showProjects } from "../views/project-list.ts";
import { changeHome } from "../writes/inbox-write.ts";
import { addPartCommand } from "./project-part.ts";

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface ListOptions {
  readonly byChange?: boolean;
  readonly json?: boolean;
}

/** The daemon gives a service this long to tell of a project, and answers then. */
const VISIT_DEADLINE_MS = 15_000;

const HELP = `
Deletes the text, the memories, the metadata and the connections of a project here, on its
service, and on every machine that syncs it. Files stay as they are, and are not followed any more.
A machine that was offline brings nothing back: what it wrote meanwhile is kept, the project remains
deleted, and \`memsync status\` says so there. What was deleted is in each machine's history for 90
days, but what is held here: the question says how many such writes there are, \`memsync held\`
lists them.

\`memsync link --anew\` in one of its folders begins the project anew, with the file that is there
and nothing else.

A project that is linked nowhere here goes by its id or its name: \`memsync projects\` shows both.

Examples:
  memsync project rm .                    the current folder's project
  memsync project rm proj_k3j5h2ab --yes  asks nobody, as in a script`;

/** `projects` and `project rm`. */
export function addProjectCommands(program: Command, env: Environment): void {
  program
    .command("projects")
    .description("list the followed projects, and those that are linked nowhere here")
    .option("--by-change", "those that changed last first, with the time")
    .option("--json", "print them as JSON")
    .action((options: ListOptions) => list(env, options));
  const project = program
    .command("project")
    .description("delete a whole project everywhere: rm; take a mistaken join apart: part");
  project
    .command("rm <project>")
    .description("delete a project (its folder, id or name) everywhere, after asking")
    .option("--yes", "do it without asking")
    .option("--json", "print its id as JSON")
    .addHelpText("after", HELP)
    .action((named: string, options: Options) => remove(env, named, options));
  addPartCommand(project, env);
}

async function list(env: Environment, options: ListOptions): Promise<void> {
  const daemon = await findReadyDaemon(env);
  const read = daemon ? await askStatus(daemon) : await readHomeStatus(env);
  if (!read) throw await noDaemon(env);
  showProjects(read, await findStanding(read, env.dir), options);
  if (options.json) return;
  const shown = read.projects.flatMap(({ id, joined }) => {
    return joined.map((each) => joinedNotice(id, each));
  });
  markSeen(env.home, shown);
}

async function remove(env: Environment, named: string, options: Options): Promise<void> {
  const id = await withLocal(env, (db) => findNamedProject(db, named, env));
  const daemon = await getDaemon(env);
  const project = await getDeletable(env, daemon, id);
  const name = project.name ?? id;
  const { isLinked } = project;
  const where = isLinked ? "" : ", which is linked nowhere here,";
  const known = isLinked ? "" : " as far as this machine knows";
  await agreeTo(
    `Delete ${name} (${id})${where} with ${contentShown(project)}${known}, everywhere? ` +
      `${joinedSaid(project)}${await cameSaid(env, id)}${await heldShown(env, id)}Files stay.`,
    options,
  );
  if (!isLinked) {
    const visit = { body: { project: id }, deadlineMs: VISIT_DEADLINE_MS };
    const asked = daemon.call("POST", "/_memsync/visit", visit);
    await shownWhile("asking the service", asked);
    await getDeletable(env, daemon, id);
  }
  await changeHome(env.home, (db) => dropHeldOf(db, id));
  await daemon.call("DELETE", `/api/projects/${id}`, { deadlineMs: OWN_DEADLINE_MS });
  if (options.json) {
    sayJson({ id, deleted: true });
    return;
  }
  saySentence(`deleted ${name} here, and everywhere once this is synced; its files stay`);
  saySentence(
    isLinked
      ? "`memsync unlink` in its folders forgets them, `memsync link --anew` begins it anew"
      : `\`memsync link DIR --id ${id} --anew\` begins it anew`,
  );
}

/** What is held is in no history, and may be in no file: it can be read before it goes. */
async function heldShown(env: Environment, id: ProjectId): Promise<string> {
  const held = await withLocal(env, async (db) => (db ? await listHeld(db) : []));
  const { length } = held.filter(({ document, kind }) => document === id && kind !== "file");
  if (length === 0) return "";
  const writes = count(length, "held write goes", "held writes go");
  return `${writes}, too, and ${length === 1 ? "is" : "are"} in no history: \`memsync held\`. `;
}

/** Where a project's folder went, which other machines may still have in this one. */
function joinedSaid({ joined: [first] }: Deletable): string {
  if (!first) return "";
  const went = `It is ${joinedShown(first, realWorld.now())}. `;
  if (first.is_return) return went;
  return `${went}Machines that have not followed are told so, and may have unsent writes in it. `;
}

/** Whose folders are in this project, and have written into it. */
async function cameSaid(env: Environment, id: ProjectId): Promise<string> {
  const came = await withLocal(env, async (db) => {
    const joins = db ? await listJoinedInto(db, id) : [];
    return await Promise.all(
      joins.map(async ({ id: of, machine }) => {
        const name = (db && (await findProjectName(db, of))) ?? of;
        const by = machine === undefined ? "" : ` on ${machine}`;
        return (
          `${name} (${of}) was joined to it${by}: what its folder has written here since goes, ` +
          `too, unless \`memsync link DIR --id ${of}\` takes it back first. `
        );
      }),
    );
  });
  return came.join("");
}

/** A project whose deletion is sent, linked or not. */
interface Deletable extends Omit<ProjectStatus, "name"> {
  readonly name: string | null;
  readonly isLinked: boolean;
}

/** Throws for a project whose deletion would be sent nowhere. */
async function getDeletable(
  env: Environment,
  daemon: GatewayClient,
  id: ProjectId,
): Promise<Deletable> {
  const { projects, unlinked, remotes } = await askStatus(daemon);
  const linked = projects.find((each) => each.id === id);
  const other = unlinked.find((each) => each.id === id);
  const project = linked ?? other;
  const deleted = await withLocal(env, async (db) => db && (await nameOfDeleted(db, id)));
  if (deleted !== undefined)
    throw new CommandFailed(`${deleted} is deleted already`, { code: "deleted" });
  if (!project) {
    const first = `\`memsync link DIR --id ${id}\``;
    throw new CommandFailed(`nothing of ${id} is synced from here yet: ${first} first`);
  }
  const name = project.name ?? id;
  if (project.remote === "") {
    const again = `\`memsync link DIR --id ${id} --remote NAME\``;
    throw new CommandFailed(`${name} is bound to a remote that is no more: ${again} first`);
  }
  const at = remotes.find((remote) => remote.name === project.remote);
  if (other?.plain || at?.service.plain) {
    throw new CommandFailed(
      `the service of ${name} implements the published interface alone, which knows no ` +
        "deletion of a project: `memsync rm` and `memsync doc clear` delete what is in it",
    );
  }
  return { ...project, isLinked: linked !== undefined };
}

/** Undefined for an existing project. */
async function nameOfDeleted(db: Kysely<DaemonTables>, id: ProjectId): Promise<string | undefined> {
  if (!(await readDeletion(db, id))) return undefined;
  return (await findProjectName(db, id)) ?? id;
}

function contentShown({ text, memories }: Pick<ProjectStatus, "text" | "memories">): string {
  const lines = text === null ? [] : [`${count(text.lines, "line", "lines")} of text`];
  return [...lines, count(memories, "memory", "memories")].join(" and ");
}
