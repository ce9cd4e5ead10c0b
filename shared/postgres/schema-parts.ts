import type { PostgresMigration } from "./migrate.ts";

/** Something that a step makes, or a state that it has to be in. A program can't do without it. */
export interface SchemaPart {
  /** As `partsThere` names it. */
  readonly name: string;
  /** The part without which this one can't be there. */
  readonly needs?: string;
  /** What brings it back where nothing else is missing. */
  readonly way?: string;
}

/** What the steps of a schema make, by step. */
export interface SchemaParts {
  readonly tables: readonly string[];
  /** Tables in which a step has put the one row that they have. */
  readonly filled: readonly string[];
  readonly steps: readonly {
    readonly name: string;
    /** The row in which the database keeps that the step was taken. */
    readonly row: SchemaPart;
    /** What it makes besides rows. */
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
  return {
    tables: named(/^CREATE\s+TABLE\s+(\w+)/),
    filled: named(/^INSERT\s+INTO\s+(\w+)/),
    steps: migrations.map((step) => ({
      name: step.name,
      row: rowOf(step),
      made: step.statements.flatMap((statement) => madeBy(statement, columns)),
      rows: step.statements.flatMap((statement) => {
        const table = /^INSERT\s+INTO\s+(\w+)/.exec(statement)?.[1];
        return table === undefined ? [] : [{ name: `row of ${table}`, needs: `table ${table}` }];
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
  const index = /^CREATE\s+(UNIQUE\s+)?INDEX\s+(\w+)\s+ON\s+(\w+)\s*\((.*)\)$/s.exec(statement);
  if (index) {
    const [, unique = "", name = "", on = "", of = ""] = index;
    return indexParts(`${unique.toLowerCase()}index ${name} on ${on} (${of})`, on, name);
  }
  const trigger = /^CREATE\s+TRIGGER\s+(\w+)\s.*?\sON\s+(\w+)/s.exec(statement);
  return trigger ? triggerParts(trigger[2] ?? "", trigger[1] ?? "") : [];
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

/** A column, a key or a constraint each: commas between parentheses part none. */
function itemsOf(body: string): string[] {
  return body.split(/,(?![^(]*\))/).map((each) => each.trim());
}

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
  // What is in a key is never null.
  const columns = [...inherited, ...own].map((column) => {
    return inKey.has(column.name) ? { ...column, rest: `${column.rest} NOT NULL` } : column;
  });
  known.set(table, columns);
  const needs = `table ${table}`;
  return [
    { name: needs },
    { name: `logged table ${table}`, needs, way: `ALTER TABLE ${table} SET LOGGED` },
    ...(parent === undefined ? [] : [{ name: `inheritance of ${table} from ${parent}`, needs }]),
    ...columns.flatMap((column) => columnParts(table, column)),
    ...constraints.flatMap((each) => constraintParts(table, each)),
  ];
}

function columnParts(table: string, { name, type, rest }: Column): SchemaPart[] {
  const column = `column ${table}.${name} ${type}`;
  const isKey = /PRIMARY\s+KEY/.test(rest);
  const states = [
    ...(isKey || /NOT\s+NULL/.test(rest) ? ["NOT NULL"] : []),
    ...(/AS\s+IDENTITY/.test(rest) ? ["identity"] : []),
    ...(/\bDEFAULT\s+(?!AS)/.test(rest) ? ["default"] : []),
  ];
  return [
    { name: column, needs: `table ${table}` },
    ...states.map((state) => ({ name: `${state} of ${table}.${name}`, needs: column })),
    ...(isKey ? keyParts(table, `${table}_pkey`, name) : []),
    ...(/\bUNIQUE\b/.test(rest) ? keyParts(table, `${table}_${name}_key`, name) : []),
    ...(/\bREFERENCES\b/.test(rest) ? constraint(table, `${table}_${name}_fkey`) : []),
    ...(/\bCHECK\b/.test(rest) ? constraint(table, `${table}_${name}_check`) : []),
  ];
}

function constraintParts(table: string, definition: string): SchemaPart[] {
  const primary = /^PRIMARY\s+KEY\s+\((.*)\)/.exec(definition)?.[1];
  if (primary !== undefined) return keyParts(table, `${table}_pkey`, primary);
  const [, name, unique] = /^CONSTRAINT\s+(\w+)\s+UNIQUE\s+\((.*)\)/.exec(definition) ?? [];
  if (name !== undefined) return keyParts(table, name, unique ?? "");
  const column = /^FOREIGN\s+KEY\s+\((\w+)\)/.exec(definition)?.[1];
  return constraint(table, `${table}_${column}_fkey`);
}

function keyParts(table: string, name: string, columns: string): SchemaPart[] {
  return indexParts(`unique index ${name} on ${table} (${columns})`, table, name);
}

function indexParts(index: string, table: string, name: string): SchemaPart[] {
  return [
    { name: index, needs: `table ${table}` },
    { name: `valid index ${name}`, needs: index, way: `REINDEX INDEX ${name}` },
  ];
}

function constraint(table: string, name: string): SchemaPart[] {
  const own = `constraint ${name} of ${table}`;
  const way = `ALTER TABLE ${table} ENABLE TRIGGER ALL`;
  return [
    { name: own, needs: `table ${table}` },
    { name: `enabled constraint ${name}`, needs: own, way },
  ];
}

function triggerParts(table: string, name: string): SchemaPart[] {
  const own = `trigger ${name} on ${table}`;
  const way = `ALTER TABLE ${table} ENABLE TRIGGER ${name}`;
  return [
    { name: own, needs: `table ${table}` },
    { name: `enabled trigger ${name} on ${table}`, needs: own, way },
  ];
}
