import type {
  MediaTypes,
  OpenApiDocument,
  PathOperation,
  PathParameter,
  Reference,
  ResponseObject,
} from "../openapi/document.ts";
import { curlOf } from "./curl.ts";
import { type Html, html } from "./html.ts";
import { inline, markdown } from "./markdown.ts";
import { jsonText, mark, note, preformatted, scrollTable } from "./pieces.ts";
import { referenceName, SchemaView } from "./schema-view.ts";
import { tryView } from "./try-view.ts";

/** Shows the operations of one document, each as a section of the page. */
export class OperationView {
  readonly #schemas: SchemaView;

  constructor(readonly document: OpenApiDocument) {
    this.#schemas = new SchemaView(document);
  }

  section(method: string, path: string, operation: PathOperation): Html {
    const { operationId, summary, description, security, requestBody, responses } = operation;
    const parameters = (operation.parameters ?? []).map((each) => this.#parameter(each));
    const sample = { method, path, operation, parameters };
    return html`<article id="${operationId}">
<h3><span class="method ${method}">${method}</span> <code>${path}</code></h3>
<p class="summary">${summary}${security && note("needs no token")}</p>
${markdown(description)}
${parameters.length > 0 && this.#parameters(parameters)}
${requestBody && this.#request(requestBody)}
${operation["x-websocket-frames"] && this.#frames(operation["x-websocket-frames"])}
<h4>Answers</h4>
${Object.entries(responses).map(([status, response]) => this.#answer(status, response))}
<h4>With curl</h4>
${preformatted(curlOf(sample))}
${tryView(sample)}
</article>`;
  }

  /** The refusals that operations share, which they link to. */
  refusals(): Html {
    const refusals = Object.entries(this.document.components.responses).map(
      ([name, { description, headers, content }]) => html`<article id="${name}">
<h3>${name}</h3><p>${inline(description)}</p>
${headerLinks(headers)}${content && examplesOf(content)}</article>`,
    );
    return html`${refusals}`;
  }

  /** Every header that answers carry. */
  headers(): Html {
    const rows = Object.entries(this.document.components.headers).map(
      ([name, { description, example }]) => html`<tr id="header-${name}">
<th scope="row"><code>${name}</code></th>
<td>${inline(description)}</td><td><code>${String(example)}</code></td></tr>`,
    );
    return scrollTable("Headers", ["Header", "Says", "Example"], rows);
  }

  #parameter(reference: Reference): PathParameter {
    const found = this.document.components.parameters[referenceName(reference)];
    if (found === undefined) throw new Error(`${reference.$ref} is not in the document`);
    return found;
  }

  #parameters(parameters: readonly PathParameter[]): Html {
    const rows = parameters.map(
      ({ name, in: place, required, description, schema }) => html`<tr>
<th scope="row"><code>${name}</code>${note(place)}${required && mark("required")}</th>
<td>${this.#schemas.type(schema)}</td>
<td>${inline(description)}${note(this.#schemas.notes(schema))}</td></tr>`,
    );
    return html`<h4>Parameters</h4>${scrollTable("Parameters", ["Name", "Type", "Notes"], rows)}`;
  }

  #request({ required, content }: NonNullable<PathOperation["requestBody"]>): Html {
    return html`<h4>Body${!required && note("may be left out")}</h4>
${Object.values(content).map(({ schema }) => this.#schemas.body(schema, "required"))}
${examplesOf(content)}`;
  }

  #frames({ client, server }: NonNullable<PathOperation["x-websocket-frames"]>): Html {
    return html`<h4>Frames of the client</h4>${this.#schemas.body({ oneOf: client }, "required")}
<h4>Frames of the server</h4>${this.#schemas.body({ oneOf: server }, "optional")}`;
  }

  #answer(status: string, response: ResponseObject | Reference): Html {
    const number = html`<span class="status">${status}</span>`;
    if ("$ref" in response) {
      const name = referenceName(response);
      return html`<p class="answer">${number} <a href="#${name}">${name}</a></p>`;
    }
    const { description, headers, content } = response;
    return html`<details class="answer"${status === "200" && html` open`}>
<summary>${number} ${description}</summary>
${headerLinks(headers)}
${content && Object.values(content).map(({ schema }) => this.#schemas.body(schema, "optional"))}
${content && examplesOf(content)}</details>`;
  }
}

function headerLinks(headers: ResponseObject["headers"]): Html | undefined {
  if (headers === undefined) return undefined;
  const links = Object.keys(headers).map(
    (name) => html`<a href="#header-${name}"><code>${name}</code></a> `,
  );
  return html`<p class="headers">Headers: ${links}</p>`;
}

function examplesOf(content: MediaTypes): Html {
  const examples = Object.values(content).flatMap((each) => Object.values(each.examples));
  return html`${examples.map(
    ({ summary, value }) => html`<p class="caption">${summary}</p>${preformatted(jsonText(value))}`,
  )}`;
}
