import pg from "pg";
import { encodeExchangeRequest } from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { connectLive } from "../../support/live-client.ts";
import { median, quantile } from "../sample.ts";
import { Connection, requestOf } from "./connection.ts";
import { positionIn } from "./pushers.ts";
import { ReplicaWriter } from "./replica-writer.ts";

/** Servers that share a database, and a token of each account there. */
export interface Target {
  readonly name: string;
  readonly urls: readonly string[];
  readonly tokens: readonly string[];
  /** Each account keeps to one server; or each call goes to any. */
  readonly keeps: boolean;
}

/** What this program is given, as JSON. */
export interface AccountsAsked {
  readonly targets: readonly Target[];
  /** Where rows are inserted by bare SQL; its table is made. */
  readonly plain?: string;
  readonly rounds: number;
  /** Of each account in a round. */
  readonly pushes: number;
  /** Of one account, one at a time. */
  readonly single: number;
}

/** What this program prints: by target, and `plain`; medians of rounds. */
export interface AccountsLoad {
  readonly perSecond: Readonly<Record<string, number>>;
  readonly single: Readonly<Record<string, { readonly p50: number; readonly p99: number }>>;
  readonly reads: Readonly<Record<string, number>>;
  /** From a write's call until another client hears of it, at the same server and at another. */
  readonly told: Readonly<Record<string, { readonly p50: number; readonly p99: number }>>;
}

const PLAIN_CONNECTIONS = 16;
const READERS = 32;
const READ_MS = 1000;
const TOLD = 100;
/** Servers end connections that are quiet for longer. */
const QUIET_MS = 5000;

/** Writes to one project of one account, one update at a time, at any of its servers. */
class AccountPusher {
  readonly #writer = new ReplicaWriter();
  #position: Position | undefined;
  #prepared: Uint8Array[] = [];

  /** `urls`: its servers. */
  constructor(
    readonly urls: readonly string[],
    readonly base: { readonly url: string; readonly token: string },
  ) {}

  prepare(count: number): void {
    this.#prepared = Array.from({ length: count }, () => {
      const position = this.#position && { position: this.#position };
      const documents = { project: { ...position, update: this.#writer.write() } };
      if (this.#position) this.#position = { ...this.#position, seq: this.#position.seq + 1 };
      const body = JSON.stringify(encodeExchangeRequest({ documents }));
      return requestOf(this.base, "POST", "/v1/projects/proj_bench/sync", body);
    });
  }

  /** Resolves to how long each took. */
  async push(): Promise<number[]> {
    const connections = new Map<string, { connection: Connection; usedAt: number }>();
    const tookMs: number[] = [];
    for (const request of this.#prepared) {
      const url = this.urls[Math.floor(Math.random() * this.urls.length)] ?? "";
      let used = connections.get(url);
      if (!used || performance.now() - used.usedAt > QUIET_MS) {
        used?.connection.close();
        used = { connection: await Connection.open(url), usedAt: 0 };
        connections.set(url, used);
      }
      const answer = await used.connection.ask(request);
      used.usedAt = performance.now();
      this.#position = positionIn(answer.status, answer.body.toString());
      tookMs.push(answer.tookMs);
    }
    for (const { connection } of connections.values()) connection.close();
    return tookMs;
  }
}

async function pushersOf({ urls, tokens, keeps }: Target): Promise<AccountPusher[]> {
  return await Promise.all(
    tokens.map(async (token, at) => {
      const own = keeps ? [urls[at % urls.length] ?? ""] : urls;
      const pusher = new AccountPusher(own, { url: own[0] ?? "", token });
      pusher.prepare(1);
      await pusher.push();
      return pusher;
    }),
  );
}

/** Rows of the same size by `INSERT`, each with its own commit. */
class PlainSql {
  private constructor(readonly clients: readonly pg.Client[]) {}

