import type { Command, CommanderError } from "commander";
import { didYouMean } from "../screen/did-you-mean.ts";
import { UsageError } from "../screen/errors.ts";

/**
 * Lets commands that do something by themselves and have commands, too, refuse what is none of
 * these by its name, where the parser would count arguments.
 */
export function nameUnknownCommands({ commands }: Command): void {
  for (const command of commands) {
    if (command.commands.length === 0) continue;
    if (command.registeredArguments.length === 0) {
      command.allowExcessArguments().hook("preAction", (_, acting) => {
        const [word] = acting.args;
        if (acting === command && word !== undefined)
          throw new UsageError(unknownWord(command, word));
      });
    }
    nameUnknownCommands(command);
  }
}

/** Refuses a request for the help of a command that there is not. */
export function assertHelpIsThere(program: Command, args: readonly string[]): void {
  const [first, word] = args;
  if (first !== "help" || word === undefined || word.startsWith("-")) return;
  if (word !== "help" && !program.commands.some((each) => each.name() === word)) {
    throw new UsageError(unknownWord(program, word));
  }
}

/**
 * What the parser refused of a command line, in a sentence for each thing to say: with the command
 * or option that was probably meant, or else what helps. None where it has said all by itself.
 */
export function wordsOn(
  program: Command,
  args: readonly string[],
  { code, message }: Pick<CommanderError, "code" | "message">,
): string[] {
  if (!message.startsWith(ERROR)) return [];
  const said = message.slice(ERROR.length);
  const { command, words } = commandIn(program, args);
  if (code === "commander.unknownCommand") return [unknownWord(command, lastQuoted(said))];
  if (code !== "commander.unknownOption") return [said];
  const nearly = didYouMean(lastQuoted(said), optionsOf(command));
  return [`${said}${nearly}`, ...(nearly === "" ? [hintAtDash(command, words, args)] : [])];
}

const ERROR = "error: ";

/** The command that a line is about, and the words that name it. */
function commandIn(program: Command, args: readonly string[]) {
  const words = [program.name()];
  let command = program;
  for (const word of args) {
    const found = command.commands.find((each) => each.name() === word);
    if (!found) break;
    command = found;
    words.push(word);
  }
  return { command, words };
}

function lastQuoted(said: string): string {
  return /'([^']*)'[^']*$/.exec(said)?.[1] ?? "";
}

function optionsOf(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command);
  return options.flatMap(({ long }) => long ?? []);
}

/**
 * What to do where a text was taken for an option, for it begins with a dash, or where an option is
 * none of the command's.
 */
function hintAtDash(command: Command, words: readonly string[], args: readonly string[]): string {
  const { registeredArguments: known } = command;
  const texts = args.slice(words.length - 1).filter((word) => !word.startsWith("-"));
  // All the texts that it needs are there already, so that this is none.
  if (texts.length >= known.filter(({ required }) => required).length)
    return `\`${words.join(" ")} --help\` lists its options`;
  const names = known.map((each) => each.name().toUpperCase());
  const line = [...words, "--", ...names].join(" ");
  return `what begins with a dash and is no option goes behind --: \`${line}\``;
}

function unknownWord(above: Command, word: string): string {
  const names = above
    .createHelp()
    .visibleCommands(above)
    .map((each) => each.name());
  const help = above.parent ? `${above.name()} --help` : "help";
  const otherwise = `: \`memsync ${help}\` lists those there are`;
  return `unknown command '${word}'${didYouMean(word, names) || otherwise}`;
}
