import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import type { Command } from "commander";
import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { PortableHome } from "../../daemon/portable/format.ts";
import type { ImportResult } from "../../daemon/portable/import-home.ts";
import { filesOf } from "../../daemon/portable/markdown-folder.ts";
import {
  getDefault,
  getRemote,
  readRemotes,
  shownDefault,
} from "../../daemon/remotes/remote-view.ts";
import { renameDurably } from "../../shared/durable-files.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import type { AccountId } from "../../shared/ids.ts";
import { utf8Bytes } from "../../shared/limits.ts";
import type { Environment } from "../place/environment.ts";
import { ownDocument, parseLayerOption } from "../place/layer-option.ts";
import { targetOf, withAgreements, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { resolveFolder } from "../place/resolve-folder.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { bytesShown, count, sayAside, sayJson, saySentence } from "../screen/output.ts";
import { Progress } from "../screen/progress.ts";
import { countHeldIn, exportHome, type HeldInExport } from "../transfer/export-home.ts";
import { writeFolder } from "../transfer/folders.ts";
import { isSeenByGit } from "../transfer/in-git.ts";
import type { LeftOutNote } from "../transfer/others-home.ts";
import { type ImportSource, readImport, STANDARD_STREAM } from "../transfer/read-import.ts";
import { agreeToImport } from "../writes/agree-to-instructions.ts";
import { agreeToAudience } from "../writes/audience.ts";
import { importInto } from "../writes/import-into.ts";

const PRIVATE_FILE = 0o600;

interface ExportFlags {
  readonly remote?: string;
  readonly force?: boolean;
  readonly markdown?: boolean;
  readonly json?: boolean;
}

interface ImportFlags extends ImportSource {
  readonly json?: boolean;
  readonly yes?: boolean;
}

const EXPORT_HELP = `
The document holds every project with its name, description document, metadata, memories and
conflicts, and the memories of user and global. What is held for looking like a secret is in it, so
keep it to yourself. Histories, folders and tokens are not.

Examples:
  memsync export                        to standard output
  memsync export memories.json
  memsync export --markdown notes       as a folder: a file for each memory
  memsync export | ssh laptop memsync import -`;

const IMPORT_HELP = `
Each value is a write of this machine's: what it replaces goes to the history, or where that is held
stays in \`memsync held\`; what equals the value there changes nothing, and what looks like a secret
is held. Nothing is deleted. What would change your own instructions is asked about. A document with
anything wrong in it is refused whole. Of a folder, and of another tool's notes, those are left out,
and named, that can be no memories.

Examples:
  memsync import memories.json
  memsync import - < memories.json
  memsync import notes                  a folder that \`export --markdown\` wrote, edited or not
  memsync import vault --layer user     every Markdown file of a folder, as one of basic-memory's
  memsync import memory.jsonl --project .   what MCP's reference memory server keeps
  memsync import claude-mem.db --of shop --project ~/src/shop
  memsync import memories.json --json   how many memories were created, updated, unchanged, and
                                        the notes that were left out`;

/** `export` and `import`: everything on this machine as one JSON document. */
export function addTransferCommands(program: Command, env: Environment): void {
  program
    .command("export [file]")
    .description("write everything that is on this machine into one JSON document")
    .option("--force", "put it in the place of a file that is there")
    .option("--markdown", "write a folder, with a Markdown file for each memory")
    .option("--remote <name>", "user and global memories of this remote, not the default's")
    .option("--json", "print what was written to the file as JSON")
    .addHelpText("after", EXPORT_HELP)
    .action((file: string | undefined, flags: ExportFlags) => runExport(env, file, flags));
  withAgreements(program.command("import <file>"))
    .description("take over what `memsync export` or another tool wrote; - is standard input")
    .option(
      "--layer <layer>",
      "where another tool's notes go: project, user or global",
      parseLayerOption,
    )
    .option("--project <dir|id|name>", "the project that another tool's notes go to")
    .option("--of <name>", "those of this project of claude-mem's")
    .option("--json", "print what was done as JSON")
    .addHelpText("after", IMPORT_HELP)
    .action((file: string, flags: ImportFlags) => runImport(env, file, flags));
}

async function runExport(
  env: Environment,
  named = STANDARD_STREAM,
  flags: ExportFlags,
): Promise<void> {
  const file = named === STANDARD_STREAM ? undefined : resolveFolder(env, named);
  const { markdown = false } = flags;
  if (markdown && file === undefined) throw new UsageError("--markdown needs the name of a folder");
  if (file !== undefined && !flags.force && !markdown && existsSync(file)) {
    throw new CommandFailed(`${file} is there already: name another file, or say --force`, {
      code: "taken",
    });
  }
  const progress = new Progress("exporting", "documents");
  const { home, held } = await withLocal(env, async (db) => {
    const own = db ? await ownAccount(env, db, flags.remote) : LOCAL_ACCOUNT;
    const exported = await exportHome(db, own, (done, total) => progress.update(done, total));
    return { home: exported, held: await countHeldIn(db, own) };
  }).finally(() => progress.end());
  const text = `${JSON.stringify(home, null, 2)}\n`;
  if (file === undefined) {
    process.stdout.write(text);
    sayHeld(held);
    if (process.stdout.isTTY) sayAside("`memsync export FILE` writes it into a file");
    return;
  }
  if (markdown) await writeFolder(file, filesOf(home));
  else await writeWhole(file, text);
  sayHeld(held);
  if (await isSeenByGit(file)) {
    sayAside(`git sees ${file}, so a commit may take it along: it has all that is kept here`);
  }
  const { projects, memories } = sizeOf(home);
  const bytes = utf8Bytes(text);
  if (flags.json)
    sayJson({ file, projects, memories, bytes, held: held.secrets, left_out: held.leftOut });
  else saySentence(`exported ${inWords(projects, memories)} to ${file} (${bytesShown(bytes)})`);
}

/** Says whether held writes are in the export. To be called once the export is written. */
function sayHeld({ secrets, leftOut }: HeldInExport): void {
  const kept = count(secrets, "held write is", "held writes are");
  const texts = count(leftOut, "held text is", "held texts are");
  if (secrets > 0) sayAside(`${kept} in the export, so keep it to yourself`);
  if (leftOut > 0) {
    sayAside(`${texts} left out, too large or written over since; what was synced is in it`);
  }
}

/** Whether another account of the home has user or global memories. */
async function hasOthersOwn(db: Kysely<DaemonTables>, account: AccountId): Promise<boolean> {
  const row = await db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select("row_id")
    .where("owner", "!=", account)
    .where("name", "in", [ownDocument("user"), ownDocument("global")])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The account whose user and global memories are included: the named remote's, else the default's.
 */
async function ownAccount(env: Environment, db: Kysely<DaemonTables>, named: string | undefined) {
  const view = await readRemotes(db, remoteEnvironment(env));
  const { name, account } =
    named === undefined ? shownDefault(view) : getRemote(view.remotes, named);
  if (await hasOthersOwn(db, account)) {
    sayAside(`user and global memories are those of ${name}; --remote takes another's`);
  }
  return account;
}

/** Writes the file completely or not at all, readable by its owner only. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  try {
    const handle = await open(draft, "wx", PRIVATE_FILE);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameDurably(draft, file);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw new CommandFailed(`${file} can't be written: ${fileFailure(thrown)}`);
  }
}

function sizeOf({ projects, user, global }: PortableHome) {
  const layers = [...projects, user, global];
  const memories = layers.reduce((sum, layer) => sum + layer.memories.length, 0);
  return { projects: projects.length, memories };
}

function inWords(projects: number, memories: number): string {
  return `${count(projects, "project", "projects")}, ${count(memories, "memory", "memories")}`;
}

async function runImport(env: Environment, named: string, flags: ImportFlags): Promise<void> {
  const { json } = flags;
  const { home, leftOut } = await readImport(env, named, flags);
  if (home.global.memories.length > 0) {
    const account = await withLocal(env, async (db) => {
      return db ? getDefault(await readRemotes(db, remoteEnvironment(env))).account : LOCAL_ACCOUNT;
    });
    await agreeToAudience(env, { layer: "global", account }, { done: "imported", options: flags });
  }
  const { memories } = home.user;
  if (memories.length > 0) {
    const place = await withLocal(env, (db) => targetOf(env, db, { layer: "user" }));
    await agreeToImport(env, place, { memories, options: flags });
  }
  const progress = new Progress("importing", "memories");
  const result = await importInto(env, home, (done, total) => progress.update(done, total)).finally(
    () => progress.end(),
  );
  if (json) sayJson({ ...result, notes_left_out: leftOut });
  else sayResult(home, result, leftOut);
}

/** What an import is about, in words. */
function importedFrom({ projects, user, global }: PortableHome): string {
  const own = Object.entries({ user, global }).filter(([, { memories }]) => memories.length > 0);
  const layers = own.map(([layer]) => layer).join(" and ");
  if (projects.length === 0) return layers === "" ? "nothing" : `memories of ${layers}`;
  const memories = `memories of ${count(projects.length, "project", "projects")}`;
  return layers === "" ? memories : `${memories}, and of ${layers}`;
}

function sayResult(
  home: PortableHome,
  { created, updated, unchanged, held, left_held, left_out, texts }: ImportResult,
  leftOut: readonly LeftOutNote[],
) {
  for (const { name, reason } of leftOut) sayAside(`not imported, ${name}: ${reason}`);
  const counts = `${created} created, ${updated} updated, ${unchanged} unchanged`;
  const documents = texts > 0 ? `; ${count(texts, "document", "documents")} changed` : "";
  const omitted = leftOut.length > 0 ? `; ${count(leftOut.length, "note", "notes")} left out` : "";
  saySentence(`imported ${importedFrom(home)}: ${counts}${documents}${omitted}`);
  if (held > 0) sayAside(`${held} held on this machine: \`memsync held\` says why`);
  if (left_held > 0) {
    const texts = count(left_held, "held text is", "held texts are");
    sayAside(`${texts} written over and in no history: \`memsync held\` shows them`);
  }
  if (left_out > 0) {
    sayAside(`${left_out} losing versions look like secrets and were left out`);
  }
}
