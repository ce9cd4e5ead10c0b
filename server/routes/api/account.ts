import { Elysia } from "elysia";
import { answerRead } from "../../http/answer.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";

/** `GET /api/account`: the caller's own account, for every token of it. */
export function accountRoutes({ account }: Services) {
  return new Elysia({ prefix: "/account" })
    .use(withContext)
    .get("", async ({ context, request }) =>
      answerRead(context, request, { body: await account.get(context.caller) }),
    );
}
