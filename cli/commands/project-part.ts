import type { Command } from "commander";
import { listLinks } from "../../daemon/home/links.ts";
import { findProjectName } from "../../daemon/home/project-name.ts";
import type { LocalMemory } from "../../daemon/reading/local-memories.ts";
import { AppError } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { findNamedProject } from "../place/named-project.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { count, momentShown, say, sayAside, sayJson, saySentence } from "../screen/output.ts";
import { type BroughtMemories, findBrought, takeOut } from "../writes/part-project.ts";

const HELP = `
For a folder that was linked to a wrong project by \`memsync link --id\`, and is linked back: lists
the memories that it brought there, and after a yes deletes these in that project, on every
machine. Only those are listed that were written before the folder came, that nobody has changed
since, and that the folder's own project has, too. They stay there, and \`memsync restore\` gets
one back.

The project must be linked to a folder here: nothing is sent of one that is not.

Lines of the project's text stay. \`memsync doc history\` has the text of before the folder came,
and \`memsync doc restore REV\` gets it back.

Examples:
  memsync project part widget      the project of that name
  memsync project part . --yes     asks nobody, as in a script`;

interface Options {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `project part`. */
export function addPartCommand(project: Command, env: Environment): void {
  project
    .command("part <project>")
    .description("take out of a project what a folder that went back had brought, after asking")
    .option("--yes", "do it without asking")
    .option("--json", "print the keys as JSON")
    .addHelpText("after", HELP)
    .action((named: string, options: Options) => part(env, named, options));
}

async function part(env: Environment, named: string, { yes, json }: Options): Promise<void> {
  const id = await withLocal(env, (db) => findNamedProject(db, named, env));
  const brought = await withLocal(env, async (db) => (db ? await findBrought(db, id) : []));
  const memories = brought.flatMap((each) => each.memories);
  const name = await nameOf(env, id);
  if (memories.length > 0) {
    await refuseUnlinked(env, { id, name, memories });
    const some = brought.filter((each) => each.memories.length > 0);
    const from = await Promise.all(some.map((each) => broughtShown(env, each)));
    await agreeTo(
      `Delete ${count(memories.length, "memory", "memories")} of ${name} (${id}) everywhere? ` +
        `What is brought stays where it came from: ${from.join("; ")}.`,
      { yes },
    );
  }
  const deleted = memories.length > 0 ? await takeOut(env, id, memories) : [];
  if (json) {
    sayJson({ id, deleted });
    return;
  }
  if (deleted.length > 0) {
    const what = count(deleted.length, "memory", "memories");
    saySentence(`deleted ${what} of ${name}; its text stays`);
    for (const key of deleted) say(`  ${key}`);
    sayAside(`\`memsync history KEY --project ${id}\` has each still`);
  } else if (brought.length === 0) {
    saySentence(`no folder that was linked to ${name} has gone back to its own project`);
  } else {
    saySentence(`nothing was taken out of ${name}`);
  }
  for (const each of brought) {
    const own = await nameOf(env, each.from);
    for (const line of leftLines(each, { id, name, own })) sayAside(line);
  }
}

/** What stays of that which a folder has brought, and what can be done about it. */
function leftLines(
  { memories, contested, apart, isKnown }: BroughtMemories,
  { id, name, own }: Readonly<Record<"id" | "name" | "own", string>>,
): string[] {
  if (!isKnown) {
    return [
      `a former version has linked the folder of ${own} to ${name}, and did not keep what came: ` +
        `\`memsync list --project ${id}\` shows what is there, \`memsync rm KEY --project ` +
        `${id}\` deletes one`,
    ];
  }
  if (memories.length + contested.length + apart.length === 0) {
    return [`of what ${own} has brought, nothing is in ${name} as it came`];
  }
  const rm = `\`memsync rm KEY --project ${id}\` deletes one of these in ${name}`;
  return [
    ...(contested.length > 0
      ? [
          `${contested.join(", ")}: ${own} brought it, and there are two versions: \`memsync ` +
            `conflicts --project ${id}\``,
        ]
      : []),
    ...(apart.length > 0
      ? [`${apart.join(", ")}: ${own} brought it, and has another value now, or none: ${rm}`]
      : []),
  ];
}

/** Deletions in a project that no folder is linked to would stay on this machine. */
async function refuseUnlinked(
  env: Environment,
  { id, name, memories }: { id: ProjectId; name: string; memories: readonly LocalMemory[] },
): Promise<void> {
  const links = await withLocal(env, async (db) => (db ? await listLinks(db) : []));
  if (links.some(({ projectId }) => projectId === id)) return;
  const keys = memories.map(({ key }) => key).join(", ");
  throw new AppError(
    "invalid_request",
    `no folder here is linked to ${name} (${id}), so nothing of it would be sent: ` +
      `\`memsync link DIR --id ${id}\` links a folder of it, then part it. ` +
      `Or delete by \`memsync rm KEY\` where one is linked: ${keys}`,
  );
}

async function nameOf(env: Environment, id: ProjectId): Promise<string> {
  return (await withLocal(env, async (db) => db && (await findProjectName(db, id)))) ?? id;
}

async function broughtShown(
  env: Environment,
  { from, at, memories }: BroughtMemories,
): Promise<string> {
  const keys = memories.map(({ key }) => key).join(", ");
  return `${await nameOf(env, from)}, ${momentShown(timestampOf(at), realWorld.now())}: ${keys}`;
}
