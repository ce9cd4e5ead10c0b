/**
 * SQL of a text that changes whenever the catalog's rows about these tables, their parts, or these
 * functions do: it is made of the transactions that wrote the rows, which costs a fraction of
 * comparing them. `tables`: an SQL expression of their names.
 */
export function catalogMark(tables: string, functions: readonly string[]): string {
  const ids = `array(SELECT to_regclass(quote_ident(name))::oid FROM unnest(${tables}) AS name)`;
  const own = functions.map((name) => `to_regprocedure('${name}()')::oid`).join(", ");
  const writersOf = (catalog: string, condition: string) =>
    `hash_array(array(SELECT xmin FROM ${catalog} WHERE ${condition}))`;
  const hashes = [
    "hash_array(ids)",
    writersOf("pg_proc", `oid = ANY(ARRAY[${own}]::oid[])`),
    writersOf("pg_class", "oid = ANY(ids)"),
    writersOf(
      "pg_class",
      "oid = ANY(array(SELECT indexrelid FROM pg_index WHERE indrelid = ANY(ids)))",
    ),
    ...OF_TABLES.map(([catalog, table]) => writersOf(catalog, `${table} = ANY(ids)`)),
  ];
  // Without an offset the names would be looked up for each catalog.
  const once = `SELECT ${ids} AS ids OFFSET 0`;
  return `(SELECT concat_ws(' ', ${hashes.join(",\n      ")}) FROM (${once}) AS own)`;
}

/** Catalogs with rows of what a table has, and the columns that say of which table. */
const OF_TABLES = [
  ["pg_attribute", "attrelid"],
  ["pg_attrdef", "adrelid"],
  ["pg_index", "indrelid"],
  ["pg_constraint", "conrelid"],
  ["pg_trigger", "tgrelid"],
  ["pg_inherits", "inhrelid"],
] as const;
