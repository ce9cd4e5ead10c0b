import { Elysia } from "elysia";
import { LIMITS } from "../../../shared/limits.ts";
import type { Pause } from "../../../shared/turns.ts";
import {
  encodeExchangeAnswer,
  isExchangeBody,
  parseExchangeRequest,
} from "../../../shared/wire/exchange.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { parseLongSync } from "../../../shared/wire/sync.ts";
import { answer, answerLong } from "../../http/answer.ts";
import { onceOf } from "../../http/idempotency-key.ts";
import { emptyBody, type JsonBody, readJson, tooLarge } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";
import { UNPARSED } from "./route.ts";

/** The differences between the two variants' `POST …/projects/:id/sync`. */
export interface SyncVariant {
  /** Create an unknown project; otherwise refuse it. */
  readonly createMissing: boolean;
  /** Answer a request without a body with the current state. */
  readonly readWithoutBody: boolean;
}

/**
 * `POST …/projects/:id/sync` of either variant: a plain sync, or a replica exchange if the body has
 * `crdt`. The services check the right to write, because a read-only token may sync if nothing
 * would be written.
 *
 * ```
 * app.use(projectSyncRoutes(services, { createMissing: true, readWithoutBody: true }));
 * ```
 */
export function projectSyncRoutes({ sync }: Services, variant: SyncVariant) {
  const { createMissing, readWithoutBody } = variant;
  return new Elysia({ prefix: "/projects" }).use(withContext).post(
    "/:id/sync",
    async ({ context, request, params }) => {
      const { caller, pause } = context;
      const body = await readSyncBody(request, pause);
      if (body === undefined) {
        if (!readWithoutBody) throw emptyBody();
        const once = onceOf(request, body);
        return answerLong(context, await sync.read(caller, existingProjectId(params.id), once));
      }
      const { value, binaries } = body;
      if (isExchangeBody(value)) {
        body.free();
        const exchange = parseExchangeRequest(value, binaries);
        const id = existingProjectId(params.id);
        const answered = await sync.exchange(caller, id, { ...exchange, createMissing });
        return answer(context, encodeExchangeAnswer(answered));
      }
      const payload = await parseLongSync(value, pause);
      const once = onceOf(request, body);
      body.free();
      const id = existingProjectId(params.id);
      return answerLong(context, await sync.apply(caller, id, { payload, createMissing, once }));
    },
    UNPARSED,
  );
}

/** A sync's body; undefined if it is empty. Only an exchange may be very large. */
export async function readSyncBody(request: Request, pause: Pause): Promise<JsonBody | undefined> {
  const options = { pause, takesBinaries: true };
  const body = await readJson(request, LIMITS.exchangeBodyBytes, options);
  if (body === undefined || isExchangeBody(body.value)) return body;
  if (body.raw.length > LIMITS.bodyBytes) throw tooLarge(LIMITS.bodyBytes);
  return { ...body, value: await body.withTexts() };
}
