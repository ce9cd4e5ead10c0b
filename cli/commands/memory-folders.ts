import { homedir } from "node:os";
import type { Command } from "commander";
import { folderSources } from "../../daemon/assistants/memory-folders/folder-sources.ts";
import {
  type ScannedFile,
  type ScannedFolder,
  scanMemoryFolders,
} from "../../daemon/assistants/memory-folders/scan-memory-folders.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import {
  FOLDER_KINDS,
  type FolderKind,
  type FolderMode,
  folderMode,
  switchFolders,
} from "../../daemon/home/folder-switches.ts";
import { prepareHome } from "../../daemon/home/home.ts";
import {
  type AskedMemoryFile,
  listAskedMemoryFiles,
  settleMemoryFile,
} from "../../daemon/home/memory-files.ts";
import type { FolderStatusView } from "../../daemon/status/memory-status.ts";
import { askStatus } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { withLocal } from "../place/place.ts";
import { namedProjects } from "../place/project-names.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import {
  bytesShown,
  count,
  say,
  sayJson,
  sayRows,
  saySentence,
  shortName,
  table,
} from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { visible } from "../screen/visible.ts";
import { FOLDER_WORDS, type FolderWords } from "../views/folder-words.ts";
import { clashingFiles } from "../writes/clashing-files.ts";
import { changeHome } from "../writes/inbox-write.ts";
import { writtenSince } from "../writes/written-memories.ts";

interface FolderFlags {
  readonly write?: boolean;
  readonly project?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `auto-memory` and the like: what assistants remember, or are told, in files of their own. */
export function addMemoryFolderCommands(program: Command, env: Environment): void {
  for (const kind of FOLDER_KINDS) new FolderCommands(kind, env).addTo(program);
}

/** The commands about folders of one kind. */
class FolderCommands {
  readonly #kind: FolderKind;
  readonly #env: Environment;
  readonly #words: FolderWords;

  constructor(kind: FolderKind, env: Environment) {
    this.#kind = kind;
    this.#env = env;
    this.#words = FOLDER_WORDS[kind];
  }

