import { readForm, type TextForm } from "../../shared/replica/text-form.ts";
import type { JsonValue } from "../../shared/json.ts";

/** A text's form as a conflict keeps it; what is none is the plain form. */
export function parseFormat(stored: string): TextForm {
  try {
    return readForm(JSON.parse(stored) as JsonValue);
  } catch {
    return readForm(undefined);
  }
}

/** How a text is written down, in words; `stored` is a form as a conflict keeps it. */
export function formatShown(stored: string): string {
  const { bom, eol, final_newline: isEnded } = parseFormat(stored);
  const lineEnds = eol === "crlf" ? "CRLF line endings" : "LF line endings";
  const mark = bom ? "a byte order mark" : "no byte order mark";
  const end = isEnded ? "a line break at the end" : "no line break at the end";
  return `${lineEnds}, ${mark}, ${end}`;
}
