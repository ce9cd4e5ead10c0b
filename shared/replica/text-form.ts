import type { JsonValue } from "../json.ts";

/**
 * How a text is written down, apart from its lines: what a merge of lines must not touch, and what
 * every machine must write the same.
 */
export interface TextForm {
  /** Begins with a byte order mark. */
  readonly bom: boolean;
  /** How lines end. `crlf` only where every line does. */
  readonly eol: "lf" | "crlf";
  /** The last line ends with a line ending. */
  readonly final_newline: boolean;
}

/** The form of an empty text, and of one that no form is kept of. */
export const PLAIN_FORM: TextForm = { bom: false, eol: "lf", final_newline: true };

const BOM = "\uFEFF";

/**
 * Takes a text apart into its form and its lines, each of which then ends in LF. Loses nothing:
 * `joinForm` gives back the same text, character for character.
 */
export function splitForm(text: string): { readonly form: TextForm; readonly lines: string } {
  const bom = text.startsWith(BOM);
  let lines = bom ? text.slice(BOM.length) : text;
  const eol = everyLineEndsInCrlf(lines) ? "crlf" : "lf";
  if (eol === "crlf") lines = lines.replaceAll("\r\n", "\n");
  const finalNewline = lines === "" || lines.endsWith("\n");
  if (!finalNewline) lines += "\n";
  return { form: { bom, eol, final_newline: finalNewline }, lines };
}

/** The text that has these lines in this form. */
export function joinForm(lines: string, form: TextForm): string {
  let text = lines;
  if (!form.final_newline && text.endsWith("\n")) text = text.slice(0, -1);
  if (form.eol === "crlf") text = text.replaceAll("\n", "\r\n");
  return form.bom ? BOM + text : text;
}

/** Whether two forms agree in every part. */
export function equalForms(one: TextForm, other: TextForm): boolean {
  return (
    one.bom === other.bom && one.eol === other.eol && one.final_newline === other.final_newline
  );
}

function everyLineEndsInCrlf(text: string): boolean {
  let found = false;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] !== "\r") return false;
    found = true;
  }
  return found;
}

/** Reads a form as it is stored; what is none of its parts is as in the plain form. */
export function readForm(value: JsonValue | undefined): TextForm {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return PLAIN_FORM;
  const { bom, eol, final_newline: finalNewline } = value as Record<string, JsonValue>;
  return {
    bom: bom === true,
    eol: eol === "crlf" ? "crlf" : "lf",
    final_newline: finalNewline !== false,
  };
}
