import type { PostgresMigration } from "./migrate.ts";

/** What steps make, by name. A program can't do without any of it. */
export interface SchemaParts {
  readonly tables: readonly string[];
  /** With those that keys and constraints have. */
  readonly indexes: readonly string[];
  readonly functions: readonly string[];
  readonly triggers: readonly { readonly name: string; readonly table: string }[];
  /** Tables in which a step has put the one row that they have. */
  readonly filled: readonly string[];
}

/**
 * The parts of the schema that steps lead to. A test holds it against what PostgreSQL has after
 * them: keys that are not named have names by its rules.
 */
export function schemaPartsOf(migrations: readonly PostgresMigration[]): SchemaParts {
  const statements = migrations.flatMap((each) => each.statements);
  const named = (pattern: RegExp) => statements.flatMap((each) => pattern.exec(each)?.[1] ?? []);
  return {
    tables: named(/^CREATE\s+TABLE\s+(\w+)/),
    indexes: [...named(/^CREATE\s+(?:UNIQUE\s+)?INDEX\s+(\w+)/), ...statements.flatMap(keysOf)],
    functions: named(/^CREATE\s+FUNCTION\s+(\w+)/),
    triggers: statements.flatMap((each) => {
      const [, name, table] = /^CREATE\s+TRIGGER\s+(\w+)\s.*?\sON\s+(\w+)/s.exec(each) ?? [];
      return name !== undefined && table !== undefined ? [{ name, table }] : [];
    }),
    filled: named(/^INSERT\s+INTO\s+(\w+)/),
  };
}

/** The indexes of a table's own keys. */
function keysOf(statement: string): string[] {
  const table = /^CREATE\s+TABLE\s+(\w+)/.exec(statement)?.[1];
  if (table === undefined) return [];
  const constraints = [...statement.matchAll(/CONSTRAINT\s+(\w+)\s+UNIQUE/g)].map(
    ([, name]) => name,
  );
  const columns = [...statement.matchAll(/[(,]\s*(\w+)\s[^,()]*\sUNIQUE\b(?!\s\()/g)].map(
    ([, column]) => `${table}_${column}_key`,
  );
  const primary = /PRIMARY\s+KEY/.test(statement) ? [`${table}_pkey`] : [];
  return [...primary, ...constraints, ...columns].filter((name) => name !== undefined);
}
