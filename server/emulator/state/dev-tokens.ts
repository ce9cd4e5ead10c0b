import { type AccountId, asAccountId, asUserId } from "../../../shared/ids.ts";
import { callerExpiry } from "../../services/caller-expiry.ts";
import type { Caller, Services } from "../../services/services.ts";

/** An account's plan. */
export type AccountPlan = Caller["plan"];

const ACCOUNT_PREFIX = "acct_dev_";
const DEV_TOKEN = /^mst_dev_([0-9A-Za-z_-]{1,64})$/;

/** The fixed token of an account's name. */
export function devTokenOf(name: string): string {
  return `mst_dev_${name}`;
}

/** The account of `mst_dev_NAME`. */
export function accountOfName(name: string): AccountId {
  return asAccountId(`${ACCOUNT_PREFIX}${name}`);
}

/** The NAME of an account. */
function nameOfAccount(account: AccountId): string {
  return account.slice(ACCOUNT_PREFIX.length);
}

/**
 * The caller of one of the emulator's fixed tokens: `mst_dev_pro`, `mst_dev_team`,
 * `mst_dev_readonly` (the Pro account, reading only) and `mst_dev_NAME`, where every other name is
 * an account of its own on the plan `planOfOthers`. Undefined for any other text. Only the emulator
 * uses this; a hosted server accepts none of these tokens.
 */
export function callerOfDevToken(token: string, planOfOthers: AccountPlan): Caller | undefined {
  const name = DEV_TOKEN.exec(token)?.[1];
  if (name === undefined) return undefined;
  const account = name === "readonly" ? "pro" : name;
  return {
    account: accountOfName(account),
    user: asUserId(`user_dev_${account}`),
    tokenId: `tok_dev_${name}`,
    plan: account === "pro" || account === "team" ? account : planOfOthers,
    canWrite: name !== "readonly",
    boundTo: null,
  };
}

/** The emulator's accounts. Each is told to have one user. */
export const devAccounts: Services["account"] = {
  get: async (caller) => {
    const { account, plan } = caller;
    return { name: nameOfAccount(account), plan, users: 1, user: null, ...callerExpiry(caller) };
  },
};
