import { homedir } from "node:os";

/** A path for a person: below the user's own folder it begins with `~`. */
export function tilde(path: string): string {
  const home = homedir();
  if (path === home) return "~";
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
