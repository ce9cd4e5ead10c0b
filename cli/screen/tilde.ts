import { homedir } from "node:os";
import { visible } from "./visible.ts";

/** A path for a person: `~` stands for the user's folder. */
export function tilde(path: string): string {
  const home = homedir();
  if (path === home) return "~";
  return visible(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
}
