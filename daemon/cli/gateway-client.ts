import { existsSync } from "node:fs";
import { messageOf } from "../../shared/errors.ts";
import type { Home } from "../home.ts";
import { CommandFailed } from "./errors.ts";

/** A daemon that has not answered by then is taken for dead. */
const LIVENESS_DEADLINE_MS = 3000;

/** Calls to the running daemon through the home's socket. */
export interface GatewayClient {
  /** Resolves to the answer's body. Throws `CommandFailed` with the daemon's own sentence. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** The daemon of this home, if one answers. */
export async function findDaemon(home: Home): Promise<GatewayClient | undefined> {
  if (!existsSync(home.socket)) return undefined;
  try {
    const signal = AbortSignal.timeout(LIVENESS_DEADLINE_MS);
    const response = await fetch("http://localhost/healthz", { unix: home.socket, signal });
    if (!response.ok) return undefined;
  } catch {
    return undefined;
  }
  return { call: (method, path, body) => callOnce(home, method, path, body) };
}

async function callOnce(home: Home, method: string, path: string, body: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`http://localhost${path}`, {
      unix: home.socket,
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (thrown) {
    throw new CommandFailed(`the daemon did not answer: ${messageOf(thrown)}`);
  }
  const answer = (await response.json()) as { error?: { message?: string } };
  if (response.ok) return answer;
  throw new CommandFailed(answer.error?.message ?? `the daemon answered ${response.status}`);
}
