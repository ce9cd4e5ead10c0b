import { FOLLOWED_NAMES } from "../../daemon/disk/followable-files.ts";
import type { Activity } from "../../daemon/home/activity.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Notice } from "../notices/notice.ts";
import { conflictLine } from "../notices/say-notices.ts";
import { activityLine } from "../screen/activity-view.ts";
import { clockShown } from "../screen/output.ts";
import type { Standing } from "../screen/standing.ts";
import { styled } from "../screen/terminal.ts";
import { cut, padded, wrapped } from "../screen/text-width.ts";
import { visible } from "../screen/visible.ts";
import { type Screen, statusSummary } from "../views/status-summary.ts";
import { tinyLines } from "../views/tiny-lines.ts";

/** An event and its time, in milliseconds since the Unix epoch. */
export interface Happened {
  readonly at: number;
  readonly activity: Activity;
}

/** The content of `up`'s screen. */
export interface LiveView {
  readonly status: DaemonStatus;
  readonly standing: Standing;
  readonly notices: readonly Notice[];
  /** Newest last. */
  readonly happened: readonly Happened[];
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

const TITLE = "memsync is up";
const KEYS = "Ctrl-C stops it";
/** The last line, if the screen has no room for all. */
const MORE = "more: `memsync status`";
/** Which file of a project's folder is followed. */
export const RULE = `followed: the first of ${FOLLOWED_NAMES.join(", ")} that is there`;

/** This many events are shown even where the status could fill the screen. */
const HAPPENED_MIN = 3;
/** `statusSummary` leaves these rows for a prompt. This screen has none. */
const PROMPT_ROWS = 3;
const NOTICE_INDENT = 2;

/**
 * Draws a whole screen: the status, what a person has to deal with, and the latest events. Nothing
 * in it changes by time alone. At most as many lines as the screen has rows.
 *
 * ```
 * for (const line of frameOf(view, { columns: 80, rows: 24 })) paint(line);
 * ```
 */
export function frameOf(view: LiveView, screen: Screen): string[] {
  const roomy = layOut(view, screen, false);
  const { above, left, foot } = roomy.left < rowsOf(view) ? layOut(view, screen, true) : roomy;
  if (left < 0) return [...above];
  const below =
    left < 2 ? [] : view.happened.slice(-(left - 1)).map((each) => happenedLine(each, screen));
  const blank = below.length > 0 ? [""] : [];
  const gap = Array.from({ length: left - blank.length - below.length }, () => "");
  return [...above, ...blank, ...below, ...gap, ...foot];
}

/** The rows that the latest events need, with a blank one above them. */
function rowsOf({ happened }: LiveView): number {
  return happened.length === 0 ? 0 : Math.min(happened.length, HAPPENED_MIN) + 1;
}

/** What stands above the events and below them; `left` rows are between. */
interface Layout {
  readonly above: readonly string[];
  readonly foot: readonly string[];
  readonly left: number;
}

/** Lays out the screen. `short`: leaves out what can be missed on a screen with few rows. */
function layOut(view: LiveView, screen: Screen, short: boolean): Layout {
  const { status, standing, notices, now } = view;
  const head = [titleLine(screen, short ? [`${MORE}; ${KEYS}`, MORE, KEYS] : [KEYS])];
  // The line is shown whole, because its end is the command that shows the conflicts.
  const conflicts = conflictLine(notices)
    .flatMap((line) => wrapped(visible(line), screen.columns - 1, NOTICE_INDENT))
    .map((line) => styled("yellow", cut(line, screen.columns - 1)));
  const foot = short ? [] : [styled("dim", cut(RULE, screen.columns - 1))];
  const fixed = head.length + conflicts.length + foot.length;
  const rows = screen.rows - fixed - rowsOf(view) + PROMPT_ROWS;
  const shown = statusSummary(
    status,
    { standing, now, calm: true, short },
    { ...screen, rows, cuts: true },
  );
  const all = [...head, ...shown, ...conflicts];
  const isTiny = short && all.length > screen.rows;
  const told = notices.filter(({ kind }) => kind === "conflict").length;
  const known = { status, standing, conflicts: told };
  const tiny = () => [...head, ...tinyLines(known, screen.columns)];
  const above = (isTiny ? tiny() : all).slice(0, screen.rows);
  return { above, foot, left: screen.rows - above.length - foot.length };
}

/** The title and the first of the `hints` that has room beside it. */
function titleLine({ columns }: Screen, hints: readonly string[]): string {
  const left = styled("bold", TITLE);
  const room = columns - 1 - TITLE.length;
  const hint = hints.find(({ length }) => length < room);
  if (hint === undefined) return left;
  return left + padded("", room - hint.length) + styled("dim", hint);
}

function happenedLine({ at, activity }: Happened, { columns }: Screen): string {
  const line = cut(`${clockShown(at)}  ${visible(activityLine(activity))}`, columns - 1);
  const isBad = activity.event === "offline" || activity.event === "refused";
  const isAsking = ["conflict", "held", "joined", "busy"].includes(activity.event);
  return isBad ? styled("red", line) : isAsking ? styled("yellow", line) : line;
}
