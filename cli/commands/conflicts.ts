import type { Command } from "commander";
import { listLinks } from "../../daemon/home/links.ts";
import { realWorld } from "../../shared/world-real.ts";
import {
  conflictTime,
  type DeletionConflict,
  keyOf,
  type LocalConflict,
  listConflicts,
  type MemoryConflict,
  type MoveConflict,
  type TextConflict,
} from "../local/local-conflicts.ts";
import type { LocalDocument } from "../local/local-documents.ts";
import { listNoticeFiles, markSeen } from "../notices/notice-files.ts";
import { isOfConflict, noticeName } from "../notices/notice-name.ts";
import type { Environment } from "../place/environment.ts";
import { findMeantProject } from "../place/find-project.ts";
import { parseLayerOption } from "../place/layer-option.ts";
import { type PlaceOptions, withAgreement, withLocal, withPlace } from "../place/place.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import {
  count,
  firstLine,
  say,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
  sayText,
  shortName,
  table,
} from "../screen/output.ts";
import {
  conflictAdvice,
  conflictJson,
  conflictLines,
  conflictRow,
} from "../views/conflict-view.ts";
import { timeShown } from "../views/version-view.ts";
import { agreeToDelete, agreeToReplace } from "../writes/agree-to-instructions.ts";
import { agreeToAudience } from "../writes/audience.ts";
import { chooseVersion } from "../writes/choose-version.ts";
import { dismissal, keepAll } from "../writes/dismiss-conflict.ts";
import { type Written, writeToInbox } from "../writes/inbox-write.ts";
import { findLeftHeld, type LeftHeld, sayLeftHeld } from "../writes/left-held.ts";
import { saveMemory, saveText } from "../writes/save.ts";
import { leftBy, settleMove } from "../writes/settle-move.ts";

interface Options extends PlaceOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

const HELP = `
A memory that two machines wrote at the same time has one value, the later; the other is a conflict.
One that a machine deleted or moved while another wrote it stands: a conflict, too. So does one that
was moved while another machine deleted it, or moved it elsewhere.
Of a line that both changed, both versions are in the document. So are lines that one machine had
just added or deleted when another saved without having seen that. A deletion of most of a document
is shown, too, and one of lines that another machine may have moved. A conflict is the same on every
machine, with the same ID, until it is settled on one of them, or the memory is written again. What
loses for good goes to the history.

Examples:
  memsync conflicts                     those of every project, of user and global
  memsync conflicts show k3j5h2ab       both versions, whole, with their numbers
  memsync conflicts choose k3j5h2ab 2   only the second version stays in the document; of a memory
                                        that stands though it was deleted: it is deleted after all;
                                        of one that was moved: where it stays, or that it goes
  memsync conflicts restore k3j5h2ab    brings back the version that is not there, beside the
                                        other one
  memsync conflicts dismiss k3j5h2ab    all stays as it is, and no machine shows it any more`;

/** `conflicts`: values and texts that were written concurrently. */
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
  withAgreement(withJson(conflicts.command("choose <id> <version>")))
    .description("leave only this version there, and settle the conflict")
    .addHelpText("after", HELP)
    .action((id: string, version: string, _: Options, command: Command) =>
      choose(env, id, { version, options: command.optsWithGlobals() }),
    );
  withAgreement(withJson(conflicts.command("restore <id>")))
    .description("bring back what lost; syncs like any other write")
    .addHelpText("after", HELP)
    .action((id: string, _: Options, command: Command) =>
      restore(env, id, command.optsWithGlobals()),
    );
  withJson(conflicts.command("dismiss <id...>"))
    .description("keep all as it is, and show these conflicts no more, on any machine")
    .addHelpText("after", HELP)
    .action((ids: string[], _: Options, command: Command) =>
      dismiss(env, ids, command.optsWithGlobals()),
    );
}

