import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitSandbox } from "./git-sandbox.ts";

/**
 * A folder with a `git` that does what the real one does, but knows as little as one of 2.30: it
 * says so of itself, and refuses an option that it does not know as that one does.
 */
export function oldGit({ path, env }: GitSandbox): string {
  const dir = path("old-git");
  mkdirSync(dir, { recursive: true });
  const program = join(dir, "git");
  const script = `#!/bin/sh
for each in "$@"; do
  case "$each" in
    --version) echo "git version 2.30.2"; exit 0 ;;
    --diff-merges=*) echo "fatal: unrecognized argument: $each" >&2; exit 128 ;;
  esac
done
PATH='${env.PATH}' exec git "$@"
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  return dir;
}
