import { existsSync } from "node:fs";
import { messageOf } from "../../shared/errors.ts";
import type { Home } from "../home.ts";
import { type Introduction, parseIntroduction } from "../service/introduction.ts";
import { CommandFailed } from "./errors.ts";

/** A daemon that has not answered by then is taken for dead. */
export const LIVENESS_DEADLINE_MS = 3000;

/** Calls to the running daemon through the home's socket. */
export interface GatewayClient {
  readonly introduction: Introduction;
  /**
   * Resolves to the answer's body. Throws `CommandFailed` with the daemon's own sentence. With
   * `remote` only what is bound to the remote of that name is reached.
   */
  call(method: string, path: string, body?: unknown, remote?: string): Promise<unknown>;
}

/** The daemon of this home, if one answers, of whatever version it is. */
export async function contactDaemon(home: Home): Promise<GatewayClient | undefined> {
  const introduction = await askIntroduction(home);
  return (
    introduction && {
      introduction,
      call: (method, path, body, remote) => callOnce(home, method, path, body, remote),
    }
  );
}

async function askIntroduction(home: Home): Promise<Introduction | undefined> {
  if (!existsSync(home.socket)) return undefined;
  try {
    const signal = AbortSignal.timeout(LIVENESS_DEADLINE_MS);
    const response = await fetch("http://localhost/_memsync/daemon", { unix: home.socket, signal });
    if (response.ok) return parseIntroduction(await response.json());
    await response.body?.cancel();
    // The first daemons knew no such call.
    return response.status === 404 ? parseIntroduction({}) : undefined;
  } catch {
    return undefined;
  }
}

/** What else keeps a call on a socket of this machine from its answer is the daemon's end. */
function whyUnanswered(thrown: unknown): string {
  const isLate = thrown instanceof Error && thrown.name === "TimeoutError";
  if (isLate) return `the daemon did not answer: ${messageOf(thrown)}`;
  return "the daemon ended before it answered: `memsync logs` shows why";
}

async function callOnce(
  home: Home,
  method: string,
  path: string,
  body: unknown,
  remote: string | undefined,
): Promise<unknown> {
  let response: Response;
  let answer: { error?: { message?: string } };
  try {
    response = await fetch(`http://localhost${path}`, {
      unix: home.socket,
      method,
      ...(remote !== undefined && { headers: { authorization: `Bearer @${remote}` } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    answer = (await response.json()) as typeof answer;
  } catch (thrown) {
    throw new CommandFailed(whyUnanswered(thrown));
  }
  if (response.ok) return answer;
  throw new CommandFailed(answer.error?.message ?? `the daemon answered ${response.status}`);
}
