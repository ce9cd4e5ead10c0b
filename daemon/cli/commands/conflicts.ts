import type { Command } from "commander";
import { timestampOf } from "../../../shared/timestamps.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed, UsageError } from "../errors.ts";
import { findProject } from "../find-project.ts";
import { parseLayer } from "../layer-option.ts";
import {
  type LocalConflict,
  listConflicts,
  type MemoryConflict,
  type PlacedVersion,
  type TextConflict,
  timeOf,
} from "../local-conflicts.ts";
import type { LocalDocument } from "../local-documents.ts";
import type { Written } from "../losing-versions.ts";
import { writeToInbox } from "../offline-write.ts";
import { count, firstLine, say, sayJson, shortName, table } from "../output.ts";
import { type PlaceOptions, withLocal, withPlace } from "../place.ts";
import { putBack } from "../put-back.ts";
import { saveMemory, saveText } from "../save.ts";
import { contentWith } from "../settle-conflict.ts";
import { formatShown } from "../text-format-view.ts";
import { indented, machineShown, timeShown } from "../version-view.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

const HELP = `
A memory that two machines wrote at the same time has one value, the later; the other is a conflict.
Of a line that both changed, both versions are in the document. So are lines that one machine had
just added or deleted when another saved without having seen that. A deletion of most of a document
is shown, too. A conflict is the same on every machine, with the same ID, until it is settled on one
of them, or the memory is written again. What loses for good goes to the history.

Examples:
  memsync conflicts                     those of every project, of user and global
  memsync conflicts show k3j5h2ab       both versions, whole, with their numbers
  memsync conflicts choose k3j5h2ab 2   only the second version stays in the document
  memsync conflicts restore k3j5h2ab    brings back the version that is not there
  memsync conflicts dismiss k3j5h2ab    all stays as it is, and no machine shows it any more`;

/** `conflicts`: losing versions. */
export function addConflictCommands(program: Command, env: Environment): void {
  const conflicts = program.command("conflicts").enablePositionalOptions();
  const withJson = (command: Command) =>
    withPlace(command).option("--json", "print what is found as JSON");
  withJson(conflicts)
    .description("list what machines disagree about: show, choose, restore, dismiss")
    .addHelpText("after", HELP)
    .action((options: Options) => list(env, options));
  withJson(conflicts.command("list", { hidden: true }))
    .description("list them, as without any command")
    .action((_: Options, command: Command) => list(env, command.optsWithGlobals()));
  withJson(conflicts.command("show <id>"))
    .description("print both versions, with when and where they were written")
    .addHelpText("after", HELP)
    .action((id: string, _: Options, command: Command) => show(env, id, command.optsWithGlobals()));
  withJson(conflicts.command("choose <id> <version>"))
    .description("leave only this version of lines in the document, and settle the conflict")
    .addHelpText("after", HELP)
    .action((id: string, version: string, _: Options, command: Command) =>
      choose(env, id, version, command.optsWithGlobals()),
    );
  withJson(conflicts.command("restore <id>"))
    .description("bring back what lost; syncs like any other write")
    .addHelpText("after", HELP)
    .action((id: string, _: Options, command: Command) =>
      restore(env, id, command.optsWithGlobals()),
    );
  withJson(conflicts.command("dismiss <id>"))
    .description("keep all as it is, and show the conflict no more, on any machine")
    .addHelpText("after", HELP)
    .action((id: string, _: Options, command: Command) =>
      dismiss(env, id, command.optsWithGlobals()),
    );
}

async function findAll(env: Environment, options: PlaceOptions): Promise<LocalConflict[]> {
  const layer = options.layer === undefined ? undefined : parseLayer(options.layer);
  return await withLocal(env, async (db) => {
    const { project } = options;
    const name = project === undefined ? undefined : await findProject(db, project, env.dir);
    const isMeant = (document: LocalDocument) =>
      (layer === undefined || document.layer === layer) &&
      (name === undefined || document.name === name) &&
      (options.remote === undefined || document.remote === options.remote);
    return db ? await listConflicts(db, isMeant) : [];
  });
}

async function find(env: Environment, id: string, options: PlaceOptions): Promise<LocalConflict> {
  const found = (await findAll(env, options)).find((conflict) => conflict.id === id);
  if (found) return found;
  throw new CommandFailed(
    `there is no conflict ${id}: \`memsync conflicts\` lists those there are`,
  );
}

