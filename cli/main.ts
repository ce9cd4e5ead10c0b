import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Command, CommanderError } from "commander";
import { UnknownDefault } from "../daemon/home/remote.ts";
import { AppError, messageOf, ServiceAway } from "../shared/errors.ts";
import { unforeseen } from "../shared/sqlite/failures.ts";
import { VERSION } from "../shared/version.ts";
import { addCommands } from "./command-groups.ts";
import { addExamples } from "./help/examples.ts";
import { layOutHelp, WRAPPED, writeHelp } from "./help/help-layout.ts";
import { assertHelpIsThere, nameUnknownCommands, wordsOn } from "./help/unknown-command.ts";
import { refuseChangedArguments } from "./place/argument-text.ts";
import { rawArguments } from "./place/changed-arguments.ts";
import { refuseEmpty } from "./place/empty-arguments.ts";
import { type Environment, readEnvironment } from "./place/environment.ts";
import { takeLauncherPipe } from "./place/launcher-end.ts";
import { CommandEnded, CommandFailed, UsageError } from "./screen/errors.ts";
import { FAILURE_OF, type FailureCode } from "./screen/failure-codes.ts";
import { homeFailure } from "./screen/home-failure.ts";
import { shortened } from "./screen/long-words.ts";
import { complain, hasSaidJson, sayJson } from "./screen/output.ts";

/** The end of the list of all commands, which is longer than a screen. */
const FIRST_STEPS = `
Begin with \`memsync up\` in the folder of a project. \`memsync demo\` shows what memsync does.`;

const DONE = 0;
const FAILED = 1;
const USED_WRONGLY = 2;

/**
 * Builds the command line without running any of it: the part that a line beginning with `first`
 * needs, or all of it without `first`.
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
      writeOut: (text) => writeHelp(text),
      writeErr: (text) => writeHelp(text, process.stderr),
      outputError: () => {},
    });
  await addCommands(program, env, first);
  program.hook("preAction", () => refuseRelativeHome(env));
  program.hook("preAction", (_, action) => refuseEmpty(action));
  addExamples(program);
  layOutHelp(program);
  program.addHelpText("after", FIRST_STEPS);
  nameUnknownCommands(program);
  return program;
}

/** Refuses a relative home, which would be another one in each folder. */
function refuseRelativeHome({ variables, home }: Environment): void {
  const { MEMSYNC_HOME } = variables;
  if (!MEMSYNC_HOME || isAbsolute(MEMSYNC_HOME)) return;
  if (/^~[\\/]/.test(MEMSYNC_HOME)) {
    const meant = join(homedir(), MEMSYNC_HOME.slice(2));
    throw new CommandFailed(
      `MEMSYNC_HOME is ${MEMSYNC_HOME}, and only a shell knows ~: set it to ${meant}`,
    );
  }
  throw new CommandFailed(
    `MEMSYNC_HOME is a relative path, ${MEMSYNC_HOME}: set it to an absolute one, as ${home.dir}`,
  );
}

/** Runs one command line and resolves to its exit status. Errors are printed on standard error. */
async function runCommand(args: readonly string[], env: Environment): Promise<number> {
  let program: Command | undefined;
  let wantsJson = false;
  try {
    const isByNpm = env.variables.npm_lifecycle_event !== undefined;
    refuseChangedArguments({ args, rawArguments, isByNpm });
    program = await createProgram(env, args[0]);
    program.hook("preAction", (_, action) => {
      wantsJson = action.optsWithGlobals().json === true;
    });
    assertHelpIsThere(program, args);
    await program.parseAsync([...args], { from: "user" });
    await tellNotices(args, env);
    return DONE;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return DONE;
      for (const line of program ? wordsOn(program, args, thrown) : []) await refuse(args, line);
      return USED_WRONGLY;
    }
    if (thrown instanceof CommandEnded) {
      if (thrown.sentence !== undefined) await refuse(args, thrown.sentence);
      return thrown.status;
    }
    const said = sentence(thrown, placeOf(args, env));
    await refuse(args, said, furtherOf(thrown));
    if (thrown instanceof UsageError) return USED_WRONGLY;
    if (wantsJson) await sayFailure(args, codeOf(thrown), said);
    await tellNotices(args, env, thrown instanceof UnknownDefault);
    return thrown instanceof CommandFailed ? thrown.status : FAILED;
  }
}

/** A message may quote what was typed, and must not repeat a secret, nor what nobody can read. */
async function quoter(args: readonly string[]): Promise<(said: string) => string> {
  const { typedHider } = await import("./screen/typed-secrets.ts");
  const hide = await typedHider(args);
  return (said) => shortened(hide(said), args);
}

