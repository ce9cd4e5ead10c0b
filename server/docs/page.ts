import type { OpenApiDocument, PathOperation } from "../openapi/document.ts";
import base from "./base.css" with { type: "text" };
import { ownPolicy } from "./content-policy.ts";
import { Html, html } from "./html.ts";
import { markdown } from "./markdown.ts";
import { OperationView } from "./operation-view.ts";
import css from "./page.css" with { type: "text" };
import script from "./page-script.js" with { type: "text" };

/** A page that needs nothing besides itself. */
export interface DocsPage {
  readonly html: string;
  /** Its `Content-Security-Policy`: its own style and script, and calls to where it came from. */
  readonly contentPolicy: string;
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: PathOperation;
}

const STYLE = base + css;

/** Shows all of an OpenAPI document: every operation with what goes in and comes out. */
export function createDocsPage(document: OpenApiDocument): DocsPage {
  const { title, version } = document.info;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} ${version}: the interface</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>${title} <span class="note">${version}</span></h1>
<form id="access" hidden><label for="access-token">Token</label>
<input id="access-token" type="password" autocomplete="off" spellcheck="false" placeholder="mst_…">
<span class="note">for "Try it"; kept in this page alone</span></form>
<a href="openapi.json">openapi.json</a>
</header>
${navigation(document)}
<main id="content" tabindex="-1">${content(document)}</main>
<script type="module">${new Html(script)}</script>
</body>
</html>
`;
  return { html: page.text, contentPolicy: ownPolicy(STYLE, script) };
}

function navigation(document: OpenApiDocument): Html {
  const groups = document.tags.map(({ name }) => {
    const links = listedUnder(name, document).map(linkTo);
    return html`<h2>${name}</h2><ul>${links}</ul>`;
  });
  return html`<nav aria-label="Operations"><details id="operations" open>
<summary>Operations</summary>
<h2>All</h2><ul>
<li><a href="#requests">What holds for all</a></li>
<li><a href="#refusals">Refusals</a></li><li><a href="#headers">Headers</a></li></ul>
${groups}</details></nav>`;
}

function linkTo({ method, path, operation: { operationId, summary } }: Listed): Html {
  return html`<li><a href="#${operationId}" title="${summary}">
<span class="method ${method}">${method}</span> <code>${path}</code></a></li>`;
}

function content(document: OpenApiDocument): Html {
  const view = new OperationView(document);
  const sections = document.tags.map(
    ({ name, description }) => html`<section><h2>${name}</h2><p>${description}</p>
${listedUnder(name, document).map((each) => view.section(each.method, each.path, each.operation))}
</section>`,
  );
  return html`<section>${markdown(document.info.description)}</section>
${sections}
<section><h2 id="refusals">Refusals</h2>${view.refusals()}</section>
<section><h2 id="headers">Headers</h2>${view.headers()}</section>`;
}

function listedUnder(tag: string, { paths }: OpenApiDocument): Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}
