import { Elysia } from "elysia";
import { answerDocument } from "../http/answer-document.ts";
import { withContext } from "../http/request-context.ts";

/**
 * `GET /openapi.json` and `GET /docs`: the interface described, for programs and for people. What
 * makes them is loaded when they are first asked for, which costs no start anything.
 */
export function descriptionRoutes() {
  return new Elysia()
    .use(withContext)
    .get("/openapi.json", async ({ context, request }) => {
      const { openApiJson } = await import("../docs/documents.ts");
      return answerDocument(context, request, openApiJson());
    })
    .get("/docs", async ({ context, request }) => {
      const { docsPage } = await import("../docs/documents.ts");
      return answerDocument(context, request, docsPage());
    });
}
