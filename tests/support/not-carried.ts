/** Tests of the daemon suite that a plain service cannot pass, each with what is not carried. */
export const NOT_CARRIED: ReadonlyMap<string, string> = new Map([]);
