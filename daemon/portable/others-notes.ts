import type { PortableMemory } from "./format.ts";

/** A line of the memory file of MCP's reference server. */
interface GraphLine {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly entityType?: unknown;
  readonly observations?: unknown;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly relationType?: unknown;
}

/**
 * Reads the memory file of MCP's reference server, `memory.jsonl`: each entity is a memory with its
 * observations and the relations that begin at it. Undefined where the text is another one's.
 *
 * ```
 * readKnowledgeGraph('{"type":"entity","name":"Ann","observations":["likes Go"]}', now);
 * ```
 */
export function readKnowledgeGraph(text: string, now: string): PortableMemory[] | undefined {
  const lines: GraphLine[] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const read = parsedLine(line);
    if (!read || (read.type !== "entity" && read.type !== "relation")) return undefined;
    lines.push(read);
  }
  const values = new Map<string, string[]>();
  for (const { type, name, entityType, observations } of lines) {
    if (type !== "entity" || typeof name !== "string" || name === "") continue;
    const before = values.get(name) ?? [`${name} (${String(entityType ?? "")})`, ""];
    const notes = Array.isArray(observations)
      ? observations.map((each) => `- ${String(each)}`)
      : [];
    values.set(name, [...before, ...notes]);
  }
  for (const { type, from, to, relationType } of lines) {
    if (type !== "relation" || typeof from !== "string" || from === "") continue;
    const before = values.get(from) ?? [from, ""];
    values.set(from, [...before, `- ${String(relationType)}: ${String(to)}`]);
  }
  return [...values].map(([key, value]) => ({ key, value: value.join("\n"), updated_at: now }));
}

/** Why a text is no such file, by its first wrong line; completes "it is none: …". */
export function whyNoGraph(text: string): string {
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const read = parsedLine(line);
    if (!read) return `line ${at + 1} is no JSON object`;
    if (read.type !== "entity" && read.type !== "relation") {
      return `line ${at + 1} is neither an entity nor a relation`;
    }
  }
  return "it has no entity";
}

function parsedLine(line: string): GraphLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
