import type { DaemonStatus, ProjectStatus } from "../../daemon/status/status.ts";
import { isUnitSynced, serviceTroubleOf } from "../../daemon/status/synced-projects.ts";
import { count, shortName } from "../screen/output.ts";
import { isStandingIn } from "../screen/standing.ts";
import { hasTerminal, styled } from "../screen/terminal.ts";
import { brokenLine, cut, wrapped } from "../screen/text-width.ts";
import { coloured, toned } from "../screen/tones.ts";
import { oddFolders } from "./odd-folders.ts";
import { hasEnded, unlinkedCount } from "./project-list.ts";
import { type StatusView, tonedStatusLines } from "./status-view.ts";
import { tinyLines } from "./tiny-lines.ts";

/** The size of a terminal, in characters. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /**
   * The screen cuts lines that are too wide, where a terminal begins a new row. So words are broken
   * before.
   */
  readonly cuts?: boolean;
}

/** Rows for the shell's prompt below, and for the number of conflicts above. */
const ROWS_FOR_OTHERS = 3;

/**
 * With fewer rows than this, a line for each thing says more than the first lines of the summary.
 */
const TERSE_ROWS_MIN = 16;

const MORE = "more: `memsync status --all`";

/**
 * `memsync status` for one screen: as its summary, or without what one can do without, or where
 * that has no room, a line for each thing. Without a screen, complete.
 */
export function statusOnScreen(
  status: DaemonStatus,
  view: StatusView = {},
  screen: Screen | undefined = screenOf(),
): string[] {
  const lines = statusSummary(status, view, screen);
  if (!screen || fits(lines, screen)) return lines;
  const terse = statusSummary(status, { ...view, short: true, calm: true }, screen);
  if (screen.rows >= TERSE_ROWS_MIN && fits(terse, screen)) return terse;
  const { standing = { kind: "nowhere" } } = view;
  // Without conflicts, because the command says below how many there are.
  const tiny = tinyLines({ status, standing, conflicts: 0 }, screen.columns);
  const room = Math.max(1, screen.rows - ROWS_FOR_OTHERS - 1);
  return [...tiny.slice(0, room), cut(MORE, screen.columns - 1)];
}

/**
 * The status complete if it fits; else with one line for each healthy project, then for every
 * project; then some are only counted. It may still be longer than a very small screen.
 */
export function statusSummary(
  status: DaemonStatus,
  view: StatusView,
  screen: Screen | undefined,
): string[] {
  const { standing } = view;
  const whole = laidOut(tonedStatusLines(status, view), screen);
  if (!screen || fits(whole, screen)) return whole;
  const here = status.projects.filter((each) => standing && isStandingIn(standing, each));
  const others = status.projects.filter((each) => !here.includes(each));
  const troubled = others.filter(isTroubled);
  const well = others.filter((each) => !isTroubled(each));
  for (const { projects, brief } of [
    { projects: [...here, ...troubled, ...well], brief: well },
    { projects: [...here, ...troubled], brief: [] },
    { projects: [...here, ...troubled, ...well], brief: others },
    ...fewerAndFewer(troubled).map((some) => ({ projects: [...here, ...some], brief: some })),
  ]) {
    const ids = new Set(brief.map(({ id }) => id));
    const shown = { ...view, brief: { ids, columns: screen.columns } };
    const lines = laidOut(shortened(status, projects, shown), screen);
    if (fits(lines, screen)) return lines;
  }
  const bare = { ...status, held: [], unlinked: [] };
  return laidOut([...shortened(bare, here, view), ...countedLines(status)], screen);
}

/** All items, all but the last one, and so on to none. */
function fewerAndFewer<Item>(items: readonly Item[]): (readonly Item[])[] {
  return [...items, undefined].map((_, at) => items.slice(0, items.length - at));
}

/** The complete status in lines that fit the screen's width, if there is a screen. */
export function wholeOnScreen(status: DaemonStatus, view: StatusView = {}): string[] {
  return laidOut(tonedStatusLines(status, { ...view, all: true }), screenOf());
}

