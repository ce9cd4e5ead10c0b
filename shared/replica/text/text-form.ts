import type { JsonValue } from "../../json.ts";

/**
 * How a text is written down, apart from its lines: what a merge of lines must not touch, and what
 * every machine must write the same.
 */
export interface TextForm {
  /** Begins with a byte order mark. */
  readonly bom: boolean;
  /** How lines end, but for those with a CR of their own, which end the other way. */
  readonly eol: "lf" | "crlf";
  /** The last line ends with a line ending. */
  readonly final_newline: boolean;
}

/** How a text is written down as anybody can see, whatever form its lines are kept in. */
export interface ShownForm extends Omit<TextForm, "eol"> {
  readonly eol: TextForm["eol"] | "mixed";
}

/** The form of an empty text, and of one that no form is kept of. */
export const PLAIN_FORM: TextForm = { bom: false, eol: "lf", final_newline: true };

const BOM = "\uFEFF";

/**
 * Takes a text apart into its form and its lines, each of which then ends in LF; a CR before that
 * marks a line that ends the other way than the form says. Loses nothing: `joinForm` gives back the
 * same text, character for character. Where line endings are mixed, the text keeps those of its
 * `former` form, so that no other line changes where one is written with another ending.
 */
export function splitForm(
  text: string,
  former: TextForm = PLAIN_FORM,
): { readonly form: TextForm; readonly lines: string } {
  const bom = text.startsWith(BOM);
  const body = bom ? text.slice(BOM.length) : text;
  const eol = eolOf(body, former.eol);
  const isEnded = body === "" || body.endsWith("\n");
  const lines = eol === "crlf" ? turnEndings(body) : body;
  return { form: { bom, eol, final_newline: isEnded }, lines: isEnded ? lines : `${lines}\n` };
}

/** The text that has these lines in this form. */
export function joinForm(lines: string, form: TextForm): string {
  const body = !form.final_newline && lines.endsWith("\n") ? lines.slice(0, -1) : lines;
  const text = form.eol === "crlf" ? turnEndings(body) : body;
  return form.bom ? BOM + text : text;
}

/** The text in another form. Every line gets its line ending, which leaves none of mixed ones. */
export function changeForm(text: string, to: TextForm): string {
  const { form, lines } = splitForm(text, to);
  const body = joinForm(lines, { ...to, bom: false, eol: form.eol });
  const changed = body.replace(/\r?\n/g, to.eol === "crlf" ? "\r\n" : "\n");
  return to.bom ? BOM + changed : changed;
}

/** How a text is written down. */
export function shownForm(text: string): ShownForm {
  const { form } = splitForm(text);
  return form.eol === "lf" && text.includes("\r\n") ? { ...form, eol: "mixed" } : form;
}

/** What a line says, with or without its line break, however it ends. */
export function withoutMark(line: string): string {
  if (line.endsWith("\r\n")) return `${line.slice(0, -2)}\n`;
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** What a text's lines say, without their breaks, whatever its form. */
export function plainLines(content: string): string[] {
  return splitForm(content).lines.split("\n").slice(0, -1).map(withoutMark);
}

/** Whether two forms agree in every part. */
export function equalForms(one: ShownForm, other: ShownForm): boolean {
  return (
    one.bom === other.bom && one.eol === other.eol && one.final_newline === other.final_newline
  );
}

function eolOf(text: string, former: TextForm["eol"]): TextForm["eol"] {
  // Turned, the ending of a line that itself ends in CR could not be told from a mark.
  if (text.includes("\r\r\n")) return "lf";
  const [hasLf, hasCrlf] = [/(?<!\r)\n/.test(text), text.includes("\r\n")];
  if (hasLf === hasCrlf) return former;
  return hasCrlf ? "crlf" : "lf";
}

/** LF where a line ends in CRLF, and CRLF where it ends in LF. */
function turnEndings(text: string): string {
  return text.replace(/\r?\n/g, (ending) => (ending === "\n" ? "\r\n" : "\n"));
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
