import { isObject } from "../../shared/json.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { Outcome, Service } from "../service/service.ts";

/** The path at which a service tells who shares an account; an extension of the interface. */
const PATH = "/api/account";

/** For a service that answers but tells nothing about its accounts. */
const UNTOLD: Account = { name: null, plan: null, users: null, user: null };
const NOT_FOUND = 404;

/** Asks a service who shares the account. Undefined: it did not answer that. */
export async function hearAccount(service: Service): Promise<Account | undefined> {
  const outcome = await askAccount(service);
  return outcome.kind === "answered" ? outcome.value : undefined;
}

/** Like `hearAccount`, and tells why there is no answer. */
export async function askAccount({ forward }: Service): Promise<Outcome<Account>> {
  const outcome = await forward("GET", PATH);
  if (outcome.kind === "answered") return { ...outcome, value: parseAccount(outcome.value) };
  const isUntold = outcome.kind === "refused" && outcome.status === NOT_FOUND;
  return isUntold ? { kind: "answered", value: UNTOLD } : outcome;
}

/** A malformed part counts as not told. */
export function parseAccount(value: unknown): Account {
  if (!isObject(value)) return UNTOLD;
  const { name, plan, users, user, token_expires_at: ends } = value;
  const endsAt = typeof ends === "string" ? parseTimestamp(ends) : undefined;
  return {
    name: isName(name) ? name : null,
    plan: plan === "pro" || plan === "team" ? plan : null,
    users: isCount(users) ? users : null,
    user: isName(user) ? user : null,
    ...(endsAt !== undefined && { token_expires_at: timestampOf(endsAt) }),
  };
}

function isName(value: unknown): value is string {
  if (typeof value !== "string" || value.trim() === "" || /\p{Cc}/u.test(value)) return false;
  return !exceedsBytes(value, LIMITS.projectNameBytes);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
