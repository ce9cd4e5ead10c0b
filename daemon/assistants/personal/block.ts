/** The line before the text in a file. What follows the first words is for people. */
const BEGIN_LINE =
  "<!-- memsync:personal begin: the same in all my assistants; edit it anywhere -->";
const END_LINE = "<!-- memsync:personal end -->";

const BEGIN = /^<!--\s+memsync:personal\s+begin\b.*-->$/;
const END = /^<!--\s+memsync:personal\s+end\b.*-->$/;
/** What a tool has made of a mark that it wrapped or changed. */
const BROKEN = /^<!--\s*memsync:personal\b/;
const BOM = "\uFEFF";

/** A file with one whole block. The parts come to the file, character for character. */
export interface PersonalBlock {
  readonly kind: "block";
  readonly before: string;
  /** The marks, with the ends of their lines. */
  readonly begin: string;
  readonly end: string;
  readonly after: string;
  /** What stands in the block, whatever the file's line endings; see `blockText`. */
  readonly text: string;
}

/** What is wrong with the marks of a file. */
export type MarkDamage = "no-end" | "no-begin" | "doubled" | "broken";

/** What a file has of a block. */
export type FoundBlock =
  | PersonalBlock
  | { readonly kind: "none" }
  | { readonly kind: "damaged"; readonly damage: MarkDamage };

/**
 * Finds the block in a file's text. One that is not whole is damaged: nobody can say then what
 * belongs to it. A file that is being written has no end mark yet, so no half of a text is a block.
 */
export function findBlock(content: string): FoundBlock {
  const marks: { readonly is: "begin" | "end"; readonly from: number; readonly to: number }[] = [];
  let from = 0;
  for (const [whole] of content.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const to = from + whole.length;
    const line = (from === 0 ? withoutBom(whole) : whole).trim();
    const at = to - (from === 0 ? withoutBom(whole) : whole).length;
    if (BEGIN.test(line)) marks.push({ is: "begin", from: at, to });
    else if (END.test(line)) marks.push({ is: "end", from: at, to });
    else if (BROKEN.test(line)) return { kind: "damaged", damage: "broken" };
    from = to;
  }
  const [begin, end, ...more] = marks;
  if (!begin) return { kind: "none" };
  if (more.length > 0 || (end && begin.is === end.is)) return damaged("doubled");
  if (begin.is === "end") return damaged("no-begin");
  if (!end) return damaged("no-end");
  return {
    kind: "block",
    before: content.slice(0, begin.from),
    begin: content.slice(begin.from, begin.to),
    text: blockText(content.slice(begin.to, end.from)),
    end: content.slice(end.from, end.to),
    after: content.slice(end.to),
  };
}

function damaged(damage: MarkDamage): FoundBlock {
  return { kind: "damaged", damage };
}

/**
 * A text as it is the same in every file: lines end in LF, the last one, too. A file has its own
 * line endings.
 */
export function blockText(text: string): string {
  const isEnded = text === "" || text.endsWith("\n");
  return (isEnded ? text : `${text}\n`).replace(/\r+\n/g, "\n");
}

/** Whether a text has a line that would be taken for a mark. Such a text is in no block. */
export function hasMark(text: string): boolean {
  return text.split("\n").some((line) => BROKEN.test(withoutBom(line).trim()));
}

/** The file with another text in its block. Nothing else of it is changed. */
export function withText({ before, begin, end, after }: PersonalBlock, text: string): string {
  return before + begin + inEndings(text, begin.endsWith("\r\n") ? "\r\n" : "\n") + end + after;
}

/**
 * The file with a block at its end, after one line end of its own. `withoutBlock` takes out exactly
 * that.
 */
export function withBlock(content: string, text: string): string {
  const eol = endingOf(content);
  return content + (content === "" ? "" : eol) + blockLines(text, eol);
}

/** The file with all of its text in the block. */
export function asBlock(content: string): string {
  const eol = endingOf(content);
  const bom = content.startsWith(BOM) ? BOM : "";
  const body = withoutBom(content);
  const isEnded = body === "" || body.endsWith("\n");
  return `${bom}${BEGIN_LINE}${eol}${body}${isEnded ? "" : eol}${END_LINE}${eol}`;
}

/**
 * The file as it would be without its block. A line end before it goes along where it stood for the
 * block alone: at the end of the file, or as an empty line.
 */
export function withoutBlock({ before, after }: PersonalBlock): string {
  const rest = withoutBom(before);
  const isOwnLine = after === "" || /(?:^|\n)\r?\n$/.test(rest);
  return (isOwnLine ? before.replace(/\r?\n$/, "") : before) + after;
}

/** The file with the text, and without the marks. */
export function withoutMarks({ before, begin, text, after }: PersonalBlock): string {
  return before + inEndings(text, begin.endsWith("\r\n") ? "\r\n" : "\n") + after;
}

function blockLines(text: string, eol: string): string {
  return `${BEGIN_LINE}${eol}${inEndings(text, eol)}${END_LINE}${eol}`;
}

function inEndings(text: string, eol: string): string {
  return eol === "\n" ? text : text.replaceAll("\n", eol);
}

/** A last CR would be taken for half of a line end. */
function endingOf(content: string): "\n" | "\r\n" {
  if (content.endsWith("\r")) return "\r\n";
  const crlf = content.split("\r\n").length - 1;
  const all = content.split("\n").length - 1;
  return 2 * crlf > all ? "\r\n" : "\n";
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(BOM.length) : text;
}
