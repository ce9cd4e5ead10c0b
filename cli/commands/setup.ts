import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import type { Command } from "commander";
import { folderMode } from "../../daemon/home/folder-switches.ts";
import type { Environment } from "../place/environment.ts";
import { agreeTo } from "../screen/agree.ts";
import { CommandFailed, UsageError } from "../screen/errors.ts";
import { complain, sayAside, sayJson, sayRows, saySentence } from "../screen/output.ts";
import { styled } from "../screen/terminal.ts";
import { wrapped } from "../screen/text-width.ts";
import { tilde } from "../screen/tilde.ts";
import { visible } from "../screen/visible.ts";
import { type Assistant, assistantsFor, isCalled } from "../setup/assistant.ts";
import { TURN_ON_AUTO_MEMORY } from "../setup/auto-memory-hint.ts";
import { KeptChanges } from "../setup/kept-changes.ts";
import { MEND_PATH, NOT_ON_PATH } from "../setup/on-path.ts";
import {
  hasWork,
  isInUse,
  planAddition,
  planRemoval,
  type SetupStep,
  setUp,
  undoSetUp,
} from "../setup/set-up.ts";
import { entryShown, type SettingsEntry, stateOf } from "../setup/settings-text.ts";
import { screenOf } from "../views/status-summary.ts";

interface SetupFlags {
  readonly yes?: boolean;
  readonly remove?: boolean;
  readonly details?: boolean;
  readonly json?: boolean;
}

const HELP = `
ASSISTANT is claude, codex, gemini, cursor, vscode, opencode or zed; without one, all that are in
use here. It shows what their settings would get, and changes nothing before you agree. Where that
has no room on the screen, a file has one line; --details shows each entry whole.
They get the memories as tools (\`memsync mcp\`) and, where they have hooks, what is known of a
project at the start of each session (\`memsync hook\`). Where an assistant has a command of its own
for that, that is run. What you have set up by hand is left as it is.

--remove takes it back: a file that nobody has changed since gets its former bytes.

Examples:
  memsync setup                 shows what it would change, and asks
  memsync setup codex --yes     asks nobody, as in a script
  memsync setup --remove        takes it back, after asking`;

/** `setup`: brings the memories into the assistants that are in use. */
export function addSetupCommand(program: Command, env: Environment): void {
  program
    .command("setup [assistant...]")
    .description("bring the memories into assistants, or take them out again")
    .option("--remove", "take back what was set up")
    .option("--yes", "do it without asking")
    .option("--details", "show each entry whole, also where the screen has no room")
    .option("--json", "print what is done as JSON")
    .addHelpText("after", HELP)
    .action((names: readonly string[], flags: SetupFlags) => run(env, names, flags));
}

async function run(env: Environment, names: readonly string[], flags: SetupFlags): Promise<void> {
  const around = {
    userFolder: homedir(),
    platform: process.platform,
    variables: env.variables,
  };
  const kept = new KeptChanges(env.home.setup);
  const chosen = choose(assistantsFor(around), names, flags);
  const plan = (assistant: Assistant, file: Assistant["files"][number]) =>
    flags.remove ? planRemoval(assistant, file, kept) : planAddition(assistant, file);
  const planned = chosen.flatMap((each) => each.files.map((file) => plan(each, file)));
  const steps = flags.remove ? planned.filter(mayHaveOurs) : planned;
  const due = steps.filter(hasWork);
  const unread = unreadableOf(steps);
  if (!flags.json) {
    const readable = steps.filter((each) => hasWork(each) || !isUnread(each));
    showAll([...readable, ...unread], flags);
    if (due.length > 0 && !flags.remove) warnBefore(env);
  }
  if (due.length > 0) {
    const what = flags.remove ? "Take this back?" : "Set this up?";
    const does = flags.remove ? "takes this back" : "sets this up";
    await agreeTo(what, { yes: flags.yes, undone: "nothing was changed", does });
  }
  const failures: StepFailure[] = [];
  for (const { assistant, file } of due) {
    // Two steps may be about one file.
    const step = plan(assistant, file);
    if (!hasWork(step)) continue;
    if (step.command) sayAside(`waiting for \`${step.command.join(" ")}\``);
    try {
      if (flags.remove) await undoSetUp(step, { around, kept });
      else await setUp(step, { around, kept });
    } catch (thrown) {
      // A failure at one assistant keeps no other one from being set up.
      if (!(thrown instanceof CommandFailed)) throw thrown;
      failures.push({ assistant, thrown });
    }
  }
  const isAutoMemoryOff = folderMode(env.home, "auto-memory") === "off";
  sayEnd(chosen, { steps, due, unread, failures, flags, isAutoMemoryOff });
  failAtEnd(failures, unread);
}

interface StepFailure {
  readonly assistant: Assistant;
  readonly thrown: CommandFailed;
}

