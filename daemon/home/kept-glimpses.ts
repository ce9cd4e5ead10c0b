import type { Kysely } from "kysely";
import { parseStored } from "../../shared/json.ts";
import { glimpseKey } from "./line-arrival-key.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A text that a file had between two looks, until it is taken. */
export interface KeptGlimpse {
  readonly content: string;
  readonly hash: string;
  readonly savedAt: number;
}

/** Durable with the transaction. */
export async function keepGlimpse(db: Db, path: string, glimpse: KeptGlimpse): Promise<void> {
  const { content, hash, savedAt } = glimpse;
  const change = JSON.stringify({ content, hash });
  const values = { dir: glimpseKey(path), arrived_at: savedAt, machine: null, change };
  await db.insertInto("file_arrivals").values(values).execute();
}

/** Oldest first. */
export async function listGlimpses(db: Db, path: string): Promise<KeptGlimpse[]> {
  return (await rowsOf(db, path)).map(({ glimpse }) => glimpse);
}

/** These texts are taken, or nobody needs them. Durable with the transaction. */
export async function forgetGlimpses(
  db: Db,
  path: string,
  isOver: (hash: string) => boolean,
): Promise<void> {
  const over = (await rowsOf(db, path)).filter(({ glimpse }) => isOver(glimpse.hash));
  if (over.length === 0) return;
  const ids = over.map(({ id }) => id);
  await db.deleteFrom("file_arrivals").where("id", "in", ids).execute();
}

async function rowsOf(db: Db, path: string) {
  const rows = await db
    .selectFrom("file_arrivals")
    .select(["id", "arrived_at", "change"])
    .where("dir", "=", glimpseKey(path))
    .orderBy("id")
    .execute();
  return rows.map(({ id, arrived_at: savedAt, change }) => {
    return { id, glimpse: { ...parseStored<Omit<KeptGlimpse, "savedAt">>(change), savedAt } };
  });
}
