import type { Command } from "commander";
import { UsageError } from "../screen/errors.ts";

/**
 * Arguments and options that may be empty, or of which their command itself says what to give
 * instead: the words that a shell is completing, what is saved or searched for, another program's
 * words, and folders and projects, for which the current one may be meant.
 */
const LEFT_TO_COMMANDS: ReadonlySet<string> = new Set([
  "args",
  "value",
  "text",
  "query",
  "command",
  "dir",
  "dirs",
  "file",
  "project",
]);

/**
 * Refuses an empty word where something is named, such as an id of which a script's variable is not
 * set: a command would take it for a name that nothing has, or for one that was left out.
 */
export function refuseEmpty(command: Command): void {
  for (const [at, argument] of command.registeredArguments.entries()) {
    refuseIn(argument.name(), argument.name(), command.processedArgs[at]);
  }
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== "cli") continue;
    refuseIn(name, option.long ?? name, command.getOptionValue(name));
  }
}

function refuseIn(name: string, shown: string, given: unknown): void {
  if (LEFT_TO_COMMANDS.has(name)) return;
  const words: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (words.includes("")) throw new UsageError(`the ${shown} is empty: name one`);
}
