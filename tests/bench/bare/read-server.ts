import { Database } from "bun:sqlite";

interface Stored {
  readonly memory_id: string;
  readonly value: string;
  readonly created_at: number;
  readonly name: string;
  readonly key: string;
  readonly updated_at: number;
}

// The physical limit of `GET /v1/memories`: the same bytes from one prepared statement, for
// whoever asks.
const [path = "", account = "", project = ""] = process.argv.slice(2);
const database = new Database(path, { readonly: true });
const list = database.prepare<Stored, [string, string]>(
  `select d.name, m.memory_id, m.key, m.value, m.created_at, m.updated_at
    from memories m join documents d on d.id = m.document_id
    where d.owner = ? and d.name = ? order by m.created_at, m.row_id`,
);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => Response.json(bodyOf(list.all(account, project))),
});
process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`);

function bodyOf(rows: readonly Stored[]) {
  const memories = rows.map((row) => ({
    id: row.memory_id,
    content: row.value,
    layer: "project",
    created_at: new Date(row.created_at).toISOString(),
    project_id: row.name,
    key: row.key,
    updated_at: new Date(row.updated_at).toISOString(),
  }));
  return { memories, total: memories.length, next_cursor: null };
}
