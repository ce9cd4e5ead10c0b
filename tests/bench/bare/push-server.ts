import { Database } from "bun:sqlite";

// The least that could acknowledge the same pushes: each is parsed and kept as one row, which is on
// the disk when it is answered. Those that come together share a commit.
const [path = ""] = process.argv.slice(2);
const database = new Database(path, { readwrite: true, create: true });
database.exec("PRAGMA journal_mode = WAL");
database.exec("PRAGMA synchronous = FULL");
database.exec("CREATE TABLE log (project, seq, payload TEXT, PRIMARY KEY (project, seq))");
const insert = database.prepare("INSERT INTO log (project, seq, payload) VALUES (?, ?, ?)");

interface Push {
  readonly project: string;
  readonly seq: number;
  readonly payload: string;
  readonly answer: (response: Response) => void;
}

interface Body {
  readonly crdt: { readonly documents: { readonly project: { readonly update: string } } };
}

const EPOCH = "A".repeat(22);
const seqs = new Map<string, number>();
let waiting: Push[] = [];

const keepAll = database.transaction((pushes: readonly Push[]) => {
  for (const { project, seq, payload } of pushes) insert.run(project, seq, payload);
});

function commit(): void {
  const pushes = waiting;
  waiting = [];
  keepAll(pushes);
  for (const { seq, answer } of pushes) {
    const documents = { project: { epoch: EPOCH, seq } };
    answer(Response.json({ crdt: { encoding: "yjs-v1", documents } }));
  }
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  // The others' turns may be long.
  idleTimeout: 0,
  async fetch(request) {
    const { crdt } = (await request.json()) as Body;
    const project = request.url;
    const seq = (seqs.get(project) ?? 0) + 1;
    seqs.set(project, seq);
    return await new Promise<Response>((answer) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ project, seq, payload: crdt.documents.project.update, answer });
    });
  },
});
process.stdout.write(`ready at http://127.0.0.1:${server.port}\n`);
