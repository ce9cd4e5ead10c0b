import { createHash } from "node:crypto";
import type { PostgresMigration } from "./migrate.ts";

/** Something that a step makes, or a state that it has to be in. No program can do without it. */
export interface SchemaPart {
  /** As `partsThere` names it. */
  readonly name: string;
  /** The part without which this one can't be there. */
  readonly needs?: string;
  /** The statement that brings it back if nothing else is missing. */
  readonly way?: string;
}

/** What the steps of a schema make, by step. */
export interface SchemaParts {
  readonly tables: readonly string[];
  readonly functions: readonly string[];
  /** Columns whose values a sequence gives. */
  readonly identities: readonly { readonly table: string; readonly column: string }[];
  /** Tables in which a step has put the one row that they have. */
  readonly filled: readonly string[];
  readonly steps: readonly {
    readonly name: string;
    /** The row in which the database keeps that the step was taken. */
    readonly row: SchemaPart;
    /** The parts that the step makes, besides rows. */
    readonly made: readonly SchemaPart[];
    readonly rows: readonly SchemaPart[];
  }[];
}

/** The table of the rows of steps. */
export const STEPS_TABLE: SchemaPart = { name: "table schema_migrations" };

/**
 * The parts of the schema that steps lead to. A test holds it against what PostgreSQL has after
 * them: keys and constraints that are not named have names by its rules.
 */
export function schemaPartsOf(migrations: readonly PostgresMigration[]): SchemaParts {
  const statements = migrations.flatMap((each) => each.statements);
  const named = (pattern: RegExp) => statements.flatMap((each) => pattern.exec(each)?.[1] ?? []);
  const columns = new Map<string, readonly Column[]>();
  const identities = statements.flatMap(identitiesOf);
  return {
    identities,
    tables: named(/^CREATE\s+TABLE\s+(\w+)/),
    functions: named(/^CREATE\s+FUNCTION\s+(\w+)/),
    filled: named(/^INSERT\s+INTO\s+(\w+)/),
    steps: migrations.map((step) => ({
      name: step.name,
      row: rowOf(step),
      made: step.statements.flatMap((statement) => madeBy(statement, columns)),
      rows: step.statements.flatMap((statement) => {
        const table = /^INSERT\s+INTO\s+(\w+)/.exec(statement)?.[1];
        const row = { name: `row of ${table}`, needs: `table ${table}` };
        const sequences = identitiesOf(statement).map(sequencePart);
        return table === undefined ? sequences : [row];
      }),
    })),
  };
}

function rowOf({ name, breaks }: PostgresMigration): SchemaPart {
  return {
    name: `row ${name} of schema_migrations`,
    needs: STEPS_TABLE.name,
    way: `INSERT INTO schema_migrations VALUES ('${name}', ${breaks})`,
  };
}

/** `columns`: those of the tables that were made before. */
function madeBy(statement: string, columns: Map<string, readonly Column[]>): SchemaPart[] {
  const [, table, body] = /^CREATE\s+TABLE\s+(\w+)\s*\((.*)\)/s.exec(statement) ?? [];
  if (table !== undefined && body !== undefined) return tableParts(table, body, columns);
  const added = /^ALTER\s+TABLE\s+(\w+)\s+ADD\s+(?:COLUMN\s+)?(.*)/s.exec(statement);
  if (added) return columnParts(added[1] ?? "", columnOf(added[2] ?? ""));
  const indexed = /^CREATE\s+(UNIQUE\s+)?INDEX\s+(\w+)\s+ON\s+(\w+)\s*\((.*)\)$/s.exec(statement);
  if (indexed) {
    const [, unique = "", name = "", on = "", of = ""] = indexed;
    const way = `DROP INDEX IF EXISTS ${name}; ${onOneLine(statement)}`;
    const index = `${unique.toLowerCase()}index ${name} on ${on} (${of})`;
    return indexParts(name, { name: index, needs: `table ${on}`, way });
  }
  return [...functionParts(statement), ...triggerParts(statement)];
}

function identitiesOf(statement: string): { table: string; column: string }[] {
  const table = /^CREATE\s+TABLE\s+(\w+)/.exec(statement)?.[1];
  if (table === undefined) return [];
  const found = statement.matchAll(/(\w+)\s+bigint\s+GENERATED\s+BY\s+DEFAULT\s+AS\s+IDENTITY/g);
  return [...found].map(([, column = ""]) => ({ table, column }));
}

/** The sequence of a column, which gives numbers that no row has yet. */
function sequencePart({ table, column }: { table: string; column: string }): SchemaPart {
  return {
    name: `sequence of ${table}.${column}`,
    needs: `identity of ${table}.${column}`,
    way: sequenceWay(table, column),
  };
}

