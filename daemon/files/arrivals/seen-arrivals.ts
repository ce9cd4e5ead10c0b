import type { Kysely } from "kysely";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FileState } from "../lines/file-state.ts";
import { SpanSet } from "../lines/span-set.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import { listUnfound, markArrivalsSeen } from "./arrival-store.ts";
import { UNSEEN_MS } from "./arrivals.ts";

/** What a look knows that has found a file. */
export interface FoundFile {
  readonly clock: ArrivalClock;
  /** When the look began, in milliseconds since the Unix epoch. */
  readonly lookedAt: number;
  /** Nothing was saved since the look before. */
  readonly isAsKnown: boolean;
  /** The document's characters that the file does not show. */
  readonly notShown: () => Promise<SpanSet>;
}

/** The characters of a document that a file in this state does not show. */
export function findNotShown({ document }: OpenDocument, state: FileState | undefined): SpanSet {
  const all = new SpanSet(document.captureText().spans);
  return all.without(new SpanSet(state?.base.spans ?? []));
}

/**
 * Marks as seen what a look has found in a file a minute after it came, where nothing was left to
 * be taken: whatever is saved after that was saved later. Returns after how many milliseconds the
 * next look has something to mark; undefined: there is nothing.
 */
export async function noteSeen(
  db: Kysely<DaemonTables>,
  dir: string,
  { clock, lookedAt, isAsKnown, notShown }: FoundFile,
): Promise<number | undefined> {
  const open = await listUnfound(db, dir);
  if (open.length === 0) return undefined;
  const left = open.map((arrival) => clock.unseenForMs(arrival));
  if (!isAsKnown) return Math.max(0, Math.min(...left));
  const young = clock.unseenAt(open, lookedAt);
  const old = open.filter((each) => !young.includes(each));
  if (old.length > 0) {
    const missing = await notShown();
    const found = old.filter(({ brought }) => !missing.hasAny(brought));
    await markArrivalsSeen(
      db,
      found.map(({ id }) => id),
    );
  }
  const next = young.map((arrival) => Math.max(0, clock.unseenForMs(arrival)));
  return next.length === 0 ? undefined : Math.min(...next, UNSEEN_MS);
}
