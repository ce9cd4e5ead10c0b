import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Command, CommanderError } from "commander";
import { AppError, messageOf } from "../shared/errors.ts";
import { VERSION } from "../shared/version.ts";
import { addCommands } from "./command-groups.ts";
import { addExamples } from "./help/examples.ts";
import { layOutHelp, WRAPPED, writeHelp } from "./help/help-layout.ts";
import { assertHelpIsThere, nameUnknownCommands, wordsOn } from "./help/unknown-command.ts";
import { type Environment, readEnvironment } from "./place/environment.ts";
import { CommandEnded, CommandFailed, UsageError, unforeseen } from "./screen/errors.ts";
import { complain } from "./screen/output.ts";

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
    .showSuggestionAfterError(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp(WRAPPED)
    .configureOutput({
      writeOut: writeHelp,
      outputError: () => {},
    });
  await addCommands(program, env, first);
  program.hook("preAction", () => refuseRelativeHome(env));
  addExamples(program);
  layOutHelp(program);
  nameUnknownCommands(program);
  return program;
}

/** A home that depends on where one stands is another one at each place: none of them is meant. */
function refuseRelativeHome({ variables, home }: Environment): void {
  const { MEMSYNC_HOME } = variables;
  if (!MEMSYNC_HOME || isAbsolute(MEMSYNC_HOME)) return;
  throw new CommandFailed(
    `MEMSYNC_HOME is a relative path, ${MEMSYNC_HOME}: set it to an absolute one, as ${home.dir}`,
  );
}

/** Runs one command line. Resolves to its exit status; problems are said on standard error. */
async function runCommand(args: readonly string[], env: Environment): Promise<number> {
  let program: Command | undefined;
  try {
    program = await createProgram(env, args[0]);
    assertHelpIsThere(program, args);
    await program.parseAsync([...args], { from: "user" });
    await tellNotices(args, env);
    return DONE;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return DONE;
      for (const line of program ? wordsOn(program, args, thrown) : []) complain(line);
      return USED_WRONGLY;
    }
    if (thrown instanceof CommandEnded) return thrown.status;
    complain(sentence(thrown));
    if (thrown instanceof UsageError) return USED_WRONGLY;
    await tellNotices(args, env);
    return FAILED;
  }
}

/** What could not be told changes nothing of what a command has done. */
async function tellNotices(args: readonly string[], env: Environment): Promise<void> {
  if (!existsSync(env.home.notices)) return;
  const { sayNotices } = await import("./notices/say-notices.ts");
  try {
    sayNotices(env, args);
  } catch (thrown) {
    complain(`notices can't be read: ${messageOf(thrown)}`);
  }
}

/** A refusal's own words; for anything unforeseen, with its trace. */
function sentence(thrown: unknown): string {
  if (thrown instanceof CommandFailed || thrown instanceof UsageError) return thrown.message;
  if (thrown instanceof AppError) return thrown.message;
  if (process.env.MEMSYNC_DEBUG && thrown instanceof Error) return String(thrown.stack);
  return unforeseen(thrown);
}

/** What kept standard output from taking something. */
let outputError: NodeJS.ErrnoException | undefined;

function onOutputError(thrown: NodeJS.ErrnoException): void {
  outputError ??= thrown;
}

/**
 * What goes into a pipe is on its way only when the stream has ended; one that has failed never
 * ends on Node. False: something was not taken by a reader that has not had enough.
 */
async function printed(): Promise<boolean> {
  await new Promise<void>((resolve) => {
    if (outputError !== undefined) return resolve();
    process.stdout.once("error", () => resolve());
    process.stdout.end(() => resolve());
  });
  return outputError === undefined || outputError.code === "EPIPE";
}

if (import.meta.main) {
  process.stdout.on("error", onOutputError);
  const status = await runCommand(process.argv.slice(2), readEnvironment(process.env));
  if (await printed()) process.exit(status);
  const why = messageOf(outputError);
  process.stderr.write(`memsync: standard output could not be written to its end (${why})\n`);
  process.exit(status || FAILED);
}
