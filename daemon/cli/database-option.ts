import type { Command } from "commander";
import type { Environment } from "./environment.ts";
import { UsageError } from "./errors.ts";
import { resolveFolder } from "./resolve-folder.ts";

export interface DatabaseFlag {
  readonly databaseUrl: string;
}

export function withDatabase(command: Command): Command {
  return command.option("--database-url <url>", "sqlite:PATH", "sqlite:memsync-server.db");
}

/** The file that a database's address names. */
export function databasePathOf(env: Environment, { databaseUrl }: DatabaseFlag): string {
  const path = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (path === undefined) throw new UsageError("--database-url is sqlite:PATH");
  return resolveFolder(env, path);
}