  addTo(program: Command): void {
    const { help, name, canWrite } = this.#words;
    const command = program.command(this.#kind).enablePositionalOptions();
    const withJson = (each: Command) =>
      each.option("--json", "print it as JSON").addHelpText("after", help);
    withJson(command)
      .description(`${name}: what there is; on, off, restore, delete`)
      .action((flags: FolderFlags) => this.#list(flags));
    const on = withJson(command.command("on"));
    if (canWrite) on.option("--write", "write what came from elsewhere into its files, too");
    on.description("read it on this machine from now on").action((_: unknown, each: Command) =>
      this.#turnOn(each.optsWithGlobals()),
    );
    withJson(command.command("off"))
      .description("neither read nor write it from now on")
      .action((_: unknown, each: Command) => this.#turn("off", each.optsWithGlobals()));
    const withNames = (each: Command) =>
      withJson(each).option("--project <dir|id|name>", "those of one project alone");
    withNames(command.command("restore [name...]"))
      .description("bring back files that are missing, and memories that were deleted")
      .action((names: readonly string[], _: unknown, each: Command) =>
        this.#settle("restore", names, each.optsWithGlobals()),
      );
    withNames(command.command("delete [name...]"))
      .description("delete on every machine what is missing here, and here what was deleted")
      .option("--yes", "do it without asking")
      .action((names: readonly string[], _: unknown, each: Command) =>
        this.#settle("delete", names, each.optsWithGlobals()),
      );
  }

  async #scan() {
    const { variables } = this.#env;
    const git = createGit();
    const sources = folderSources(git, { userFolder: homedir(), variables });
    return await withLocal(this.#env, async (db) => {
      const folders: ScannedFolder[] = [];
      for (const source of sources) {
        if (db && source.kind === this.#kind) {
          folders.push(...(await scanMemoryFolders(db, git, source)));
        }
      }
      return { folders, names: await namedProjects(db) };
    });
  }

  async #list({ json }: FolderFlags): Promise<void> {
    const mode = folderMode(this.#env.home, this.#kind);
    const { folders, names } = await this.#scan();
    const kept = await this.#kept();
    const notesOf = (folder: string) => kept.find(({ path }) => path === folder)?.notes ?? [];
    if (json) {
      const all = folders.map((each) => ({ ...asJson(each), notes: notesOf(each.path) }));
      sayJson({ mode, folders: all });
      return;
    }
    for (const { path, owner, note, files } of folders) {
      const name = names.find(({ id }) => id === owner)?.name ?? owner ?? "";
      say(visible(`${tilde(path)}   ${owner === "user" ? "yours" : shortName(name)}`));
      if (note !== null) saySentence(visible(`  ${note}`));
      const rows = [...files.map(row), ...notedRows(notesOf(path), files)];
      if (rows.length > 0) sayRows(table(rows));
    }
    if (folders.length === 0) saySentence(this.#words.none);
    saySentence(this.#words.modes[mode]);
  }

  /** The folders as a daemon that runs has found them; none without one that answers. */
  async #kept(): Promise<readonly FolderStatusView[]> {
    const daemon = await findDaemon(this.#env.home);
    const status = await (daemon && askStatus(daemon).catch(() => undefined));
    if (!status) return [];
    const { auto_memory, serena, rules } = status;
    return { "auto-memory": auto_memory, serena, rules }[this.#kind].folders;
  }

  async #turnOn(flags: FolderFlags): Promise<void> {
    const isWritten = flags.write || !this.#words.canWrite;
    await this.#turn(isWritten ? "write" : "read", flags);
  }

  /**
   * Turns the folders on or off. A running daemon reads that before each look, and is told to look
   * now.
   */
  async #turn(mode: FolderMode, { json }: FolderFlags): Promise<void> {
    const { home } = this.#env;
    prepareHome(home);
    switchFolders(home, this.#kind, mode);
    const daemon = await findDaemon(home);
    await daemon?.call("POST", "/_memsync/inbox", { body: {} }).catch(() => undefined);
    if (json) {
      sayJson({ mode });
      return;
    }
    const { subject } = this.#words;
    if (mode === "off") {
      saySentence(`${subject} neither read nor written; what was sent stays where it is`);
      return;
    }
    const { folders } = await this.#scan();
    const files = folders.flatMap((folder) => folder.files);
    const among = (...states: readonly ScannedFile["state"][]) =>
      files.filter(({ state }) => states.includes(state)).length;
    const held = among("held");
    const secrets = held === 0 ? "" : `, of which ${held} will be held`;
    const what = mode === "write" ? this.#words.written : "read";
    const read = count(among("new", "followed", "held"), "file", "files");
    saySentence(`${subject} ${what}: ${read} here${secrets}`);
    const left = among("ignored", "left-alone");
    const areLeft = `${count(left, "file is", "files are")} ignored or left alone`;
    if (left > 0) saySentence(`${areLeft}: \`memsync ${this.#kind}\` says which`);
  }

  async #settle(
    as: "restore" | "delete",
    names: readonly string[],
    flags: FolderFlags,
  ): Promise<void> {
    const env = this.#env;
    const asked = await withLocal(env, async (db) => {
      if (!db) return [];
      const { project } = flags;
      const id = project === undefined ? undefined : await findMeantProject(db, project, env);
      const all = (await listAskedMemoryFiles(db, this.#kind)).filter(({ owner }) => {
        return id === undefined || owner === id;
      });
      if (names.length === 0) return all;
      return all.filter((file) => names.some((name) => isMeant(this.#kind, file, { name, all })));
    });
    const unknown = names.find((name) => {
      return !asked.some((file) => isMeant(this.#kind, file, { name, all: asked }));
    });
    if (unknown !== undefined)
      throw new CommandFailed(`nothing is asked about ${unknown}`, { code: "not-found" });
    const kept = as === "delete" ? await this.#writtenSince(asked) : [];
    const beside = as === "restore" ? await this.#clashing(asked) : [];
    const left = beside.map(({ file }) => file);
    const settled = asked.filter((file) => !kept.includes(file) && !left.includes(file));
    if (settled.length > 0 && as === "delete") await agreeToDelete(settled, flags);
    await changeHome(env.home, async (db) => {
      for (const file of asked) {
        if (!left.includes(file)) await settleMemoryFile(db, file, as);
      }
    });
    const named = (files: typeof asked) => files.map(({ folder, name }) => ({ folder, name }));
    if (flags.json) {
      const all = [...kept, ...left];
      sayJson({ [as]: named(settled), ...(all.length > 0 && { kept: named(all) }) });
    } else if (asked.length === 0) saySentence("nothing is asked about");
    else if (settled.length > 0) {
      const what = count(settled.length, "file", "files");
      saySentence(`the daemon ${as === "delete" ? "deletes" : "brings back"} ${what}`);
    }
    if (kept.length > 0) {
      const names = kept.map(({ name }) => name).join(", ");
      throw new CommandFailed(`not deleted, since somebody has written it meanwhile: ${names}`);
    }
    if (beside.length > 0) {
      const which = beside.map(({ file, other }) => `${file.name} has the name of ${other}`);
      throw new CommandFailed(
        `not brought back, for on some systems ${which.join(", ")}; the memory stays`,
      );
    }
  }

  async #clashing(asked: readonly AskedMemoryFile[]) {
    if (asked.length === 0) return [];
    return clashingFiles(asked, (await this.#scan()).folders);
  }

  async #writtenSince(asked: readonly AskedMemoryFile[]): Promise<AskedMemoryFile[]> {
    if (asked.length === 0) return [];
    const { folders } = await this.#scan();
    const env = this.#env;
    return await withLocal(env, async (db) =>
      db ? await writtenSince(env, db, { asked, folders }) : [],
    );
  }
}

/** Whether a file is meant by a name: its own, or that of its memory where no file has it. */
function isMeant(
  kind: FolderKind,
  file: AskedMemoryFile,
  { name, all }: { readonly name: string; readonly all: readonly AskedMemoryFile[] },
): boolean {
  if (file.name === name) return true;
  if (kind !== "serena" || all.some((each) => each.name === name)) return false;
  return serenaNameOf(file) === name;
}

/** What Serena calls a memory of its own. */
function serenaNameOf({ name, owner }: AskedMemoryFile): string {
  const plain = name.replace(/\.md$/, "");
  return owner === "user" ? `global/${plain}` : plain;
}

function asJson({ owner, format, ...folder }: ScannedFolder) {
  const isPersons = owner === "user";
  const of = { project_id: isPersons ? null : owner, layer: isPersons ? "user" : "project" };
  return { ...folder, key_prefix: format.prefix, ...of };
}

function row({ name, bytes, state, note }: ScannedFile): string[] {
  const size = bytes === null ? "" : bytesShown(bytes);
  const said = note === null || state === "ignored" ? [] : [note];
  return [`  ${visible(name)}`, size, [STATES[state], ...said].join(": ")];
}

/** What else the daemon says of a file, or of a file that is not made. */
function notedRows(
  notes: FolderStatusView["notes"],
  files: readonly ScannedFile[],
): readonly string[][] {
  const said = new Set(files.map(({ name, note }) => JSON.stringify([name, note])));
  const others = notes.filter(({ name, note }) => !said.has(JSON.stringify([name, note])));
  return others.map(({ name, note }) => [`  ${visible(name)}`, "", note]);
}

const STATES: Readonly<Record<ScannedFile["state"], string>> = {
  new: "not read yet",
  followed: "a memory",
  held: "held",
  ignored: "ignored",
  "left-alone": "left alone",
  missing: "missing here",
  deleted: "its memory was deleted",
};

async function agreeToDelete(asked: readonly AskedMemoryFile[], { yes }: FolderFlags) {
  const missing = asked.filter((each) => each.asked === "missing").length;
  const what = [
    ...(missing > 0 ? [`${count(missing, "memory", "memories")} on every machine`] : []),
    ...(missing < asked.length ? [`${count(asked.length - missing, "file", "files")} here`] : []),
  ].join(" and ");
  await agreeTo(`Delete ${what}? The history keeps the texts for a while.`, { yes });
}