async function findAll(env: Environment, options: PlaceOptions): Promise<LocalConflict[]> {
  const layer = options.layer === undefined ? undefined : parseLayerOption(options.layer);
  return await withLocal(env, async (db) => {
    const { project } = options;
    const name = project === undefined ? undefined : await findMeantProject(db, project, env);
    const isMeant = (document: LocalDocument) =>
      (layer === undefined || document.layer === layer) &&
      (name === undefined || document.name === name) &&
      (options.remote === undefined || document.remote === options.remote);
    return db ? await listConflicts(db, isMeant) : [];
  });
}

/** How a command names a conflict, and the project in which it is looked for. */
interface Meant extends PlaceOptions {
  /** The words after `memsync conflicts`, the id included, to be advised again. */
  readonly typed: string;
  /** The command changes nothing, so the conflict may be of any project. */
  readonly onlyShows?: boolean;
}

/**
 * Finds the conflict with an id. Projects with similar texts may each have one with the same id.
 * Inside a project that project's is meant, even if it is settled there and not in another one.
 * Outside of all projects the id has to be one project's alone.
 */
async function find(env: Environment, id: string, meant: Meant): Promise<LocalConflict> {
  const all = await findAll(env, meant);
  const here = await projectHere(env);
  const isHere = ({ document: { layer, name } }: LocalConflict) =>
    here === undefined || layer !== "project" || name === here;
  const found = all.filter((conflict) => conflict.id === id);
  const [first, ...more] = meant.project === undefined ? found.filter(isHere) : found;
  if (first && more.length === 0) return first;
  const [other, ...others] = found;
  if (!other) throw isSettled(id, all, isHere);
  if (meant.onlyShows && others.length === 0) return other;
  const commands = found.map(({ document: { title, name } }) => {
    return `\`memsync conflicts ${meant.typed} --project ${name}\` is about ${title}`;
  });
  const places = found.length === 1 ? "another project" : `${found.length} projects`;
  const isNot = here === undefined ? "" : ", and none of the project here";
  throw new CommandFailed(`${id} is a conflict of ${places}${isNot}: ${commands.join(", ")}`, {
    code: found.length === 1 ? "not-found" : "ambiguous",
  });
}

function isSettled(
  id: string,
  all: readonly LocalConflict[],
  isHere: (conflict: LocalConflict) => boolean,
): CommandFailed {
  const covering = all
    .filter((each) => "covered" in each && each.covered.some((one) => one.id === id))
    .sort((one, other) => Number(isHere(other)) - Number(isHere(one)))[0];
  if (!covering) {
    return new CommandFailed(
      `there is no conflict ${id}: \`memsync conflicts\` lists those there are`,
      { code: "not-found" },
    );
  }
  const place = isHere(covering) ? "" : ` --project ${covering.document.name}`;
  return new CommandFailed(
    `${covering.id} says all of ${id} by now: \`memsync conflicts show ${covering.id}${place}\``,
  );
}

/** Undefined outside of all projects. */
async function projectHere(env: Environment): Promise<string | undefined> {
  try {
    return await withLocal(env, (db) => findMeantProject(db, undefined, env));
  } catch (thrown) {
    if (thrown instanceof CommandFailed) return undefined;
    throw thrown;
  }
}

/** Names the project that was changed, unless the current folder belongs to it. */
async function whereNote(
  env: Environment,
  { layer, name, title }: LocalDocument,
  { project }: PlaceOptions,
): Promise<string> {
  if (layer !== "project" || project !== undefined) return "";
  return name === (await projectHere(env)) ? "" : ` in ${shortName(title)}`;
}

/** When other machines hear of the choice. A project without a link sends nothing. */
async function syncedNote(env: Environment, { layer, name }: LocalDocument): Promise<string> {
  const links = await withLocal(env, async (db) => (db ? await listLinks(db) : []));
  const isSent = layer !== "project" || links.some(({ projectId }) => projectId === name);
  const link = `which needs a folder: \`memsync link DIR --id ${name}\``;
  return `once this is synced${isSent ? "" : `, ${link}`}`;
}

