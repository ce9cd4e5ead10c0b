import type { Command } from "commander";
import { explain } from "../../shared/reasons.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { Environment } from "../place/environment.ts";
import { findText } from "../place/project-text.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import { count, say, sayAside, sayJson, saySentence } from "../screen/output.ts";
import { sayLeftHeld } from "../writes/left-held.ts";
import { saveText } from "../writes/save.ts";
import { writeMissing } from "../writes/write-missing.ts";

interface Options {
  readonly project?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
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
  memsync doc clear --yes                   in a script, where nobody can be asked
  memsync doc history                       the text that was deleted, with its REV`;

/** Adds `doc write` and `doc clear`, which decide about a missing file. */
export function addFileCommands(doc: Command, env: Environment): void {
  const project = "another project than the current folder's";
  doc
    .command("write")
    .description("write the document into the project's file, where that is missing or empty")
    .option("--project <dir|id|name>", project)
    .option("--json", "print what was written as JSON")
    .addHelpText("after", WRITE_HELP)
    .action((_: Options, command: Command) => write(env, command.optsWithGlobals()));
  doc
    .command("clear")
    .description("delete the document's text on every machine, after asking")
    .option("--project <dir|id|name>", project)
    .option("--yes", "do it without asking")
    .option("--json", "print what was deleted as JSON")
    .addHelpText("after", CLEAR_HELP)
    .action((_: Options, command: Command) => clear(env, command.optsWithGlobals()));
}

async function write(env: Environment, options: Options): Promise<void> {
  const { id, current, ...found } = await findText(env, options.project);
  const files = [...found.files, ...found.also];
  if (files.length === 0) {
    throw new CommandFailed(`${id} is linked to no folder here: \`memsync doc > FILE\` writes it`, {
      code: "unlinked",
    });
  }
  if (!current || current.value.trim() === "") {
    throw new CommandFailed("the document has no text: `memsync doc history` lists what it had", {
      code: "not-found",
    });
  }
  const written: string[] = [];
  for (const placed of files) {
    if (!placed.refused && (await writeMissing(placed, current.value))) written.push(placed.file);
  }
  const [refused] = files.flatMap((each) => (each.refused ? [{ ...each, why: each.refused }] : []));
  if (written.length === 0 && refused) {
    throw new CommandFailed(`nothing was written: ${refused.file} ${explain(refused.why)}`);
  }
  if (written.length === 0) {
    const named = files.map(({ file }) => file).join(", ");
    const said = files.length === 1 ? "has text already: it is" : "have text already: they are";
    const was = files.length === 1 ? "was" : "were";
    throw new CommandFailed(`${named} ${said} followed, and ${was} not touched`);
  }
  if (options.json) sayJson({ project_id: id, files: written });
  else for (const file of written) say(`wrote ${file}`);
}

async function clear(env: Environment, options: Options): Promise<void> {
  const { id, current, seenSeq } = await findText(env, options.project);
  if (!current || current.value === "") {
    throw new CommandFailed("the document has no text: there is nothing to delete", {
      code: "not-found",
    });
  }
  const lines = count(plainLines(current.value).length, "line", "lines");
  await agreeTo(`Delete ${lines} of text here and on every other machine, files too?`, options);
  const { leftHeld } = await saveText(env, id, { base: current.value, values: [""], seenSeq });
  if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  const { revision } = current;
  if (options.json) {
    sayJson({ project_id: id, rev: revision });
    return;
  }
  saySentence(`deleted ${lines} on every machine, once this is synced`);
  saySentence(`\`memsync doc restore ${revision}\` brings them back`);
}
