import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { basename, join } from "node:path";
import { machineName } from "../../shared/replica/document/machine-name.ts";
import type { Home } from "./home.ts";

const PRIVATE_FILE = 0o600;
const UNNAMED = "machine";

/**
 * The name of this machine, as conflicts and histories show it on every machine of the account:
 * what the home's file `machine` says, else the host's name.
 */
export function readMachineName(home: Home): string {
  const written = existsSync(home.machine) ? readFileSync(home.machine, "utf8") : "";
  return machineName(written) ?? defaultName(home);
}

/** The name as it is at each call: the file is read again once it was changed. */
export function currentMachineName(home: Home): () => string {
  let known: { readonly version: string; readonly name: string } | undefined;
  return () => {
    try {
      const stats = statSync(home.machine, { throwIfNoEntry: false });
      const version = stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : "";
      if (known?.version !== version) known = { version, name: readMachineName(home) };
      return known.name;
    } catch {
      // No write fails for the sake of a name.
      return known?.name ?? defaultName(home);
    }
  };
}

/** Writes the name into the home where there is none, for its owner to change. */
export function keepMachineName(home: Home): void {
  if (existsSync(home.machine)) return;
  writeFileSync(home.machine, `${defaultName(home)}\n`, { mode: PRIVATE_FILE });
}

/** Two homes on one host are two machines: one that is not the usual one adds its folder's name. */
function defaultName(home: Home): string {
  const host = machineName(hostname().split(".", 1)[0]) ?? UNNAMED;
  if (home.dir === join(homedir(), ".memsync")) return host;
  return machineName(`${host}:${basename(home.dir)}`) ?? host;
}
