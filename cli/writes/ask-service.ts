import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ServiceAnswer } from "../../daemon/service/service.ts";
import { ASKED_DEADLINE_MS, DaemonSilent, type GatewayClient } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";

/** An answer, and who gave it: the service, or this machine's replica and why. */
export type Answered<Value> =
  | { readonly source: "service"; readonly service: string; readonly value: Value }
  | ({ readonly source: "replica"; readonly value: Value } & WhyLocal);

/** Why the service was not the one that answered, by a code and in words. */
interface WhyLocal {
  readonly code: "no-daemon" | "daemon-silent" | "not-told" | "not-answered";
  readonly reason: string;
}

/** A question, in both the ways in which it can be asked. */
export interface Question<Value> {
  /** Path and query of a `GET` of the interface. */
  readonly path: string;
  /** Whether an answer is what was asked for: a service by others may lack it. */
  readonly isAnswer: (value: unknown) => value is Value;
  /** What the replica says of it, without a daemon; no replica: undefined. */
  readonly local: (db: Kysely<DaemonTables> | undefined) => Promise<Value>;
}

/** Asks the service by way of the daemon; where that brings no answer, the replica. */
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
  const value = (await daemon.call("GET", path)) as Value;
  const code = isTold ? "not-told" : "not-answered";
  return { source: "replica", code, reason: `${answer.service}: ${what}`, value };
}

/** Undefined when the daemon itself does not answer. */
async function askThrough(daemon: GatewayClient, path: string): Promise<ServiceAnswer | undefined> {
  try {
    const options = { deadlineMs: ASKED_DEADLINE_MS };
    return (await daemon.call("POST", "/_memsync/ask", {
      body: { path },
      ...options,
    })) as ServiceAnswer;
  } catch (thrown) {
    if (thrown instanceof DaemonSilent) return undefined;
    throw thrown;
  }
}

/** Who gave an answer, for a person. */
export function sourceLine(answered: Answered<unknown>): string {
  return answered.source === "service"
    ? `as ${nameOf(answered.service)} says`
    : `as this machine knows (${answered.reason})`;
}

/** A service as a sentence names it. */
function nameOf(service: string): string {
  return service === "embedded" ? "the embedded service" : service;
}