async function list(env: Environment, options: Options): Promise<void> {
  // What is shown here is all that there is. A notice from before is about one of these, perhaps
  // under another time, or about one that is over.
  const isAll = options.project === undefined && options.layer === undefined;
  const told = isAll ? listNoticeFiles(env.home).filter(isOfConflict) : [];
  const conflicts = await findAll(env, options);
  if (options.json) {
    sayJson(conflicts.map(conflictJson));
    return;
  }
  markSeen(env.home, [...conflicts.map(nameOf), ...told]);
  if (conflicts.length === 0) say("no conflicts");
  else {
    const rows = conflicts.map((each) => [
      each.id,
      timeShown(conflictTime(each)),
      shortName(each.document.title),
      ...conflictRow(each),
    ]);
    const heading = ["ID", "WHEN", "WHERE", "WHAT", "MACHINE", "IN QUESTION"];
    sayRows(table([heading, ...rows], SPARE));
    say("");
    saySentence("`memsync conflicts show ID` prints both versions");
  }
}

/** The columns to leave out first: time, machine, place. */
const SPARE = [1, 4, 2];

function nameOf(conflict: LocalConflict): string {
  return noticeName("conflict", conflict.id, conflictTime(conflict));
}

async function show(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, { ...options, typed: `show ${id}`, onlyShows: true });
  if (options.json) {
    sayJson(conflictJson(conflict));
    return;
  }
  markSeen(env.home, [nameOf(conflict)]);
  sayText([...conflictLines(conflict), ""]);
  const { layer, name } = conflict.document;
  const isHere = layer !== "project" || name === (await projectHere(env));
  saySentence(conflictAdvice(conflict, isHere ? "" : ` --project ${name}`));
}

async function restore(env: Environment, id: string, options: Options): Promise<void> {
  const conflict = await find(env, id, { ...options, typed: `restore ${id}` });
  if (conflict.kind === "deletion" || conflict.kind === "move") {
    throw new CommandFailed(`${id} is a ${conflict.kind}'s: ${conflictAdvice(conflict, "")}`);
  }
  const along = conflict.kind === "memory" ? await otherLosers(env, conflict) : [];
  const { leftHeld, there } =
    conflict.kind === "memory"
      ? { ...(await restoreMemory(env, conflict, options)), there: 0 }
      : await restoreLines(env, conflict);
  if (options.json) sayJson({ ...conflictJson(conflict), settled: along.map(({ id }) => id) });
  else if (conflict.kind === "text") {
    const known = there === 0 ? "" : `; ${count(there, "line was", "lines were")} there already`;
    const where = await whereNote(env, conflict.document, options);
    const left = leftHeld
      ? `; ${sayLeftHeld(leftHeld)}`
      : `, and ${id} is settled ${await syncedNote(env, conflict.document)}`;
    saySentence(`put the lines back into the document${where}${known}${left}`);
  } else {
    const besides = along.map(({ id, kind }) => {
      return `; ${id} is settled, too${kind === "memory" ? ": its version is there as well" : ""}`;
    });
    const history = leftHeld ? sayLeftHeld(leftHeld) : "what it replaced is in its history";
    saySentence(`restored "${conflict.losing.key}"; ${history}${besides.join("")}`);
  }
}

/** The other conflicts of the same memory: writing or deleting it settles them, too. */
async function otherLosers(
  env: Environment,
  conflict: MemoryConflict | DeletionConflict,
): Promise<LocalConflict[]> {
  const { id, document } = conflict;
  const { layer, name, account } = document;
  const all = await findAll(env, { layer });
  return all.filter((each) => {
    const isSameMemory = keyOf(each) === keyOf(conflict);
    const isSamePlace = each.document.name === name && each.document.account === account;
    return isSameMemory && isSamePlace && each.id !== id;
  });
}

async function restoreMemory(
  env: Environment,
  { document, losing }: MemoryConflict,
  options: Options,
): Promise<Written> {
  const { layer, name, account } = document;
  const remote = layer === "project" ? undefined : document.remote;
  const place = { layer, document: name, account, remote };
  await agreeToAudience(env, place, { done: "restored", options });
  const { key, value } = losing;
  const guard = await agreeToReplace(env, place, { key, value, done: "restored", options });
  return await saveMemory(env, place, { key, value, options: { guard } });
}

