import { Database } from "bun:sqlite";

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** The shadow tables of the full-text index, which is built anew from what it indexes. */
const SHADOW = /^memories_text_/;
const INDEX = "memories_text";

/** A database as SQL that makes it again: reviewed as text, and read by every later version. */
export function dumpDatabase(path: string): string {
  const database = new Database(path, { readonly: true });
  try {
    const rows = database
      .query<SchemaRow, []>("select type, name, sql from sqlite_master order by rowid")
      .all()
      .filter(({ name, sql }) => sql !== null && !SHADOW.test(name));
    const tables = rows.filter(({ type, name }) => type === "table" && name !== INDEX);
    const data = tables.flatMap(({ name }) => rowsOf(database, name));
    const made = tables.filter(({ name }) => !name.startsWith("sqlite_"));
    const later = rows.filter((row) => !tables.includes(row));
    return [
      ...made.map(({ sql }) => `${sql};`),
      ...data,
      ...later.map(({ sql }) => `${sql};`),
      `insert into ${INDEX} (${INDEX}) values ('rebuild');`,
      "",
    ].join("\n");
  } finally {
    database.close();
  }
}

/** Makes the database that `text` was dumped of, at `path`. */
export function loadDatabase(text: string, path: string): void {
  const database = new Database(path, { create: true });
  database.exec(text);
  database.close();
}

function rowsOf(database: Database, table: string): string[] {
  const rows = database.query<Record<string, unknown>, []>(`select * from "${table}"`).all();
  return rows.map((row) => {
    const values = Object.values(row).map(literal).join(", ");
    return `insert into "${table}" values (${values});`;
  });
}

function literal(value: unknown): string {
  if (value === null) return "null";
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString("hex")}'`;
  if (typeof value !== "string") return String(value);
  // A line break in a literal would be a line of the file.
  const quoted = value.replaceAll("'", "''").replaceAll("\n", "'||char(10)||'");
  return `'${quoted}'`;
}