  static async open(address: string): Promise<PlainSql> {
    const clients = Array.from(
      { length: PLAIN_CONNECTIONS },
      () => new pg.Client({ connectionString: address }),
    );
    for (const client of clients) await client.connect();
    await clients[0]?.query("CREATE TABLE IF NOT EXISTS plain (id bigserial, payload bytea)");
    return new PlainSql(clients);
  }

  /** Resolves to how long each of `count` took. */
  async insert(count: number, clients = this.clients): Promise<number[]> {
    const payload = Buffer.from(new ReplicaWriter().write());
    const tookMs: number[] = [];
    const text = "INSERT INTO plain (payload) VALUES ($1)";
    await Promise.all(
      clients.map(async (client) => {
        for (let at = 0; at < count / clients.length; at++) {
          const begun = performance.now();
          await client.query({ name: "plain", text, values: [payload] });
          tookMs.push(performance.now() - begun);
        }
      }),
    );
    return tookMs;
  }
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (1000 * count) / (performance.now() - begun);
}

const spreadOf = (tookMs: readonly number[]) => ({
  p50: median(tookMs),
  p99: quantile(tookMs, 0.99),
});

async function readsOf({ urls: [url = ""], tokens: [token = ""] }: Target): Promise<number> {
  const request = requestOf({ url, token }, "GET", "/v1/memories?project_id=proj_bench");
  const connections = await Promise.all(
    Array.from({ length: READERS }, () => Connection.open(url)),
  );
  const until = performance.now() + READ_MS;
  let answers = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (; performance.now() < until; answers++) await connection.ask(request);
      connection.close();
    }),
  );
  return (1000 * answers) / READ_MS;
}

/** How long until a socket at the target's last server hears of a write at its first. */
async function toldOf({ urls, tokens: [token = ""] }: Target) {
  const socket = await connectLive(urls.at(-1) ?? "", token);
  socket.send(JSON.stringify({ type: "subscribe", project_ids: [] }));
  await socket.next();
  const tookMs: number[] = [];
  for (let at = 0; at < TOLD; at++) {
    const begun = performance.now();
    const heard = socket.next();
    await fetch(`${urls[0]}/v1/memories`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ key: "told", content: `${at}`, layer: "global" }),
    });
    await heard;
    tookMs.push(performance.now() - begun);
  }
  socket[Symbol.dispose]();
  return spreadOf(tookMs);
}

const asked = JSON.parse(process.argv[2] ?? "{}") as AccountsAsked;
const { targets, rounds, pushes, single } = asked;
const plain = asked.plain === undefined ? undefined : await PlainSql.open(asked.plain);
const rates = new Map<string, number[]>();
const note = (name: string, rate: number) =>
  void rates.set(name, [...(rates.get(name) ?? []), rate]);
const pushers = new Map<string, readonly AccountPusher[]>();
for (const target of targets) pushers.set(target.name, await pushersOf(target));
for (let round = 0; round < rounds; round++) {
  for (const { name } of targets) {
    const all = pushers.get(name) ?? [];
    for (const each of all) each.prepare(pushes);
    const work = () => Promise.all(all.map((each) => each.push()));
    note(name, await perSecond(all.length * pushes, work));
  }
  const count = (targets[0]?.tokens.length ?? 0) * pushes;
  if (plain) note("plain", await perSecond(count, () => plain.insert(count)));
}
const ones: Record<string, { p50: number; p99: number }> = {};
const reads: Record<string, number> = {};
const told: Record<string, { p50: number; p99: number }> = {};
for (const target of targets) {
  const [one] = pushers.get(target.name) ?? [];
  one?.prepare(single);
  ones[target.name] = spreadOf((await one?.push()) ?? []);
  reads[target.name] = await readsOf(target);
  told[target.name] = await toldOf(target);
}
if (plain) ones.plain = spreadOf(await plain.insert(single, plain.clients.slice(0, 1)));
const load: AccountsLoad = {
  perSecond: Object.fromEntries([...rates].map(([name, all]) => [name, median(all)])),
  single: ones,
  reads,
  told,
};
process.stdout.write(`${JSON.stringify(load)}\n`);
process.exit();