async function refuse(
  args: readonly string[],
  said: string,
  further: readonly string[] = [],
): Promise<void> {
  const quote = await quoter(args);
  complain(quote(said), further.map(quote));
}

/**
 * What a program reads of a failure. A command that has printed its answer before it failed has
 * said there what is wrong.
 */
async function sayFailure(args: readonly string[], code: FailureCode, said: string): Promise<void> {
  if (hasSaidJson()) return;
  sayJson({ error: { code, message: (await quoter(args))(said) } });
}

/** A listener that fails keeps what the system said of it. */
function isPortTaken(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

function codeOf(thrown: unknown): FailureCode {
  if (thrown instanceof CommandFailed) return thrown.code;
  if (thrown instanceof ServiceAway) return "offline";
  if (isPortTaken(thrown)) return "port-in-use";
  return thrown instanceof AppError ? FAILURE_OF[thrown.code] : "unforeseen";
}

/** They say where the home's content is sent. */
const ABOUT_SERVICE: readonly (string | undefined)[] = ["status", "preview", "projects", "remote"];

/** A notice that can't be shown must not change a command's result. */
async function tellNotices(
  args: readonly string[],
  env: Environment,
  isVariableSaid = false,
): Promise<void> {
  const setsSome = env.serviceUrl !== undefined || env.serviceToken !== undefined;
  // A shell that sets nothing means what the running daemon has. Beside one, only those look whose
  // answer depends on where the home's content goes.
  const looks = !existsSync(env.home.record) || ABOUT_SERVICE.includes(args[0]);
  const mayDiffer = setsSome || (existsSync(env.home.database) && looks);
  if (mayDiffer && !isVariableSaid) {
    const { sayUnkept } = await import("./notices/say-unkept.ts");
    await sayUnkept(env, args);
  }
  if (!existsSync(env.home.notices)) return;
  const { sayNotices } = await import("./notices/say-notices.ts");
  try {
    sayNotices(env, args);
  } catch (thrown) {
    complain(`notices can't be read: ${messageOf(thrown)}`);
  }
}

/** The lines below the sentence: a refusal's own, or the trace that was wished for. */
function furtherOf(thrown: unknown): readonly string[] {
  if (thrown instanceof CommandFailed || thrown instanceof UsageError) return thrown.further;
  if (thrown instanceof AppError) return thrown.message.split("\n").slice(1);
  const isTraced = process.env.MEMSYNC_DEBUG && !(thrown instanceof AppError);
  return isTraced && thrown instanceof Error ? String(thrown.stack).split("\n").slice(1) : [];
}

/** A refusal's own words; for an unexpected error, with its trace. */
function sentence(thrown: unknown, place: string | undefined): string {
  if (thrown instanceof CommandFailed || thrown instanceof UsageError) return thrown.message;
  if (thrown instanceof AppError) return thrown.message.split("\n", 1)[0] ?? "";
  if (process.env.MEMSYNC_DEBUG && thrown instanceof Error) return String(thrown);
  return place === undefined ? unforeseen(thrown) : homeFailure(thrown, place);
}

/** Commands whose databases lie elsewhere than in the home. */
const ELSEWHERE: readonly (string | undefined)[] = ["emulator", "server"];

function placeOf(args: readonly string[], { home }: Environment): string | undefined {
  return ELSEWHERE.includes(args[0]) ? undefined : home.dir;
}

/** The error of standard output, if one occurred. */
let outputError: NodeJS.ErrnoException | undefined;

function onOutputError(thrown: NodeJS.ErrnoException): void {
  outputError ??= thrown;
}

/**
 * Output to a pipe is delivered only when the stream has ended; after an error that never happens
 * on Node. False: something was not delivered although the reader was still there.
 */
async function printed(): Promise<boolean> {
  await new Promise<void>((resolve) => {
    if (outputError !== undefined) return resolve();
    process.stdout.once("error", () => resolve());
    process.stdout.end(() => resolve());
  });
  return outputError === undefined || outputError.code === "EPIPE";
}

/** An assistant's session must not fail because of what it is told. */
const NEVER_FAILS: readonly (string | undefined)[] = ["hook"];

if (import.meta.main) {
  process.stdout.on("error", onOutputError);
  const args = process.argv.slice(2);
  const launcherPipe = takeLauncherPipe(process.env);
  const ended = await runCommand(args, { ...readEnvironment(process.env), launcherPipe });
  const status = NEVER_FAILS.includes(args[0]) ? DONE : ended;
  if (await printed()) process.exit(status);
  const why = messageOf(outputError);
  process.stderr.write(`memsync: standard output could not be written to its end (${why})\n`);
  process.exit(NEVER_FAILS.includes(args[0]) ? DONE : status || FAILED);
}
