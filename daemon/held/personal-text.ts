import { type Kysely, sql } from "kysely";
import { parseReason } from "../../shared/reasons.ts";
import { PERSONAL_KEY, PERSONAL_MARK } from "../home/personal-mark.ts";
import type { DaemonTables } from "../home/tables.ts";
import { PERSONAL_RULES } from "./personal-rule.ts";
import { bareLinesOf } from "./text-line.ts";

type Db = Kysely<DaemonTables>;

/** Of so many versions the lines are kept: twice as many as a home has. */
const SPLIT_MAX = 128;

/** The lines of each version by its id, which is made of its text. */
const split = new Map<string, ReadonlySet<string>>();

/**
 * One's own text, as this home has it: its last versions, what the user's memory has of it, and
 * what is held because it stands between its marks, or stood there.
 */
export class PersonalText {
  readonly #parts: readonly ReadonlySet<string>[];

  private constructor(parts: readonly ReadonlySet<string>[]) {
    this.#parts = parts;
  }

  static async read(db: Db): Promise<PersonalText> {
    const { rows } = await sql<{ id: string | null; value: string | null; reason: string | null }>`
      select id, null as value, null as reason from personal_versions
      union all
      select null, memories.value, null from memories
        join documents on documents.id = memories.document_id
        where memories.key = ${PERSONAL_KEY} and documents.name like 'user/%'
      union all
      select null, value, reason from held where value is not null
        and (reason like '%"personal%' or (key = ${PERSONAL_KEY} and document like 'user/%'))
    `.execute(db);
    const ids = rows.flatMap(({ id }) => id ?? []);
    await splitUnknown(db, ids);
    const kept = ids.flatMap((id) => split.get(id) ?? []);
    const others = rows.flatMap(({ value, reason }) =>
      value === null ? [] : partsOf(value, reason),
    );
    return new PersonalText([...kept, linesOf(others.join("\n"))]);
  }

  /** `line`: one of `bareLinesOf`. */
  has(line: string): boolean {
    return this.#parts.some((lines) => lines.has(line));
  }
}

async function splitUnknown(db: Db, ids: readonly string[]): Promise<void> {
  const unknown = ids.filter((id) => !split.has(id));
  if (unknown.length === 0) return;
  const rows = await db
    .selectFrom("personal_versions")
    .select(["id", "value"])
    .where("id", "in", unknown)
    .orderBy("number")
    .execute();
  for (const { id, value } of rows) split.set(id, linesOf(value.replace(PERSONAL_MARK, "")));
  const known = new Set(ids);
  for (const id of split.keys()) if (split.size > SPLIT_MAX && !known.has(id)) split.delete(id);
}

/** `reason`: why a value is held; null: it is all of the personal text. */
function partsOf(value: string, reason: string | null): string[] {
  const why = reason === null ? undefined : parseReason(reason);
  const lines = why?.code === "personal-lines" ? why.lines : undefined;
  const beside = why?.code === "looks-like-secret" ? why.personal : undefined;
  if (why?.code !== "personal-block" && !lines && !beside)
    return [value.replace(PERSONAL_MARK, "")];
  const all = value.split("\n");
  const blocks = PERSONAL_RULES.flatMap(({ pattern }) => value.match(pattern) ?? []);
  return [...blocks, ...(lines ?? beside ?? []).map((number) => all[number - 1] ?? "")];
}

function linesOf(text: string): ReadonlySet<string> {
  return new Set(bareLinesOf(text));
}
