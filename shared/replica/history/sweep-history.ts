import { type Kysely, sql } from "kysely";
import { CorruptDocumentError } from "../log/corrupt-document-error.ts";
import { type DocumentPart, partAfter } from "../log/document-parts.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { beginSweep, notePacked } from "./history-clock.ts";
import { packRevisions } from "./revision-pack.ts";
import { HISTORY, type Revision, readPack } from "./revisions.ts";

type Db = Kysely<ReplicaTables>;

/** A transaction deletes at most this many rows, so that no write waits long for it. */
const DROPPED_AT_ONCE = 500;

/** Fewer rows of a key than this are not packed, because each packing rewrites the last pack. */
const PACKED_MIN = 4;

/** A pack of this size is not extended: a write may have to wait while it is packed again. */
const PACK_BYTES_MAX = 1024 * 1024;

/** The history of one key, or of one text. */
interface HistoryKey {
  readonly document_id: number;
  readonly kind: Revision["kind"];
  readonly key: string;
}

/** Runs work in a write transaction of its own. */
type Step = <Result>(work: (db: Db, now: number) => Promise<Result>) => Promise<Result>;

/**
 * Deletes what is too old in every history, and packs new rows, in small steps: after each step
 * everything kept can be read. Throws `CorruptDocumentError` at the end if a pack is damaged; that
 * pack is left unchanged.
 */
export async function sweepHistory(step: Step): Promise<void> {
  const { time, isDoubted } = await step(beginSweep);
  while (await step((db) => dropAgedRows(db, time)));
  const damages: CorruptDocumentError[] = [];
  for (const id of await step((db) => agedPacks(db, time))) {
    await reporting(damages, () => step((db) => dropAgedOf(db, id, time)));
  }
  if (!isDoubted) {
    for (let part = await longAfter(step, 0); part; part = await longAfter(step, part.through)) {
      for (const key of part.keys) {
        await reporting(damages, async () => {
          while (await step((db) => packOldest(db, key)));
        });
      }
    }
    await step(notePacked);
  }
  const [damage] = damages;
  if (damage) throw damage;
}

async function reporting(damages: Error[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof CorruptDocumentError)) throw thrown;
    damages.push(thrown);
  }
}

