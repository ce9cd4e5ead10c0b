import { count } from "../../shared/count.ts";
import { AppError, ServiceAway } from "../../shared/errors.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import { createHttpService } from "../service/http-service.ts";
import type { Outcome, Service } from "../service/service.ts";
import { hearAccount } from "./hear-audience.ts";

const NOT_FOUND = 404;
const MS_PER_S = 1000;

/** What a service says about a token. */
export interface TokenRights {
  /** The account's plan; undefined where the service does not tell. */
  readonly plan: string | undefined;
  /** Undefined where the service's answer does not tell. */
  readonly canWrite: boolean | undefined;
  /** The account that the token belongs to; undefined where the service does not tell. */
  readonly account: Account | undefined;
  /** The names of the projects that it is bound to; undefined where it is bound to none. */
  readonly boundTo: readonly string[] | undefined;
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
  const boundTo = (await reachesUser(service)) === false ? await projectNames(service) : undefined;
  return { plan: planIn(stats.value), canWrite, account, boundTo };
}

function refusalOf(outcome: Exclude<Outcome<unknown>, { kind: "answered" }>, url: string) {
  if (outcome.kind === "refused" && outcome.status === 401) {
    return new AppError("unauthorized", `${url} does not know this token: nothing was changed`);
  }
  if (outcome.kind === "refused" && outcome.status === NOT_FOUND) {
    const where = "look at the address, which is the host alone, without /v1 or /api";
    const what = `there is no memsync service at ${url} (it answered 404)`;
    return new AppError("not_found", `${what}: nothing was changed; ${where}`);
  }
  const waitMs = outcome.kind === "busy" ? outcome.retryAfterMs : undefined;
  const seconds = Math.ceil((waitMs ?? 0) / MS_PER_S);
  const again = seconds > 0 ? `; try again in ${count(seconds, "second", "seconds")}` : "";
  const why = `the token could not be tried at ${url} (${outcome.message})`;
  const message = `${why}: nothing was changed${again}`;
  const isAway = outcome.kind === "unreachable";
  return isAway ? new ServiceAway(message) : new AppError("internal", message);
}

/** A position at which no service is, so that it answers with no content. */
const NOWHERE = { epoch: "-", seq: 1 };

/** Whether a token reaches the layer `user`; one that is bound to projects does not. */
async function reachesUser({ exchange }: Service): Promise<boolean | undefined> {
  const outcome = await exchange(null, { documents: { user: { position: NOWHERE } } });
  if (outcome.kind !== "answered" || outcome.value === "plain") return undefined;
  const { user } = outcome.value.documents;
  return user && !("forbidden" in user);
}

/** Of the projects that a token reaches, as far as the service lists them. */
async function projectNames({ forward }: Service): Promise<readonly string[]> {
  const outcome = await forward("GET", "/api/projects");
  const listed = outcome.kind === "answered" ? fieldOf(outcome.value, "projects") : undefined;
  return (Array.isArray(listed) ? listed : []).flatMap((each) => {
    const name = fieldOf(each, "name");
    return typeof name === "string" ? [name] : [];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function planIn(stats: unknown): string | undefined {
  const plan = fieldOf(stats, "plan");
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
