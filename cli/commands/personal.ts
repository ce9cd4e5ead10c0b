import type { Command } from "commander";
import { readPersonalFile, textHash } from "../../daemon/assistants/personal/read-personal-file.ts";
import {
  forgetPersonalFile,
  listPersonalFiles,
  type PersonalFile,
  putPersonalFile,
  settlePersonalFile,
} from "../../daemon/home/personal-files.ts";
import type { PersonalStatus } from "../../daemon/status/personal-status.ts";
import { realWorld } from "../../shared/world-real.ts";
import { askStatus } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { choosePlaces, namedPlaces, personalPlacesOf } from "../personal/choose-places.ts";
import { whatIsDone, whatIsLeft } from "../personal/describe-place.ts";
import { leaveProjects, projectFileAt } from "../personal/leave-projects.ts";
import { isPlaceInUse, type PersonalPlace } from "../personal/personal-place.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed } from "../screen/errors.ts";
import {
  count,
  sayAside,
  sayJson,
  sayRows,
  saySentence,
  sayText,
  tableInLines,
} from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { mergeLines } from "../views/personal-view.ts";
import { changeHome } from "../writes/inbox-write.ts";

interface PersonalFlags {
  readonly adopt?: boolean;
  readonly keepText?: boolean;
  readonly write?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const HELP = `
What you want all your assistants to know, in each one's own file: \`on\` puts a block into it, and
what you write in the block of one of them comes to all, here and on your other machines. All else
in these files is yours, and stays as it is byte for byte. ASSISTANT is claude, codex, gemini,
cursor, opencode, zed, amp, cline or copilot; without one, all that are in use here.

A block that you delete is deleted nowhere else: \`memsync status\` asks, and \`on\` puts it in
again, \`off\` leaves it out. \`take\` has everywhere what stands in one of them.

Examples:
  memsync personal                    which files have the text, and what is asked
  memsync personal on                 shows what it would do, and asks
  memsync personal on claude --adopt  begins with all that ~/.claude/CLAUDE.md has
  memsync personal off gemini         takes the block out of that file
  memsync personal off --keep-text    takes only the marks out, everywhere here`;

/** `personal`: one's own instructions, the same in all assistants. */
export function addPersonalCommand(program: Command, env: Environment): void {
  const command = program.command("personal").enablePositionalOptions();
  const withJson = (each: Command) =>
    each.option("--json", "print it as JSON").addHelpText("after", HELP);
  withJson(command)
    .description("your own instructions, the same in all assistants: on, off, take")
    .action((flags: PersonalFlags) => list(env, flags));
  const withYes = (each: Command) => withJson(each).option("--yes", "do it without asking");
  withYes(command.command("on [assistant...]"))
    .description("put the text into these assistants' files, and keep it the same in all")
    .option("--adopt", "begin with all that the named assistant's file has")
    .option("--write", "write also a file that git tracks")
    .action((names: readonly string[], _: unknown, each: Command) =>
      turnOn(env, names, each.optsWithGlobals()),
    );
  withYes(command.command("off [assistant...]"))
    .description("take the block out of these assistants' files")
    .option("--keep-text", "take only the marks out")
    .action((names: readonly string[], _: unknown, each: Command) =>
      turnOff(env, names, each.optsWithGlobals()),
    );
  withYes(command.command("take <assistant>"))
    .description("have everywhere what the block of this assistant's file has")
    .action((name: string, _: unknown, each: Command) => take(env, name, each.optsWithGlobals()));
}

async function filesOf(env: Environment): Promise<PersonalFile[]> {
  return await withLocal(env, async (db) => (db ? await listPersonalFiles(db) : []));
}

/** Undefined without a daemon. */
async function statusOf({ home }: Environment): Promise<PersonalStatus | undefined> {
  const daemon = await findDaemon(home);
  return daemon && (await askStatus(daemon)).personal;
}

async function list(env: Environment, { json }: PersonalFlags): Promise<void> {
  const [files, status] = [await filesOf(env), await statusOf(env)];
  const places = personalPlacesOf(env);
  const isOn = (id: string) => files.some(({ assistant }) => assistant === id);
  const shown = places.filter((place) => isOn(place.id) || isPlaceInUse(place));
  if (json) {
    const others = shown.filter(({ id }) => !isOn(id));
    sayJson({
      lines: status?.lines ?? null,
      files:
        status?.files ??
        files.map(({ assistant, path }) => ({ assistant, path, state: "waiting" })),
      off: others.map(({ id, path }) => ({ assistant: id, path })),
      merges: status?.merges ?? [],
    });
    return;
  }
  sayRows(tableInLines(shown.map((place) => [place.name, ...rowOf(place, { files, status })])));
  sayText(status ? mergeLines(status.merges) : []);
  saySentence(endOf(files, status));
}

interface Known {
  readonly files: readonly PersonalFile[];
  readonly status: PersonalStatus | undefined;
}

function rowOf({ id, path, covered, remark }: PersonalPlace, { files, status }: Known): string[] {
  const file = files.find(({ assistant }) => assistant === id);
  if (!file) return [tilde(path), covered?.isHidden ? covered.why : "off"];
  const seen = status?.files.find(({ assistant }) => assistant === id);
  const said = seen?.note ?? (seen ? STATES[seen.state] : STATES.waiting);
  return [tilde(file.path), remark === undefined ? said : `${said}; ${remark}`];
}

const STATES: Readonly<Record<PersonalStatus["files"][number]["state"], string>> = {
  current: "has the text",
  waiting: "gets the text soon",
  asked: "waits for you",
  "left-alone": "is left alone",
};

function endOf(files: readonly PersonalFile[], status: PersonalStatus | undefined): string {
  if (files.length === 0) {
    return "off: `memsync personal on` has your own instructions the same in all of them";
  }
  if (!status) return NO_DAEMON;
  if (!status.lines) return "no text yet: write it between the marks in any of them";
  return `${count(status.lines, "line", "lines")}: edit it between the marks in any of them`;
}

const NO_DAEMON = "no daemon is running: `memsync start` keeps the files the same";

async function turnOn(env: Environment, names: readonly string[], flags: PersonalFlags) {
  const { adopt = false, write = false, yes, json } = flags;
  if (adopt && names.length !== 1) {
    throw new CommandFailed("--adopt begins with one file: name its assistant");
  }
  const files = await filesOf(env);
  const wanted = choosePlaces(personalPlacesOf(env), names, files);
  const { chosen, left } = await leaveProjects(env, wanted);
  if (!json) {
    const rows = chosen.map(async (place) => {
      const isOn = files.some(({ path }) => path === place.path);
      return [place.name, tilde(place.path), await whatIsDone(place, { write, adopt, isOn })];
    });
    sayRows(tableInLines(await Promise.all(rows)));
    for (const { place, why } of left) sayAside(`${place.name} is left out: it ${why}`);
  }
  await agreeTo("Put the text into these files?", { yes, undone: "nothing was changed" });
  await changeHome(env.home, async (db) => {
    for (const place of chosen) {
      const known = (await listPersonalFiles(db)).find(({ assistant }) => assistant === place.id);
      await forgetPersonalFile(db, place.id);
      await putPersonalFile(db, turnedOn(place, known, { adopt, write }), realWorld.now());
    }
  });
  await sayAfter(
    env,
    chosen.map(({ id }) => id),
    json,
  );
}

/** What is known of a file that is on already stays, unless something is asked about it. */
function turnedOn(
  { id, path, header }: PersonalPlace,
  known: PersonalFile | undefined,
  { adopt, write }: { readonly adopt: boolean; readonly write: boolean },
): PersonalFile {
  const isSame = known?.path === path;
  const isKept = isSame && known.asked === undefined;
  return {
    ...(isKept ? known : { undone: [], isMade: isSame && known.isMade, begun: known?.begun }),
    assistant: id,
    path,
    header,
    writes: write || (isSame && known.writes),
    settled: adopt ? "adopt" : undefined,
    // With `--adopt` the user takes all that the file has, and so has been asked about it.
    asked: adopt || (isSame && known.asked !== "found") ? undefined : "found",
  };
}

async function turnOff(env: Environment, names: readonly string[], flags: PersonalFlags) {
  const { keepText = false, yes, json } = flags;
  const places = personalPlacesOf(env);
  const named = names.length > 0 ? namedPlaces(places, names).map(({ id }) => id) : undefined;
  const files = (await filesOf(env)).filter(({ assistant }) => named?.includes(assistant) ?? true);
  if (files.length === 0) {
    if (json) sayJson({ files: [] });
    else saySentence("nothing of that is on");
    return;
  }
  if (!json) {
    const rows = files.map(async ({ assistant, path }) => {
      const name = places.find(({ id }) => id === assistant)?.name ?? assistant;
      const shared = await projectFileAt(env, path);
      return [name, tilde(path), await whatIsLeft(path, keepText, shared)];
    });
    sayRows(tableInLines(await Promise.all(rows)));
  }
  await agreeTo("Take it out of these files?", { yes, undone: "nothing was changed" });
  await changeHome(env.home, async (db) => {
    const settled = keepText ? "keep" : "off";
    for (const { assistant } of files) await settlePersonalFile(db, assistant, { settled });
  });
  await sayAfter(
    env,
    files.map(({ assistant }) => assistant),
    json,
  );
}

async function take(env: Environment, name: string, { yes, json }: PersonalFlags): Promise<void> {
  const [place] = namedPlaces(personalPlacesOf(env), [name]);
  const file = (await filesOf(env)).find(({ assistant }) => assistant === place?.id);
  const { asked } = file ?? {};
  if (!file || !place || asked === undefined || asked === "missing") {
    throw nothingToTake(place?.name ?? name);
  }
  await leaveProjects(env, { chosen: [{ ...place, path: file.path }], left: [] });
  const text = asked === "found" ? await textInBlock(file.path) : undefined;
  if (text?.trim() === "") throw nothingToTake(place.name);
  if (text !== undefined && !json) sayText(text.trimEnd().split("\n"));
  await agreeTo(`${QUESTIONS[asked]} The history keeps what was there.`, {
    yes,
    undone: "nothing was changed",
  });
  if (text !== undefined && text !== (await textInBlock(file.path))) {
    throw new CommandFailed(
      `${tilde(file.path)} has other lines between the marks by now, and nothing was taken: ` +
        "say it again to see them",
    );
  }
  const takes = text === undefined ? undefined : textHash(text);
  await changeHome(env.home, (db) => settlePersonalFile(db, place.id, { settled: "take", takes }));
  await sayAfter(env, [place.id], json);
}

function nothingToTake(name: string): CommandFailed {
  return new CommandFailed(`nothing in ${name}'s file waits to be taken`, { code: "not-found" });
}

/** The text between the marks, shown to the person who is asked whose it is. */
async function textInBlock(path: string): Promise<string> {
  const read = await readPersonalFile(path);
  return read.kind === "file" ? (read.block?.text ?? "") : "";
}

const QUESTIONS = {
  emptied: "Empty the text everywhere?",
  former: "Have the earlier version everywhere?",
  deleted: "Bring the text back everywhere?",
  found: "Add what stands in it to your text, in all files?",
} as const;

/** Says what became of the files that the command was about. */
async function sayAfter(env: Environment, ids: readonly string[], json = false): Promise<void> {
  const status = await statusOf(env);
  const files = (status?.files ?? []).filter(({ assistant }) => ids.includes(assistant));
  if (json) {
    sayJson({ files });
    return;
  }
  if (!status) {
    saySentence("done once the daemon runs: `memsync start`");
    return;
  }
  for (const { path, state, note } of files) {
    if (state !== "current") saySentence(`${tilde(path)} ${note ?? STATES[state]}`);
  }
  const having = files.filter(({ state }) => state === "current").length;
  const gone = ids.length - files.length;
  if (having > 0) saySentence(`${count(having, "file has", "files have")} the text`);
  if (gone > 0) saySentence(`${count(gone, "file is", "files are")} no longer kept the same`);
}
