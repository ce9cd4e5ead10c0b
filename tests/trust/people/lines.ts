/** How a file writes its lines. */
export interface Form {
  readonly mark: boolean;
  readonly crlf: boolean;
  readonly ends: boolean;
}

const MARK = "\ufeff";

/** A text's lines without their breaks, and its form. */
export function takeApart(text: string): { readonly lines: string[]; readonly form: Form } {
  const mark = text.startsWith(MARK);
  const body = mark ? text.slice(1) : text;
  const crlf = body.includes("\r\n");
  const lines = body.split(/\r?\n/);
  const ends = lines.at(-1) === "";
  if (ends) lines.pop();
  return { lines, form: { mark, crlf, ends } };
}

/** The text that `takeApart` takes apart so. */
export function putTogether(lines: readonly string[], { mark, crlf, ends }: Form): string {
  const newline = crlf ? "\r\n" : "\n";
  const text = lines.join(newline);
  return `${mark ? MARK : ""}${text}${ends && lines.length > 0 ? newline : ""}`;
}

/** Whether a line's fate is followed: blank ones and fences have no name of their own. */
export function isNamed(line: string): boolean {
  return line.trim() !== "" && !line.startsWith("```");
}

/** How often each named line is in a text. */
export function countNamed(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of takeApart(text).lines) {
    if (isNamed(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}
