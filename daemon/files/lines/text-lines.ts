import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { splitForm, withoutMark } from "../../../shared/replica/text/text-form.ts";
import { SpanList, SpanReader, type TextSpan } from "../../../shared/replica/text/text-spans.ts";

/** A line of a captured text, with the document's characters that it consists of. */
export interface CapturedLine {
  /** With its line break. */
  readonly text: string;
  readonly spans: readonly TextSpan[];
}

/** The lines of a captured text, in order. */
export function linesOf({ text, spans }: CapturedText): CapturedLine[] {
  const reader = new SpanReader(spans);
  let start = 0;
  return splitLines(text).map((line) => {
    const own = new SpanList();
    reader.copy(start, start + line.length, own);
    start += line.length;
    return { text: line, spans: own.spans };
  });
}

/** The captured text that consists of these lines. */
export function joinLines(lines: readonly CapturedLine[]): CapturedText {
  const list = new SpanList();
  for (const { spans } of lines) {
    for (const { client, clock, length } of spans) list.push(client, clock, length);
  }
  return { text: lines.map(({ text }) => text).join(""), spans: list.spans };
}

/** A line that consists of no characters of the document. */
export function nobodysLine(text: string): CapturedLine {
  return { text, spans: [{ client: null, clock: 0, length: text.length }] };
}

/** A text's lines, each with its line break. */
export function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

/** A content's lines, each with a line feed, whatever its own line ends are. */
export function contentLines(content: string): string[] {
  return splitLines(splitForm(content).lines).map(withoutMark);
}