/** The first of these texts that fits on the screen; each is shorter than the one before. */
export function firstOnScreen(texts: readonly (readonly string[])[]): string[] {
  const screen = screenOf();
  const all = texts.map((lines) => laidOut(lines, screen));
  return all.find((lines) => !screen || fits(lines, screen)) ?? all.at(-1) ?? [];
}

/** The current terminal; undefined where standard output is none. */
export function screenOf(): Screen | undefined {
  const { columns, rows } = process.stdout;
  return hasTerminal() && columns > 0 && rows > 0 ? { columns, rows } : undefined;
}

function fits(lines: readonly string[], { rows }: Screen): boolean {
  return lines.length <= rows - ROWS_FOR_OTHERS;
}

/** Counts of what is too long to show. */
function countedLines({ held, unlinked }: DaemonStatus): string[] {
  const kept = held.filter(({ kind }) => kind !== "file");
  return [
    ...unlinkedCount(unlinked.filter((each) => !hasEnded(each)).length),
    ...(kept.length > 0
      ? [`${toned("pending", "held")}      ${kept.length} here: \`memsync held\` lists them`]
      : []),
  ];
}

/** Whether there is more to say about a project than that it is synced. */
function isTroubled(project: ProjectStatus): boolean {
  const { refused, notes, deleted, joined } = project;
  const isDone = refused === null && isUnitSynced(project) && deleted === null;
  return !isDone || notes.length + joined.length > 0 || oddFolders(project).length > 0;
}

/** The status with only these projects, and the number of others. */
function shortened(
  status: DaemonStatus,
  projects: readonly ProjectStatus[],
  view: StatusView,
): string[] {
  const left = status.projects.filter(({ id }) => !projects.some((shown) => shown.id === id));
  const troubled = left.filter(isTroubled);
  const well = left.length - troubled.length;
  if (left.length === 0) return tonedStatusLines({ ...status, projects }, view);
  const all =
    projects.length > 0 ? `${left.length} more` : count(left.length, "project", "projects");
  const counted = [
    ...(troubled.length > 0 ? [`${all}: ${troubledShown(troubled)}`] : [all]),
    ...(well > 0 ? [`${troubled.length > 0 ? "the others " : ""}${wellShown(status, left)}`] : []),
  ].join(", ");
  const rest = `projects  ${counted}; \`memsync status --all\` shows each`;
  return tonedStatusLines({ ...status, projects }, { ...view, rest, left });
}

const NAMED_MAX = 3;

/** Which they are, for a few, since something may have to be done about each. */
function troubledShown(projects: readonly ProjectStatus[]): string {
  const names = projects.slice(0, NAMED_MAX).map(({ name }) => shortName(name));
  const unnamed = projects.length - names.length;
  const rest = unnamed > 0 ? ` and ${count(unnamed, "other", "others")}` : "";
  const has = projects.length === 1 ? "has" : "have";
  return `${names.join(", ")}${rest} ${has} something waiting, refused or not followed`;
}

/** If one of their services does not answer, nobody knows what others wrote. */
function wellShown({ remotes }: DaemonStatus, projects: readonly ProjectStatus[]): string {
  const names = new Set(projects.map(({ remote }) => remote));
  const services = [...names].map((each) => remotes.find(({ name }) => name === each)?.service);
  const isMute = services.some((service) => serviceTroubleOf(service) !== undefined);
  return isMute ? "nothing waiting" : toned("good", "all synced");
}

/** The subject of a line. */
const LABEL = /^(\w+)(?= {2,})/;

/** Continuation lines are indented further than the lines below a label. */
const INDENT = 12;

/** Lines that fit the screen's width, with colours on a terminal that has them. */
function laidOut(lines: readonly string[], screen: Screen | undefined): string[] {
  return lines.flatMap((line) => {
    const [first = "", ...others] = screen ? linesOn(screen, line) : [line];
    return coloured([first.replace(LABEL, (label) => styled("bold", label)), ...others]);
  });
}

function linesOn({ columns, cuts = false }: Screen, line: string): string[] {
  const lines = wrapped(line, columns, INDENT);
  return cuts ? lines.flatMap((each) => brokenLine(each, columns, INDENT)) : lines;
}
