import { Database } from "bun:sqlite";

// The least that a server with a database has to do: open it, listen, answer from it.
const [path = ""] = process.argv.slice(2);
const database = new Database(path, { readwrite: true, create: true });
database.exec("PRAGMA journal_mode = WAL");
database.exec("PRAGMA synchronous = FULL");
database.exec("CREATE TABLE IF NOT EXISTS memories (id INTEGER PRIMARY KEY, body TEXT)");
const all = database.prepare("SELECT body FROM memories ORDER BY id");
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  fetch: () => Response.json({ memories: all.all(), total: 0, next_cursor: null }),
});
process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`);
