import type { Bench } from "./bench.ts";

/** Thrown by a rule about something that the published interface leaves open. */
export class Open extends Error {
  override readonly name = "Open";

  constructor(readonly reason: string) {
    super(reason);
  }
}

/** Thrown by a rule that can't be tried with this known kind of server. */
export class NotHere extends Error {
  override readonly name = "NotHere";

  constructor(readonly reason: string) {
    super(reason);
  }
}

/** The check of something that can't be checked, because nothing is published about it. */
export function leftOpen(reason: string): () => never {
  return () => {
    throw new Open(reason);
  };
}

/**
 * One thing that every implementation of the published interface does.
 *
 * ```
 * const rule: Rule = {
 *   endpoint: "GET /v1/memories",
 *   name: "answers 200",
 *   check: async (bench) => expectStatus(await bench.get("/v1/memories"), 200),
 * };
 * ```
 */
export interface Rule {
  /** As the specification lists it: `GET /v1/memories`; or `EVERY_ENDPOINT`. */
  readonly endpoint: string;
  /** A statement; with the endpoint it names the rule. */
  readonly name: string;
  /** What must have been given to the suite for it to be tried. */
  readonly needs?: "readOnlyToken" | "otherToken";
  /** Done when the rule holds. Throws `Broken` when it does not, `Open` when it need not. */
  readonly check: (bench: Bench) => Promise<void> | void;
}

/** Requests that several rules look at, made once in a run, by the first rule that asks. */
export function step<Result>(
  take: (bench: Bench) => Promise<Result>,
): (bench: Bench) => Promise<Result> {
  const taken = new WeakMap<Bench, Promise<Result>>();
  return (bench) => {
    const known = taken.get(bench) ?? take(bench);
    taken.set(bench, known);
    return known;
  };
}
