import { RequestLimits } from "../../server/limits/request-limits.ts";
import { createServices } from "../../server/services/create-services.ts";
import type { Caller, Services } from "../../server/services/services.ts";
import { AppError } from "../../shared/errors.ts";
import { asAccountId, type SessionId, type UserId } from "../../shared/ids.ts";
import type { SessionUpload } from "../../shared/wire/session.ts";
import { createTempStore, type TempStore, type TempStoreOptions } from "./temp-store.ts";

/** The services over a store on a real file. */
export interface TestServices {
  readonly temp: TempStore;
  readonly services: Services;
  readonly counts: RequestLimits;
}

const account: Services["account"] = {
  get: async () => ({ name: "acct", plan: "pro", users: 1, user: "ann" }),
};

export async function createTestServices(options: TempStoreOptions = {}): Promise<TestServices> {
  const temp = await createTempStore(options);
  const counts = new RequestLimits(temp.world);
  return {
    temp,
    counts,
    services: createServices(temp.store, temp.world, { usage: counts, account }),
  };
}

/** A caller who may do everything in the account `acct`, but for the changes. */
export function caller(changes: Partial<Record<keyof Caller, unknown>> = {}): Caller {
  return {
    account: asAccountId("acct"),
    user: "user_1" as UserId,
    tokenId: "token_1",
    plan: "pro",
    canWrite: true,
    boundTo: null,
    ...changes,
  } as Caller;
}

/** A query for memories that asks for everything. */
export const EVERYTHING = {
  projectId: undefined,
  headerProjectId: undefined,
  layer: undefined,
  q: undefined,
  limit: undefined,
  cursor: undefined,
} as const;

export function session(name: string, changes: Partial<SessionUpload> = {}): SessionUpload {
  return {
    id: `sess_${name}` as SessionId,
    title: null,
    source: "test",
    started_at: "2026-01-01T00:00:00.000Z",
    last_activity_at: "2026-01-01T00:00:00.000Z",
    ended_at: null,
    message_count: 1,
    model: null,
    git_branch: null,
    machine: null,
    ...changes,
  };
}

/** The code that a call is refused with; "nothing" when it is not. */
export async function refusal(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.code;
    throw thrown;
  }
  return "nothing";
}
