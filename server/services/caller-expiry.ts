import { timestampOf } from "../../shared/timestamps.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { Caller } from "./services.ts";

/** When the caller's token expires, for an account's answer; nothing where it never does. */
export function callerExpiry({ expiresAt }: Caller): Pick<Account, "token_expires_at"> {
  if (expiresAt === undefined || expiresAt === null) return {};
  return { token_expires_at: timestampOf(expiresAt) };
}
