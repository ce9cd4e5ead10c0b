import { equal, ok } from "node:assert/strict";
import { anyRequest, type HostileRequest } from "./requests.ts";
import { attackSockets } from "./sockets.ts";
import { SECRET, type Sender, Victim } from "./victim.ts";

const STATUSES = [101, 200, 304, 400, 401, 403, 404, 429];
const DEADLINE_MS = 30_000;
const REQUESTS_PER_BATCH = 200;
const STRANGERS_PER_BATCH = 60;
const BATCHES_BETWEEN_RESTARTS = 10;

/** What became of many requests. */
export interface EndpointReport {
  readonly inputs: number;
  readonly statuses: Readonly<Record<number, number>>;
  readonly slowestMs: number;
}

/**
 * Sends hostile requests to a real server. Throws when one fails it, when one that was refused has
 * changed anything that is stored, or when an answer holds what belongs to another account.
 */
export async function attackEndpoint(
  random: () => number,
  inputs: number,
): Promise<EndpointReport> {
  await using victim = await Victim.start();
  const secrets = await victim.secrets();
  const statuses: Record<number, number> = {};
  let slowestMs = 0;
  let sent = 0;
  let batches = 0;
  while (sent < inputs) {
    for (let at = 0; at < REQUESTS_PER_BATCH; at++) {
      const request = anyRequest(random);
      const startedAt = performance.now();
      const before = await victim.mark();
      const { status, refused } = await attackOnce(victim, victim.attacker, request);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      const after = await victim.mark();
      if (refused === "whole") equal(after.made, before.made, `${status} made something`);
      if (refused) equal(after.stored, before.stored, `${status} changed what is stored`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    const strangers = await attackAsStrangers(victim, random);
    statuses[401] = (statuses[401] ?? 0) + strangers;
    sent += REQUESTS_PER_BATCH + strangers + (await attackSockets(victim, random));
    if (++batches % BATCHES_BETWEEN_RESTARTS === 0) await restartUnchanged(victim, secrets);
  }
  await restartUnchanged(victim, secrets);
  return { inputs: sent, statuses, slowestMs };
}

/** Answers to strangers wait, by intent, so they ask all at once. Resolves to how many did. */
async function attackAsStrangers(victim: Victim, random: () => number): Promise<number> {
  const before = await victim.stored();
  const answers = await Promise.all(
    Array.from({ length: STRANGERS_PER_BATCH }, () =>
      attackOnce(victim, victim.stranger(random), anyRequest(random)),
    ),
  );
  equal(await victim.stored(), before, "a stranger changed what is stored");
  return answers.length;
}

/** The server takes its own database back, and finds in it what it had. */
async function restartUnchanged(victim: Victim, secrets: string): Promise<void> {
  equal(await victim.secrets(), secrets, "the other account is as it was");
  const stored = await victim.stored();
  await victim.restart();
  equal(await victim.stored(), stored);
}

async function attackOnce(
  victim: Victim,
  { authorization, known }: Sender,
  { method, path, body, headers }: HostileRequest,
): Promise<{ readonly status: number; readonly refused: Refused }> {
  const told = () => `${method} ${path} by ${known ? "a token" : authorization}: ${body ?? ""}`;
  const response = await fetch(`${victim.server.url}${path}`, {
    method,
    headers: { ...headers, ...(authorization !== "" && { Authorization: authorization }) },
    signal: AbortSignal.timeout(DEADLINE_MS),
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const { status } = response;
  ok(STATUSES.includes(status), `${status} for ${told()}`);
  ok(!text.includes(SECRET), `another account's byte in the answer to ${told()}`);
  const open = /^\/(healthz|readyz|openapi\.json|docs)/.test(path);
  ok(known || open || status === 401, `${status} without a good token for ${told()}`);
  return { status, refused: whatWasRefused(status, text) };
}

/** The whole request, or all of its updates: a call that makes a project may bring bad ones. */
type Refused = "whole" | "updates" | undefined;

interface Answered {
  readonly documents: Readonly<Record<string, object>>;
  readonly projects?: Readonly<
    Record<string, { readonly documents?: object; readonly error?: { readonly code: string } }>
  >;
}

/** In an exchange each document is refused by itself, and of several projects each. */
function whatWasRefused(status: number, text: string): Refused {
  if (status !== 200) return "whole";
  if (!text.startsWith('{"') || !text.includes('"crdt"')) return undefined;
  const { crdt } = JSON.parse(text) as { crdt?: Answered };
  const parts = Object.values(crdt?.projects ?? {});
  const codes = parts.flatMap(({ error }) => error?.code ?? []);
  ok(!codes.includes("internal"), `a part of a request has failed: ${text}`);
  // It may have been made by that, or its updates taken.
  if (parts.some(({ documents }) => documents !== undefined)) return undefined;
  const answers = Object.values(crdt?.documents ?? {});
  if (answers.length === 0 && parts.length > 0) return "updates";
  const isNothingTaken = answers.every((each) => "refused" in each || "forbidden" in each);
  return answers.length > 0 && isNothingTaken ? "updates" : undefined;
}
