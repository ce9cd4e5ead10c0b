import type { RoundOptions } from "../round-options.ts";

/** Between which replica and which service without a log a round goes. */
export interface PlainOptions extends RoundOptions {
  /** Rows of the log that came of the service's answers, by `rowName`: no reason for a round. */
  readonly taken: Set<string>;
}
