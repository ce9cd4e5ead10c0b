import type { PathOperation, PathParameter } from "../openapi/document.ts";
import type { SampleRequest } from "./curl.ts";
import { type Html, html } from "./html.ts";
import { jsonText, note } from "./pieces.ts";

/** A form that the page's script sends. Hidden without scripts. */
export function tryView({ method, path, operation, parameters }: SampleRequest): Html | undefined {
  const isSocket = operation["x-websocket-frames"] !== undefined;
  if (isSocket) return undefined;
  const open = operation.security && html` data-open`;
  return html`<details class="try" hidden><summary>Try it</summary>
<form data-method="${method}" data-path="${path}"${open}>
${parameters.map(field)}${bodyField(operation)}
<button>Send ${method.toUpperCase()}</button>
<output aria-live="polite"></output></form></details>`;
}

function field({ name, in: place, required, example }: PathParameter): Html {
  const must = required && html` required`;
  return html`<label>${name}${note(place)}
<input name="${name}" data-in="${place}" placeholder="${String(example)}"${must}
spellcheck="false" autocomplete="off"></label>`;
}

function bodyField({ requestBody }: PathOperation): Html | undefined {
  const [body] = Object.values(requestBody?.content["application/json"]?.examples ?? {});
  if (body === undefined) return undefined;
  return html`<label>body
<textarea name="body" rows="8" spellcheck="false">${jsonText(body.value)}</textarea></label>`;
}
