import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { CommandFailed } from "../screen/errors.ts";
import { tilde } from "../screen/tilde.ts";
import type { Assistant, OwnCommand, SettingsFile, Surroundings } from "./assistant.ts";
import {
  type KeptChange,
  type KeptChanges,
  spliceBetween,
  undone,
  undoneAround,
} from "./kept-changes.ts";
import {
  cleared,
  completed,
  readSettingsFile,
  readSettingsText,
  type SettingsRead,
  writeSettingsText,
} from "./settings-file.ts";
import { parseSettings, restOf, UnreadableSettings } from "./settings-text.ts";

/** An assistant's own command is given this long. */
const COMMAND_MS_MAX = 20_000;

/**
 * A file of settings with what would be done to it.
 *
 * ```
 * const [hooks] = claude.files;
 * const step = planAddition(claude, hooks);
 * if (hasWork(step)) await setUp(step, { around, kept });
 * ```
 */
export interface SetupStep {
  readonly assistant: Assistant;
  readonly file: SettingsFile;
  readonly read: SettingsRead;
  /** The assistant's own command, where its program is here. */
  readonly command: readonly string[] | undefined;
  /** The file's text afterwards. Undefined: it is removed. Its present text: nothing is done. */
  readonly after: string | undefined;
}

export interface SetupPlace {
  readonly around: Surroundings;
  readonly kept: KeptChanges;
}

export function isInUse({ traces, program }: Assistant): boolean {
  return traces.some((path) => existsSync(path)) || Bun.which(program) !== null;
}

export function planAddition(assistant: Assistant, file: SettingsFile): SetupStep {
  const read = readSettingsFile(file, assistant.files);
  if (read.kind === "unreadable") {
    return { assistant, file, read, command: undefined, after: undefined };
  }
  if (read.absent.length === 0) {
    return { assistant, file, read, command: undefined, after: read.text };
  }
  try {
    const after = completed(file, read.text ?? "", read.absent);
    return { assistant, file, read, command: findCommand(file, "add"), after };
  } catch (thrown) {
    if (!(thrown instanceof UnreadableSettings)) throw thrown;
    const unread = { kind: "unreadable", why: thrown.message } as const;
    return { assistant, file, read: unread, command: undefined, after: undefined };
  }
}

export function planRemoval(
  assistant: Assistant,
  file: SettingsFile,
  kept: KeptChanges,
): SetupStep {
  const read = readSettingsFile(file, assistant.files);
  const step = { assistant, file, read };
  if (read.kind === "unreadable" || read.text === undefined) {
    return { ...step, command: undefined, after: undefined };
  }
  const changes = kept.of(file.path, read.hash);
  if (changes) return { ...step, command: undefined, after: undoneAll(read.text, changes) };
  // Another step may be about the same file, whose changes are undone along with these.
  const same = assistant.files.filter(({ path }) => path === file.path);
  const ofPath = { ...file, entries: same.flatMap(({ entries }) => entries) };
  const after = cleared(file, undoneAmong(ofPath, read.text, kept.madeIn(file.path)));
  const command = after === read.text ? undefined : findCommand(file, "remove");
  return { ...step, command, after };
}

function undoneAll(text: string, changes: readonly KeptChange[]): string | undefined {
  return changes.reduceRight<string | undefined>(
    (after, change) => (after === undefined ? undefined : undone(after, change)),
    text,
  );
}

/**
 * The text with our changes undone, though somebody has changed the file since. What the user's own
 * entries need stays, and so does an entry that the user has continued: without it those lines
 * would belong to another entry.
 */
function undoneAmong(file: SettingsFile, text: string, changes: readonly KeptChange[]): string {
  return changes.reduceRight((left, change) => {
    const before = undoneAround(left, change);
    return before !== undefined && saySame(file, left, before) ? before : left;
  }, text);
}

