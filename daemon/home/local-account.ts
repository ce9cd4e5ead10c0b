import type { AccountId, UserId } from "../../shared/ids.ts";

/** Owns everything in a home until remotes have names. */
export const LOCAL_ACCOUNT = "local" as AccountId;
/** The one user of a home. */
export const LOCAL_USER = "local" as UserId;
