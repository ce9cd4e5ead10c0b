import { diffArrays } from "diff";
import type { Fork } from "./merge-data.ts";

/** What is wrong with the text that a fork was merged to. */
export interface Judgement {
  /**
   * Lines of which there are too few. Counting equal lines, blank ones and fences included, there
   * must be those of the base that neither side deleted, and those that a side inserted, or the
   * larger number if both inserted some: copies(base) - deleted(ours) - deleted(theirs), at least
   * 0, and max(inserted(ours), inserted(theirs)). What a side inserted and deleted is what a plain
   * diff of it to the base says.
   */
  readonly lost: readonly string[];
  /** Lines that neither side nor the base has. */
  readonly invented: readonly string[];
  /**
   * Copies of a line with a letter or a digit beyond those in the text that has most of them. Where
   * git merges, the copies that its text has are right.
   */
  readonly doubled: readonly string[];
  /** Code blocks that one side inserted whole and that don't stand there line behind line. */
  readonly torn: readonly string[];
  /** Runs of lines that a side inserted, and how many of them are there in their order. */
  readonly runs: number;
  readonly runsInOrder: number;
}

/** Judges the text that a fork was merged to; `gitText` is git's where git merges the fork. */
export function judge(fork: Fork, text: string, gitText: string | undefined): Judgement {
  const base = linesOf(fork.base);
  const sides = [fork.ours, fork.theirs].map((side) => plainChanges(base, linesOf(side)));
  const runs = sides.flatMap((side) => side.runs);
  const known = new Set([fork.base, fork.ours, fork.theirs].flatMap(linesOf));
  return {
    lost: lostLines(base, sides, linesOf(text)),
    invented: linesOf(text).filter((line) => !known.has(line)),
    doubled: findDoubled([fork.base, fork.ours, fork.theirs, gitText ?? ""], text),
    torn: runs.flatMap(codeBlocksOf).filter((block) => !`\n${text}\n`.includes(`\n${block}\n`)),
    runs: runs.length,
    runsInOrder: runs.filter((run) => isWithin(run, linesOf(text))).length,
  };
}

/** The lines of a text, without their line breaks. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** What one side did to the base: each run of lines that it inserted, and the lines it deleted. */
export interface Changes {
  readonly runs: readonly (readonly string[])[];
  readonly deleted: readonly string[];
}

function plainChanges(base: readonly string[], side: readonly string[]): Changes {
  const parts = diffArrays([...base], [...side]);
  return {
    runs: parts.filter((part) => part.added).map((part) => part.value),
    deleted: parts.filter((part) => part.removed).flatMap((part) => part.value),
  };
}

/** See `Judgement.lost`. */
export function lostLines(
  baseLines: readonly string[],
  sides: readonly Changes[],
  lines: readonly string[],
): string[] {
  const base = countLines(baseLines);
  const result = countLines(lines);
  const inserted = sides.map(({ runs }) => countLines(runs.flat()));
  const deleted = countLines(sides.flatMap((side) => side.deleted));
  const lost: string[] = [];
  for (const line of new Set([
    ...base.keys(),
    ...inserted.flatMap((counts) => [...counts.keys()]),
  ])) {
    const left = Math.max(0, (base.get(line) ?? 0) - (deleted.get(line) ?? 0));
    const least = left + Math.max(...inserted.map((counts) => counts.get(line) ?? 0));
    for (let i = result.get(line) ?? 0; i < least; i++) lost.push(line);
  }
  return lost;
}

function findDoubled(texts: readonly string[], text: string): string[] {
  return surplusOf(texts, text).filter((line) => /[\p{L}\p{N}]/u.test(line));
}

/** Copies of a line beyond those in the text that has most of them. */
function surplusOf(texts: readonly string[], text: string): string[] {
  const counts = texts.map((one) => countLines(linesOf(one)));
  const surplus: string[] = [];
  for (const [line, copies] of countLines(linesOf(text))) {
    const most = Math.max(...counts.map((one) => one.get(line) ?? 0));
    for (let i = most; i < copies; i++) surplus.push(line);
  }
  return surplus;
}

/**
 * Whether a text is git's, or what git's would be without lines that git has doubled: it does where
 * one side has put a section before a blank line and the other behind it.
 */
export function isAsGit(versions: readonly string[], text: string, gitText: string): boolean {
  const parts = diffArrays(linesOf(gitText), linesOf(text));
  if (parts.some(({ added }) => added)) return false;
  const missing = parts.filter(({ removed }) => removed).flatMap(({ value }) => value);
  const doubled = countLines(surplusOf(versions, gitText));
  return [...countLines(missing)].every(([line, count]) => {
    return line === "" || count <= (doubled.get(line) ?? 0);
  });
}

/** Fenced code blocks that begin and end in the run. */
function codeBlocksOf(run: readonly string[]): string[] {
  const blocks: string[] = [];
  let open: number | undefined;
  for (const [i, line] of run.entries()) {
    if (!line.trimStart().startsWith("```")) continue;
    if (open !== undefined) blocks.push(run.slice(open, i + 1).join("\n"));
    open = open === undefined ? i : undefined;
  }
  return blocks;
}

function isWithin(run: readonly string[], lines: readonly string[]): boolean {
  let found = 0;
  for (const line of lines) if (line === run[found]) found++;
  return found === run.length;
}
