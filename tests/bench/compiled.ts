import { join } from "node:path";
import { bundle, compile } from "../../scripts/bundle.ts";

const COMMAND_LINE = join(import.meta.dir, "../../cli/main.ts");
const BUILT = "cli.js";

/** Compiles this checkout's command line into a folder, and resolves to the binary's path. */
export async function compileInto(folder: string): Promise<string> {
  const binary = join(folder, "memsync");
  await compile(COMMAND_LINE, binary);
  return binary;
}

/** Builds the package's command line into a folder, and resolves to its path. */
export async function buildInto(folder: string): Promise<string> {
  await bundle({ programs: { [COMMAND_LINE]: BUILT }, target: "bun", dist: folder });
  return join(folder, BUILT);
}
