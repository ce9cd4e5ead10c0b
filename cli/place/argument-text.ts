import { UsageError } from "../screen/errors.ts";
import { CHANGED_ARGUMENT, changeOf, type RawArguments } from "./changed-arguments.ts";

/** Commands that take a key only to find a memory. They save nothing. */
const NAMING: readonly (string | undefined)[] = ["get", "rm"];

/** How a command was called. */
interface Call {
  readonly args: readonly string[];
  readonly rawArguments: RawArguments;
  /** npm decodes the arguments itself, so the system has only what came of that. */
  readonly isByNpm: boolean;
}

/**
 * Refuses arguments that are not UTF-8. They were decoded before anybody could look, with another
 * character for what could not be read, so what is saved would not be what was typed.
 */
export function refuseChangedArguments({ args, rawArguments, isByNpm }: Call): void {
  const change = changeOf(args, rawArguments);
  if (change === "proven") throw new UsageError(CHANGED_ARGUMENT);
  const seen = isByNpm ? changeOf(args, () => undefined) : change;
  if (seen === "none" || NAMING.includes(args[0])) return;
  throw new UsageError(
    "an argument has U+FFFD, which stands for what is not UTF-8; nothing is saved. " +
      "If it is meant, give the text by standard input",
  );
}
