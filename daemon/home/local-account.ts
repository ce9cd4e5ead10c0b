import type { AccountId, UserId } from "../../shared/ids.ts";

/** Whose everything in a home is: there is one user on a machine, and no account. */
export const LOCAL_ACCOUNT = "local" as AccountId;
/** The one user of a home. */
export const LOCAL_USER = "local" as UserId;
