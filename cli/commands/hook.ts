import type { Command } from "commander";
import { takesEmpty } from "../place/empty-arguments.ts";
import type { Environment } from "../place/environment.ts";

const HELP = `
Assistants run this at the start and the end of a session, and tell on standard input which it is.
It always ends with 0. An event or an option that it does not know does nothing, so that the line
in an assistant's settings never has to change.

  session-start   prints what is known of the project, once for each session
  post-compact    keeps the summary that the assistant wrote, on this machine
  stop, session-end   has the daemon read the session's transcript

Examples:
  memsync hook session-start
  echo '{"session_id":"1","cwd":"/src/widget"}' | memsync hook session-start`;

/** `hook`: what an assistant runs at the start and the end of a session. */
export function addHookCommand(program: Command, env: Environment): void {
  takesEmpty(program.command("hook [event]"), "event")
    .description("what assistants run at the start and the end of a session")
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText("after", HELP)
    .action(async (event: string | undefined) => {
      if (event === undefined || process.stdin.isTTY) return;
      const { readInput } = await import("../hooks/read-input.ts");
      const { hookDeadlineMs, runHook } = await import("../hooks/run-hook.ts");
      const input = await readInput(Bun.stdin.stream(), hookDeadlineMs(env));
      process.stdout.write(await runHook(env, event, input));
    });
}
