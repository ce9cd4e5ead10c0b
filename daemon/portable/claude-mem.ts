import { open } from "node:fs/promises";
import { prepareRows } from "../../shared/sqlite/connection.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
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

/** An observation, or a part of one, that is in no memory; why, in words that follow its key. */
interface BadObservation {
  readonly key: string;
  readonly code: "unfit-text";
  readonly reason: string;
}

/** What claude-mem has observed in one of its projects. */
export interface ObservedProject {
  readonly notes: readonly PortableMemory[];
  readonly bad: readonly BadObservation[];
}

/** What it has observed, by the names of its projects. */
export interface ClaudeMem {
  readonly projects: ReadonlyMap<string, ObservedProject>;
  /** Observations that are of no project. */
  readonly others: number;
}

/**
 * Reads claude-mem's database; of prompts and of what tools did nothing. `now`: the time of what
 * has none that can be read. Undefined where the database is another program's. Writes nothing.
 *
 * ```
 * (await readClaudeMem(path, now))?.projects.get("shop")?.notes;
 * ```
 */
export async function readClaudeMem(path: string, now: string): Promise<ClaudeMem | undefined> {
  const connection = await openConnection(path, true);
  try {
    const asked = "select name from sqlite_master where type = 'table' and name = 'observations'";
    if (connection.prepare(asked).all([]).length === 0) return undefined;
    const every = "select * from observations order by id";
    const projects = new Map<string, { notes: PortableMemory[]; bad: BadObservation[] }>();
    let others = 0;
    for (const row of prepareRows<Observation>(connection, every).all([])) {
      const project = textOf(row.merged_into_project) ?? textOf(row.project);
      if (project === undefined) {
        others += 1;
        continue;
      }
      const { notes, bad } = projects.get(project) ?? { notes: [], bad: [] };
      const read = readObservation(row, now);
      notes.push(...read.notes);
      bad.push(...read.bad);
      projects.set(project, { notes, bad });
    }
    return { projects, others };
  } finally {
    connection.close();
  }
}

/** Whatever is left out of it is named. */
function readObservation(row: Observation, now: string): ObservedProject {
  const { id, type, title, subtitle, text, narrative, facts, created_at_epoch: at } = row;
  const key = `claude-mem/${textOf(type) ?? "observation"}-${String(id)}`;
  const parts = { title, subtitle, text, narrative, facts };
  const bad = Object.entries(parts).flatMap(([name, each]) => {
    const reason = `its ${name} is no text, and is left out`;
    return isUnread(each) ? [{ key, code: "unfit-text", reason } as const] : [];
  });
  const about = [title, subtitle, text, narrative].flatMap((each) => textOf(each) ?? []);
  const list = factsOf(facts).map((fact) => `- ${fact}`);
  const value = [...about, ...(list.length > 0 ? [list.join("\n")] : [])].join("\n\n");
  if (value === "") {
    const none = { key, code: "unfit-text", reason: "has no text" } as const;
    return { notes: [], bad: bad.length > 0 ? bad : [none] };
  }
  return { notes: [{ key, value: `${value}\n`, updated_at: timeOf(at) ?? now }], bad };
}

/** Something is there, and nobody can read it as a text. */
function isUnread(value: unknown): boolean {
  return value instanceof Uint8Array && value.length > 0 && decoded(value) === undefined;
}

/** Milliseconds as a number or in digits, or a date. Undefined for what no timestamp can say. */
function timeOf(at: unknown): string | undefined {
  const text = textOf(at);
  const ms = text === undefined || /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
  const time = Math.trunc(ms ?? parseTimestamp(text ?? "") ?? Number.NaN);
  if (Number.isNaN(new Date(time).getTime())) return undefined;
  const said = timestampOf(time);
  return parseTimestamp(said) === time ? said : undefined;
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

/** A column may hold whatever was put into it. */
function textOf(value: unknown): string | undefined {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const text = value instanceof Uint8Array ? decoded(value) : isNumber ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
