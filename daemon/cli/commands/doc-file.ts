import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Kysely } from "kysely";
import { parseProjectId } from "../../../shared/ids.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { listLinks } from "../../links.ts";
import { readMachineName } from "../../machine-name.ts";
import { readFollowed } from "../../sources/follow-store.ts";
import { ABSENT_HASH, FOLLOWED_PATHS, hashOf } from "../../sources/read-file.ts";
import { realPathOf } from "../../sources/working-tree.ts";
import { replaceFile } from "../../sources/write-file.ts";
import type { DaemonTables } from "../../tables.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed } from "../errors.ts";
import { findProject } from "../find-project.ts";
import { currentOf, textHistory, type Version } from "../local-history.ts";
import { count, say, sayJson } from "../output.ts";
import { withLocal } from "../place.ts";
import { saveText } from "../save.ts";

interface Options {
  readonly project?: string;
  readonly json?: boolean;
}

const WRITE_HELP = `
A followed file that is missing, or that git has emptied, deletes nothing and is left alone. This
gets it back, with what other machines have changed since. A file that has any text is not touched.

Examples:
  memsync doc write                         in the current folder's project
  memsync doc write --project ~/src/widget`;

const CLEAR_HELP = `
Deletes the document's text on every machine, and in every file that is followed both ways. What is
deleted stays in the history; \`memsync doc restore REV\` brings it back.

Examples:
  memsync doc clear
  memsync doc history                       the text that was deleted, with its REV`;

/** Adds `doc write` and `doc clear`: what becomes of a file that is gone. */
export function addFileCommands(doc: Command, env: Environment): void {
  const project = "a folder or a project's id, instead of the current folder";
  doc
    .command("write")
    .description("write the document into the project's file, where that is missing or empty")
    .option("--project <dir|id>", project)
    .option("--json", "print what was written as JSON")
    .addHelpText("after", WRITE_HELP)
    .action((_: Options, command: Command) => write(env, command.optsWithGlobals()));
  doc
    .command("clear")
    .description("delete the document's text on every machine")
    .option("--project <dir|id>", project)
    .option("--json", "print what was deleted as JSON")
    .addHelpText("after", CLEAR_HELP)
    .action((_: Options, command: Command) => clear(env, command.optsWithGlobals()));
}

/** A project's text, and the files that it is followed in here. */
interface Found {
  readonly id: string;
  readonly current: Version | undefined;
  readonly files: readonly string[];
}

async function find(env: Environment, { project }: Options): Promise<Found> {
  return await withLocal(env, async (db) => {
    const id = await findProject(db, project, env.dir);
    if (!db) return { id, current: undefined, files: [] };
    const machine = readMachineName(env.home);
    const current = currentOf(await textHistory({ db, document: id, machine }));
    return { id, current, files: await filesOf(env, db, id, project) };
  });
}

/** The file of the folder that is meant, or those of all folders where a project was named. */
async function filesOf(
  env: Environment,
  db: Kysely<DaemonTables>,
  id: string,
  named: string | undefined,
): Promise<string[]> {
  const links = (await listLinks(db)).filter(({ projectId }) => projectId === id);
  const isId = named !== undefined && parseProjectId(named) !== undefined;
  const folder = isId ? undefined : await realPathOf(resolve(env.dir, named ?? "."));
  const here = links.filter(({ dir }) => folder === dir || folder?.startsWith(`${dir}/`));
  const files: string[] = [];
  for (const { dir } of here.length > 0 ? here : links) {
    const known = await readFollowed(db, dir);
    files.push(join(dir, known?.path ?? FOLLOWED_PATHS[0]));
  }
  return files;
}

async function write(env: Environment, options: Options): Promise<void> {
  const { id, current, files } = await find(env, options);
  if (files.length === 0) {
    throw new CommandFailed(`${id} is linked to no folder here: \`memsync doc > FILE\` writes it`);
  }
  if (!current || current.value.trim() === "") {
    throw new CommandFailed("the document has no text: `memsync doc history` lists what it had");
  }
  const written: string[] = [];
  for (const file of files) if (await writeFile(file, current.value)) written.push(file);
  if (written.length === 0) {
    const named = files.join(", ");
    throw new CommandFailed(`${named} has text already: it is followed, and was not touched`);
  }
  if (options.json) sayJson({ project_id: id, files: written });
  else for (const file of written) say(`wrote ${file}`);
}

/** False: there is text in it. */
async function writeFile(file: string, content: string): Promise<boolean> {
  const present = existsSync(file) ? readFileSync(file) : undefined;
  if (present && present.toString("utf8").trim() !== "") return false;
  const expected = present ? hashOf(present) : ABSENT_HASH;
  const outcome = await replaceFile(file, content, expected, realWorld);
  if (outcome.kind === "written") await outcome.replaced?.close();
  return outcome.kind === "written";
}

async function clear(env: Environment, options: Options): Promise<void> {
  const { id, current } = await find(env, options);
  if (!current || current.value === "") {
    throw new CommandFailed("the document has no text: there is nothing to delete");
  }
  await saveText(env, id, current.value, "");
  const { revision } = current;
  if (options.json) {
    sayJson({ project_id: id, rev: revision });
    return;
  }
  const lines = count(
    current.value.split("\n").filter((line) => line !== "").length,
    "line",
    "lines",
  );
  say(`deleted ${lines} on every machine, once this is synced`);
  say(`\`memsync doc restore ${revision}\` brings them back`);
}
