import { type PublicDocument, publicDocument } from "../http/answer-document.ts";
import { createOpenApiDocument } from "../openapi/document.ts";
import { createDocsPage } from "./page.ts";

/** Nothing of it is to be run, shown in a frame, or to load anything. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

let json: PublicDocument | undefined;
let page: PublicDocument | undefined;

/** What `GET /openapi.json` answers; made once. */
export function openApiJson(): PublicDocument {
  json ??= publicDocument(
    JSON.stringify(createOpenApiDocument()),
    "application/json; charset=utf-8",
    NO_PAGE,
  );
  return json;
}

/** What `GET /docs` answers; made once. */
export function docsPage(): PublicDocument {
  if (page === undefined) {
    const { html, contentPolicy } = createDocsPage(createOpenApiDocument());
    page = publicDocument(html, "text/html; charset=utf-8", contentPolicy);
  }
  return page;
}
