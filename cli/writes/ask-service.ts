import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ServiceAnswer } from "../../daemon/service/service.ts";
import { ERROR_STATUS } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { ASKED_DEADLINE_MS, DaemonSilent, type GatewayClient } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { shownWhile } from "../screen/shown-while.ts";

/** An answer and its source: the service, or this machine's replica and why. */
export type Answered<Value> =
  | { readonly source: "service"; readonly service: string; readonly value: Value }
  | ({ readonly source: "replica"; readonly value: Value } & WhyLocal);

/** Why the service did not answer, as a code and in words. */
interface WhyLocal {
  readonly code: "no-daemon" | "daemon-silent" | "not-told" | "not-answered";
  readonly reason: string;
}

/** A question in the two forms in which it can be asked. */
export interface Question<Value> {
  /** Path and query of a `GET` of the interface. */
  readonly path: string;
  /** Whether an answer is complete: another implementation may lack the question. */
  readonly isAnswer: (value: unknown) => value is Value;
  /** The replica's answer, without a daemon; `db` is undefined where there is no replica. */
  readonly local: (db: Kysely<DaemonTables> | undefined) => Promise<Value>;
}

/** Asks the service through the daemon; if that brings no answer, asks the replica. */
export async function askService<Value>(
  env: Environment,
  { path, isAnswer, local }: Question<Value>,
): Promise<Answered<Value>> {
  const daemon = await findDaemon(env.home);
  if (!daemon) {
    const value = await withLocal(env, local);
    return { source: "replica", code: "no-daemon", reason: "no daemon is running", value };
  }
  const answer = await askThrough(daemon, path);
  if (answer === undefined) {
    const value = await withLocal(env, local);
    const reason = "the daemon does not answer";
    return { source: "replica", code: "daemon-silent", reason, value };
  }
  if (answer.kind === "answered" && isAnswer(answer.value)) {
    return { source: "service", service: answer.service, value: answer.value };
  }
  const isTold = answer.kind === "answered";
  const what = isTold ? "it tells nothing of it" : answer.message;
  const value = await daemon.call<Value>("GET", path);
  const code = isTold ? "not-told" : "not-answered";
  return { source: "replica", code, reason: `${answer.service}: ${what}`, value };
}

/** Undefined if the daemon does not answer. */
async function askThrough(daemon: GatewayClient, path: string): Promise<ServiceAnswer | undefined> {
  try {
    const options = { body: { path }, deadlineMs: ASKED_DEADLINE_MS };
    const asked = daemon.call<ServiceAnswer>("POST", "/_memsync/ask", options);
    return await shownWhile("asking the service", asked);
  } catch (thrown) {
    if (thrown instanceof DaemonSilent) return undefined;
    throw thrown;
  }
}

/** Whether the default service says that it has no such project; false where it does not answer. */
export async function isUnknownToService(env: Environment, id: ProjectId): Promise<boolean> {
  const daemon = await findDaemon(env.home);
  const answer = daemon && (await askThrough(daemon, `/v1/projects/${id}`));
  return answer?.kind === "refused" && answer.status === ERROR_STATUS.not_found;
}

/** The source of an answer, for a person. */
export function sourceLine(answered: Answered<unknown>): string {
  return answered.source === "service"
    ? `as ${nameOf(answered.service)} says`
    : `as this machine knows (${answered.reason})`;
}

/** A service's name in a sentence. */
function nameOf(service: string): string {
  return service === "embedded" ? "the embedded service" : service;
}

/** An answer for `--json`: the value, and who gave it. */
export function answerAsJson<Value extends object>(answered: Answered<unknown>, value: Value) {
  const by =
    answered.source === "service"
      ? { service: answered.service }
      : { code: answered.code, reason: answered.reason };
  return { source: answered.source, ...by, ...value };
}
