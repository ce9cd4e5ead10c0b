import type { Send } from "../../../daemon/sync/http-service.ts";
import { parseQuotas } from "../../../daemon/sync/quota-headers.ts";
import type { RoundOptions } from "../../../daemon/sync/round-options.ts";
import { CALL_DISTANCE_MS, type SyncUnit } from "../../../daemon/sync/schedule.ts";
import type { Outcome } from "../../../daemon/sync/service.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../../shared/wire/exchange.ts";

type Exchange = RoundOptions["service"]["exchange"];
type Answer = Outcome<ExchangeAnswer | "plain">;

/** Arithmetic of fractions of milliseconds. */
const ROUNDING_MS = 0.001;

/**
 * Watches one daemon process's calls: none before `Retry-After`, at most one a second about a unit
 * except where an answer asked for another at once, and one at a time. The budget is never
 * overdrawn: none goes out while the last answer's quotas are used up.
 */
export class CallWatch {
  readonly #now: () => number;
  readonly #report: (problem: string) => void;
  readonly #answeredAt = new Map<SyncUnit, number>();
  #quietUntil = 0;
  #emptyUntil = 0;
  #underWay = 0;
  readonly #note: (line: string) => void;

  constructor(now: () => number, report: (problem: string) => void, note: (line: string) => void) {
    this.#now = now;
    this.#report = report;
    this.#note = note;
  }

  /** The distance between calls does not bind when somebody waits or the service is back. */
  hurried(): void {
    this.#answeredAt.clear();
  }

  /** A call came to nothing on this side of the answer; the next one is as after any failure. */
  failed(): void {
    this.#answeredAt.clear();
  }

  /** Looks at every request, and at what its answer tells of the quotas. */
  count(send: Send): Send {
    return async (request) => {
      if (this.#now() < this.#emptyUntil - ROUNDING_MS) {
        this.#report(`sent a request although none was left: ${request.method} ${request.url}`);
      }
      const response = await send(request);
      this.#emptyUntil = 0;
      for (const { remaining, moreInMs = 0 } of parseQuotas(response.headers) ?? []) {
        if (remaining > 0) continue;
        this.#emptyUntil = Math.max(this.#emptyUntil, this.#now() + moreInMs);
      }
      return response;
    };
  }

  watch(exchange: Exchange): Exchange {
    return async (project, request) => {
      const unit: SyncUnit = project ?? "own";
      this.#began(unit);
      this.#note(`calls about ${unit}: ${describe(request.documents)}`);
      const outcome = await exchange(project, request);
      const said = outcome.kind === "answered" ? describe(outcome.value) : outcome.message;
      this.#note(`is ${outcome.kind} about ${unit}: ${said}`);
      this.#ended(unit, outcome, isRecovery(request));
      return outcome;
    };
  }

  #began(unit: SyncUnit): void {
    const now = this.#now();
    this.#underWay += 1;
    if (this.#underWay > 1) this.#report("two calls are under way at once");
    if (now < this.#quietUntil - ROUNDING_MS) {
      this.#report(`called ${Math.round(this.#quietUntil - now)} ms before Retry-After was over`);
    }
    const since = now - (this.#answeredAt.get(unit) ?? Number.NEGATIVE_INFINITY);
    if (since < CALL_DISTANCE_MS - ROUNDING_MS) {
      this.#report(`called about ${unit} again after ${Math.round(since)} ms`);
    }
  }

  #ended(unit: SyncUnit, outcome: Answer, recovers: boolean): void {
    const now = this.#now();
    this.#underWay -= 1;
    if (outcome.kind === "busy") this.#quietUntil = now + (outcome.retryAfterMs ?? 0);
    const isOver = outcome.kind === "answered" && !recovers && !asksForMore(outcome.value);
    if (isOver) this.#answeredAt.set(unit, now);
    else this.#answeredAt.delete(unit);
  }
}

/** First contact and recovery go on at once. */
function isRecovery({ documents }: ExchangeRequest): boolean {
  return Object.values(documents).some(({ stateVector }) => stateVector !== undefined);
}

function asksForMore(answer: ExchangeAnswer | "plain"): boolean {
  if (answer === "plain") return false;
  return Object.values(answer.documents).some(
    (document) => "reset" in document || "missing" in document,
  );
}

/** In a line, with the lengths of binary fields. */
function describe(value: object | string): string {
  return JSON.stringify(value, (_key, each) => {
    return each instanceof Uint8Array ? each.length : each;
  });
}