function sequenceWay(table: string, column: string): string {
  const sequence = `pg_get_serial_sequence('${table}', '${column}')`;
  return `SELECT setval(${sequence}, max(${column})) FROM ${table}`;
}

function onOneLine(statement: string): string {
  return statement.replace(/\s+/g, " ");
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** What stands behind the type. */
  readonly rest: string;
}

function columnOf(definition: string): Column {
  const [, name = "", type = "", collation, rest = ""] =
    /^(\w+)\s+(\w+)(?:\s+COLLATE\s+"(\w+)")?(.*)$/s.exec(definition) ?? [];
  return { name, type: collation === undefined ? type : `${type} COLLATE ${collation}`, rest };
}

/**
 * The columns, keys and constraints of a table's definition: split at commas that are in no
 * parentheses.
 */
function itemsOf(body: string): string[] {
  return body.split(/,(?![^(]*\))/).map((each) => each.trim());
}

const REFERENCES = /\bREFERENCES\s+(\w+)(\s+ON\s+DELETE\s+\w+)?/;

const IS_CONSTRAINT = /^(PRIMARY|FOREIGN|CONSTRAINT|UNIQUE|CHECK)\b/;

const IS_NOT_INHERITED = /\b(REFERENCES|UNIQUE|PRIMARY\s+KEY|GENERATED)\b.*/s;

function tableParts(
  table: string,
  definition: string,
  known: Map<string, readonly Column[]>,
): SchemaPart[] {
  const [body = "", parent] = definition.split(/\)\s*INHERITS\s*\(/);
  const items = itemsOf(body.replace(/\)\s*WITH\s*\(.*$/s, ""));
  const inherited = (known.get(parent ?? "") ?? []).map((column) => ({
    ...column,
    rest: column.rest.replace(IS_NOT_INHERITED, ""),
  }));
  const own = items.filter((item) => !IS_CONSTRAINT.test(item)).map(columnOf);
  const constraints = items.filter((item) => IS_CONSTRAINT.test(item));
  const keyed = constraints.flatMap((each) => /^PRIMARY\s+KEY\s+\((.*)\)/.exec(each)?.[1] ?? []);
  const inKey = new Set(keyed.flatMap((each) => each.split(/,\s*/)));
  // A column of the key is never null.
  const columns = [...inherited, ...own].map((column) => {
    return inKey.has(column.name) ? { ...column, rest: `${column.rest} NOT NULL` } : column;
  });
  known.set(table, columns);
  const needs = `table ${table}`;
  return [
    { name: needs },
    { name: `logged table ${table}`, needs, way: `ALTER TABLE ${table} SET LOGGED` },
    ...(parent === undefined ? [] : [inheritance(table, parent)]),
    ...columns.flatMap((column) => columnParts(table, column)),
    ...constraints.flatMap((each) => constraintParts(table, each)),
  ];
}

function columnParts(table: string, { name, type, rest }: Column): SchemaPart[] {
  const column = `column ${table}.${name} ${type}`;
  const isKey = /PRIMARY\s+KEY/.test(rest);
  const value = /\bDEFAULT\s+(?!AS)(\w+)/.exec(rest)?.[1];
  const reference = REFERENCES.exec(rest);
  const check = /\bCHECK\s+\(.*\)/.exec(rest)?.[0];
  const states = [
    ...(isKey || /NOT\s+NULL/.test(rest) ? [["NOT NULL", "SET NOT NULL"]] : []),
    ...(/AS\s+IDENTITY/.test(rest) ? [["identity", identityWay(table, name)]] : []),
    ...(value === undefined ? [] : [[`default ${value}`, `SET DEFAULT ${value}`]]),
  ];
  return [
    { name: column, needs: `table ${table}` },
    ...states.map(([state, way]) => ({
      name: `${state} of ${table}.${name}`,
      needs: column,
      way: `ALTER TABLE ${table} ALTER ${name} ${way}`,
    })),
    ...(isKey ? keyParts(table, `${table}_pkey`, `PRIMARY KEY (${name})`) : []),
    ...(/\bUNIQUE\b/.test(rest) ? keyParts(table, `${table}_${name}_key`, `UNIQUE (${name})`) : []),
    ...(reference === null ? [] : referenceParts(table, name, reference)),
    ...(check === undefined ? [] : definedParts(table, `${table}_${name}_check`, check)),
  ];
}

