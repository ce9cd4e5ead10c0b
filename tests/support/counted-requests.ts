import { type CountsStore, CountsWriter } from "../../server/limits/counts-writer.ts";
import type { OwnQuota, QuotaHeaders } from "../../server/limits/quota.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { storedCounts } from "../../server/limits/stored-counts.ts";
import type { Caller } from "../../server/services/services.ts";
import { openHostDatabase } from "../../server/stores/open-store.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { createDrivenWorld, type DrivenWorld } from "./driven-world.ts";
import { caller } from "./test-services.ts";

/** Limits over a real database, which outlives them. */
export interface CountedRequests extends AsyncDisposable {
  readonly world: DrivenWorld;
  readonly database: Awaited<ReturnType<typeof openHostDatabase>>;
  /** How often an account was looked up. */
  readonly reads: number;
  /** Seconds to wait, or 0 when the request was charged. */
  ask(by?: Caller): Promise<number>;
  /** For an app. */
  quotaOf(by: Caller): OwnQuota | Promise<OwnQuota>;
  /** Charges a request; returns what takes that back, and the headers to be sent then. */
  askToRefuse(by?: Caller): Promise<() => QuotaHeaders>;
  /** The headers of an answer that is not charged. */
  headers(by?: Caller): Promise<Readonly<Record<string, string>>>;
  used(by?: Caller): Promise<readonly [minute: number, day: number]>;
  /** Ends in order and starts anew. */
  restart(): Promise<void>;
  /** Starts anew without what was not written. */
  crash(): void;
  /** Resolves when what was being written is. */
  written(): Promise<void>;
}

export const PRO = caller();
export const TEAM = caller({ plan: "team" });

export async function countRequests(log: Log = silentLog): Promise<CountedRequests> {
  const world = createDrivenWorld();
  const database = await openHostDatabase(":memory:");
  const stored = storedCounts(database);
  let reads = 0;
  const store: CountsStore = {
    ...stored,
    find: (account) => {
      reads += 1;
      return stored.find(account);
    },
  };
  const start = () => new RequestLimits(world, new CountsWriter(store, world, log));
  let limits = start();
  return {
    world,
    database,
    get reads() {
      return reads;
    },
    ask: async (by = PRO) => (await limits.quotaOf(by)).charge().retryAfterSeconds ?? 0,
    quotaOf: (by) => limits.quotaOf(by),
    async askToRefuse(by = PRO) {
      const { refund } = (await limits.quotaOf(by)).charge();
      if (refund === undefined) throw new Error("it was not charged");
      return refund;
    },
    headers: async (by = PRO) => (await limits.quotaOf(by)).headers(),
    async used(by = PRO) {
      const { minute, day } = await limits.read(by);
      return [minute.used, day.used];
    },
    async restart() {
      await limits.close();
      limits = start();
    },
    crash() {
      limits = start();
    },
    // Whatever is asked of the one connection now comes after what was asked before.
    written: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await database.writer.selectFrom("request_counts").selectAll().execute();
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}
