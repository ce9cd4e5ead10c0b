import { isObject, type JsonValue } from "../../json.ts";
import { ITEMS_PER_STEP, inOneTurn, type Steps } from "../../steps.ts";

/**
 * The format of a text apart from its lines: a merge of lines must not change it, and every machine
 * must write the same.
 */
export interface TextForm {
  /** It begins with a byte order mark. */
  readonly bom: boolean;
  /** How lines end. A line with a CR of its own ends in the other way. */
  readonly eol: "lf" | "crlf";
  /** The last line ends with a line ending. */
  readonly final_newline: boolean;
}

/** The format that anybody can see in a text, whatever form its lines are stored in. */
export interface ShownForm extends Omit<TextForm, "eol"> {
  readonly eol: TextForm["eol"] | "mixed";
}

/** The format of an empty text, and of one without a stored format. */
export const PLAIN_FORM: TextForm = { bom: false, eol: "lf", final_newline: true };

const BOM = "\uFEFF";

/**
 * Splits a text into its format and its lines, each of which then ends in LF. A CR before that
 * marks a line that ends in the other way than the format says. Nothing is lost: `joinForm` returns
 * the same text, character for character. If line endings are mixed, the text keeps those of its
 * `former` format, so that changing one line's ending changes no other line.
 *
 * ```
 * const { form, lines } = splitForm("one\r\ntwo\r\n", PLAIN_FORM);
 * form.eol; // "crlf"
 * lines; // "one\ntwo\n"
 * ```
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

/** The text with these lines in this format. */
export function joinForm(lines: string, form: TextForm): string {
  const body = !form.final_newline && lines.endsWith("\n") ? lines.slice(0, -1) : lines;
  const text = form.eol === "crlf" ? turnEndings(body) : body;
  return form.bom ? BOM + text : text;
}

/** The text in another format. Every line gets the same ending, even if they were mixed. */
export function changeForm(text: string, to: TextForm): string {
  const { form, lines } = splitForm(text, to);
  const body = joinForm(lines, { ...to, bom: false, eol: form.eol });
  const changed = body.replace(/\r?\n/g, to.eol === "crlf" ? "\r\n" : "\n");
  return to.bom ? BOM + changed : changed;
}

/** The visible format of a text. */
export function shownForm(text: string): ShownForm {
  const { form } = splitForm(text);
  return form.eol === "lf" && text.includes("\r\n") ? { ...form, eol: "mixed" } : form;
}

/** A line's text, with or without its break, whatever its ending. */
export function withoutMark(line: string): string {
  if (line.endsWith("\r\n")) return `${line.slice(0, -2)}\n`;
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** The texts of a content's lines, without breaks, whatever its format. */
export function plainLines(content: string): string[] {
  return inOneTurn(plainLinesInSteps(content));
}

/** The same, step by step. */
export function* plainLinesInSteps(content: string): Steps<string[]> {
  const body = content.startsWith(BOM) ? content.slice(BOM.length) : content;
  const lines = yield* splitInSteps(body);
  if (lines.at(-1) === "") lines.pop();
  return yield* withoutEachMark(lines);
}

/** A text's parts between its line breaks, as `split` returns them. */
export function* splitInSteps(text: string): Steps<string[]> {
  const lines: string[] = [];
  for (let start = 0; ; ) {
    const end = text.indexOf("\n", start);
    lines.push(end === -1 ? text.slice(start) : text.slice(start, end));
    if (end === -1) return lines;
    start = end + 1;
    if (lines.length % ITEMS_PER_STEP === 0) yield;
  }
}

/** `withoutMark` of each. */
export function* withoutEachMark(lines: readonly string[]): Steps<string[]> {
  const plain: string[] = [];
  for (const line of lines) {
    plain.push(withoutMark(line));
    if (plain.length % ITEMS_PER_STEP === 0) yield;
  }
  return plain;
}

/** Whether two formats agree in every part. */
export function equalForms(one: ShownForm, other: ShownForm): boolean {
  return (
    one.bom === other.bom && one.eol === other.eol && one.final_newline === other.final_newline
  );
}

function eolOf(text: string, former: TextForm["eol"]): TextForm["eol"] {
  // After turning, a line that itself ends in CR could not be told from a mark.
  if (text.includes("\r\r\n")) return "lf";
  const [hasLf, hasCrlf] = [/(?<!\r)\n/.test(text), text.includes("\r\n")];
  if (hasLf === hasCrlf) return former;
  return hasCrlf ? "crlf" : "lf";
}

/** Exchanges LF and CRLF at the ends of lines. */
function turnEndings(text: string): string {
  return text.replace(/\r?\n/g, (ending) => (ending === "\n" ? "\r\n" : "\n"));
}

/** Reads a stored format. Malformed parts are as in the plain format. */
export function readForm(value: JsonValue | undefined): TextForm {
  if (!isObject(value)) return PLAIN_FORM;
  const { bom, eol, final_newline: finalNewline } = value;
  return {
    bom: bom === true,
    eol: eol === "crlf" ? "crlf" : "lf",
    final_newline: finalNewline !== false,
  };
}
