import { createHash } from "node:crypto";
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

/** A longer one is kept as its hash: the row's key has to fit into an index of PostgreSQL. */
const WHO_LENGTH_MAX = 1500;

/** `who` as it is kept: a token may be bound to any number of projects. */
export function keptWho(who: string): string {
  if (who.length <= WHO_LENGTH_MAX) return who;
  return createHash("sha256").update(who).digest("hex");
}

/** The answer to a request that may be repeated. */
export interface KeptAnswer {
  /** SHA-256 of the request's body, in hex. */
  readonly bodyHash: string;
  /** The answer's body, JSON. */
  readonly answer: string;
}

/** Undefined if the request was not answered after `time`, in milliseconds since the Unix epoch. */
export async function findKeptAnswer(
  db: Db,
  id: KeptAnswerId,
  time: number,
): Promise<KeptAnswer | undefined> {
  const row = await db
    .selectFrom("kept_answers")
    .select(["body_hash", "answer"])
    .where("account", "=", id.account)
    .where("who", "=", id.who)
    .where("path", "=", id.path)
    .where("key", "=", id.key)
    .where("created_at", ">", time)
    .executeTakeFirst();
  return row && { bodyHash: row.body_hash, answer: row.answer };
}

/** Replaces one that is too old. Durable with its transaction's commit. */
export async function putKeptAnswer(
  db: Db,
  id: KeptAnswerId,
  {
    keptAnswer: { bodyHash, answer },
    now,
  }: { readonly keptAnswer: KeptAnswer; readonly now: number },
): Promise<void> {
  const values = { body_hash: bodyHash, answer, created_at: now };
  await db
    .insertInto("kept_answers")
    .values({ ...id, ...values })
    .onConflict((other) => other.columns(["account", "who", "path", "key"]).doUpdateSet(values))
    .execute();
}

/** Deletes at most `count` answers from before `time`, oldest first, and tells how many. */
export async function dropAnswersKeptBy(db: Db, time: number, count: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("kept_answers")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("account", "who", "path", "key"),
        "in",
        selectFrom("kept_answers")
          .select(["account", "who", "path", "key"])
          .where("created_at", "<=", time)
          .orderBy("created_at")
          .limit(count)
          .$asTuple("account", "who", "path", "key"),
      ),
    )
    // PostgreSQL waits for a request that is just putting a new one in its place.
    .where("created_at", "<=", time)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
