import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { explain } from "../../shared/reasons.ts";
import type { Environment } from "../place/environment.ts";
import { findText, type ProjectText, pickVersion } from "../place/project-text.ts";
import { CommandEnded, CommandFailed } from "../screen/errors.ts";
import { say, sayAside, sayJson } from "../screen/output.ts";
import { hasTerminal, styled } from "../screen/terminal.ts";
import { tilde } from "../screen/tilde.ts";
import { unifiedDiff } from "../screen/unified-diff.ts";
import { visibleLines } from "../screen/visible.ts";

interface Options {
  readonly project?: string;
  readonly exitCode?: boolean;
  readonly json?: boolean;
}

const HELP = `
Without a REV from the document to the file here, with one from that version to the file here, with
two from the first version to the second. \`memsync doc history\` lists the versions.

The exit status is 0 whether anything differs or not, and 1 where it could not be found out. With
--exit-code it is that of diff: 0 equal, 1 different, 2 not found out.

Examples:
  memsync doc diff                       what the file here has that the document has not
  memsync doc diff k3j5h2ab              what was changed since that version
  memsync doc diff k3j5h2ab w2xa5lq7     what was changed between two versions
  memsync doc diff --exit-code > /dev/null || echo "not the same"`;

const DIFFERENT = 1;
const TROUBLE = 2;

/** Adds `doc diff`. */
export function addDiffCommand(doc: Command, env: Environment): void {
  doc
    .command("diff [rev] [other]")
    .description("show what differs between the document, its versions and the file here")
    .option("--project <dir|id|name>", "another project than the current folder's")
    .option("--exit-code", "end with 1 where anything differs, and with 2 where that is not known")
    .option("--json", "print it as JSON")
    .addHelpText("after", HELP)
    .action((rev: string | undefined, other: string | undefined, _: Options, command: Command) =>
      diff(env, [rev, other], command.optsWithGlobals()),
    );
}

async function diff(
  env: Environment,
  revisions: readonly (string | undefined)[],
  options: Options,
): Promise<void> {
  const { id, from, to } = await find(env, revisions, options).catch((thrown) => {
    if (!options.exitCode || !(thrown instanceof CommandFailed)) throw thrown;
    throw new CommandFailed(thrown.message, { ...thrown, status: TROUBLE });
  });
  const text = unifiedDiff(from.content, to.content, { from: from.name, to: to.name });
  if (options.json) sayJson({ project_id: id, from: from.name, to: to.name, diff: text });
  else print(text);
  if (options.exitCode && text !== "") throw new CommandEnded(DIFFERENT);
}

/** One side of a comparison. */
interface Side {
  /** Its name in the head of the diff. */
  readonly name: string;
  readonly content: string;
}

async function find(
  env: Environment,
  [rev, other]: readonly (string | undefined)[],
  { project }: Options,
): Promise<{ readonly id: string; readonly from: Side; readonly to: Side }> {
  const text = await findText(env, project);
  const from = rev === undefined ? documentSide(text) : versionSide(text, rev);
  const to = other === undefined ? fileSide(text, from) : versionSide(text, other);
  return { id: text.id, from, to };
}

function documentSide({ current }: ProjectText): Side {
  return { name: "document", content: current?.value ?? "" };
}

function versionSide(text: ProjectText, revision: string): Side {
  return { name: `document ${revision}`, content: pickVersion(text, revision).value };
}

function fileSide({ id, files, current }: ProjectText, from: Side): Side {
  const [placed, ...others] = files;
  if (placed === undefined) {
    throw new CommandFailed(
      `${id} is linked to no folder here: name two versions, as \`memsync doc history\` lists them`,
      { code: "unlinked" },
    );
  }
  if (others.length > 0) {
    throw new CommandFailed(`${id} has several files here: say which by --project DIR`, {
      code: "ambiguous",
    });
  }
  const { file, refused } = placed;
  if (refused) throw new CommandFailed(`${tilde(file)} ${explain(refused)}`);
  if (!existsSync(file)) {
    const missing = `${tilde(file)} is missing`;
    if (current && !isBlank(current.value)) {
      throw new CommandFailed(`${missing}: \`memsync doc write\` gets it`);
    }
    const instead = isBlank(from.content)
      ? "there is nothing to compare"
      : "name two versions, as `memsync doc history` lists them";
    throw new CommandFailed(`${missing}, and the document has no text: ${instead}`, {
      code: "not-found",
    });
  }
  return { name: tilde(file), content: readFileSync(file, "utf8") };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function print(text: string): void {
  if (!hasTerminal()) process.stdout.write(text);
  else if (text === "") sayAside("nothing differs");
  else for (const line of text.slice(0, -1).split("\n")) say(coloured(visibleLines(line)));
}

function coloured(line: string): string {
  if (/^(---|\+\+\+) /.test(line)) return styled("bold", line);
  if (line.startsWith("@@")) return styled("cyan", line);
  if (line.startsWith("+")) return styled("green", line);
  return line.startsWith("-") ? styled("red", line) : line;
}
