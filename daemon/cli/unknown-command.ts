import type { Command } from "commander";
import { UsageError } from "./errors.ts";

/**
 * Lets commands that do something by themselves and have commands, too, refuse what is none of
 * these by its name, where the parser would count arguments.
 */
export function nameUnknownCommands({ commands }: Command): void {
  for (const command of commands) {
    if (command.commands.length === 0) continue;
    if (command.registeredArguments.length === 0) {
      command.allowExcessArguments().hook("preAction", async (_, acting) => {
        const [word] = acting.args;
        if (acting === command && word !== undefined) throw await unknownCommand(command, word);
      });
    }
    nameUnknownCommands(command);
  }
}

/** Refuses a request for the help of a command that there is not. */
export async function assertHelpIsThere(program: Command, args: readonly string[]) {
  const [first, word] = args;
  if (first !== "help" || word === undefined || word.startsWith("-")) return;
  if (word !== "help" && !program.commands.some((each) => each.name() === word)) {
    throw await unknownCommand(program, word);
  }
}

async function unknownCommand(above: Command, word: string): Promise<UsageError> {
  const { didYouMean } = await import("./did-you-mean.ts");
  const names = above
    .createHelp()
    .visibleCommands(above)
    .map((each) => each.name());
  const nearly = didYouMean(word, names);
  const help = above.parent ? `${above.name()} --help` : "help";
  return new UsageError(
    `unknown command '${word}'${nearly || `: \`memsync ${help}\` lists those there are`}`,
  );
}
