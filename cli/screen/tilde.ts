import { homedir } from "node:os";

/** A path for a person: `~` stands for the user's folder. */
export function tilde(path: string): string {
  const home = homedir();
  if (path === home) return "~";
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
