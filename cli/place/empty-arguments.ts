import type { Argument, Command, Option } from "commander";
import { UsageError } from "../screen/errors.ts";

/**
 * For each command, the arguments that may be empty, or about which it says itself what to give.
 */
const taken = new WeakMap<Command, readonly string[]>();

/**
 * Lets a command have arguments that are empty, by their names: what is saved, or another program's
 * words. Every other argument and option names something, and is refused; see `refuseEmpty`.
 */
export function takesEmpty(command: Command, ...names: readonly string[]): Command {
  taken.set(command, names);
  return command;
}

/**
 * Refuses an empty word where something is named, such as an id of which a script's variable is not
 * set: a command would take it for a name that nothing has, or for one that was left out.
 */
export function refuseEmpty(command: Command): void {
  const names = taken.get(command) ?? [];
  for (const [at, argument] of command.registeredArguments.entries()) {
    if (names.includes(argument.name())) continue;
    refuseIn(command.processedArgs[at], () => argumentAdvice(argument));
  }
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== "cli") continue;
    refuseIn(command.getOptionValue(name), () => optionAdvice(option));
  }
}

function refuseIn(given: unknown, advice: () => string): void {
  const words: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (words.includes("")) throw new UsageError(advice());
}

function argumentAdvice(argument: Argument): string {
  const name = argument.name();
  const isFolder = ["dir", "dirs", "project"].includes(name);
  return `<${name}> is empty: ${isFolder ? HERE : "name one"}`;
}

function optionAdvice({ long, flags }: Option): string {
  return `${long ?? flags} is empty: ${flags.includes("dir|") ? HERE : "say what it is to be"}`;
}

const HERE = "`.` is the current folder";
