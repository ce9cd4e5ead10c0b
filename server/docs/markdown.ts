import { type Html, html } from "./html.ts";

/** The Markdown that descriptions use, as HTML: paragraphs, lists, `##` headings, `code`. */
export function markdown(text: string): Html {
  return html`${text.split("\n\n").map(block)}`;
}

/** One line of it: `code` alone. */
export function inline(text: string): Html {
  const pieces = text.split("`");
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

function block(text: string): Html {
  if (text.startsWith("## ")) {
    const title = text.slice("## ".length);
    return html`<h2 id="${anchorOf(title)}">${title}</h2>`;
  }
  if (!text.startsWith("- ")) return html`<p>${inline(text)}</p>`;
  const items = text.split("\n").map((line) => html`<li>${inline(line.slice("- ".length))}</li>`);
  return html`<ul>${items}</ul>`;
}

/** The id of a heading, to link to. */
function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
