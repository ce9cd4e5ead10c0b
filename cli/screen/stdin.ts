import { CommandFailed } from "./errors.ts";

/** Standard input, byte for byte; what is not UTF-8 is refused rather than changed. */
export async function readStdinText(consequence: string): Promise<string> {
  const bytes = await new Response(Bun.stdin.stream()).bytes();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandFailed(`standard input is not UTF-8; ${consequence}`);
  }
}
