import { Command, CommanderError } from "commander";
import { AppError, messageOf } from "../../shared/errors.ts";
import { VERSION } from "../../shared/version.ts";
import { addCommands } from "./command-groups.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { CommandEnded, CommandFailed, UsageError, unforeseen } from "./errors.ts";
import { addExamples } from "./examples.ts";
import { layOutHelp, WRAPPED, writeHelp } from "./help-layout.ts";
import { complain } from "./output.ts";
import { assertHelpIsThere, nameUnknownCommands } from "./unknown-command.ts";

const DONE = 0;
const FAILED = 1;
const USED_WRONGLY = 2;

/**
 * The command line, without running any of it: what is needed for one that begins with `first`, and
 * all of it where that is left out.
 */
export async function createProgram(env: Environment, first?: string): Promise<Command> {
  const program = new Command("memsync")
    .description("Keeps what coding assistants learn, on every machine of yours.")
    .version(VERSION)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(WRAPPED)
    .configureOutput({
      writeOut: writeHelp,
      outputError: (text, write) => write(text.replace(/^error: /, "memsync: ")),
    });
  await addCommands(program, env, first);
  addExamples(program);
  layOutHelp(program);
  nameUnknownCommands(program);
  return program;
}

/** Runs one command line. Resolves to its exit status; problems are said on standard error. */
export async function runCommand(args: readonly string[], env: Environment): Promise<number> {
  try {
    const program = await createProgram(env, args[0]);
    await assertHelpIsThere(program, args);
    await program.parseAsync([...args], { from: "user" });
    return DONE;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? DONE : USED_WRONGLY;
    if (thrown instanceof CommandEnded) return thrown.status;
    complain(sentence(thrown));
    return thrown instanceof UsageError ? USED_WRONGLY : FAILED;
  }
}

/** A refusal's own words; for anything unforeseen, with its trace. */
function sentence(thrown: unknown): string {
  if (thrown instanceof CommandFailed || thrown instanceof UsageError) return thrown.message;
  if (thrown instanceof AppError) return thrown.message;
  if (process.env.MEMSYNC_DEBUG && thrown instanceof Error) return String(thrown.stack);
  return unforeseen(thrown);
}

/** What kept standard output from taking something; a reader that has enough is none. */
let unprinted: unknown;

function onOutputError(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== "EPIPE") unprinted ??= thrown;
}

/** What goes into a pipe is on its way only when the stream has ended. False: it was not taken. */
async function printed(): Promise<boolean> {
  await new Promise<void>((resolve) => {
    process.stdout.once("error", () => resolve());
    process.stdout.end(() => resolve());
  });
  return unprinted === undefined;
}

if (import.meta.main) {
  process.stdout.on("error", onOutputError);
  const status = await runCommand(process.argv.slice(2), readEnvironment(process.env));
  if (await printed()) process.exit(status);
  const why = messageOf(unprinted);
  process.stderr.write(`memsync: standard output could not be written to its end (${why})\n`);
  process.exit(status || FAILED);
}
