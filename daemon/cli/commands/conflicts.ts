import type { Command } from "commander";
import { timestampOf } from "../../../shared/timestamps.ts";
import { realWorld } from "../../../shared/world-real.ts";
import type { Environment } from "../environment.ts";
import { CommandFailed } from "../errors.ts";
import { findProject } from "../find-project.ts";
import { parseLayer } from "../layer-option.ts";
import {
  type LocalConflict,
  listConflicts,
  type MemoryConflict,
  type TextConflict,
  timeOf,
} from "../local-conflicts.ts";
import type { LocalDocument } from "../local-documents.ts";
import type { Written } from "../losing-versions.ts";
import { writeToInbox } from "../offline-write.ts";
import { firstLine, say, sayJson, shortName, table } from "../output.ts";
import { type PlaceOptions, withLocal, withPlace } from "../place.ts";
import { putBack } from "../put-back.ts";
import { saveMemory, saveText } from "../save.ts";
import { indented, machineShown, timeShown } from "../version-view.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
}

const HELP = `
A memory that two machines wrote at the same time has one value, the later; the other is a conflict.
Of a line that both changed, both versions are in the document. A conflict is the same on every
machine, with the same ID, until it is restored or dismissed on one of them, or the memory is
written again. What loses for good goes to the history.

Examples:
  memsync conflicts                     those of every project, of user and global
  memsync conflicts show k3j5h2ab       both versions, whole
  memsync conflicts restore k3j5h2ab    the losing value becomes the memory's value; lines of the
                                        document that are gone are put back
  memsync conflicts dismiss k3j5h2ab    all stays as it is, and no machine shows it any more`;

/** `conflicts`: losing versions. */
export function addConflictCommands(program: Command, env: Environment): void {
  const conflicts = program.command("conflicts").enablePositionalOptions();
  const withJson = (command: Command) =>
    withPlace(command).option("--json", "print what is found as JSON");
  withJson(conflicts)
    .description("list what two machines wrote at once: show, restore, dismiss")
    .addHelpText("after", HELP)
    .action((options: Options) => list(env, options));
  withJson(conflicts.command("list", { hidden: true }))
    .description("list them, as without any command")
    .action((_: Options, command: Command) => list(env, command.optsWithGlobals()));
  withJson(conflicts.command("show <id>"))
    .description("print both versions, with when and where they were written")
    .addHelpText("after", HELP)
    .action((id: string, _: Options, command: Command) => show(env, id, command.optsWithGlobals()));
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
  const gone = conflict.versions.filter(({ inText }) => !inText);
  const versions = gone.length > 0 ? gone : conflict.versions;
  return [
    gone.length > 0 ? "document" : "document, has both",
    shortName([...new Set(versions.map(({ machine }) => machineShown(machine)))].join(", ")),
    versions.map(({ text }) => firstLine(text.trimEnd())).join(" | "),
  ];
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
  if (conflict.kind === "text" && conflict.versions.every(({ inText }) => inText)) {
    return `take out of the document what you don't want, then \`memsync conflicts dismiss ${id}\``;
  }
  return `\`memsync conflicts restore ${id}\` brings back what lost, \`dismiss\` lets it go`;
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

function textLines({ document, foundAt, versions }: TextConflict): string[] {
  return [
    `a place in the document of ${document.title}, found ${timeShown(foundAt)}`,
    ...versions.flatMap(({ text, cut, machine, inText }) => [
      "",
      `${inText ? "in the document" : "not in the document any more"}, written on ` +
        machineShown(machine),
      ...indented(text),
      ...(cut ? ["    … (the whole is in `memsync doc history`)"] : []),
    ]),
  ];
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
    versions: conflict.versions.map(({ text, cut, machine, inText }) => {
      return { text, cut, machine: machine ?? null, in_document: inText };
    }),
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

async function restoreLines(env: Environment, { id, document, versions, content }: TextConflict) {
  const missing = versions.filter(({ inText }) => !inText);
  if (missing.length === 0) {
    throw new CommandFailed(
      "both versions are in the document: take out the one you don't want, or " +
        `\`memsync conflicts dismiss ${id}\``,
    );
  }
  if (missing.some(({ cut }) => cut)) {
    throw new CommandFailed(
      "what lost is too long to be kept here whole: `memsync doc history` has the versions that " +
        "held it, and `memsync doc restore REV` brings one back",
    );
  }
  let text = content;
  for (const { text: lines } of missing) {
    const neighbour = versions.find((version) => version.text !== lines);
    text = putBack(text, lines, neighbour?.text ?? "");
  }
  await saveText(env, document.name, content, text);
}

async function dismiss(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, options);
  const { name: document, account } = conflict.document;
  const written = { document, account, writtenAt: realWorld.now() };
  await writeToInbox(env.home, async () =>
    conflict.kind === "memory"
      ? { kind: "losers", ...written, key: conflict.losing.key, seen: conflict.losing.entries }
      : { kind: "text conflict", ...written, id },
  );
  if (options.json) sayJson(shown(conflict));
  else say(`dismissed ${id}; no machine shows it any more once this is synced`);
}
