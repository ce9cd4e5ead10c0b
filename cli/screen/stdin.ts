import { CommandFailed } from "./errors.ts";

/** Standard input as text. Refuses bytes that are not UTF-8, which would be changed otherwise. */
export async function readStdinText(consequence: string): Promise<string> {
  const bytes = await new Response(Bun.stdin.stream()).bytes();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandFailed(`standard input is not UTF-8; ${consequence}`);
  }
}
