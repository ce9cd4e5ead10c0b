import { readFileSync } from "node:fs";

/** What stands for bytes that are no UTF-8 once they were decoded. */
const REPLACEMENT = "\u{fffd}";

/** `proven`: some bytes are no UTF-8. `possible`: the system doesn't tell what was typed. */
export type ArgumentChange = "none" | "possible" | "proven";

/** The arguments as the system has them; undefined where it doesn't tell. */
export type RawArguments = () => Uint8Array | undefined;

/** Whether arguments were changed when they were decoded. */
export function changeOf(args: readonly string[], readRaw: RawArguments): ArgumentChange {
  if (!args.some((arg) => arg.includes(REPLACEMENT))) return "none";
  const raw = readRaw();
  if (raw === undefined) return "possible";
  return isUtf8(raw) ? "none" : "proven";
}

/** The arguments of this process on Linux, each with a zero byte behind it. */
export function rawArguments(): Uint8Array | undefined {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return undefined;
  }
}

/** The sentence for arguments that were certainly changed. */
export const CHANGED_ARGUMENT = "an argument is not UTF-8, and would be changed; nothing is saved";

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
