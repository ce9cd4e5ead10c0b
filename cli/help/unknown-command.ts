import type { Command, CommanderError } from "commander";
import { UsageError } from "../screen/errors.ts";

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

/**
 * What to do where a text was taken for an option, for it begins with a dash, or where an option is
 * none of the command's; undefined where another option is meant, or the command takes no text.
 */
export function hintAtDash(
  program: Command,
  args: readonly string[],
  { code, message }: Pick<CommanderError, "code" | "message">,
): string | undefined {
  if (code !== "commander.unknownOption" || /did you mean/i.test(message)) return undefined;
  const words = [program.name()];
  let command = program;
  for (const word of args) {
    const found = command.commands.find((each) => each.name() === word);
    if (!found) break;
    command = found;
    words.push(word);
  }
  const { registeredArguments: known } = command;
  if (known.length === 0) return undefined;
  const texts = args.slice(words.length - 1).filter((word) => !word.startsWith("-"));
  // All the texts that it needs are there already, so that this is none.
  if (texts.length >= known.filter(({ required }) => required).length)
    return `\`${words.join(" ")} --help\` lists its options`;
  const names = known.map((each) => each.name().toUpperCase());
  const line = [...words, "--", ...names].join(" ");
  return `what begins with a dash and is no option goes behind --: \`${line}\``;
}

async function unknownCommand(above: Command, word: string): Promise<UsageError> {
  const { didYouMean } = await import("../screen/did-you-mean.ts");
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
