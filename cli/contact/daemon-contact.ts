import { existsSync } from "node:fs";
import type { Home } from "../../daemon/home/home.ts";
import { type Introduction, parseIntroduction } from "../../daemon/supervise/introduction.ts";
import { count } from "../../shared/count.ts";
import { CommandFailed } from "../screen/errors.ts";

/** A daemon that has not answered by then is taken for dead. */
export const LIVENESS_DEADLINE_MS = 3000;
const MS_PER_S = 1000;

/** A call for which the daemon itself asks nobody else. */
export const OWN_DEADLINE_MS = 10_000;
/** One for which it asks the service, which it does with a deadline of its own. */
export const ASKED_DEADLINE_MS = 20_000;

/** The daemon has taken a call and lets it wait. */
export class DaemonSilent extends CommandFailed {}

/** What a call may have besides its body. */
export interface DaemonCallOptions {
  readonly body?: unknown;
  /** Only what is bound to the remote of that name is reached. */
  readonly remote?: string | undefined;
  /** Past this it throws `DaemonSilent`; what the daemon does takes its time otherwise. */
  readonly deadlineMs?: number | undefined;
}

/** Calls to the running daemon through the home's socket. */
export interface GatewayClient {
  readonly introduction: Introduction;
  /** Resolves to the answer's body. Throws `CommandFailed` with the daemon's own sentence. */
  call(method: string, path: string, options?: DaemonCallOptions): Promise<unknown>;
}

/** The daemon of this home, if one answers in time, of whatever version it is. */
export async function contactDaemon(
  home: Home,
  deadlineMs = LIVENESS_DEADLINE_MS,
): Promise<GatewayClient | undefined> {
  const introduction = await askIntroduction(home, deadlineMs);
  return (
    introduction && {
      introduction,
      call: (method, path, options) => callOnce(home, method, { path, ...options }),
    }
  );
}

async function askIntroduction(home: Home, deadlineMs: number): Promise<Introduction | undefined> {
  if (!existsSync(home.socket)) return undefined;
  try {
    const signal = AbortSignal.timeout(deadlineMs);
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
function unanswered(thrown: unknown, deadlineMs: number | undefined): CommandFailed {
  const isLate = thrown instanceof Error && thrown.name === "TimeoutError";
  if (!isLate) {
    return new CommandFailed("the daemon ended before it answered: `memsync logs` shows why");
  }
  const seconds = Math.ceil((deadlineMs ?? 0) / MS_PER_S);
  const inTime = seconds > 0 ? `within ${count(seconds, "second", "seconds")}` : "in time";
  return new DaemonSilent(
    `the daemon did not answer ${inTime}: \`memsync restart\` starts another in its place`,
  );
}

async function callOnce(
  home: Home,
  method: string,
  { path, body, remote, deadlineMs }: DaemonCallOptions & { readonly path: string },
): Promise<unknown> {
  let response: Response;
  let answer: { error?: { message?: string } };
  try {
    response = await fetch(`http://localhost${path}`, {
      unix: home.socket,
      method,
      ...(remote !== undefined && { headers: { authorization: `Remote ${remote}` } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(deadlineMs !== undefined && { signal: AbortSignal.timeout(deadlineMs) }),
    });
    answer = (await response.json()) as typeof answer;
  } catch (thrown) {
    throw unanswered(thrown, deadlineMs);
  }
  if (response.ok) return answer;
  throw new CommandFailed(answer.error?.message ?? `the daemon answered ${response.status}`);
}
