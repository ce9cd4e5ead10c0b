import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  type Node,
  parseTree,
} from "jsonc-parser/lib/esm/main.js";

/**
 * The JSON without what is at `place`, without its line if it has one of its own, and without one
 * comma. Everything else keeps its bytes: the parser's own removal takes the comments around along.
 * The same text where nothing is there.
 *
 * ```
 * cutValue('{"a": 1, "b": 2 // two\n}', ["b"]); // '{"a": 1 // two\n}'
 * ```
 */
export function cutValue(text: string, place: readonly (string | number)[]): string {
  const found = findAt(text, place);
  const cut = typeof place.at(-1) === "string" ? found?.parent : found;
  const siblings = cut?.parent?.children;
  if (!cut || !siblings) return text;
  const previous = siblings[siblings.indexOf(cut) - 1];
  const after = commaFrom(text, endOf(cut));
  const comma = after ?? (previous && commaFrom(text, endOf(previous)));
  const edits = [spanAround(text, cut, comma)];
  if (comma !== undefined) edits.push({ offset: comma, length: 1, content: "" });
  return applyEdits(text, edits);
}

/** Whether the object or list at `place` holds nothing, not even a comment. */
export function isHollow(text: string, place: readonly (string | number)[]): boolean {
  const found = findAt(text, place);
  if (!found?.children) return false;
  return text.slice(found.offset + 1, endOf(found) - 1).trim() === "";
}

function findAt(text: string, place: readonly (string | number)[]): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...place]);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** Where the comma is that comes next; undefined where something else does. */
function commaFrom(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

/**
 * The range to cut: what is cut, the blanks before it, and the line break if the line would be
 * empty.
 */
function spanAround(text: string, cut: Node, comma: number | undefined): Edit {
  const rest = text.slice(comma === endOf(cut) ? comma + 1 : endOf(cut));
  const endsLine = /^[ \t]*\r?\n/.test(rest);
  const before = text.slice(0, cut.offset);
  const blanks = (endsLine ? /(\r?\n)?[ \t]*$/ : /[ \t]*$/).exec(before)?.[0].length ?? 0;
  return { offset: cut.offset - blanks, length: cut.length + blanks, content: "" };
}