/** Fails with a sentence for each step that failed and each file that could not be read. */
function failAtEnd(failures: readonly StepFailure[], unread: readonly SetupStep[]): void {
  const sentences = failures.map(({ assistant, thrown }) => ({
    sentence: `not all of ${assistant.name} was done: ${thrown.message}`,
    further: thrown.further,
  }));
  if (unread.length > 0) {
    const which = unread.map(({ file }) => tilde(file.path)).join(", ");
    const was = unread.length === 1 ? "was" : "were";
    const sentence = `${which} can't be used as settings, and ${was} left alone`;
    sentences.push({ sentence, further: [] });
  }
  const last = sentences.pop();
  for (const { sentence, further } of sentences) complain(sentence, further);
  if (last) throw new CommandFailed(last.sentence, { further: last.further });
}

function isUnread({ read }: SetupStep): boolean {
  return read.kind === "unreadable";
}

/** Each file that can't be read, once: two steps may be about one. */
function unreadableOf(steps: readonly SetupStep[]): SetupStep[] {
  const byPath = new Map(steps.filter(isUnread).map((step) => [step.file.path, step] as const));
  return [...byPath.values()];
}

/** A file that can't be read, and that never names memsync, has nothing to take back. */
function mayHaveOurs({ file, read }: SetupStep): boolean {
  return read.kind !== "unreadable" || readFileSync(file.path).includes("memsync");
}

const USUAL_HOME = "~/.memsync";

/** Warns of variables of this shell that an assistant started elsewhere does not have. */
function warnBefore({ variables, home }: Environment): void {
  if (Bun.which("memsync") === null) sayAside(`${NOT_ON_PATH}: ${MEND_PATH}`);
  if (!variables.MEMSYNC_HOME || tilde(home.dir) === USUAL_HOME) return;
  sayAside(
    `MEMSYNC_HOME is set here, and is not written into any settings: an assistant uses ` +
      `${tilde(home.dir)} only if it is started with that variable, and ${USUAL_HOME} otherwise`,
  );
}

function choose(
  all: readonly Assistant[],
  names: readonly string[],
  { remove }: SetupFlags,
): readonly Assistant[] {
  const unknown = names.find((name) => !all.some((each) => isCalled(each, name)));
  if (unknown !== undefined) {
    const known = all.map(({ id }) => id).join(", ");
    throw new UsageError(`'${unknown}' is no assistant that can be set up: ${known}`);
  }
  if (names.length > 0) return all.filter((each) => names.some((name) => isCalled(each, name)));
  const used = all.filter(isInUse);
  if (used.length > 0 || remove) return used;
  throw new CommandFailed(
    `none of ${all.map(({ name }) => name).join(", ")} was found here: name one to set it up`,
  );
}

/** Rows for the question, a warning before it, and the shell's prompt. */
const ROWS_FOR_OTHERS = 6;

/** What is asked about has to be on the screen with the question. */
function showAll(steps: readonly SetupStep[], flags: SetupFlags): void {
  const { columns, rows } = screenOf() ?? {};
  const lines = steps.flatMap((step) => [step.file.path, ...rowsOf(step, flags)]);
  const height = lines.flatMap((row) => wrapped(row, columns ?? Infinity, 0)).length;
  const isBrief = rows !== undefined && height > rows - ROWS_FOR_OTHERS && !flags.details;
  const idle = new Set<string>();
  for (const step of steps) {
    // Two steps may be about one file, of which nothing else is said.
    const line = idleLine(step, flags.remove ?? false);
    if (line !== undefined && idle.has(line)) continue;
    if (line === undefined) show(step, { ...flags, isBrief });
    else sayRows([line]);
    idle.add(line ?? "");
  }
  if (isBrief) sayAside("--details shows each entry whole");
}

/** What a file gets or loses, an entry in a line. */
function rowsOf(step: SetupStep, { remove = false }: SetupFlags): string[] {
  const { read, command } = step;
  if (read.kind === "unreadable" || !hasWork(step)) return [];
  if (command) return [`  $ ${command.join(" ")}`];
  const changed = remove ? lostIn(step, read.present) : read.absent;
  return changed.map((entry) => `  ${remove ? "-" : "+"} ${entryShown(entry)}`);
}

/** What a file gets or loses, by names alone, in one line. */
function briefOf(step: SetupStep, { remove = false }: SetupFlags): string {
  const { read, command } = step;
  if (command) return `$ ${command.slice(0, 3).join(" ")} …`;
  if (read.kind !== "read") return "";
  const changed = remove ? lostIn(step, read.present) : read.absent;
  return `${remove ? "-" : "+"} ${changed.map(({ keys }) => keys.at(-1)).join(", ")}`;
}