async function list(env: Environment, options: Options): Promise<void> {
  const conflicts = await findAll(env, options);
  if (options.json) sayJson(conflicts.map(shown));
  else if (conflicts.length === 0) say("no conflicts");
  else {
    const rows = conflicts.map((each) => [
      each.id,
      timeShown(timeOf(each)),
      shortName(each.document.title),
      ...inRow(each),
    ]);
    const heading = ["ID", "WHEN", "WHERE", "WHAT", "MACHINE", "LOSING VERSION"];
    for (const line of table([heading, ...rows])) say(line);
    say("\n`memsync conflicts show ID` prints both versions");
  }
}

/** What it is of, and what lost where. */
function inRow(conflict: LocalConflict): string[] {
  if (conflict.kind === "memory") {
    const { key, machine, value } = conflict.losing;
    return [shortName(key), shortName(machineShown(machine)), firstLine(value)];
  }
  const { record } = conflict;
  const gone = conflict.versions.filter(({ inText, text }) => !inText && text !== "");
  const versions = gone.length > 0 ? gone : conflict.versions.filter(({ text }) => text !== "");
  const who = record.kind === "deletion" ? conflict.versions : versions;
  const machines = who.flatMap(({ machine }) => (machine === undefined ? [] : [machine]));
  return [
    whatOf(conflict),
    shortName([...new Set(machines)].join(", ") || machineShown(undefined)),
    versions.map((version) => versionInRow(record, version)).join(" | "),
  ];
}

function versionInRow({ kind }: TextConflict["record"], { text }: PlacedVersion): string {
  return kind === "format" ? formatShown(text) : firstLine(text.trimEnd());
}

function whatOf({ record, versions }: TextConflict): string {
  switch (record.kind) {
    case "deletion":
      return `document, ${count(record.lines ?? 0, "line", "lines")} deleted`;
    case "format":
      return "document, how it is written";
    case "moved":
      return "document, where lines stand";
    case "elsewhere":
      return "document, lacks lines of git";
    default:
      return versions.every(({ inText, text }) => inText || text === "")
        ? "document, has both"
        : "document";
  }
}

async function show(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, options);
  if (options.json) {
    sayJson(shown(conflict));
    return;
  }
  const lines = conflict.kind === "memory" ? memoryLines(conflict) : textLines(conflict);
  for (const line of lines) say(line);
  say(`\n${advice(conflict)}`);
}

function advice({ id, ...conflict }: LocalConflict): string {
  if (conflict.kind === "memory") {
    return `\`memsync conflicts restore ${id}\` brings back what lost, \`dismiss\` lets it go`;
  }
  const { record } = conflict;
  const undo = record.kind === "deletion" ? " (2 brings the lines back)" : "";
  return (
    `\`memsync conflicts choose ${id} 1\` or \`2\` leaves that version alone in the document` +
    `${undo}, \`dismiss\` keeps all as it is`
  );
}

function memoryLines({ document, losing }: MemoryConflict): string[] {
  const version = (state: string, { machine, writtenAt, value }: Written) => [
    "",
    `${state}, written ${timeShown(writtenAt)} on ${machineShown(machine)}`,
    ...indented(value),
  ];
  return [
    `the memory "${losing.key}" of ${document.title}`,
    ...version("the value", losing.winner),
    ...version("lost", losing),
  ];
}

function textLines({ document, foundAt, record, versions }: TextConflict): string[] {
  return [
    `${CONFLICT_WORDS[record.kind]} of ${document.title}, found ${timeShown(foundAt)}`,
    ...versions.flatMap((version, at) => [
      "",
      `${at + 1}  ${standing(version)}${version.text === "" ? withoutLines(version) : writer(version)}`,
      ...(record.kind === "format" ? [`    ${formatShown(version.text)}`] : indentedLines(version)),
      ...(version.cut ? ["    … (the whole is in `memsync doc history`)"] : []),
    ]),
  ];
}

const CONFLICT_WORDS = {
  both: "a place in the document",
  unseen: "a save that may not have seen a change, in the document",
  moved: "a save that may not have seen that lines were moved, in the document",
  format: "two ways of writing down the document",
  deletion: "a deletion of most of the document",
  elsewhere: "lines that git brought and the document lacks, in a file",
  renewed: "a file that was made anew, in the document",
} as const;

function standing({ inText }: PlacedVersion): string {
  return inText ? "in the document, " : "not in the document, ";
}

function writer({ machine, at }: PlacedVersion): string {
  return `written on ${machineShown(machine)}${at === undefined ? "" : ` ${timeShown(at)}`}`;
}

