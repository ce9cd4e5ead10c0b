import type { Log } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { pathOf } from "../http/query.ts";
import type { CallerContext, RequestContext } from "../http/request-context.ts";
import { type Operations, recordRequest } from "./operations.ts";
import { createRoutePatterns, UNMATCHED } from "./route-pattern.ts";

/** Records an answer and returns it. */
export type Recorder = <Answer extends { readonly status: number; readonly headers: Headers }>(
  answer: Answer,
  asked: AskedRequest,
) => Answer;

/** A request, as far as it is known. */
interface AskedRequest {
  readonly method: string;
  /** Undefined for what is no valid request. */
  readonly url: string | undefined;
  readonly context: RequestContext | CallerContext | undefined;
  /** By the steady clock. */
  readonly startedAt: number;
}

/** For an app with these `routes`. Records nothing without `operations`. */
export function createRecorder(
  deps: { readonly world: World; readonly log: Log; readonly operations?: Operations },
  routes: readonly { readonly path: string }[],
): Recorder {
  const { world, log, operations } = deps;
  const patternOf = createRoutePatterns(routes.map(({ path }) => path));
  return (answer, { method, url, context, startedAt }) => {
    if (!operations || !context) return answer;
    recordRequest(operations, log, {
      requestId: context.requestId,
      account: "caller" in context ? context.caller.account : undefined,
      client: context.client,
      method,
      route: url === undefined ? UNMATCHED : patternOf(pathOf(url)),
      status: answer.status,
      durationMs: world.monotonic() - startedAt,
      bytes: Number(answer.headers.get("content-length") ?? 0),
    });
    return answer;
  };
}
