import { open } from "node:fs/promises";
import { prepareRows } from "../../shared/sqlite/connection.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import type { PortableMemory } from "./format.ts";

/** Every SQLite database begins with these bytes. */
const SQLITE = Buffer.from("SQLite format 3\0");

/** Whether a file is a database, as claude-mem's is. */
export async function isDatabase(path: string): Promise<boolean> {
  const handle = await open(path, "r").catch(() => undefined);
  if (!handle) return false;
  try {
    const begin = Buffer.alloc(SQLITE.length);
    await handle.read(begin, 0, begin.length, 0);
    return begin.equals(SQLITE);
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

/** A row of its table `observations`. Older versions lack columns. */
interface Observation {
  readonly id?: unknown;
  readonly project?: unknown;
  readonly merged_into_project?: unknown;
  readonly type?: unknown;
  readonly text?: unknown;
  readonly title?: unknown;
  readonly subtitle?: unknown;
  readonly narrative?: unknown;
  readonly facts?: unknown;
  readonly created_at_epoch?: unknown;
}

/**
 * What claude-mem has observed, by the names of its projects; of prompts and of what tools did
 * nothing is read. Undefined where the database is another program's. Writes nothing.
 *
 * ```
 * (await readClaudeMem(path))?.get("shop");
 * ```
 */
export async function readClaudeMem(
  path: string,
): Promise<Map<string, PortableMemory[]> | undefined> {
  const connection = await openConnection(path, true);
  try {
    const asked = "select name from sqlite_master where type = 'table' and name = 'observations'";
    if (connection.prepare(asked).all([]).length === 0) return undefined;
    const every = "select * from observations order by id";
    const projects = new Map<string, PortableMemory[]>();
    for (const row of prepareRows<Observation>(connection, every).all([])) {
      const project = textOf(row.merged_into_project) ?? textOf(row.project);
      const memory = memoryOf(row);
      if (project === undefined || !memory) continue;
      projects.set(project, [...(projects.get(project) ?? []), memory]);
    }
    return projects;
  } finally {
    connection.close();
  }
}

function memoryOf(row: Observation): PortableMemory | undefined {
  const { id, type, created_at_epoch: at } = row;
  const about = [row.title, row.subtitle, row.text, row.narrative].flatMap((each) => {
    return textOf(each) ?? [];
  });
  const facts = factsOf(row.facts).map((fact) => `- ${fact}`);
  const value = [...about, ...(facts.length > 0 ? [facts.join("\n")] : [])].join("\n\n");
  if (value === "" || typeof at !== "number" || !Number.isSafeInteger(at)) return undefined;
  const key = `claude-mem/${textOf(type) ?? "observation"}-${String(id)}`;
  return { key, value: `${value}\n`, updated_at: timestampOf(at) };
}

/** A list in JSON. What is none, and what is no text in one, stays as it is written. */
function factsOf(facts: unknown): string[] {
  const text = textOf(facts);
  if (text === undefined) return [];
  const list = parsed(text);
  if (!Array.isArray(list)) return list === null ? [] : [text];
  return list.flatMap((each: unknown) => {
    return typeof each === "string" ? (textOf(each) ?? []) : JSON.stringify(each);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
