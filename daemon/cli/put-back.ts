import { joinForm, splitForm } from "../../shared/replica/text-form.ts";

/** Whether whole lines stand in a text, in their order. */
export function holdsLines(content: string, lines: string): boolean {
  return endOfLines(splitForm(content).lines, lines) !== undefined;
}

/**
 * The text with whole lines put back: behind `neighbour`, the lines that they stood beside, or at
 * the end where those are not there any more. The text keeps its line endings.
 */
export function putBack(content: string, lines: string, neighbour: string): string {
  const { form, lines: text } = splitForm(content);
  const end = endOfLines(text, neighbour) ?? text.length;
  return joinForm(text.slice(0, end) + lines + text.slice(end), form);
}

/**
 * The text without these lines: the place where they stand together, or else each of them, in their
 * order. What of them is not there is no loss. The text keeps its line endings.
 */
export function takeOut(content: string, lines: string): string {
  const { form, lines: text } = splitForm(content);
  const together = `\n${text}`.indexOf(`\n${lines}`);
  if (lines !== "" && together !== -1) {
    return joinForm(text.slice(0, together) + text.slice(together + lines.length), form);
  }
  let [rest, from] = [text, 0];
  for (const line of lines.match(/[^\n]*\n/g) ?? []) {
    const at = `\n${rest}`.indexOf(`\n${line}`, from);
    if (at === -1) continue;
    rest = rest.slice(0, at) + rest.slice(at + line.length);
    from = at;
  }
  return joinForm(rest, form);
}

/** Where the last of the lines ends, if they stand together in the text, or at least in order. */
function endOfLines(text: string, lines: string): number | undefined {
  const together = `\n${text}`.indexOf(`\n${lines}`);
  if (together !== -1) return together + lines.length;
  let end = 0;
  for (const line of lines.match(/[^\n]*\n/g) ?? []) {
    const at = `\n${text}`.indexOf(`\n${line}`, end);
    if (at === -1) return undefined;
    end = at + line.length;
  }
  return end;
}
