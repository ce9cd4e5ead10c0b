import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { Home } from "./home.ts";

/** Whether sessions of assistants are recorded and sent. They are until somebody says otherwise. */
export function recordsSessions({ noSessions }: Pick<Home, "noSessions">): boolean {
  return !existsSync(noSessions);
}

/** Says so, for a daemon that runs as well, from its next look on. */
export function switchSessions({ noSessions }: Pick<Home, "noSessions">, on: boolean): void {
  if (on) rmSync(noSessions, { force: true });
  else writeFileSync(noSessions, "");
}
