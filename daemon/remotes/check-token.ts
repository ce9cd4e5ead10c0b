import { AppError } from "../../shared/errors.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import { createHttpService } from "../service/http-service.ts";
import type { Outcome, Service } from "../service/service.ts";
import { hearAccount } from "./hear-audience.ts";

/** What a service says about a token. */
export interface TokenRights {
  /** The account's plan; undefined where the service does not tell. */
  readonly plan: string | undefined;
  /** Undefined where the service's answer does not tell. */
  readonly canWrite: boolean | undefined;
  /** The account that the token belongs to; undefined where the service does not tell. */
  readonly account: Account | undefined;
}

/**
 * Tries a token at its service, without changing anything there. Throws one sentence if the service
 * refuses it or does not answer.
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
 * Whether a service's token may write, by one request: a write without content. The service checks
 * the right to write first. Undefined where the answer does not tell.
 */
export async function mayWrite(service: Pick<Service, "forward">): Promise<boolean | undefined> {
  const outcome = await service.forward("POST", "/v1/memories", "{}");
  if (outcome.kind !== "refused") return undefined;
  if (outcome.status === 403) return false;
  return outcome.status === 400 ? true : undefined;
}
