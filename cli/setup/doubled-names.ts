import { type Node, parseTree } from "jsonc-parser/lib/esm/main.js";

/** A name that an object has twice, the path to it, and the lines of both. */
export interface DoubledName {
  readonly keys: readonly string[];
  readonly lines: readonly [number, number];
}

/**
 * The first name that is there twice on the way to what is at `keys`, or in it. JSON doesn't say
 * which of the two counts: a parser takes the last one, a change by its place goes into the first.
 *
 * ```
 * findDoubled('{"hooks": {},\n"hooks": {}}', ["hooks", "Stop"]); // hooks, lines 1 and 2
 * ```
 */
export function findDoubled(text: string, keys: readonly string[]): DoubledName | undefined {
  let node = parseTree(text, [], { allowTrailingComma: true });
  for (const [depth, key] of keys.entries()) {
    const [first, second] = membersOf(node).filter(({ name }) => name === key);
    if (first && second) return doubled(text, keys.slice(0, depth + 1), [first, second]);
    node = first?.value;
  }
  return node && findDoubledIn(text, node, keys);
}

function findDoubledIn(text: string, node: Node, keys: readonly string[]): DoubledName | undefined {
  const known = new Map<string, Member>();
  for (const member of membersOf(node)) {
    const first = known.get(member.name);
    if (first) return doubled(text, [...keys, member.name], [first, member]);
    known.set(member.name, member);
    const found = member.value && findDoubledIn(text, member.value, [...keys, member.name]);
    if (found) return found;
  }
  for (const item of node.type === "array" ? (node.children ?? []) : []) {
    const found = findDoubledIn(text, item, keys);
    if (found) return found;
  }
  return undefined;
}

interface Member {
  readonly name: string;
  readonly offset: number;
  readonly value: Node | undefined;
}

function membersOf(node: Node | undefined): Member[] {
  if (node?.type !== "object") return [];
  return (node.children ?? []).map(({ offset, children: [key, value] = [] }) => {
    return { name: String(key?.value), offset, value };
  });
}

function doubled(
  text: string,
  keys: readonly string[],
  [first, second]: readonly [Member, Member],
): DoubledName {
  const lineOf = ({ offset }: Member) => text.slice(0, offset).split("\n").length;
  return { keys, lines: [lineOf(first), lineOf(second)] };
}
