import { Command, CommanderError } from "commander";
import { AppError, messageOf } from "../../shared/errors.ts";
import { VERSION } from "../../shared/version.ts";
import { addConflictCommands } from "./commands/conflicts.ts";
import { addConformanceCommand } from "./commands/conformance.ts";
import { addDaemonCommands } from "./commands/daemon.ts";
import { addDemoCommand } from "./commands/demo.ts";
import { addDocCommand } from "./commands/doc.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addHistoryCommands } from "./commands/history.ts";
import { addMemoryCommands } from "./commands/memories.ts";
import { addServiceCommands } from "./commands/service.ts";
import { addUpCommand } from "./commands/up.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { CommandFailed, UsageError } from "./errors.ts";

const DONE = 0;
const FAILED = 1;
const USED_WRONGLY = 2;

/** The whole command line, without running any of it. */
export function createProgram(env: Environment): Command {
  const program = new Command("memsync")
    .description("Keeps what coding assistants learn, on every machine of yours.")
    .version(VERSION)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "memsync: ")),
    });
  addUpCommand(program, env);
  addDaemonCommands(program, env);
  addDoctorCommand(program, env);
  addMemoryCommands(program, env);
  addHistoryCommands(program, env);
  addDocCommand(program, env);
  addConflictCommands(program, env);
  addServiceCommands(program, env);
  addConformanceCommand(program, env);
  addDemoCommand(program);
  return program;
}

/** Runs one command line. Resolves to its exit status; problems are said on standard error. */
export async function runCommand(args: readonly string[], env: Environment): Promise<number> {
  try {
    await createProgram(env).parseAsync([...args], { from: "user" });
    return DONE;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? DONE : USED_WRONGLY;
    process.stderr.write(`memsync: ${sentence(thrown)}\n`);
    return thrown instanceof UsageError ? USED_WRONGLY : FAILED;
  }
}

/** A refusal's own words; for anything unforeseen, with its trace. */
function sentence(thrown: unknown): string {
  if (thrown instanceof CommandFailed || thrown instanceof UsageError) return thrown.message;
  if (thrown instanceof AppError) return thrown.message;
  return process.env.MEMSYNC_DEBUG && thrown instanceof Error
    ? String(thrown.stack)
    : messageOf(thrown);
}

/** What goes into a pipe is on its way only when the stream has ended. False: it was not taken. */
function printed(): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.once("error", () => resolve(false));
    process.stdout.end(() => resolve(true));
  });
}

if (import.meta.main) {
  const status = await runCommand(process.argv.slice(2), readEnvironment(process.env));
  process.exit((await printed()) ? status : status || FAILED);
}
