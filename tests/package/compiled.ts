import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./consumer.ts";

/** What `npm run compile` makes, in a folder of its own. */
export interface Compiled extends Disposable {
  readonly folder: string;
  /** Path of the executable. */
  readonly binary: string;
}

export async function compiled(): Promise<Compiled> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-binary-"));
  const command = [process.execPath, join(ROOT, "scripts/compile.ts"), folder];
  const compiler = Bun.spawn(command, { stdio: ["ignore", "ignore", "inherit"] });
  if ((await compiler.exited) !== 0) throw new Error("the binary could not be made");
  return {
    folder,
    binary: join(folder, "memsync"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
