import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** The request that an answer belongs to. */
export interface KeptAnswerId {
  readonly account: AccountId;
  /** The user and what the token allowed, as text. */
  readonly who: string;
  readonly path: string;
  readonly key: string;
}

/** The answer to a request that may be repeated. */
export interface KeptAnswer {
  /** SHA-256 of the request's body, in hex. */
  readonly bodyHash: string;
  /** The answer's body, JSON. */
  readonly answer: string;
}

/** Undefined if the request was not answered, or too long ago. */
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

/** Throws if there is one for this request. Durable with its transaction's commit. */
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

/** Deletes answers from before `time`, in milliseconds since the Unix epoch. */
export async function dropAnswersKeptBy(db: Db, time: number): Promise<void> {
  await db.deleteFrom("kept_answers").where("created_at", "<=", time).execute();
}
