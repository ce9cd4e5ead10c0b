import { homedir } from "node:os";
import type { Command } from "commander";
import { claudeCodePlace } from "../../daemon/assistants/claude-code/memory-folders.ts";
import {
  type ScannedFile,
  type ScannedFolder,
  scanMemoryFolders,
} from "../../daemon/assistants/memory-folders/scan-memory-folders.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import {
  type AutoMemoryMode,
  autoMemoryMode,
  switchAutoMemory,
} from "../../daemon/home/auto-memory-switch.ts";
import { prepareHome } from "../../daemon/home/home.ts";
import {
  type AskedMemoryFile,
  listAskedMemoryFiles,
  settleMemoryFile,
} from "../../daemon/home/memory-files.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { withLocal } from "../place/place.ts";
import { namedProjects } from "../place/project-names.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import {
  bytesShown,
  count,
  say,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { visible } from "../screen/visible.ts";
import { changeHome } from "../writes/inbox-write.ts";

interface AutoMemoryFlags {
  readonly write?: boolean;
  readonly project?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const HELP = `
Claude Code keeps what it remembers of a project in a folder of Markdown files. Nothing is done
with them before you say \`on\`. Then each file is a memory of its project: what looks like a secret
is held, everything else is sent with the project. With --write, what came from such files on other
machines is written into files here.

A file that is missing deletes nothing elsewhere, nor does a memory that was deleted elsewhere
remove a file here: \`memsync status\` asks, and \`restore\` or \`delete\` settles it.

Examples:
  memsync auto-memory                what there is, and what would be read or is held
  memsync auto-memory on             read it from now on
  memsync auto-memory on --write     and write here what others' assistants remember
  memsync auto-memory off            neither, from now on; what was sent stays where it is
  memsync auto-memory restore        bring back what is asked about, here and everywhere
  memsync auto-memory delete old.md  delete it everywhere`;

/** `auto-memory`: what assistants remember in files of their own. */
export function addAutoMemoryCommand(program: Command, env: Environment): void {
  const command = program.command("auto-memory").enablePositionalOptions();
  const withJson = (each: Command) =>
    each.option("--json", "print it as JSON").addHelpText("after", HELP);
  withJson(command)
    .description("Claude Code's auto memory: what there is; on, off, restore, delete")
    .action((flags: AutoMemoryFlags) => list(env, flags));
  withJson(command.command("on"))
    .description("read it on this machine from now on")
    .option("--write", "write what came from elsewhere into its files, too")
    .action((_: unknown, each: Command) => turnOn(env, each.optsWithGlobals()));
  withJson(command.command("off"))
    .description("neither read nor write it from now on")
    .action((_: unknown, each: Command) => turn(env, "off", each.optsWithGlobals()));
  const withNames = (each: Command) =>
    withJson(each).option("--project <dir|id|name>", "those of one project alone");
  withNames(command.command("restore [name...]"))
    .description("bring back files that are missing, and memories that were deleted")
    .action((names: readonly string[], _: unknown, each: Command) =>
      settle(env, "restore", { names, flags: each.optsWithGlobals() }),
    );
  withNames(command.command("delete [name...]"))
    .description("delete on every machine what is missing here, and here what was deleted")
    .option("--yes", "do it without asking")
    .action((names: readonly string[], _: unknown, each: Command) =>
      settle(env, "delete", { names, flags: each.optsWithGlobals() }),
    );
}

async function scan(env: Environment) {
  const place = claudeCodePlace(homedir(), env.variables);
  return await withLocal(env, async (db) => {
    const folders = db ? await scanMemoryFolders(db, createGit(), place) : [];
    return { folders, names: await namedProjects(db) };
  });
}

async function list(env: Environment, { json }: AutoMemoryFlags): Promise<void> {
  const mode = autoMemoryMode(env.home);
  const { folders, names } = await scan(env);
  if (json) {
    sayJson({ mode, folders: folders.map(asJson) });
    return;
  }
  for (const { path, project, note, files } of folders) {
    const name = names.find(({ id }) => id === project)?.name ?? project ?? "";
    say(visible(`${tilde(path)}   ${shortName(name)}`));
    if (note !== null) saySentence(visible(`  ${note}`));
    if (files.length > 0) sayRows(table(files.map(row)));
  }
  if (folders.length === 0) say("no linked project has a folder of auto memory here");
  saySentence(MODES[mode]);
}

function asJson({ project, ...folder }: ScannedFolder) {
  return { ...folder, project_id: project };
}

function row({ name, bytes, state, note }: ScannedFile): string[] {
  const size = bytes === null ? "" : bytesShown(bytes);
  const said = note === null || state === "ignored" ? [] : [note];
  return [`  ${visible(name)}`, size, [STATES[state], ...said].join(": ")];
}

const STATES: Readonly<Record<ScannedFile["state"], string>> = {
  new: "not read yet",
  followed: "a memory",
  held: "held",
  ignored: "ignored",
  "left-alone": "left alone",
  missing: "missing here",
  deleted: "its memory was deleted",
};

const MODES: Readonly<Record<AutoMemoryMode, string>> = {
  off: "auto memory is off: `memsync auto-memory on` reads these files, `on --write` writes, too",
  read: "auto memory is read, and not written: `memsync auto-memory on --write` does both",
  write: "auto memory is read and written: `memsync auto-memory off` ends that",
};

async function turnOn(env: Environment, flags: AutoMemoryFlags): Promise<void> {
  await turn(env, flags.write ? "write" : "read", flags);
}

/** A daemon that runs looks at it before each of its looks, and is told to look now. */
async function turn(env: Environment, mode: AutoMemoryMode, { json }: AutoMemoryFlags) {
  prepareHome(env.home);
  switchAutoMemory(env.home, mode);
  const daemon = await findDaemon(env.home);
  await daemon?.call("POST", "/_memsync/inbox", { body: {} }).catch(() => undefined);
  if (json) {
    sayJson({ mode });
    return;
  }
  if (mode === "off") {
    saySentence("auto memory is neither read nor written; what was sent stays where it is");
    return;
  }
  const { folders } = await scan(env);
  const files = folders.flatMap((folder) => folder.files);
  const held = files.filter(({ state }) => state === "held").length;
  const secrets = held === 0 ? "" : `, of which ${held} will be held`;
  const what = mode === "write" ? "read and written" : "read";
  saySentence(`auto memory is ${what}: ${count(files.length, "file", "files")} here${secrets}`);
}

async function settle(
  env: Environment,
  as: "restore" | "delete",
  { names, flags }: { readonly names: readonly string[]; readonly flags: AutoMemoryFlags },
): Promise<void> {
  const asked = await withLocal(env, async (db) => {
    if (!db) return [];
    const id = flags.project && (await findMeantProject(db, flags.project, env));
    return (await listAskedMemoryFiles(db)).filter(({ name, project }) => {
      return (!id || project === id) && (names.length === 0 || names.includes(name));
    });
  });
  const unknown = names.find((name) => !asked.some((each) => each.name === name));
  if (unknown !== undefined) throw new CommandFailed(`nothing is asked about ${unknown}`);
  if (asked.length > 0 && as === "delete") await agreeToDelete(asked, flags);
  await changeHome(env.home, async (db) => {
    for (const file of asked) await settleMemoryFile(db, file, as);
  });
  if (flags.json) sayJson({ [as]: asked.map(({ folder, name }) => ({ folder, name })) });
  else if (asked.length === 0) say("nothing is asked about");
  else {
    const what = count(asked.length, "file", "files");
    saySentence(`the daemon ${as === "delete" ? "deletes" : "brings back"} ${what}`);
  }
}

async function agreeToDelete(asked: readonly AskedMemoryFile[], { yes }: AutoMemoryFlags) {
  const missing = asked.filter((each) => each.asked === "missing").length;
  const what = [
    ...(missing > 0 ? [`${count(missing, "memory", "memories")} on every machine`] : []),
    ...(missing < asked.length ? [`${count(asked.length - missing, "file", "files")} here`] : []),
  ].join(" and ");
  await agreeTo(`Delete ${what}? The history keeps the texts for a while.`, { yes });
}
