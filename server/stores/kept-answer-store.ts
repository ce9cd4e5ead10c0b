import type { Kysely } from "kysely";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** Which request an answer was kept for. */
export interface KeptAnswerId {
  readonly account: string;
  /** The user and what the token allowed, as text. */
  readonly who: string;
  readonly path: string;
  readonly key: string;
}

/** The answer to a request that may come again. */
export interface KeptAnswer {
  /** SHA-256 of the request's body, in hex. */
  readonly bodyHash: string;
  /** The answer's body, JSON. */
  readonly answer: string;
}

/** Undefined when the request has not been answered, or that was forgotten. */
export async function findKeptAnswer(db: Db, id: KeptAnswerId): Promise<KeptAnswer | undefined> {
  const row = await db
    .selectFrom("kept_answers")
    .select(["body_hash", "answer"])
    .where("account", "=", id.account)
    .where("who", "=", id.who)
    .where("path", "=", id.path)
    .where("key", "=", id.key)
    .executeTakeFirst();
  return row && { bodyHash: row.body_hash, answer: row.answer };
}

/** Throws when there is one for this request; durable with its transaction's commit. */
export async function insertKeptAnswer(
  db: Db,
  id: KeptAnswerId,
  {
    keptAnswer: { bodyHash, answer },
    now,
  }: { readonly keptAnswer: KeptAnswer; readonly now: number },
): Promise<void> {
  await db
    .insertInto("kept_answers")
    .values({ ...id, body_hash: bodyHash, answer, created_at: now })
    .execute();
}

/** Forgets what was kept at `time`, in milliseconds since the Unix epoch, or before. */
export async function dropAnswersKeptBy(db: Db, time: number): Promise<void> {
  await db.deleteFrom("kept_answers").where("created_at", "<=", time).execute();
}
