// Its usual form finds its own parts at run time, and no bundle has them.
import { type Node, type ParseError, parseTree } from "jsonc-parser/lib/esm/main.js";
import type { ErrorDetail } from "../../../shared/errors.ts";

/** Where a text stops being JSON: its file and line. */
export function placeOfBadJson(path: string, text: string): string {
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  return errors[0] ? `${path}:${lineOf(text, errors[0].offset)}` : path;
}

/** The same details, each at its line of the file. */
export function placedIn(
  path: string,
  text: string,
  details: readonly ErrorDetail[],
): ErrorDetail[] {
  const root = parseTree(text);
  return details.map((detail) => {
    const line = lineOf(text, offsetOf(root, detail.path));
    return { path: `${path}:${line}`, message: `${detail.path} ${detail.message}`.trim() };
  });
}

/** Fields that have a name twice: only the last of them would be read. */
export function doublesIn(path: string, text: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const open = [parseTree(text)];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { type, children = [] } = node;
    const names = new Set<unknown>();
    for (const child of children.toReversed()) open.push(child);
    if (type !== "object") continue;
    for (const { offset, children: [key] = [] } of children) {
      if (names.has(key?.value)) {
        const place = `${path}:${lineOf(text, offset)}`;
        details.push({ path: place, message: `${JSON.stringify(key?.value)} is given twice` });
      }
      names.add(key?.value);
    }
  }
  return details;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Where a JSON Pointer leads, or as near to it as there is anything. */
function offsetOf(root: Node | undefined, pointer: string): number {
  let node = root;
  for (const token of pointer.split("/").slice(1)) {
    const next = childOf(node, token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (!next) break;
    node = next;
  }
  return node?.offset ?? 0;
}

function childOf(node: Node | undefined, token: string): Node | undefined {
  const children = node?.children ?? [];
  if (node?.type === "array") return children[Number(token)];
  // Of two fields with one name the last one counts.
  return children.findLast(({ children: [key] = [] }) => key?.value === token)?.children?.[1];
}
