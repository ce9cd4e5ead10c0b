import type { RoundOptions } from "../service/round-options.ts";

/**
 * Whether a round that has had its turn may make one more call: what the account keeps for people
 * is not for it. The rest waits for the next round.
 */
export function hasRoom({ service }: Pick<RoundOptions, "service">): boolean {
  return (service.budget?.notBefore("change") ?? 0) === 0;
}

/** Between which replica and which service without a log a round goes. */
export interface PlainOptions extends RoundOptions {
  /** Rows of the log that came of the service's answers, by `rowName`: no reason for a round. */
  readonly taken: Set<string>;
}
