/** Text that is already HTML. Only `html` creates it. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a template may contain: texts are escaped, lists joined, missing values left out. */
export type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[];

/**
 * A tagged template for HTML. Its parts can't break out of a text or an attribute.
 *
 * ```
 * html`<b>${"a < b"}</b>`.text; // "<b>a &lt; b</b>"
 * ```
 */
export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const pieces = texts.map((text, at) => `${text}${textOf(parts[at])}`);
  return new Html(pieces.join(""));
}

function textOf(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(textOf).join("");
  return String(part)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
