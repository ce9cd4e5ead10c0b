import { isObject, parseJson } from "../../shared/json.ts";
import { PLAIN_FORM, readForm, type ShownForm } from "../../shared/replica/text/text-form.ts";

/** Reads a text's format as a conflict stores it. Anything malformed counts as the plain format. */
export function parseFormat(stored: string): ShownForm {
  try {
    const value = parseJson(stored);
    const form = readForm(value);
    const { eol } = isObject(value) ? value : {};
    return eol === "mixed" ? { ...form, eol } : form;
  } catch {
    return PLAIN_FORM;
  }
}

const LINE_ENDS = {
  lf: "LF line endings",
  crlf: "CRLF line endings",
  mixed: "mixed line endings",
} as const;

/** A text's format in words; `stored`: as a conflict stores it. */
export function formatShown(stored: string): string {
  const { bom, eol, final_newline: isEnded } = parseFormat(stored);
  const mark = bom ? "a byte order mark" : "no byte order mark";
  const end = isEnded ? "a line break at the end" : "no line break at the end";
  return `${LINE_ENDS[eol]}, ${mark}, ${end}`;
}
