import { parseQuotas } from "../../../daemon/budget/quota-headers.ts";
import { CALL_DISTANCE_MS } from "../../../daemon/budget/schedule.ts";
import type { SyncUnit } from "../../../daemon/budget/sync-units.ts";
import type { Send } from "../../../daemon/service/http-service.ts";
import type { RoundOptions } from "../../../daemon/service/round-options.ts";
import type { Outcome } from "../../../daemon/service/service.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import type { PartAnswer } from "../../../shared/wire/batch.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../../shared/wire/exchange.ts";

type Exchange = RoundOptions["service"]["exchange"];
type ExchangeBatch = Required<RoundOptions["service"]>["exchangeBatch"];
type Answer = Outcome<ExchangeAnswer | "plain">;

/** Arithmetic of fractions of milliseconds. */
const ROUNDING_MS = 0.001;

/** A service tells in whole seconds, rounded up, when there is more. Who has counted knows it. */
const TOLD_TO_MS = 1000;

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
      if (this.#now() < this.#emptyUntil - TOLD_TO_MS) {
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
      const units = [...(project ? [project] : []), ...ownIn(request)];
      this.#began(units);
      this.#note(`calls about ${unit}: ${describe(request.documents)}`);
      const outcome = await exchange(project, request);
      const said = outcome.kind === "answered" ? describe(outcome.value) : outcome.message;
      this.#note(`is ${outcome.kind} about ${unit}: ${said}`);
      this.#ended(units, outcome, isRecovery(request));
      return outcome;
    };
  }

  /** A call about several units may go once one about any of them may. */
  watchBatch(exchange: ExchangeBatch): ExchangeBatch {
    return async (request) => {
      const { documents, projects } = request;
      const own = ownIn(request);
      const recovers = [request, ...projects.values()].some(isRecovery);
      this.#began([...projects.keys(), ...own]);
      const asked = [...projects].map(([id, part]) => [id, part.documents]);
      this.#note(`calls about all of ${describe({ documents, ...Object.fromEntries(asked) })}`);
      const outcome = await exchange(request);
      const answer = outcome.kind === "answered" ? outcome.value : undefined;
      const parts = typeof answer === "object" ? answer.projects : new Map<ProjectId, PartAnswer>();
      const said = outcome.kind === "answered" ? [...parts] : outcome.message;
      this.#note(`is ${outcome.kind} about all of them: ${describe(said)}`);
      this.#over(outcome);
      for (const unit of own) this.#answeredAt.delete(unit);
      for (const id of projects.keys()) {
        const part = parts.get(id);
        const isOver = part?.kind === "served" && !recovers && !asksForMore(part.value);
        if (isOver) this.#answeredAt.set(id, this.#now());
        else this.#answeredAt.delete(id);
      }
      return outcome;
    };
  }

  #began(units: readonly SyncUnit[]): void {
    const now = this.#now();
    this.#underWay += 1;
    if (this.#underWay > 1) this.#report("two calls are under way at once");
    if (now < this.#quietUntil - ROUNDING_MS) {
      this.#report(`called ${Math.round(this.#quietUntil - now)} ms before Retry-After was over`);
    }
    const never = Number.NEGATIVE_INFINITY;
    const since = Math.max(...units.map((unit) => now - (this.#answeredAt.get(unit) ?? never)));
    if (since < CALL_DISTANCE_MS - ROUNDING_MS) {
      this.#report(`called about ${units.join(" and ")} again after ${Math.round(since)} ms`);
    }
  }

  #over(outcome: Outcome<unknown>): void {
    this.#underWay -= 1;
    if (outcome.kind === "busy") this.#quietUntil = this.#now() + (outcome.retryAfterMs ?? 0);
  }

  #ended(units: readonly SyncUnit[], outcome: Answer, recovers: boolean): void {
    this.#over(outcome);
    const isOver = outcome.kind === "answered" && !recovers && !asksForMore(outcome.value);
    for (const unit of units) {
      if (isOver) this.#answeredAt.set(unit, this.#now());
      else this.#answeredAt.delete(unit);
    }
  }
}

/** Whether the user's and the account's documents go by a call, as a unit. */
function ownIn({ documents }: Pick<ExchangeRequest, "documents">): readonly SyncUnit[] {
  return documents.user || documents.global ? ["own"] : [];
}

/** First contact and recovery go on at once. */
function isRecovery({ documents }: Pick<ExchangeRequest, "documents">): boolean {
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
