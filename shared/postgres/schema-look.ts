import { isNameUnknown, WHOLE_BACKUP } from "./failures.ts";
import { type SchemaPart, type SchemaParts, STEPS_TABLE } from "./schema-parts.ts";
import type { PostgresSession } from "./session.ts";

/** All that tables have, and the functions, by the names that parts have. */
export function partsThere(tables: readonly string[], functions: readonly string[]): string {
  return `
  WITH own AS MATERIALIZED (
    SELECT pg_class.oid AS id, relname AS name, relpersistence
      FROM unnest(${listed(tables)}) AS given
      JOIN pg_class ON pg_class.oid = to_regclass(quote_ident(given)) AND relkind IN ('r', 'p')),
  columns AS (
    SELECT own.name || '.' || attname AS name, format_type(atttypid, atttypmod) AS type,
        CASE WHEN attcollation NOT IN (0, 100) THEN (SELECT ' COLLATE ' || collname
          FROM pg_collation WHERE pg_collation.oid = attcollation) END AS collated,
        attnotnull, attidentity, pg_get_expr(adbin, adrelid) AS value
      FROM own JOIN pg_attribute ON attrelid = id AND attnum > 0 AND NOT attisdropped
      LEFT JOIN pg_attrdef ON adrelid = id AND adnum = attnum),
  indexes AS (
    SELECT relname, own.name AS table_name, indisunique, indisvalid AND indisready AS is_valid,
        indimmediate AND indpred IS NULL AS is_whole,
        (SELECT string_agg(attname, ', ' ORDER BY place)
          FROM unnest(indkey) WITH ORDINALITY AS keys (number, place)
          JOIN pg_attribute ON attrelid = indrelid AND attnum = number) AS keys
      FROM own JOIN pg_index ON indrelid = id JOIN pg_class ON pg_class.oid = indexrelid),
  constraints AS (
    SELECT pg_constraint.oid AS made_as, conname, own.name AS table_name, convalidated, conrelid,
        confrelid, regexp_replace(pg_get_constraintdef(pg_constraint.oid, true), ' NOT VALID$', '')
          AS definition
      FROM own JOIN pg_constraint ON conrelid = id AND contype IN ('c', 'f')),
  triggers AS (
    SELECT tgname || ' on ' || own.name AS name, tgenabled IN ('O', 'A') AS is_enabled,
        regexp_replace(pg_get_triggerdef(pg_trigger.oid, true), '^CREATE ', '') AS definition
      FROM own JOIN pg_trigger ON tgrelid = id AND NOT tgisinternal),
  functions AS (
    SELECT given, prosrc, current_setting('search_path') AS session_path,
        (SELECT substr(setting, length('search_path=') + 1)
        FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%') AS path
      FROM unnest(${listed(functions)}) AS given
      JOIN pg_proc ON pg_proc.oid = to_regprocedure(quote_ident(given) || '()'))
  SELECT 'table ' || name AS part FROM own
  UNION ALL SELECT 'logged table ' || name FROM own WHERE relpersistence = 'p'
  UNION ALL SELECT format('inheritance of %s from %s', own.name, relname) FROM own
    JOIN pg_inherits ON inhrelid = id JOIN pg_class ON pg_class.oid = inhparent
  UNION ALL SELECT concat('column ', name, ' ', type, collated) FROM columns
  UNION ALL SELECT 'NOT NULL of ' || name FROM columns WHERE attnotnull
  UNION ALL SELECT 'identity of ' || name FROM columns WHERE attidentity <> ''
  UNION ALL SELECT format('default %s of %s', value, name) FROM columns WHERE value IS NOT NULL
  UNION ALL SELECT concat(CASE WHEN indisunique THEN 'unique ' END,
    format('index %s on %s (%s)', relname, table_name, keys)) FROM indexes WHERE is_whole
  UNION ALL SELECT 'valid index ' || relname FROM indexes WHERE is_valid
  UNION ALL SELECT format('constraint %s of %s %s', conname, table_name, definition)
    FROM constraints
  UNION ALL SELECT 'valid constraint ' || conname FROM constraints WHERE convalidated
  UNION ALL SELECT format('enabled constraint %s on %s', conname, own.name)
    FROM constraints JOIN own ON id IN (conrelid, confrelid) WHERE confrelid <> 0
      AND NOT EXISTS (SELECT FROM pg_trigger
        WHERE tgconstraint = made_as AND tgrelid = id AND tgenabled NOT IN ('O', 'A'))
  UNION ALL SELECT replace(definition, 'TRIGGER ', 'trigger ') FROM triggers
  UNION ALL SELECT 'enabled trigger ' || name FROM triggers WHERE is_enabled
  UNION ALL SELECT format('function %s with the body %s', given, ${hashInSql("prosrc")})
    FROM functions
  UNION ALL SELECT 'search_path of ' || given FROM functions, own WHERE path IS NOT NULL
    GROUP BY given HAVING bool_and(${isFoundBy("path", "own")})`;
}

/**
 * Whether a table is what its name means by another search_path. PostgreSQL reads that, for its
 * quotes and capitals have rules; the session has its own again after each row.
 */
function isFoundBy(path: string, table: string): string {
  const set = (value: string) => `set_config('search_path', ${value}, true)`;
  const isFound = `to_regclass(quote_ident(${table}.name)) IS NOT DISTINCT FROM ${table}.id`;
  // PostgreSQL evaluates the branches of a CASE in order, and nothing else surely so.
  return `CASE WHEN ${set(path)} IS NULL THEN false
      WHEN ${isFound} THEN ${set("session_path")} IS NOT NULL
      ELSE ${set("session_path")} IS NULL END`;
}

