import type { RoundOptions } from "../service/round-options.ts";

/**
 * Whether a round under way may make one more call without using what the account reserves for
 * people. If not, the rest waits for the next round.
 */
export function hasRoom({ service }: Pick<RoundOptions, "service">): boolean {
  return (service.budget?.notBefore("change") ?? 0) === 0;
}

/** The replica and the service without a log between which a round goes. */
export interface PlainOptions extends RoundOptions {
  /** Rows of the log that the service's answers made, by `rowName`: they cause no round. */
  readonly taken: Set<string>;
}
