import type { CapturedText } from "../../shared/replica/text.ts";
import { SpanList, SpanReader, type TextSpan } from "../../shared/replica/text-spans.ts";
import { rangesOutside } from "./version-ranges.ts";

/** A line of a captured text, and the document's characters that it consists of. */
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

/** The captured text that has these lines. */
export function joinLines(lines: readonly CapturedLine[]): CapturedText {
  const list = new SpanList();
  for (const { spans } of lines) {
    for (const { client, clock, length } of spans) list.push(client, clock, length);
  }
  return { text: lines.map(({ text }) => text).join(""), spans: list.spans };
}

/** A text's lines, each with its line break. */
export function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

/** Whether two stretches have a character of the document in common. */
export function overlap(one: readonly TextSpan[], other: readonly TextSpan[]): boolean {
  return one.some(({ client, clock, length }) =>
    other.some(
      (each) =>
        client !== null &&
        each.client === client &&
        each.clock < clock + length &&
        clock < each.clock + each.length,
    ),
  );
}

/** Those characters of the first that the second does not have. */
export function without(one: readonly TextSpan[], other: readonly TextSpan[]): TextSpan[] {
  return [...rangesOutside({ spans: one }, { spans: other })].flatMap(([client, ranges]) =>
    ranges.map(([from, to]) => ({ client, clock: from, length: to - from })),
  );
}