/** A new sequence begins behind the rows that are there. */
function identityWay(table: string, column: string): string {
  return `ADD GENERATED BY DEFAULT AS IDENTITY; ${sequenceWay(table, column)}`;
}

function inheritance(table: string, parent: string): SchemaPart {
  return {
    name: `inheritance of ${table} from ${parent}`,
    needs: `table ${table}`,
    way: `ALTER TABLE ${table} INHERIT ${parent}`,
  };
}

function constraintParts(table: string, definition: string): SchemaPart[] {
  if (/^PRIMARY\s+KEY/.test(definition)) return keyParts(table, `${table}_pkey`, definition);
  const [, name, unique = ""] = /^CONSTRAINT\s+(\w+)\s+(UNIQUE\s.*)/.exec(definition) ?? [];
  if (name !== undefined) return keyParts(table, name, unique);
  const column = /^FOREIGN\s+KEY\s+\((\w+)\)/.exec(definition)?.[1] ?? "";
  return referenceParts(table, column, REFERENCES.exec(definition) ?? []);
}

/** `key`: what it is, and its columns in parentheses. */
function keyParts(table: string, name: string, key: string): SchemaPart[] {
  return indexParts(name, {
    name: `unique index ${name} on ${table} ${key.slice(key.indexOf("("))}`,
    needs: `table ${table}`,
    way: anew(table, name, key),
  });
}

function indexParts(name: string, index: SchemaPart): SchemaPart[] {
  const way = `REINDEX INDEX ${name}`;
  return [index, { name: `valid index ${name}`, needs: index.name, way }];
}

/** Drops a constraint, which may be there with another content, and makes it again. */
function anew(table: string, name: string, definition: string): string {
  const change = `ALTER TABLE ${table}`;
  return `${change} DROP CONSTRAINT IF EXISTS ${name}, ADD CONSTRAINT ${name} ${definition}`;
}

/** The third is what `REFERENCES` matched. Each table that is referred to has the key `id`. */
function referenceParts(
  table: string,
  column: string,
  [, target = "", onDelete = ""]: readonly string[],
): SchemaPart[] {
  const name = `${table}_${column}_fkey`;
  const key = `FOREIGN KEY (${column}) REFERENCES ${target}(id)${onDelete}`;
  const parts = definedParts(table, name, key);
  // Both tables have triggers for it.
  const enabled = [table, target].map((each) => ({
    name: `enabled constraint ${name} on ${each}`,
    ...(parts[0] && { needs: parts[0].name }),
    way: `ALTER TABLE ${each} ENABLE TRIGGER ALL`,
  }));
  return [...parts, ...enabled];
}

function definedParts(table: string, name: string, definition: string): SchemaPart[] {
  const own = `constraint ${name} of ${table} ${definition}`;
  return [
    { name: own, needs: `table ${table}`, way: anew(table, name, definition) },
    {
      name: `valid constraint ${name}`,
      needs: own,
      way: `ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`,
    },
  ];
}

/** The trigger in the form in which PostgreSQL shows it. */
function triggerParts(statement: string): SchemaPart[] {
  const [, name, table] = /^CREATE\s+TRIGGER\s+(\w+)\s.*?\sON\s+(\w+)/s.exec(statement) ?? [];
  if (name === undefined) return [];
  const definition = onOneLine(statement).replace(/^CREATE\s+TRIGGER\s+/, "");
  const own = `trigger ${definition.replace(/\b(NEW|OLD)\./g, (each) => each.toLowerCase())}`;
  return [
    { name: own, needs: `table ${table}`, way: `CREATE OR REPLACE TRIGGER ${definition}` },
    {
      name: `enabled trigger ${name} on ${table}`,
      needs: own,
      way: `ALTER TABLE ${table} ENABLE TRIGGER ${name}`,
    },
  ];
}

function functionParts(statement: string): SchemaPart[] {
  const [, name, body = ""] = /^CREATE\s+FUNCTION\s+(\w+).*\$\$(.*)\$\$/s.exec(statement) ?? [];
  if (name === undefined) return [];
  const way = onOneLine(statement).replace(/^CREATE/, "CREATE OR REPLACE");
  const own = `function ${name} with the body ${bodyHash(body)}`;
  // The function finds the tables beside it by its own search_path, whoever writes.
  const path = `ALTER FUNCTION ${name} SET search_path FROM CURRENT`;
  return [
    { name: own, way },
    { name: `search_path of ${name}`, needs: own, way: path },
  ];
}

/** The hash of a function's body, blanks left out. */
function bodyHash(body: string): string {
  return createHash("sha256").update(onOneLine(body)).digest("hex").slice(0, 8);
}
