import { existsSync } from "node:fs";
import type { Home } from "../../daemon/home/home.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { type Introduction, parseIntroduction } from "../../daemon/supervise/introduction.ts";
import { count } from "../../shared/count.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { CommandFailed } from "../screen/errors.ts";
import { FAILURE_OF, type FailureCode } from "../screen/failure-codes.ts";

/** A daemon that does not answer within this time counts as dead. */
export const LIVENESS_DEADLINE_MS = 3000;
const MS_PER_S = 1000;

/** For a call that the daemon answers by itself. */
export const OWN_DEADLINE_MS = 10_000;
/** For a call that makes the daemon ask the service, for which it has its own deadline. */
export const ASKED_DEADLINE_MS = 20_000;

/** The daemon accepted a call and did not answer in time. */
export class DaemonSilent extends CommandFailed {}

/** The daemon took a call, or seemed to, and has ended since. */
export class DaemonEnded extends CommandFailed {}

/** Options of a call. */
export interface DaemonCallOptions {
  readonly body?: unknown;
  /** Reaches only what is bound to the remote of this name. */
  readonly remote?: string | undefined;
  /** After this time it throws `DaemonSilent`. Without it, a call may take any time. */
  readonly deadlineMs?: number | undefined;
}

/**
 * Calls to the running daemon through the home's socket.
 *
 * ```
 * const daemon = await findDaemon(home);
 * await daemon?.call("POST", "/_memsync/link", { body: { dir } });
 * ```
 */
export interface GatewayClient {
  readonly introduction: Introduction;
  /**
   * Resolves to the answer's body, of the type that the daemon's own code gives it. Throws
   * `CommandFailed` with the daemon's sentence.
   */
  call<Answer = unknown>(
    method: string,
    path: string,
    options?: DaemonCallOptions,
  ): Promise<Answer>;
}

/** What `memsync status` shows. Throws as `call` does. */
export async function askStatus(daemon: GatewayClient): Promise<DaemonStatus> {
  const deadlineMs = OWN_DEADLINE_MS;
  return await daemon.call<DaemonStatus>("GET", "/_memsync/status", { deadlineMs });
}

/** The daemon of this home, of any version, if one answers in time. */
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
    // The first versions did not have this call.
    return response.status === 404 ? parseIntroduction({}) : undefined;
  } catch {
    return undefined;
  }
}

/** On a home's own socket any failure but a late answer means that the daemon has ended. */
function unanswered(thrown: unknown, deadlineMs: number | undefined): CommandFailed {
  const isLate = thrown instanceof Error && thrown.name === "TimeoutError";
  if (!isLate) {
    return new DaemonEnded("the daemon ended before it answered: `memsync logs` shows why", {
      code: "no-daemon",
    });
  }
  const seconds = Math.ceil((deadlineMs ?? 0) / MS_PER_S);
  const inTime = seconds > 0 ? `within ${count(seconds, "second", "seconds")}` : "in time";
  return new DaemonSilent(
    `the daemon did not answer ${inTime}: \`memsync restart\` starts another in its place`,
    { code: "daemon-silent" },
  );
}

function codeOfAnswer(code: string | undefined): FailureCode {
  // The table is written here, with these keys alone.
  const known = (Object.keys(FAILURE_OF) as ErrorCode[]).find((each) => each === code);
  return known ? FAILURE_OF[known] : "failed";
}

async function callOnce<Answer>(
  home: Home,
  method: string,
  { path, body, remote, deadlineMs }: DaemonCallOptions & { readonly path: string },
): Promise<Answer> {
  let response: Response;
  let answer: Answer & { error?: { code?: string; message?: string } };
  try {
    response = await fetch(`http://localhost${path}`, {
      unix: home.socket,
      method,
      ...(remote !== undefined && { headers: { authorization: `Remote ${remote}` } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(deadlineMs !== undefined && { signal: AbortSignal.timeout(deadlineMs) }),
    });
    // Nobody but the home's own daemon answers on this socket.
    answer = (await response.json()) as typeof answer;
  } catch (thrown) {
    throw unanswered(thrown, deadlineMs);
  }
  if (response.ok) return answer;
  throw new CommandFailed(answer.error?.message ?? `the daemon answered ${response.status}`, {
    code: codeOfAnswer(answer.error?.code),
  });
}