function withoutLines({ machine, at }: PlacedVersion): string {
  const who = `on ${machineShown(machine)}${at === undefined ? "" : ` ${timeShown(at)}`}`;
  return `without these lines, ${who}`;
}

function indentedLines({ text }: PlacedVersion): string[] {
  return text === "" ? [] : indented(text);
}

function shown(conflict: LocalConflict) {
  const { id, kind, document } = conflict;
  const project = document.layer === "project" ? document : undefined;
  const place = {
    id,
    kind,
    layer: document.layer,
    project_id: project?.name ?? null,
    project: project?.title ?? null,
  };
  if (conflict.kind === "memory") {
    const { key, winner } = conflict.losing;
    return { ...place, key, ...writtenJson(conflict.losing), winner: writtenJson(winner) };
  }
  return {
    ...place,
    found_at: timestampOf(conflict.foundAt),
    cause: conflict.record.kind,
    lines: conflict.record.lines ?? null,
    versions: conflict.versions.map(({ text, cut, machine, at, inText }) => ({
      text,
      cut,
      machine: machine ?? null,
      at: at === undefined ? null : timestampOf(at),
      in_document: inText,
    })),
  };
}

function writtenJson({ value, machine, writtenAt }: Written) {
  return { value, machine: machine ?? null, written_at: timestampOf(writtenAt) };
}

async function restore(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, options);
  if (conflict.kind === "memory") await restoreMemory(env, conflict);
  else await restoreLines(env, conflict);
  if (options.json) sayJson(shown(conflict));
  else if (conflict.kind === "text") say("put the lines back into the document");
  else say(`restored "${conflict.losing.key}"; what it replaced is in its history`);
}

async function restoreMemory(env: Environment, { document, losing }: MemoryConflict) {
  const { layer, name, account } = document;
  const remote = layer === "project" ? undefined : document.remote;
  const place = { layer, document: name, account, remote };
  await saveMemory(env, place, losing.key, losing.value);
}

async function restoreLines(env: Environment, conflict: TextConflict): Promise<void> {
  const { id, document, versions, content } = conflict;
  const missing = versions.flatMap(({ inText }, at) => (inText ? [] : [at]));
  if (missing.length === 0) {
    throw new CommandFailed(
      `both versions are in the document: \`memsync conflicts choose ${id} 1\` or \`2\` leaves ` +
        `one of them there, \`memsync conflicts dismiss ${id}\` both`,
    );
  }
  if (missing.some((at) => versions[at]?.cut)) {
    throw new CommandFailed(
      "what lost is too long to be kept here whole: `memsync doc history` has the versions that " +
        "held it, and `memsync doc restore REV` brings one back",
    );
  }
  const [only] = missing;
  if (missing.length === 1 && only !== undefined && conflict.record.kind !== "both") {
    await saveText(env, document.name, content, contentWith(conflict, only));
    return;
  }
  const lost = missing.map((at) => versions[at] as PlacedVersion);
  const text = lost.reduce((whole, { text: lines }) => {
    return putBack(whole, lines, versions.find((each) => each.text !== lines)?.text ?? "");
  }, content);
  await saveText(env, document.name, content, text);
}

async function choose(env: Environment, id: string, version: string, options: Options) {
  const conflict = await find(env, id, options);
  if (conflict.kind === "memory") {
    throw new CommandFailed(
      `${id} is a memory's: \`memsync conflicts restore ${id}\` brings back what lost, ` +
        "`dismiss` lets it go",
    );
  }
  if (version !== "1" && version !== "2") {
    throw new UsageError(`choose 1 or 2: \`memsync conflicts show ${id}\` numbers them`);
  }
  const { document, content } = conflict;
  const text = contentWith(conflict, Number(version) - 1);
  if (text !== content) await saveText(env, document.name, content, text);
  await dismissIn(env, conflict);
  if (options.json) sayJson(shown(conflict));
  else say(`version ${version} stands, and ${id} is settled once this is synced`);
}

async function dismiss(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, options);
  await dismissIn(env, conflict);
  if (options.json) sayJson(shown(conflict));
  else say(`dismissed ${id}; no machine shows it any more once this is synced`);
}

async function dismissIn(env: Environment, conflict: LocalConflict): Promise<void> {
  const { name: document, account } = conflict.document;
  const written = { document, account, writtenAt: realWorld.now() };
  await writeToInbox(env.home, async () =>
    conflict.kind === "memory"
      ? { kind: "losers", ...written, key: conflict.losing.key, seen: conflict.losing.entries }
      : { kind: "text conflict", ...written, id: conflict.id },
  );
}
