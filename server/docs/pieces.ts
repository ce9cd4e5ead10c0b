import { type Html, type HtmlPart, html } from "./html.ts";

/** A table that scrolls by itself, with `heads` over its columns. */
export function scrollTable(label: string, heads: readonly string[], rows: readonly Html[]): Html {
  const columns = heads.map((head) => html`<th scope="col">${head}</th>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table><thead><tr>${columns}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A remark. */
export function note(part: HtmlPart): Html {
  return html` <span class="note">${part}</span>`;
}

/** Says whether something may be left out. */
export function mark(word: "required" | "optional"): Html {
  return html` <span class="${word}">${word}</span>`;
}

/** Preformatted text in a scrolling box. */
export function preformatted(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}

/** `value` for people to read. */
export function jsonText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
