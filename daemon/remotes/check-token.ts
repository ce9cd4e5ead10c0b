import { AppError } from "../../shared/errors.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import { createHttpService } from "../service/http-service.ts";
import type { Outcome, Service } from "../service/service.ts";
import { hearAccount } from "./hear-audience.ts";

/** What a service says of a token. */
export interface TokenRights {
  /** The account's plan; undefined where the service does not tell. */
  readonly plan: string | undefined;
  /** Undefined where the service's answer leaves it open. */
  readonly canWrite: boolean | undefined;
  /** Who shares the account; undefined where the service did not answer that. */
  readonly account: Account | undefined;
}

/**
 * Shows a token to its service, which changes nothing there. Throws one sentence when the service
 * does not take it or does not answer.
 */
export async function checkToken(url: string, token: string, world: World): Promise<TokenRights> {
  const service = createHttpService({ url, token, world });
  const stats = await service.forward("GET", "/api/projects/stats");
  if (stats.kind !== "answered") throw refusalOf(stats, url);
  const canWrite = await mayWrite(service);
  const account = await hearAccount(service);
  return { plan: planIn(stats.value), canWrite, account };
}

function refusalOf(outcome: Exclude<Outcome<unknown>, { kind: "answered" }>, url: string) {
  if (outcome.kind === "refused" && outcome.status === 401) {
    return new AppError("unauthorized", `${url} does not know this token: nothing was changed`);
  }
  return new AppError(
    "internal",
    `the token could not be tried at ${url} (${outcome.message}): nothing was changed`,
  );
}

function planIn(stats: unknown): string | undefined {
  const plan = typeof stats === "object" && stats !== null && "plan" in stats ? stats.plan : null;
  return typeof plan === "string" && /^[a-z]{1,32}$/.test(plan) ? plan : undefined;
}

/**
 * Whether a service's token may write, by one request: a write that has nothing to write, for the
 * right to it is looked at first. Undefined where the answer leaves it open.
 */
export async function mayWrite(service: Pick<Service, "forward">): Promise<boolean | undefined> {
  const outcome = await service.forward("POST", "/v1/memories", "{}");
  if (outcome.kind !== "refused") return undefined;
  if (outcome.status === 403) return false;
  return outcome.status === 400 ? true : undefined;
}
