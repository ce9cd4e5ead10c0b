import { type PublicDocument, publicDocument } from "../http/answer-document.ts";
import { createOpenApiDocument } from "../openapi/document.ts";
import { createDocsPage } from "./page.ts";

/** This text must not be run, framed, or load anything. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

let json: PublicDocument | undefined;
let page: PublicDocument | undefined;

/** The answer of `GET /openapi.json`; created once. */
export function openApiJson(): PublicDocument {
  json ??= publicDocument(
    JSON.stringify(createOpenApiDocument()),
    "application/json; charset=utf-8",
    NO_PAGE,
  );
  return json;
}

/** The answer of `GET /docs`; created once. */
export function docsPage(): PublicDocument {
  if (page === undefined) {
    const { html, contentPolicy } = createDocsPage(createOpenApiDocument());
    page = publicDocument(html, "text/html; charset=utf-8", contentPolicy);
  }
  return page;
}
