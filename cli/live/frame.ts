import { FOLLOWED_NAMES } from "../../daemon/disk/followable-files.ts";
import type { Activity } from "../../daemon/home/activity.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import type { Notice } from "../notices/notice.ts";
import { conflictLine } from "../notices/say-notices.ts";
import { activityLine } from "../screen/activity-view.ts";
import { clockShown, shownPlainly } from "../screen/output.ts";
import type { Standing } from "../screen/standing.ts";
import { styled } from "../screen/terminal.ts";
import { cut, padded } from "../screen/text-width.ts";
import { type Screen, statusOnScreen } from "../views/status-summary.ts";

/** Something that happened, and when, in milliseconds since the Unix epoch. */
export interface Happened {
  readonly at: number;
  readonly activity: Activity;
}

/** What the screen of `up` shows. */
export interface LiveView {
  readonly status: DaemonStatus;
  readonly standing: Standing;
  readonly notices: readonly Notice[];
  /** The latest last. */
  readonly happened: readonly Happened[];
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

const TITLE = "memsync is up";
const KEYS = "Ctrl-C stops it";
/** The first thing that a project's folder is asked for. */
export const RULE = `followed: the first of ${FOLLOWED_NAMES.join(", ")} that is there`;

/** So much of what happened is shown where the status would take all of a screen. */
const HAPPENED_MIN = 3;
/** `statusOnScreen` leaves so many rows for a prompt, which there is none of here. */
const PROMPT_ROWS = 3;

/**
 * A whole screen: how it stands, what a person has to see to, and what happened last. Nothing in it
 * changes by itself while time goes by. No more lines than the screen has rows.
 */
export function frameOf(view: LiveView, screen: Screen): string[] {
  const { status, standing, notices, happened, now } = view;
  const head = [titleLine(screen)];
  const conflicts = conflictLine(notices).map((line) =>
    styled("yellow", cut(shownPlainly(line), screen.columns - 1)),
  );
  const foot = [styled("dim", cut(RULE, screen.columns - 1))];
  const fixed = head.length + conflicts.length + foot.length;
  const forHappened = happened.length === 0 ? 0 : Math.min(happened.length, HAPPENED_MIN) + 1;
  const rows = screen.rows - fixed - forHappened + PROMPT_ROWS;
  const shown = statusOnScreen(status, { standing, now, calm: true }, { ...screen, rows });
  const above = [...head, ...shown, ...conflicts].slice(0, screen.rows);
  const left = screen.rows - above.length - foot.length;
  if (left < 0) return above;
  const below =
    left < 2 ? [] : happened.slice(-(left - 1)).map((each) => happenedLine(each, screen));
  const blank = below.length > 0 ? [""] : [];
  const gap = Array.from({ length: left - blank.length - below.length }, () => "");
  return [...above, ...blank, ...below, ...gap, ...foot];
}

function titleLine({ columns }: Screen): string {
  const left = styled("bold", TITLE);
  const room = columns - 1 - KEYS.length;
  if (room <= TITLE.length) return left;
  return left + padded("", room - TITLE.length) + styled("dim", KEYS);
}

function happenedLine({ at, activity }: Happened, { columns }: Screen): string {
  const line = cut(`${clockShown(at)}  ${shownPlainly(activityLine(activity))}`, columns - 1);
  const isBad = activity.event === "offline" || activity.event === "refused";
  const isAsking = activity.event === "conflict" || activity.event === "held";
  return isBad ? styled("red", line) : isAsking ? styled("yellow", line) : line;
}
