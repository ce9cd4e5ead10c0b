// Run by npm when the package is installed: puts the compiled binary in the place of the launcher,
// so that no Node is started before it. Where that can't be done the launcher stays, which does the
// same. Downloads nothing.
import { linkSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findBinary } from "./find-binary.ts";

const LAUNCHER = "memsync";

/** Windows and other package managers start the command by a script that runs Node on it. */
function startsCommandItself(): boolean {
  const { npm_config_user_agent: agent = "" } = process.env;
  return process.platform !== "win32" && agent.startsWith("npm/");
}

function linkBinary(): void {
  const search = findBinary();
  if (search.kind !== "found" || !startsCommandItself()) return;
  const folder = dirname(require.main?.filename ?? "");
  const beside = join(folder, `${LAUNCHER}.new`);
  try {
    rmSync(beside, { force: true });
    linkSync(search.path, beside);
    renameSync(beside, join(folder, LAUNCHER));
  } catch {
    // A disk without hard links: the launcher starts the binary where it is.
    rmSync(beside, { force: true });
  }
}

linkBinary();
