import pg from "pg";
import { encodeExchangeRequest } from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { connectLive } from "../../support/live-client.ts";
import { ask } from "../postgres.ts";
import { median } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";
import { positionIn } from "./pushers.ts";
import { ReplicaWriter } from "./replica-writer.ts";
import { KINDS, type KindOfRequest } from "./request-kinds.ts";

/** What this program is given, as JSON. */
export interface SizedAsked {
  readonly urls: readonly string[];
  readonly tokens: readonly string[];
  readonly database: string;
  /** Live sockets that are open meanwhile. */
  readonly machines: number;
  readonly calls: number;
  /** Of each kind of request besides. */
  readonly each: number;
}

/** What one kind of call takes: milliseconds, and statements and bytes of the log for each. */
export interface Cost {
  readonly p50: number;
  readonly statements: number;
  readonly wal: number;
}

export interface SizedLoad {
  readonly push: Cost;
  readonly poll: Cost;
  /** Of other requests, and of a live socket that is opened, subscribes and is closed. */
  readonly requests: Readonly<Record<string, Cost>>;
  /** A row and its commit, in turn with the pushes, in milliseconds at the median. */
  readonly bare: number;
}

const SOCKETS_AT_ONCE = 50;
const WARM_UP = 200;
const FIRST = 10;

const asked = JSON.parse(process.argv[2] ?? "{}") as SizedAsked;
const { urls, tokens, database, machines, calls, each } = asked;
for (let at = 0; at < machines; at += SOCKETS_AT_ONCE) {
  const some = Math.min(SOCKETS_AT_ONCE, machines - at);
  await Promise.all(Array.from({ length: some }, (_, each) => listen(at + each)));
}
const [url = ""] = urls;
const token = tokens.at(-1) ?? "";
const connection = await Connection.open(url);
const writer = new ReplicaWriter();
let position: Position | undefined;
// Until its code is as fast as it becomes.
for (let at = 0; at < WARM_UP; at++) await call(true);
const client = new pg.Client({ connectionString: database });
await client.connect();
await client.query("CREATE TABLE bare_commits (at float8)");
const bareMs: number[] = [];
const push = await costOf(calls, () => call(true), commitBare);
await client.query("DROP TABLE bare_commits");
const poll = await costOf(calls, () => call(false));
const bare = median(bareMs);
const requests: Record<string, Cost> = {};
for (const kind of KINDS) requests[kind.name] = await costOf(each, (at) => request(kind, at));
requests["a live socket's handshake and subscription"] = await costOf(each, handshake);
process.stdout.write(`${JSON.stringify({ push, poll, bare, requests } satisfies SizedLoad)}\n`);
process.exit();

async function request({ method, path, body }: KindOfRequest, at: number): Promise<number> {
  const text = body && JSON.stringify(body(at));
  const answer = await connection.ask(requestOf({ url, token }, method, path(at), text));
  if (answer.status !== 200) throw new Error(`${method} ${path(at)}: ${answer.body}`);
  return answer.tookMs;
}

async function handshake(): Promise<number> {
  const startedAt = performance.now();
  using socket = await connectLive(url, token);
  socket.send(JSON.stringify({ type: "subscribe", project_ids: ["proj_sized"] }));
  await socket.next();
  return performance.now() - startedAt;
}

async function listen(at: number): Promise<void> {
  const socket = await connectLive(urls[at % urls.length] ?? "", tokens[at % tokens.length] ?? "");
  socket.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
  await socket.next();
}

/** One exchange of one project, which brings a change or nothing. */
async function call(brings: boolean): Promise<number> {
  const update = brings ? { update: writer.write() } : {};
  const documents = { project: { ...(position && { position }), ...update } };
  const body = JSON.stringify(encodeExchangeRequest({ documents }));
  const request = requestOf({ url, token }, "POST", "/v1/projects/proj_sized/sync", body);
  const answer = await connection.ask(request);
  position = positionIn(answer.status, answer.body.toString());
  return answer.tookMs;
}

/** What the disk, and the machine besides, take at the same time. */
async function commitBare(): Promise<void> {
  const startedAt = performance.now();
  await client.query("INSERT INTO bare_commits VALUES ($1)", [startedAt]);
  bareMs.push(performance.now() - startedAt);
}

async function costOf(
  times: number,
  work: (at: number) => Promise<number>,
  after?: () => Promise<void>,
): Promise<Cost> {
  // Plans are for any values from the sixth time on, and the first one makes what there is not.
  for (let at = 0; at < FIRST; at++) await work(at);
  const before = await figures();
  const tookMs: number[] = [];
  for (let at = FIRST; at < FIRST + times; at++) {
    tookMs.push(await work(at));
    await after?.();
  }
  const found = await figures();
  return {
    p50: median(tookMs),
    statements: (found.statements - before.statements) / times,
    wal: (found.wal - before.wal) / times,
  };
}

/** All statements but BEGIN, SET and COMMIT, and the looks that come by themselves. */
async function figures() {
  const [row] = await ask<{ statements: number; wal: number }>(
    database,
    `SELECT sum(calls)::float8 AS statements, sum(wal_bytes)::float8 AS wal
    FROM pg_stat_statements JOIN pg_database ON oid = dbid
    WHERE datname = current_database()
      AND query !~ 'has_table_privilege|token_changes|schema_migrations|pg_stat|bare_commits'
      AND query !~* '^(begin|set|commit|rollback)'`,
  );
  return { statements: row?.statements ?? 0, wal: row?.wal ?? 0 };
}
