import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { basename, join } from "node:path";
import { machineName } from "../../shared/replica/document/machine-name.ts";
import type { Home } from "./home.ts";

const PRIVATE_FILE = 0o600;
const UNNAMED = "machine";

/**
 * The name of this machine, which conflicts and histories show on every machine of the account: the
 * content of the home's file `machine`, else the host's name.
 */
export function readMachineName(home: Home): string {
  const written = existsSync(home.machine) ? readFileSync(home.machine, "utf8") : "";
  return machineName(written) ?? defaultName(home);
}

/** Returns a function that gives the current name. It reads the file again after a change. */
export function currentMachineName(home: Home): () => string {
  let known: { readonly version: string; readonly name: string } | undefined;
  return () => {
    try {
      const stats = statSync(home.machine, { throwIfNoEntry: false });
      const version = stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : "";
      if (known?.version !== version) known = { version, name: readMachineName(home) };
      return known.name;
    } catch {
      // An unreadable name must not make a write fail.
      return known?.name ?? defaultName(home);
    }
  };
}

/** Writes the name into the home if there is none, so that the owner can change it. */
export function keepMachineName(home: Home): void {
  if (existsSync(home.machine)) return;
  writeFileSync(home.machine, `${defaultName(home)}\n`, { mode: PRIVATE_FILE });
}

/**
 * Two homes on one host are two machines. A home at another path than the usual one adds its
 * folder's name.
 */
function defaultName(home: Home): string {
  const host = machineName(hostname().split(".", 1)[0]) ?? UNNAMED;
  if (home.dir === join(homedir(), ".memsync")) return host;
  return machineName(`${host}:${basename(home.dir)}`) ?? host;
}
