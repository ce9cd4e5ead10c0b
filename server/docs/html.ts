/** Text that is HTML already, made by `html` alone. */
export class Html {
  constructor(readonly text: string) {}
}

/** What may stand in a template: texts are escaped, lists joined, what is missing left out. */
export type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[];

/** A tagged template of HTML. What is put into it can't break out of a text or an attribute. */
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
