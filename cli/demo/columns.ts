import { styled, terminalWidth } from "../screen/terminal.ts";

const GAP = " │ ";
const INDENT = "   ";

/** A line of a column, in the terminal's own colour unless it has another. */
export interface ColumnLine {
  readonly text: string;
  readonly style?: "bold" | "cyan" | "magenta";
}

const EMPTY: ColumnLine = { text: "" };

/**
 * Two columns side by side, no wider than the terminal.
 *
 * ```
 * columns([{ text: "laptop", style: "bold" }], [{ text: "desktop" }]);
 * // one line: "   laptop", in bold and filled up to half of the width, then " │ desktop"
 * ```
 */
export function columns(left: readonly ColumnLine[], right: readonly ColumnLine[]): string[] {
  const width = Math.floor((terminalWidth() - INDENT.length - GAP.length) / 2);
  const cell = ({ text, style }: ColumnLine, pad: boolean) => {
    const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
    const padded = pad ? cut.padEnd(width) : cut;
    return style ? styled(style, padded) : padded;
  };
  return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    const [one, other] = [left[at] ?? EMPTY, right[at] ?? EMPTY];
    return `${INDENT}${cell(one, true)}${styled("dim", GAP)}${cell(other, false)}`.trimEnd();
  });
}