/**
 * Puts back a version that consists of lines, and settles the conflict: both versions stand now;
 * between two that do `choose` decides. `there`: how many of the lines were there already.
 */
async function restoreLines(
  env: Environment,
  conflict: TextConflict,
): Promise<Written & { readonly there: number }> {
  const { id, document, versions, record } = conflict;
  const missing = versions.filter(({ inText, inPart, text }) => {
    return (!inText || inPart) && text !== "";
  });
  if (missing.length === 0 || record.kind === "format") {
    throw new CommandFailed(
      `both versions are in the document: \`memsync conflicts choose ${id} 1\` or \`2\` leaves ` +
        `one of them there, \`memsync conflicts dismiss ${id}\` both`,
    );
  }
  if (missing.some(({ cut }) => cut)) {
    throw new CommandFailed(
      "what lost is too long to be kept here whole: `memsync doc history` has the versions that " +
        "held it, and `memsync doc restore REV` brings one back",
    );
  }
  const { choice, there } = keepAll(conflict, missing);
  return { ...(await saveText(env, document.name, choice)), there };
}

async function choose(
  env: Environment,
  id: string,
  { version, options }: { readonly version: string; readonly options: Options },
) {
  const conflict = await find(env, id, { ...options, typed: `choose ${id} ${version}` });
  if (conflict.kind === "memory") {
    throw new CommandFailed(`${id} is a memory's: ${conflictAdvice(conflict, "")}`);
  }
  if (conflict.kind === "move") {
    await settleMoved(env, conflict, { version, options });
    return;
  }
  if (version !== "1" && version !== "2") {
    throw new UsageError(`choose 1 or 2: \`memsync conflicts show ${id}\` numbers them`);
  }
  if (conflict.kind === "deletion") {
    await settleDeletion(env, conflict, { isDeleted: version === "2", options });
    return;
  }
  const { document } = conflict;
  const others = await findAll(env, options);
  const { choice, settled, along } = chooseVersion(conflict, Number(version) - 1, others);
  const { leftHeld } = await saveText(env, document.name, choice);
  if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  if (options.json)
    sayJson({
      ...conflictJson(conflict),
      chosen: Number(version),
      settled: along.map((each) => each.id),
    });
  else {
    const { elsewhere } = settled;
    const besides = along.map((each) => `; so is ${each.id}, for its lines went`).join("");
    const left =
      elsewhere === undefined
        ? besides
        : `${besides}; \`${firstLine(elsewhere.trimEnd())}\` elsewhere stays`;
    const where = await whereNote(env, document, options);
    const synced = await syncedNote(env, document);
    saySentence(`version ${version} stands${where}, and ${id} is settled ${synced}${left}`);
  }
}

/** All are found before any is dismissed, so that a mistyped one changes nothing. */
async function dismiss(env: Environment, ids: readonly string[], options: Options): Promise<void> {
  const meant: LocalConflict[] = [];
  for (const id of new Set(ids)) {
    meant.push(await find(env, id, { ...options, typed: `dismiss ${id}` }));
  }
  for (const conflict of meant) {
    await dismissIn(env, conflict);
    if (options.json) continue;
    const where = await whereNote(env, conflict.document, options);
    const synced = await syncedNote(env, conflict.document);
    saySentence(`dismissed ${conflict.id}${where}; no machine shows it any more ${synced}`);
  }
  const shown = meant.map(conflictJson);
  if (options.json) sayJson(ids.length === 1 ? shown[0] : shown);
}

