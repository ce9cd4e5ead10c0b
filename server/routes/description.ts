import { Elysia } from "elysia";
import { answerDocument } from "../http/answer-document.ts";
import { withContext } from "../http/request-context.ts";

/**
 * `GET /openapi.json` and `GET /docs`: the description of the interface, for programs and people.
 * Its code is loaded at the first request, so that it costs no start anything.
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
