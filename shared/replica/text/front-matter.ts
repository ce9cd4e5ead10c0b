import { plainLines } from "./text-form.ts";

/** What a text says of itself between two lines of dashes at its beginning. */
export interface FrontMatter {
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** The lines behind it. */
  readonly body: readonly string[];
}

/**
 * Reads name and description, flat or nested, of whatever is like YAML; undefined where a text has
 * no front matter.
 *
 * ```
 * readFrontMatter('---\nname: tests\n---\nRun bun.\n')?.name; // "tests"
 * ```
 */
export function readFrontMatter(text: string): FrontMatter | undefined {
  const [first, ...lines] = plainLines(text);
  if (first?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line) => line.trimEnd() === "---");
  if (end === -1) return undefined;
  const head = lines.slice(0, end);
  const find = (field: string) => {
    const line = head.find((each) => each.startsWith(`${field}:`));
    return line === undefined ? undefined : onOneLine(unquoted(line.slice(field.length + 1)));
  };
  return { name: find("name"), description: find("description"), body: lines.slice(end + 1) };
}

/**
 * A text that begins with what says most about it: its description, else its name, and its body.
 * One without front matter is as it is.
 */
export function withSummaryFirst(text: string): string {
  const head = readFrontMatter(text);
  if (!head) return text;
  const { description, name, body } = head;
  return [description ?? name ?? [], ...body]
    .flat()
    .map((line) => `${line}\n`)
    .join("");
}

/** A block or an alias of YAML says nothing in its first line. */
function unquoted(value: string): string {
  const text = value.trim();
  const [, quoted] = /^(?:"(.*)"|'(.*)')$/.exec(text) ?? [];
  return quoted ?? (/^[|>&*!{[]/.test(text) ? "" : text.replace(/^'(.*)'$/, "$1"));
}

function onOneLine(text: string): string | undefined {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line === "" ? undefined : line;
}
