import type { Command } from "commander";
import type { Kysely } from "kysely";
import { folderOf } from "../../daemon/files/names/also-file.ts";
import { heldAdvice } from "../../daemon/held/advice.ts";
import { findShownText } from "../../daemon/held/shown-text.ts";
import type { HeldDocument } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { getProjectOf } from "../../shared/replica/document/address.ts";
import { diffLines } from "../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { sayIfHeld } from "../lifecycle/say-held.ts";
import type { Version } from "../local/local-history.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { findText, type ProjectText, pickVersion } from "../place/project-text.ts";
import {
  count,
  printText,
  say,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
} from "../screen/output.ts";
import { visibleLines } from "../screen/visible.ts";
import {
  onMachine,
  saveShown,
  timeShown,
  versionJson,
  versionTable,
} from "../views/version-view.ts";
import { sayLeftHeld } from "../writes/left-held.ts";
import { sayIfDeleted } from "../writes/refuse-deleted.ts";
import { saveText } from "../writes/save.ts";
import { addDiffCommand } from "./doc-diff.ts";
import { addFileCommands } from "./doc-file.ts";

interface Options {
  readonly project?: string;
  readonly json?: boolean;
}

const HISTORY_HELP = `
What was saved into a file here is shown as it was, too, with what became of it, also where the
document never had just that.

Examples:
  memsync doc history                every version, the latest first
  memsync doc history k3j5h2ab       that version's text, byte for byte
  memsync doc restore k3j5h2ab       makes it the text again`;

const RESTORE_HELP = `
Restoring is a new write like any other: it is synced, and what it replaces goes to the history. A
file that git tracks is written only after \`memsync link --write\`.

Examples:
  memsync doc history                shows the versions, each with its REV
  memsync doc restore k3j5h2ab`;

/** `doc` and its commands: the project's description document, as merged. */
export function addDocCommand(program: Command, env: Environment): void {
  const doc = program.command("doc").enablePositionalOptions();
  withProject(doc)
    .description("print the project's description document, merged from every machine")
    .option("--json", "print it as JSON")
    .action((options: Options) => print(env, options));
  withProject(doc.command("history [rev]"))
    .description("list the document's versions, or print one of them")
    .option("--json", "print them as JSON")
    .addHelpText("after", HISTORY_HELP)
    .action((revision: string | undefined, _: Options, command: Command) =>
      history(env, revision, command.optsWithGlobals()),
    );
  withProject(doc.command("restore <rev>"))
    .description("give the document the text that it had in a version")
    .option("--json", "print what was restored as JSON")
    .addHelpText("after", RESTORE_HELP)
    .action((revision: string, _: Options, command: Command) =>
      restore(env, revision, command.optsWithGlobals()),
    );
  addFileCommands(doc, env);
  addDiffCommand(doc, env);
}

function withProject(command: Command): Command {
  const what = "another project than the current folder's";
  return command.option("--project <dir|id|name>", what);
}

async function print(env: Environment, options: Options): Promise<void> {
  const { id } = await findText(env, options.project);
  const { text, held } = await readShown(env, id);
  if (options.json) {
    const reason = held && { held: heldAdvice(held), held_code: held.reason.code };
    sayJson({ project_id: id, claude_md_content: text, ...reason });
    if (text === "") await sayIfDeleted(env, id);
    return;
  }
  printText(text);
  if (text === "") await sayIfDeleted(env, id);
  if (held) process.stderr.write(`${visibleLines(heldAdvice(held))}\n`);
}

/**
 * The text as this machine shows it: a write that waits for a daemon or is held, or else the
 * document's.
 */
async function readShown(env: Environment, id: string) {
  return await withLocal(env, async (db) => {
    const local = db && (await readLocalText(db, id));
    const held = db && !local?.waits ? await findShownText(db, await heldOf(db, id)) : undefined;
    return { text: held?.value ?? local?.value ?? "", held };
  });
}

async function history(
  env: Environment,
  revision: string | undefined,
  options: Options,
): Promise<void> {
  const found = await findText(env, options.project);
  if (revision !== undefined) {
    const version = pickVersion(found, revision);
    if (options.json) sayJson(shown(found, version));
    else printText(version.value);
    return;
  }
  const { versions } = found;
  await sayIfDeleted(env, found.id);
  if (options.json) sayJson(versions.map((version) => shown(found, version)));
  else if (versions.length === 0) saySentence("the document has never had any text");
  else sayRows(versionTable(versions, "CHANGE", rowsEnd(versions)));
}

function shown({ id }: ProjectText, version: Version) {
  const { save, value } = version;
  return {
    project_id: id,
    ...versionJson(version),
    save: save
      ? {
          folder: folderOf(save),
          at: timestampOf(save.savedAt),
          outcome: save.outcome,
          conflicts: save.conflicts,
        }
      : null,
    claude_md_content: value,
  };
}

/**
 * The last columns of a version: what it changed, and the outcome if it was saved into a file here.
 */
function rowsEnd(versions: readonly Version[]) {
  const changes = changesAmong(versions);
  return (version: Version): string => {
    const saved = saveShown(version);
    return saved === "" ? changes(version) : `${changes(version)}   ${saved}`;
  };
}

/** How each version differs from the one before it. */
function changesAmong(versions: readonly Version[]) {
  return (version: Version): string => {
    const former = versions.slice(versions.indexOf(version) + 1);
    const before = former.find(({ state }) => state !== "saved");
    const [old, now] = [before?.value ?? "", version.value].map(plainLines);
    let [added, removed] = [0, 0];
    for (const hunk of diffLines(old ?? [], now ?? [])) {
      added += hunk.added;
      removed += hunk.removed;
    }
    return before ? `+${added} -${removed} lines` : count(now?.length ?? 0, "line", "lines");
  };
}

async function restore(env: Environment, revision: string, options: Options): Promise<void> {
  const found = await findText(env, options.project);
  const version = pickVersion(found, revision);
  const content = found.current?.value ?? "";
  const isCurrent = version.value === (await readShown(env, found.id)).text;
  const { seenSeq } = found;
  if (!isCurrent) {
    const choice = { base: content, values: [version.value], seenSeq };
    const { leftHeld } = await saveText(env, found.id, choice);
    if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  }
  const placeIn = async (db: Kysely<DaemonTables>) =>
    ({ kind: "text", ...(await heldOf(db, found.id)), key: "" }) as const;
  await sayIfHeld(env, placeIn, version.value);
  if (options.json) sayJson(shown(found, version));
  else if (isCurrent) saySentence("the document has that text already");
  else {
    saySentence(`restored the document as it was written ${timeShown(version.writtenAt)}`);
    for (const line of goneWith(found.current, version)) say(line);
  }
}

/** Somebody else may have written it a moment ago, so it is shown before it is replaced. */
function goneWith(current: Version | undefined, restored: Version): string[] {
  if (!current) return [];
  const hunks = diffLines(plainLines(current.value), plainLines(restored.value));
  const removed = hunks.reduce((sum, hunk) => sum + hunk.removed, 0);
  if (removed === 0) return [];
  const { revision, machine, writtenAt } = current;
  return [
    `gone: ${count(removed, "line", "lines")} of the text that was written ` +
      `${timeShown(writtenAt)}${onMachine(machine)};`,
    `\`memsync doc diff ${revision}\` shows what, \`memsync doc restore ${revision}\` undoes this`,
  ];
}

async function heldOf(db: Kysely<DaemonTables>, document: string): Promise<HeldDocument> {
  const account = await findBinding(db, getProjectOf(document));
  return { account: account ?? LOCAL_ACCOUNT, document };
}
