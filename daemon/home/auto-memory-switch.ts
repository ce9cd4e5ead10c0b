import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Home } from "./home.ts";

/**
 * What may be done with the folders in which assistants keep what they remember. `off`: they are
 * not even read.
 */
export type AutoMemoryMode = "off" | "read" | "write";

/** `off` until somebody says otherwise. */
export function autoMemoryMode({ autoMemory }: Pick<Home, "autoMemory">): AutoMemoryMode {
  try {
    const said = readFileSync(autoMemory, "utf8").trim();
    return said === "read" || said === "write" ? said : "off";
  } catch {
    return "off";
  }
}

/** Says so, for a daemon that runs as well, from its next look on. */
export function switchAutoMemory({ autoMemory }: Pick<Home, "autoMemory">, to: AutoMemoryMode) {
  if (to === "off") rmSync(autoMemory, { force: true });
  else writeFileSync(autoMemory, `${to}\n`);
}