function placeShown({ assistant, file }: SetupStep): string {
  return `${styled("bold", assistant.name)}  ${tilde(file.path)}`;
}

/** What is said of a file that gets and loses nothing; undefined of others. */
function idleLine(step: SetupStep, remove: boolean): string | undefined {
  const { read } = step;
  if (read.kind === "unreadable" || hasWork(step)) return undefined;
  const hasOwn = (remove ? stayingIn(step) : read.other).length > 0;
  return `${placeShown(step)}  ${styled("dim", stateShown(hasOwn, remove))}`;
}

/** A file that can't be read, or what it gets or loses. */
function show(step: SetupStep, flags: SetupFlags & { readonly isBrief: boolean }): void {
  const { isBrief } = flags;
  const { read } = step;
  const place = placeShown(step);
  if (read.kind === "unreadable") {
    sayRows([`${place}  ${styled("yellow", "left alone:")} ${visible(read.why)}`]);
    return;
  }
  if (isBrief) {
    sayRows([`${place}  ${styled("dim", briefOf(step, flags))}`]);
    return;
  }
  sayRows([place]);
  // A value is long, and a terminal would break it within a word.
  for (const row of rowsOf(step, flags)) saySentence(row, "remark");
}

/** The entries that a file would no longer have. */
function lostIn({ file, after }: SetupStep, present: readonly SettingsEntry[]) {
  if (after === undefined) return present;
  return present.filter((entry) => stateOf(after, file.syntax, entry) !== "present");
}

/**
 * The entries that stay in a file although memsync is removed: a person has changed them, or has
 * built on them.
 */
function stayingIn({ file, read, after }: SetupStep): readonly SettingsEntry[] {
  if (read.kind !== "read") return [];
  const ours = read.present.filter(({ isShared }) => !isShared);
  const left = ours.filter((entry) => {
    return after !== undefined && stateOf(after, file.syntax, entry) === "present";
  });
  return [...read.other, ...left];
}

function stateShown(hasOwn: boolean, remove: boolean): string {
  if (hasOwn) return "has an entry of your own, which stays";
  return remove ? "has nothing of memsync" : "is set up";
}

interface Outcome {
  readonly steps: readonly SetupStep[];
  readonly due: readonly SetupStep[];
  readonly unread: readonly SetupStep[];
  readonly failures: readonly StepFailure[];
  readonly flags: SetupFlags;
  readonly isAutoMemoryOff: boolean;
}

function sayEnd(chosen: readonly Assistant[], outcome: Outcome): void {
  const { steps, due, unread, failures, flags, isAutoMemoryOff } = outcome;
  if (flags.json) {
    sayJson({
      removed: flags.remove === true,
      files: steps.map(({ assistant, file, read }) => ({
        assistant: assistant.id,
        path: file.path,
        state: stateNamed(
          read.kind,
          due.some((step) => step.file === file),
        ),
      })),
    });
    return;
  }
  const isOf = (each: Assistant) => (step: { readonly assistant: Assistant }) =>
    step.assistant === each;
  const changed = chosen.filter((each) => due.some(isOf(each)) && !failures.some(isOf(each)));
  if (flags.remove) sayLeft(steps);
  if (due.length === 0) {
    const rest = unread.length > 0 ? "else " : "";
    const none = steps.some((step) => stayingIn(step).length > 0) ? "taken out" : "set up here";
    // An assistant one of whose files can't be read is not set up, and was named.
    const isAny = chosen.some((each) => !unread.some(isOf(each)));
    if (flags.remove) saySentence(`nothing was ${none}`);
    else if (isAny) saySentence(`everything ${rest}is set up`);
    return;
  }
  if (changed.length === 0) return;
  const which = changed.map(({ name }) => name).join(", ");
  saySentence(
    flags.remove
      ? `taken out of ${which}`
      : `set up in ${which}: it counts from the next session on`,
  );
  if (flags.remove) return;
  for (const { next } of changed) if (next !== undefined) sayAside(next);
  if (changed.some(({ id }) => id === "claude") && isAutoMemoryOff) {
    sayAside(`Claude Code's auto memory is not read: ${TURN_ON_AUTO_MEMORY}`);
  }
}

/** Says which entries stay. They still start memsync. */
function sayLeft(steps: readonly SetupStep[]): void {
  for (const step of steps) {
    const staying = stayingIn(step);
    if (staying.length === 0) continue;
    const which = staying.map(({ keys }) => keys.join(".")).join(", ");
    sayAside(
      `${step.assistant.name} still has an entry of your own for memsync in ` +
        `${tilde(step.file.path)}: ${which}; delete it there if it is to go`,
    );
  }
}

function stateNamed(kind: string, isDue: boolean): "changed" | "unchanged" | "unreadable" {
  if (kind === "unreadable") return "unreadable";
  return isDue ? "changed" : "unchanged";
}
