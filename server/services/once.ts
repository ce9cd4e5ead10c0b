import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { parseStored } from "../../shared/json.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import {
  dropAnswersKeptBy,
  findKeptAnswer,
  type KeptAnswerId,
  keptWho,
  putKeptAnswer,
} from "../stores/kept-answer-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { Caller, Once } from "./services.ts";

/** How long an answer is kept. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Other writes wait for so many at most. */
const DROPPED_AT_ONCE = 256;

/**
 * Does `work` in the current write transaction; or returns the former result if the same request
 * came before. Without `asked` it only does the work. The result is stored by that same
 * transaction, as JSON; a refusal is not stored. Writes of an account run one after another, so of
 * two simultaneous requests the second finds the first one's result. Throws a 400 for another body
 * under the same key.
 *
 * Results are separate for each right of a token, because they show no more than that.
 */
export async function doOnce<Answer>(
  { db, now }: WriteContext<ServiceTables>,
  caller: Caller,
  { asked, work }: { readonly asked: Once | undefined; readonly work: () => Promise<Answer> },
): Promise<Answer> {
  if (!asked) return await work();
  const { path, key, bodyHash } = asked;
  const id: KeptAnswerId = { account: caller.account, who: whoIs(caller), path, key };
  const kept = await findKeptAnswer(db, id, now - KEPT_MS);
  if (kept) {
    if (kept.bodyHash === bodyHash) return parseStored<Answer>(kept.answer);
    throw invalidKey("was used for another body within 24 hours: take a new key");
  }
  const answer = await work();
  await putKeptAnswer(db, id, { keptAnswer: { bodyHash, answer: JSON.stringify(answer) }, now });
  return answer;
}

/** One step of a sweep: drops some answers that nobody gets any more. True: there are more. */
export async function dropOldAnswers(db: Kysely<ServiceTables>, now: number): Promise<boolean> {
  return (await dropAnswersKeptBy(db, now - KEPT_MS, DROPPED_AT_ONCE)) === DROPPED_AT_ONCE;
}

/** A 400 for the header `Idempotency-Key`. */
export function invalidKey(message: string): AppError {
  const path = "Idempotency-Key";
  return new AppError("invalid_request", `${path} ${message}`, [{ path, message }]);
}

function whoIs({ user, canWrite, boundTo }: Caller): string {
  return keptWho(JSON.stringify([user, canWrite, boundTo && [...boundTo].sort()]));
}