/**
 * The sequence of an identity, unless the next number is one of a row that is there. The number of
 * a row that a look sees was given before. Whoever may not read the sequence can't tell.
 */
function sequenceThere({ table, column }: SchemaParts["identities"][number]): string {
  return `SELECT 'sequence of ${table}.${column}'
    FROM (SELECT pg_get_serial_sequence('${table}', '${column}')::regclass AS own) AS sequences
    WHERE (SELECT max(${column}) FROM ${table}) >
      CASE WHEN has_sequence_privilege(own, 'USAGE, SELECT')
        THEN coalesce(pg_sequence_last_value(own), 0) END IS NOT TRUE`;
}

/** See `bodyHash`. */
function hashInSql(body: string): string {
  const spaced = `regexp_replace(${body}, '\\s+', ' ', 'g')`;
  return `left(encode(sha256(convert_to(${spaced}, 'UTF8')), 'hex'), 8)`;
}

/**
 * The names are part of the statement, which is prepared once, and so are not sent with each look.
 */
function listed(names: readonly string[]): string {
  return `ARRAY[${names.map((name) => `'${name.replaceAll("'", "''")}'`).join(", ")}]::text[]`;
}

/** Which parts are looked for, and within which time. */
export interface PartsAsked {
  readonly withinMs?: number | undefined;
  /** `rows`: the catalog is as it was where all others were there; `made`: rows come later. */
  readonly only?: "made" | "rows" | undefined;
}

/** The wanted parts that the database lacks. Further ones do no harm. */
export async function partsMissing<Tables>(
  session: PostgresSession<Tables>,
  parts: SchemaParts,
  { withinMs, only }: PartsAsked = {},
): Promise<readonly SchemaPart[]> {
  const made = [STEPS_TABLE, ...parts.steps.flatMap((step) => step.made)];
  const rows = parts.steps.flatMap((step) => [step.row, ...step.rows]);
  const there = partsThere([...parts.tables, "schema_migrations"], parts.functions);
  const rowsThere = [
    ...parts.filled.map((name) => `SELECT 'row of ${name}' WHERE EXISTS (TABLE ${name})`),
    "SELECT format('row %s of schema_migrations', name) FROM schema_migrations",
    ...parts.identities.map(sequenceThere),
  ];
  const look = async (wanted: readonly SchemaPart[], ...known: readonly string[]) => {
    const found = await session.query<{ name: string }>(
      `SELECT name FROM unnest(${listed(wanted.map(({ name }) => name))}) AS name
        WHERE name NOT IN (${known.join("\n  UNION ALL ")})`,
      [],
      withinMs,
    );
    const missing = new Set(found.map(({ name }) => name));
    return wanted.filter(({ name }) => missing.has(name));
  };
  try {
    if (only === "made") return await look(made, there);
    if (only === "rows") return await look(rows, ...rowsThere);
    return await look([...made, ...rows], there, ...rowsThere);
  } catch (thrown) {
    // The rows of a table that is not there can't be asked for: it is the table that is missing.
    if (!isNameUnknown(thrown)) throw thrown;
    return await look(made, there);
  }
}

/**
 * The rows of steps of which the database has all but these rows: such a step would be taken twice.
 * One that makes rows alone can't be told from one that was not taken.
 */
export function rowsOfTakenSteps(
  { steps }: SchemaParts,
  missing: readonly SchemaPart[],
): readonly SchemaPart[] {
  const isMissing = new Set(missing.map(({ name }) => name));
  const hasTable = !isMissing.has(STEPS_TABLE.name);
  const unrecorded = steps.filter(({ made, row }) => {
    const isRecorded = hasTable && !isMissing.has(row.name);
    return !isRecorded && made.length > 0 && made.every(({ name }) => !isMissing.has(name));
  });
  if (unrecorded.length === 0) return [];
  return hasTable ? unrecorded.map(({ row }) => row) : [STEPS_TABLE];
}

/** At most this many missing parts are named. */
const NAMED_MAX = 5;

/** What is missing, and what to do, in a sentence. Columns of a missing table are not named. */
export function lackOf(missing: readonly SchemaPart[]): string | undefined {
  const isMissing = new Set(missing.map(({ name }) => name));
  const told = missing.filter(({ needs }) => needs === undefined || !isMissing.has(needs));
  if (told.length === 0) return undefined;
  const ways = told.flatMap(({ way }) => way ?? []);
  const way =
    ways.length === told.length
      ? [...new Set(ways)].slice(0, NAMED_MAX).map((each) => `\`${each}\``)
      : [WHOLE_BACKUP];
  return `the database lacks parts of its schema (${named(told)}): ${way.join(", ")}`;
}

/** What is wrong if steps that were just taken made something else than they say. */
export function unlikeOf(missing: readonly SchemaPart[]): string | undefined {
  if (missing.length === 0) return undefined;
  const made = "the database has made something else of memsync's schema than was asked for";
  return `${made} (${named(missing)}): see its event triggers; nothing was changed`;
}

function named(parts: readonly SchemaPart[]): string {
  const more = parts.length > NAMED_MAX ? `, and ${parts.length - NAMED_MAX} more` : "";
  const names = parts.slice(0, NAMED_MAX).map(({ name }) => name);
  return `${names.join(", ")}${more}`;
}