/** Settles a conflict between a memory that stands and its deletion. */
async function settleDeletion(
  env: Environment,
  conflict: DeletionConflict,
  { isDeleted, options }: { readonly isDeleted: boolean; readonly options: Options },
): Promise<void> {
  const { id, document, deletion } = conflict;
  const { key } = deletion;
  const along = isDeleted ? await otherLosers(env, conflict) : [];
  if (isDeleted) await agreeToDelete(env, document, { key, options });
  let leftHeld: LeftHeld | undefined;
  if (isDeleted) leftHeld = await deleteContested(env, conflict);
  else await dismissIn(env, conflict);
  if (leftHeld) sayAside(sayLeftHeld(leftHeld));
  const settled = along.map((each) => each.id);
  if (options.json) {
    sayJson({ ...conflictJson(conflict), chosen: isDeleted ? 2 : 1, settled });
    return;
  }
  const besides = settled.map((each) => `; so is ${each}`).join("");
  const done = isDeleted ? `"${key}" is deleted, and its history has it` : `"${key}" stays`;
  const where = await whereNote(env, document, options);
  const synced = await syncedNote(env, document);
  saySentence(`${done}${where}; ${id} is settled ${synced}${besides}`);
}

/** Settles a conflict between the places that a memory was moved to, and its deletion. */
async function settleMoved(
  env: Environment,
  conflict: MoveConflict,
  { version, options }: { readonly version: string; readonly options: Options },
): Promise<void> {
  const { id, document, moved } = conflict;
  const { key, outcomes } = moved;
  const chosen = outcomes.find((_, at) => String(at + 1) === version);
  if (!chosen) {
    const last = outcomes.length;
    throw new UsageError(
      `choose 1 to ${last}: \`memsync conflicts show ${id}\` says what each of them is`,
    );
  }
  for (const { document: place } of leftBy(conflict, chosen)) {
    await agreeToDelete(env, place, { key, options });
  }
  const left: LeftHeld[] = [];
  await writeToInbox(env.home, async (db) => {
    for (const { document: place } of leftBy(conflict, chosen)) {
      const of = { document: place.name, account: place.account };
      const held = await findLeftHeld(db, of, { key, value: undefined });
      if (held) left.push(held);
    }
    return settleMove(conflict, chosen, realWorld.now());
  });
  for (const held of left) sayAside(sayLeftHeld(held));
  if (options.json) {
    sayJson({ ...conflictJson(conflict), chosen: Number(version), settled: [] });
    return;
  }
  const { standing } = chosen;
  const done = standing
    ? `"${key}" stays in ${standing.document.title} alone`
    : `"${key}" is deleted, and the history of where it was has it`;
  saySentence(`${done}; ${id} is settled ${await syncedNote(env, document)}`);
}

async function dismissIn(env: Environment, conflict: LocalConflict): Promise<void> {
  if (conflict.kind === "text") {
    await saveText(env, conflict.document.name, dismissal(conflict));
    return;
  }
  if (conflict.kind === "move") {
    const now = realWorld.now();
    await writeToInbox(env.home, async () => settleMove(conflict, undefined, now));
    return;
  }
  const { name: document, account } = conflict.document;
  const isDeletion = conflict.kind === "deletion";
  const { key } = isDeletion ? conflict.deletion : conflict.losing;
  const seen = isDeletion ? conflict.deletion.deletions : conflict.losing.entries;
  const written = { document, account, writtenAt: realWorld.now() };
  await writeToInbox(env.home, async () => ({ kind: "losers", ...written, key, seen }));
}

/**
 * Deletes exactly what was shown: a version that has come since then stays, and is a conflict
 * again.
 */
async function deleteContested(
  env: Environment,
  { document: { name: document, account }, deletion }: DeletionConflict,
): Promise<LeftHeld | undefined> {
  const { key, entries, deletions } = deletion;
  let leftHeld: LeftHeld | undefined;
  await writeToInbox(env.home, async (db) => {
    leftHeld = await findLeftHeld(db, { document, account }, { key, value: undefined });
    const seen = [...entries, ...deletions];
    const written = { document, account, writtenAt: realWorld.now() };
    return { kind: "memory", ...written, key, value: undefined, seen };
  });
  return leftHeld;
}
