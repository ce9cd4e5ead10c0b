import type { Kysely } from "kysely";
import type { DaemonTables } from "../../home/tables.ts";
import type { ArrivalClock } from "../arrivals/arrival-clock.ts";
import { listUnseen } from "../arrivals/arrival-store.ts";
import { type Arrival, UNSEEN_MS } from "../arrivals/arrivals.ts";
import type { SinceRead } from "../state/follow-facts.ts";

/** What git has brought into a file within one look, and when. */
export interface CameByGit {
  readonly arrival: number;
  readonly at: number | undefined;
}

/** A text of a file, and what came into the file before it. */
export interface TextOver {
  readonly sight: SinceRead;
  readonly savedAt: number;
  /** Of the texts that the file had before this one, and that the same look has found. */
  readonly came: readonly CameByGit[];
  readonly clock: ArrivalClock;
}

/** The changes in a folder's file that whoever put a text there may not have seen. */
export async function listUnseenBy(
  db: Kysely<DaemonTables>,
  dir: string,
  { sight: { madeBy, past, putAt }, savedAt, came, clock }: TextOver,
): Promise<Arrival[]> {
  const all = await listUnseen(db, dir, { clock, savedAt });
  if (madeBy === undefined) return all;
  // Others had read what they took away, and whoever reverts a commit means what that takes away.
  if (madeBy === "others" || madeBy === "revert") return all.filter(({ isFromGit }) => !isFromGit);
  const seen = came.filter(({ at }) => !isSoon(at, putAt)).map(({ arrival }) => arrival);
  const changes = past?.changes ?? [];
  // What was committed before a switch back, and is merged then, was made of no text from then.
  const isBefore = ({ backFrom = [] }: Arrival) =>
    changes.length > 0 && changes.every((each) => backFrom.includes(each));
  return all.filter((each) => !seen.includes(each.id) && !isBefore(each));
}

/** Whether a text that was committed then may be from somebody who has not seen what came. */
export function isSoon(cameAt: number | undefined, committedAt: number | undefined): boolean {
  return cameAt === undefined || committedAt === undefined || committedAt - cameAt < UNSEEN_MS;
}
