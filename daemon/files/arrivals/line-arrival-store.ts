import { sql } from "kysely";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { lineArrivalKey, shownBeforeKey } from "../../home/line-arrival-key.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { ArrivalTime } from "./arrivals.ts";

type Db = WriteContext<DaemonTables>["db"];

/** A change of which it matters whether who saves has seen it. */
export interface Seeable extends ArrivalTime {
  /** A look has found it in the file a minute after it came. */
  readonly isSeen?: boolean | undefined;
}

/** A line that came into a file or left it, and of which no characters are known. */
export interface CameLine extends Seeable {
  readonly line: string;
  /** A program saved it here. Else a write of ours brought it. */
  readonly isOwn: boolean;
  /** A write of ours took it out. */
  readonly isGone?: boolean | undefined;
  /** When the first save was made that left it out unseen, after which it stayed. */
  readonly leftOutAt?: number | undefined;
  /** A save leaves it out once more, later than a minute after it came: it goes, in dispute. */
  readonly isDisputed?: boolean | undefined;
  /** Somebody has decided that it stays; nobody was told that a save left it out since. */
  readonly isDecided?: boolean | undefined;
}

/** The first save counts. */
export async function noteLeftOut(db: Db, { id, leftOutAt = Infinity }: CameLine, at: number) {
  if (leftOutAt <= at) return;
  const change = sql<string>`json_set(change, '$.leftOutAt', ${at})`;
  await db.updateTable("file_arrivals").set({ change }).where("id", "=", id).execute();
}

/** A save that leaves it out is the first one again. */
export async function unsetLeftOut(db: Db, { id }: Pick<CameLine, "id">): Promise<void> {
  const change = sql<string>`json_remove(change, '$.leftOutAt')`;
  await db.updateTable("file_arrivals").set({ change }).where("id", "=", id).execute();
}

export async function forgetLine(db: Db, id: number): Promise<void> {
  await db.deleteFrom("file_arrivals").where("id", "=", id).execute();
}

export function listCame(db: Db, path: string): Promise<CameLine[]> {
  return listChanges(db, lineArrivalKey(path));
}

/** What it showed before each write of ours. */
export function listShown(db: Db, path: string): Promise<({ readonly seen: string } & Seeable)[]> {
  return listChanges(db, shownBeforeKey(path));
}

export async function addLine(
  db: Db,
  dir: string,
  { change, at }: { readonly change: object; readonly at: number },
): Promise<number> {
  const { id } = await db
    .insertInto("file_arrivals")
    .values({ dir, arrived_at: at, machine: null, change: JSON.stringify(change) })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

export async function listChanges<Change>(db: Db, dir: string): Promise<(Change & ArrivalTime)[]> {
  const rows = await db
    .selectFrom("file_arrivals")
    .select(["id", "arrived_at as at", "change"])
    .where("dir", "=", dir)
    .orderBy("id")
    .execute();
  return rows.map(({ id, at, change }) => ({ id, at, ...JSON.parse(change) }));
}
