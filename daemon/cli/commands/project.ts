import type { Command } from "commander";
import { dropHeldOf } from "../../held/held-store.ts";
import type { DaemonStatus, ProjectStatus } from "../../status.ts";
import { agreeTo } from "../agree.ts";
import { OWN_DEADLINE_MS } from "../daemon-contact.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed } from "../errors.ts";
import { findProject } from "../find-project.ts";
import type { GatewayClient } from "../gateway-client.ts";
import { getDaemon } from "../get-daemon.ts";
import { changeHome } from "../offline-write.ts";
import { count, sayJson, saySentence } from "../output.ts";
import { withLocal } from "../place.ts";

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

const HELP = `
Deletes the text, the memories and the metadata of a project here, on its service, and on every
machine that syncs it. Files stay as they are, and are not followed any more. A machine that was
offline brings nothing back: what it wrote meanwhile is kept, the project remains deleted, and
\`memsync status\` says so there. What was deleted is in each machine's history for 90 days.

\`memsync link --anew\` in one of its folders begins the project anew, with the file that is there.

Examples:
  memsync project rm .                    the current folder's project
  memsync project rm proj_k3j5h2ab --yes  asks nobody, as in a script`;

/** `project rm`. */
export function addProjectCommand(program: Command, env: Environment): void {
  const project = program.command("project").description("what is done to a whole project");
  project
    .command("rm <project>")
    .description("delete a project, a folder's or by its id, everywhere, after asking")
    .option("--yes", "do it without asking")
    .option("--json", "print its id as JSON")
    .addHelpText("after", HELP)
    .action((named: string, options: Options) => remove(env, named, options));
}

async function remove(env: Environment, named: string, options: Options): Promise<void> {
  const id = await withLocal(env, (db) => findProject(db, named, env));
  const daemon = await getDaemon(env);
  const project = await getLinked(daemon, id);
  const { name } = project;
  await agreeTo(
    `Delete ${name} (${id}) with ${contentShown(project)}, everywhere? Files stay.`,
    options,
  );
  await changeHome(env.home, (db) => dropHeldOf(db, id));
  await daemon.call("DELETE", `/api/projects/${id}`, undefined, { deadlineMs: OWN_DEADLINE_MS });
  if (options.json) sayJson({ id, deleted: true });
  else {
    saySentence(`deleted ${name} here, and everywhere once this is synced; its files stay`);
    saySentence(
      "`memsync unlink` in its folders forgets them, `memsync link --anew` begins it anew",
    );
  }
}

/** Only what is linked is synced, and a deletion has to be. */
async function getLinked(daemon: GatewayClient, id: string): Promise<ProjectStatus> {
  const options = { deadlineMs: OWN_DEADLINE_MS };
  const read = await daemon.call("GET", "/_memsync/status", undefined, options);
  const { projects, remotes } = read as DaemonStatus;
  const project = projects.find((each) => each.id === id);
  if (!project) {
    const first = `\`memsync link DIR --id ${id}\``;
    throw new CommandFailed(
      `${id} is linked to no folder here, so it is not synced: ${first} first`,
    );
  }
  if (project.deleted) throw new CommandFailed(`${project.name} is deleted already`);
  if (remotes.find(({ name }) => name === project.remote)?.service.plain) {
    throw new CommandFailed(
      `the service of ${project.name} implements the published interface alone, which knows no ` +
        "deletion of a project: `memsync rm` and `memsync doc clear` delete what is in it",
    );
  }
  return project;
}

function contentShown({ text, memories }: ProjectStatus): string {
  const lines = text === null ? [] : [`${count(text.lines, "line", "lines")} of text`];
  return [...lines, count(memories, "memory", "memories")].join(" and ");
}
