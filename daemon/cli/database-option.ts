import type { Command } from "commander";
import type { Environment } from "./environment.ts";
import { UsageError } from "./errors.ts";
import { resolveFolder } from "./resolve-folder.ts";

/** Where a host's database is, as it was typed; `databasePathOf` checks it. */
export interface DatabaseFlag {
  readonly databaseUrl: string;
}

/** Adds `--database-url`; when left out, `memsync-server.db` in the working folder. */
export function withDatabase(command: Command): Command {
  return command.option("--database-url <url>", "sqlite:PATH", "sqlite:memsync-server.db");
}

/** The file that a database's address names. */
export function databasePathOf(env: Environment, { databaseUrl }: DatabaseFlag): string {
  const path = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (path === undefined) throw new UsageError("--database-url is sqlite:PATH");
  return resolveFolder(env, path);
}
