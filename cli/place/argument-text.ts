import { readFileSync } from "node:fs";
import { UsageError } from "../screen/errors.ts";

/** What stands for bytes that are no UTF-8 once they were decoded. */
const REPLACEMENT = "\u{fffd}";
/** They name what is there as it is shown, and save nothing. */
const NAMING: readonly (string | undefined)[] = ["get", "rm"];

/** How a command was called. */
interface Call {
  readonly args: readonly string[];
  /** The arguments as the system has them; undefined where it doesn't tell. */
  readonly rawArguments: () => Uint8Array | undefined;
  /** npm decodes the arguments itself, and hands on what came of it. */
  readonly isByNpm: boolean;
}

/**
 * Refuses arguments that are not UTF-8. They were decoded before anybody could look, with another
 * character for what could not be read, so what is saved would not be what was typed.
 */
export function refuseChangedArguments(call: Call): void {
  const { args, isByNpm } = call;
  if (!args.some((arg) => arg.includes(REPLACEMENT))) return;
  const raw = call.rawArguments();
  if (raw !== undefined && isUtf8(raw) && !isByNpm) return;
  const isProven = raw !== undefined && !isUtf8(raw);
  if (!isProven && NAMING.includes(args[0])) return;
  throw new UsageError(
    isProven
      ? "an argument is not UTF-8, and would be changed; nothing is saved"
      : "an argument has U+FFFD, which stands for what is not UTF-8; nothing is saved. " +
          "If it is meant, give the text by standard input",
  );
}

/** The arguments of this process on Linux, each with a zero byte behind it. */
export function rawArguments(): Uint8Array | undefined {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return undefined;
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
