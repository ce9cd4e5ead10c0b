import { join } from "node:path";
import { compile } from "../../scripts/bundle.ts";

const COMMAND_LINE = join(import.meta.dir, "../../daemon/cli/main.ts");

/** Compiles this checkout's command line into a folder, and resolves to the binary's path. */
export async function compileInto(folder: string): Promise<string> {
  const binary = join(folder, "memsync");
  await compile(COMMAND_LINE, binary);
  return binary;
}
