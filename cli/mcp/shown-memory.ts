import type { Kysely } from "kysely";
import { shownKey } from "../../daemon/held/shown-key.ts";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findLocalDocument } from "../../daemon/reading/find-document.ts";
import { count } from "../../shared/count.ts";
import { machineInRows } from "../../shared/replica/log/machines.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import type { FoundMemory } from "../search/local-search.ts";
import { whySecret, withheldText } from "./kept-secret.ts";

/** A memory in a list, as data. Its names are short, since every session pays for them. */
export interface ShownMemory {
  readonly key: string;
  readonly layer: string;
  /** The connected project that it is of, by its id. */
  readonly project?: string;
  readonly project_name?: string;
  readonly age: string;
  readonly machine: string | null;
  readonly passage: string;
  /** It stays on this machine. */
  readonly held?: true;
}

const AS_PRIVATE = { kind: "memory", cause: "private" } as const;

/** A found memory with its age and machine, and of its value what `passageOf` makes of it. */
export async function shownMemory(
  env: Environment,
  db: Kysely<DaemonTables>,
  {
    found,
    passageOf,
  }: { readonly found: FoundMemory; readonly passageOf: (value: string) => string },
): Promise<ShownMemory> {
  const { memory, place } = found;
  const why = await whySecret(db, memory);
  const passage = why === undefined ? passageOf(memory.value) : withheldText(why);
  const key = why === undefined ? memory.key : await shownKey({ ...memory, ...AS_PRIVATE });
  return {
    key,
    layer: memory.layer,
    ...(place.connected && {
      project: place.connected.id,
      project_name: place.connected.name,
    }),
    age: ageShown(Date.parse(memory.updated_at)),
    machine: (await machineOfMemory(env, db, found)) ?? null,
    passage,
    ...(memory.held !== undefined && { held: true }),
  };
}

/** The same as a line of text, without its passage. */
export function memoryLine(memory: ShownMemory): string {
  const { key, layer, project, project_name: name, age, machine, held } = memory;
  const where = project === undefined ? layer : `${layer} ${name} (${project})`;
  const parts = [key, where, age, machine ?? "an unknown machine", ...(held ? ["held here"] : [])];
  return parts.join(" · ");
}

async function machineOfMemory(
  env: Environment,
  db: Kysely<DaemonTables>,
  { memory, place }: FoundMemory,
): Promise<string | undefined> {
  if (memory.in_inbox || memory.held !== undefined) return readMachineName(env.home);
  const document = await findLocalDocument(db, place.document, place.account);
  const [winner] = memory.seen;
  return document && winner && (await machineInRows(narrowTables(db), document.id, winner.client));
}

const DAY_MS = 86_400_000;
const DAYS_PER_WEEK = 7;
const DAYS_PER_MONTH = 30;
const DAYS_PER_YEAR = 365;

/** On which day before today, in UTC, something was; 0: today. */
export function daysOld(at: number, now: number = realWorld.now()): number {
  return Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS);
}

/** How old something is. Coarse, so that a result stays the same for as long as it can. */
export function ageShown(at: number, now: number = realWorld.now()): string {
  const days = daysOld(at, now);
  if (days <= 0) return "today";
  if (days < 2 * DAYS_PER_WEEK) return `${count(days, "day", "days")} ago`;
  if (days < 2 * DAYS_PER_MONTH) return `${Math.floor(days / DAYS_PER_WEEK)} weeks ago`;
  if (days < 2 * DAYS_PER_YEAR) return `${Math.floor(days / DAYS_PER_MONTH)} months ago`;
  return `${Math.floor(days / DAYS_PER_YEAR)} years ago`;
}
