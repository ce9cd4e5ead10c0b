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

/** What such a file has. */
export interface KnowledgeGraph {
  readonly notes: readonly PortableMemory[];
  /** Lines that say nothing of it, each with why: `is no JSON object`. */
  readonly bad: readonly BadLine[];
}

interface BadLine {
  readonly number: number;
  readonly reason: string;
}

/**
 * Reads the memory file of MCP's reference server, `memory.jsonl`: each entity is a memory with its
 * observations and the relations that begin at it. No entity and no relation: the text is another
 * one's.
 *
 * ```
 * readKnowledgeGraph('{"type":"entity","name":"Ann","observations":["likes Go"]}', now).notes;
 * ```
 */
export function readKnowledgeGraph(text: string, now: string): KnowledgeGraph {
  const lines: GraphLine[] = [];
  const bad: BadLine[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const read = parsedLine(line);
    const reason = whyBad(read);
    if (reason !== undefined) bad.push({ number: at + 1, reason });
    else if (read) lines.push(read);
  }
  const values = new Map<string, string[]>();
  for (const { type, name, entityType, observations } of lines) {
    if (type !== "entity" || typeof name !== "string") continue;
    const before = values.get(name) ?? [`${name} (${said(entityType ?? "")})`, ""];
    const notes = Array.isArray(observations) ? observations : [observations ?? []].flat();
    values.set(name, [...before, ...notes.map((each) => `- ${said(each)}`)]);
  }
  for (const { type, from, to, relationType } of lines) {
    if (type !== "relation" || typeof from !== "string") continue;
    const before = values.get(from) ?? [from, ""];
    values.set(from, [...before, `- ${said(relationType)}: ${said(to)}`]);
  }
  const notes = [...values].map(([key, value]) => ({
    key,
    value: value.join("\n"),
    updated_at: now,
  }));
  return { notes, bad };
}

/** Undefined for an entity or a relation. */
function whyBad(line: GraphLine | undefined): string | undefined {
  if (!line) return "is no JSON object";
  const { type, name, from, to, relationType } = line;
  if (type !== "entity" && type !== "relation") return "is neither an entity nor a relation";
  const named = type === "entity" ? name : from;
  if (typeof named !== "string" || named === "") {
    return type === "entity" ? "is an entity without a name" : "is a relation without a beginning";
  }
  if (type === "entity") return undefined;
  if (isNothing(to)) return "is a relation without an end";
  return isNothing(relationType) ? "is a relation without a type" : undefined;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** What is no text stays as it is written. */
function said(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function parsedLine(line: string): GraphLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
