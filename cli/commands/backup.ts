import type { Command } from "commander";
import {
  backUp,
  beginNewEpoch,
  copyDatabase,
  restore,
  shownDatabase,
} from "../../daemon/embedded/embedded-service.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandFailed } from "../screen/errors.ts";
import { say, sayJson, saySentence } from "../screen/output.ts";
import { shownWhile } from "../screen/shown-while.ts";
import { presentDatabase } from "../server/host-database.ts";
import { databasePathOf, type SettingFlags, withDatabase } from "../server/server-settings.ts";

interface CopyFlags {
  readonly databaseUrl?: string;
  readonly config?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const NEW_EPOCH_HELP = `
Servers notice a restore by themselves, but not that a whole machine was put back while its
PostgreSQL ran, as to a snapshot with its memory. After this, machines bring back what is missing.
A server on a file needs only a restart: it takes a new epoch at each start.

Examples:
  memsync server new-epoch --database-url postgres://memsync@db/memsync`;

/** `server backup`, `restore`, `copy` and `new-epoch`. */
export function addBackupCommands(server: Command, env: Environment): void {
  withDatabase(server.command("backup <file>"))
    .description("copy the database, whether the server runs or not")
    .option("--force", "put it in the place of a file that is there")
    .option("--json", "print what was done as JSON")
    .action((file: string, flags: CopyFlags) => runBackup(env, file, flags));
  withDatabase(server.command("restore <file>"))
    .description("put a backup in the place of the database, which is kept under another name")
    .option("--json", "print what was done as JSON")
    .action((file: string, flags: CopyFlags) => runRestore(env, file, flags));
  server
    .command("copy <from> <to>")
    .description("copy a database into an empty one: sqlite:PATH or postgres://… each")
    .option("--json", "print what was done as JSON")
    .action((from: string, to: string, flags: CopyFlags) => runCopy(env, { from, to }, flags));
  withDatabase(server.command("new-epoch"))
    .description("have machines bring back what a database lacks that was put back unnoticed")
    .option("--json", "print the epoch as JSON, null for a file")
    .addHelpText("after", NEW_EPOCH_HELP)
    .action((flags: CopyFlags) => runNewEpoch(env, flags));
}

async function runNewEpoch(env: Environment, flags: CopyFlags): Promise<void> {
  const database = presentDatabase(env, flags);
  const epoch = await beginNewEpoch(database, realWorld);
  if (flags.json) {
    sayJson({ database: shownDatabase(database), epoch: epoch ?? null });
    return;
  }
  if (epoch !== undefined) {
    saySentence(`${shownDatabase(database)} has a new epoch: machines bring back what is missing`);
    return;
  }
  saySentence("a server on a file takes a new epoch at each start: restart it, if it runs");
}

async function runCopy(
  env: Environment,
  { from, to }: { readonly from: string; readonly to: string },
  { json }: CopyFlags,
): Promise<void> {
  const [source, target] = [from, to].map((databaseUrl) => databasePathOf(env, { databaseUrl }));
  if (source === undefined || target === undefined || source === target) {
    throw new CommandFailed("a database is copied into another one: name two");
  }
  const copying = copyDatabase({ from: source, to: target, world: realWorld });
  const { documents, rows } = await shownWhile("copying", copying);
  if (json) {
    sayJson({ from: shownDatabase(source), to: shownDatabase(target), documents, rows });
    return;
  }
  saySentence(`copied ${documents} documents (${rows} rows) into ${shownDatabase(target)}`);
  saySentence("servers that are to use it have to be given it; the former one is left as it was");
  if (isPostgresAddress(source)) {
    say(
      "what servers have written to that since the copy began is not in it: stop them, then copy",
    );
  }
}

async function runBackup(env: Environment, named: string, flags: CopyFlags): Promise<void> {
  const file = resolveFolder(env, named);
  const database = fileOf(env, flags);
  const force = flags.force === true;
  const copied = backUp({ database, file, force, world: realWorld });
  const bytes = await shownWhile("backing up", copied);
  if (flags.json) sayJson({ file, bytes });
  else saySentence(`backed up to ${file} (${bytes} bytes)`);
}

async function runRestore(env: Environment, named: string, flags: CopyFlags): Promise<void> {
  const file = resolveFolder(env, named);
  const database = fileOf(env, flags);
  const copied = restore({ file, database, world: realWorld });
  const { setAside, revoked } = await shownWhile("restoring", copied);
  if (flags.json) {
    sayJson({ database, set_aside: setAside ?? null, tokens_revoked_again: revoked });
    return;
  }
  saySentence(`restored ${database} from ${file}`);
  if (setAside !== undefined) saySentence(`the database that was there is kept at ${setAside}`);
  if (revoked > 0) saySentence(`tokens revoked since the backup stay revoked: ${revoked}`);
  saySentence(
    "tokens and accounts made since the backup are not there any more: see `memsync server token list`",
  );
}

function fileOf(env: Environment, flags: CopyFlags): string {
  const path = databasePathOf(env, placeOf(flags));
  if (!isPostgresAddress(path)) return path;
  throw new CommandFailed(
    "a PostgreSQL is backed up and restored by its own tools, such as pg_dump and pg_restore; " +
      "`memsync server copy` copies one into a file",
  );
}

function placeOf({ databaseUrl, config }: CopyFlags): SettingFlags {
  return { databaseUrl, config };
}