/** False: none are left. */
async function dropAgedRows(db: Db, time: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("revisions")
    .where("id", "in", (select) =>
      select
        .selectFrom("revisions")
        .select("id")
        .where("replaced_at", "<", time - HISTORY.ageMs)
        // A plan for any values goes by the index of ages, and knows how few rows these are.
        .orderBy("replaced_at")
        .limit(sql.lit(DROPPED_AT_ONCE)),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

async function agedPacks(db: Db, time: number): Promise<number[]> {
  const packs = await db
    .selectFrom("revision_packs")
    .select("id")
    .where("oldest_at", "<", time - HISTORY.ageMs)
    .orderBy("id")
    .execute();
  return packs.map(({ id }) => id);
}

const PACK = ["id", "document_id", "count", "bytes", "payload", "checksum"] as const;

/** Keeps the pack's place among those of its key. */
async function dropAgedOf(db: Db, id: number, time: number): Promise<void> {
  const pack = await db
    .selectFrom("revision_packs")
    .select(PACK)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!pack) return;
  const kept = readPack(pack.document_id, pack).filter(({ replacedAt }) => {
    return replacedAt >= time - HISTORY.ageMs;
  });
  if (kept.length === 0) await db.deleteFrom("revision_packs").where("id", "=", id).execute();
  else await db.updateTable("revision_packs").set(columnsOf(kept)).where("id", "=", id).execute();
}

function columnsOf(revisions: Parameters<typeof packRevisions>[0]) {
  const oldest = Math.min(...revisions.map(({ replacedAt }) => replacedAt));
  return { ...packRevisions(revisions), oldest_at: oldest };
}

/** The histories with enough rows to pack, of the documents that come next. */
function longAfter(step: Step, after: number) {
  return step(async (db) => {
    const part = await partAfter(db, after);
    return part && { through: part.through, keys: await longHistories(db, part) };
  });
}

async function longHistories(db: Db, { after, through }: DocumentPart): Promise<HistoryKey[]> {
  return await db
    .selectFrom("revisions")
    .select(["document_id", "kind", "key"])
    .where("document_id", ">", after)
    .where("document_id", "<=", through)
    .groupBy(["document_id", "kind", "key"])
    .having((having) => having.fn.countAll<number>(), ">=", PACKED_MIN)
    .orderBy("document_id")
    .orderBy("kind")
    .orderBy("key")
    .execute();
}

/**
 * Packs a key's oldest rows, together with its last pack if that has room. So rows stay newer than
 * packs. False: too few rows are left.
 */
async function packOldest(db: Db, of: HistoryKey): Promise<boolean> {
  const rows = await sizesOf(db, of);
  if (rows.length < PACKED_MIN) return false;
  const last = await lastPackWithRoom(db, of);
  let bytes = last?.bytes ?? 0;
  const full = rows.findIndex((row) => {
    bytes += row.bytes;
    return bytes >= PACK_BYTES_MAX;
  });
  const taken = full === -1 ? rows : rows.slice(0, full + 1);
  const through = taken.at(-1)?.id ?? 0;
  const newest = await removeRows(db, of, through);
  const older = last ? readPack(of.document_id, last) : [];
  if (last) await db.deleteFrom("revision_packs").where("id", "=", last.id).execute();
  const room = HISTORY.revisionsPerKey - (rows.length - taken.length);
  const kept = [...newest, ...older].slice(0, Math.max(room, 0));
  if (kept.length > 0) {
    const pack = { ...of, ...columnsOf(kept) };
    await db.insertInto("revision_packs").values(pack).execute();
  }
  await dropPacksBeyond(db, of, rows.length - taken.length);
  return true;
}

/** A key's rows, oldest first, with their approximate sizes. */
function sizesOf(db: Db, of: HistoryKey) {
  return db
    .selectFrom("revisions")
    .select(["id", (select) => select.fn<number>("length", ["value"]).as("bytes")])
    .where("document_id", "=", of.document_id)
    .where("kind", "=", of.kind)
    .where("key", "=", of.key)
    .orderBy("id")
    .execute();
}

async function lastPackWithRoom(db: Db, of: HistoryKey) {
  const last = await db
    .selectFrom("revision_packs")
    .select(PACK)
    .where("document_id", "=", of.document_id)
    .where("kind", "=", of.kind)
    .where("key", "=", of.key)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last && last.bytes < PACK_BYTES_MAX ? last : undefined;
}

/** Removes a key's rows up to the id `through` from their table, newest first. */
async function removeRows(db: Db, of: HistoryKey, through: number) {
  const rows = await db
    .deleteFrom("revisions")
    .where("document_id", "=", of.document_id)
    .where("kind", "=", of.kind)
    .where("key", "=", of.key)
    .where("id", "<=", through)
    .returning(["id", "value", "written_at", "replaced_at", "machine"])
    .execute();
  rows.sort((one, other) => other.id - one.id);
  return rows.map(({ value, written_at: writtenAt, replaced_at: replacedAt, machine }) => {
    return { value, writtenAt, replacedAt, machine: machine ?? undefined };
  });
}

/** Deletes the packs of which nothing is kept, if a key has `newer` revisions besides. */
async function dropPacksBeyond(db: Db, of: HistoryKey, newer: number): Promise<void> {
  const packs = await db
    .selectFrom("revision_packs")
    .select(["id", "count"])
    .where("document_id", "=", of.document_id)
    .where("kind", "=", of.kind)
    .where("key", "=", of.key)
    .orderBy("id", "desc")
    .execute();
  let before = newer;
  for (const { id, count } of packs) {
    if (before >= HISTORY.revisionsPerKey) {
      await db.deleteFrom("revision_packs").where("id", "=", id).execute();
    }
    before += count;
  }
}