/** Whether two texts say the same, but for what is ours. */
function saySame({ entries, syntax }: SettingsFile, one: string, other: string): boolean {
  try {
    const [rest, others] = [one, other].map((text) => restOf(text, syntax, entries));
    return isDeepStrictEqual(rest, others);
  } catch (thrown) {
    if (thrown instanceof UnreadableSettings) return false;
    throw thrown;
  }
}

export function hasWork({ read, after }: SetupStep): boolean {
  return read.kind === "read" && after !== read.text;
}

/** Adds what is planned. Refuses where the file is another one by now. */
export async function setUp(step: SetupStep, { kept, around }: SetupPlace): Promise<void> {
  const { file, read } = step;
  if (read.kind !== "read") return;
  const before = kept.madeIn(file.path);
  const isExact = before.length === 0 || kept.of(file.path, read.hash) !== undefined;
  await change(step, around);
  const now = readSettingsText(file.path);
  const lacks = readSettingsFile(file);
  if (now.text === undefined || lacks.kind !== "read" || lacks.absent.length > 0) {
    throw new CommandFailed(`${tilde(file.path)} does not have what was written there`);
  }
  const isAlone = step.command === undefined || differsOnlyBy(file, read.text ?? "", now.text);
  const made = changesTo(step, now.text);
  kept.keep(file.path, isExact ? now.hash : "", isAlone ? [...before, ...made] : []);
}

/**
 * One change for each entry, so that each can be found again, whatever is written between them
 * later.
 */
function changesTo({ file, read, command }: SetupStep, now: string): KeptChange[] {
  const { text, absent } = read.kind === "read" ? read : { text: undefined, absent: [] };
  if (command || text === undefined) return [spliceBetween(text, now)];
  const changes: KeptChange[] = [];
  let before = text;
  for (const entry of absent) {
    const after = completed(file, before, [entry]);
    changes.push(spliceBetween(before, after));
    before = after;
  }
  return before === now ? changes : [spliceBetween(text, now)];
}

/** Takes back what `setUp` did, where nothing has changed since; else only what is ours. */
export async function undoSetUp(step: SetupStep, { kept, around }: SetupPlace): Promise<void> {
  await change(step, around);
  kept.keep(step.file.path, "", []);
}

async function change(step: SetupStep, { userFolder }: Surroundings): Promise<void> {
  const { file, read, after, command } = step;
  if (read.kind !== "read") return;
  if (command) runOwn(command);
  else if (after !== undefined) {
    await writeSettingsText(file.path, after, { hash: read.hash, within: userFolder });
  } else if (readSettingsText(file.path).hash === read.hash) rmSync(file.path);
}

/**
 * A running assistant may have written into the same file meanwhile. That is its own, and stays.
 */
function differsOnlyBy(file: SettingsFile, before: string, after: string): boolean {
  const { syntax } = file;
  const without = parseSettings(cleared(file, after), syntax);
  return isDeepStrictEqual(without, parseSettings(cleared(file, before), syntax));
}

function findCommand({ command }: SettingsFile, what: keyof OwnCommand) {
  return command && Bun.which(command[what][0]) ? command[what] : undefined;
}

function runOwn([program = "", ...rest]: readonly string[]): void {
  const options = { encoding: "utf8", timeout: COMMAND_MS_MAX, stdio: "pipe" } as const;
  const { status, stdout, stderr, error } = spawnSync(program, rest, options);
  if (status === 0) return;
  const shown = `\`${[program, ...rest].join(" ")}\``;
  if (isTimeout(error)) {
    throw new CommandFailed(`${shown} did not end within ${COMMAND_MS_MAX / 1000} s`);
  }
  const said = (error?.message ?? `${stderr}${stdout}`).trim().split("\n");
  throw new CommandFailed(`${shown} failed`, { further: said });
}

function isTimeout(error: Error | undefined): boolean {
  return error !== undefined && "code" in error && error.code === "ETIMEDOUT";
}
