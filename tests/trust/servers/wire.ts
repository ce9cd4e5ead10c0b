import { Socket } from "node:net";
import { itemsOf } from "./items.ts";
import type { Ledger, WrittenRow } from "./ledger.ts";

/**
 * What becomes of a server's next transaction that writes a log. `unsent` and `unheard`: the
 * connection is lost before the database gets the COMMIT, or before its answer is back. `dies
 * before` and `dies after`: the server's process ends there. `held`: it stands before its COMMIT.
 * `stopped`: so long that the database ends its transaction, and it hears of that when it goes on.
 */
export type Fault =
  | "unsent"
  | "unheard"
  | "dies before"
  | "dies after"
  | "held"
  | "stopped"
  | "40001"
  | "40P01";

/** After so long the database ends a transaction in which a server stands still. */
const STOPPED_MS = 20;

/** A transaction that is open on a connection. */
interface Open {
  readonly rows: WrittenRow[];
  isEased: boolean;
}

/** A statement as the driver gets it. */
interface Statement {
  readonly text: string;
  readonly values?: unknown[];
}

/** Asks the database. */
type Ask = (statement: Statement) => Promise<unknown>;

const wires = new Map<string, Wire>();

/** The way of the server whose address names it. */
export function wireTo(address: string): Wire {
  const wire = wires.get(new URL(address).searchParams.get("server") ?? "");
  if (!wire) throw new Error("no server has this address");
  return wire;
}

/**
 * One server's way to the database: all statements of its connections pass here. It can lead to
 * another database, be cut, lose a commit's answer, or end with its server.
 */
export class Wire {
  fault: Fault | undefined;
  /** Nobody gets a connection on which to listen. */
  isDeaf = false;
  isCut = false;
  readonly #clients = new Map<object, Open | undefined>();
  readonly #listening = new Set<object>();
  /** Client ids of this server in commits of which it does not know. */
  readonly #distrusted = new Set<number>();
  #isDead = false;
  #onHeld = () => {};
  #go = () => {};
  /** Transactions that wrote a log and came to their COMMIT. */
  commits = 0;
  /** Resolves when the server's process has ended. */
  readonly death: Promise<undefined>;
  #die = () => {};

  constructor(
    readonly server: string,
    /** The database's address; it may become another's. */
    public address: string,
    readonly ledger: Ledger,
  ) {
    wires.set(server, this);
    this.death = new Promise((resolve) => {
      this.#die = () => resolve(undefined);
    });
  }

  /** The server's address, as long as it lives. */
  get own(): string {
    const url = new URL(this.address);
    url.searchParams.set("server", this.server);
    return url.href;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Resolves when a transaction stands before its COMMIT. */
  held(): Promise<void> {
    return new Promise((resolve) => {
      this.#onHeld = resolve;
    });
  }

  release(): void {
    this.#go();
  }

  /** The process ends, wherever it is. */
  kill(): void {
    this.#isDead = true;
    this.cutAll();
    this.#die();
  }

  cutAll(): void {
    for (const client of [...this.#clients.keys()]) this.#drop(client);
  }

  cutListening(): void {
    for (const client of [...this.#listening]) this.#drop(client);
  }

  add(client: object): void {
    this.#clients.set(client, undefined);
  }

  /** A statement of a connection. What is asked without waiting is sent in its order. */
  async run(client: object, ask: Ask, statement: Statement): Promise<unknown> {
    if (this.#isDead) return await never();
    const { text, values = [] } = statement;
    if (text.startsWith("LISTEN")) {
      if (this.isDeaf) throw this.#drop(client);
      this.#listening.add(client);
    }
    if (text.includes("pg_notify")) this.ledger.hinted();
    if (text === "BEGIN") this.#clients.set(client, { rows: [], isEased: false });
    const open = this.#clients.get(client);
    if (!open) return await ask(statement);
    if (text.startsWith("SET LOCAL synchronous_commit")) open.isEased = true;
    if (text === "COMMIT") return await this.#commit(client, ask);
    if (!text.startsWith("INSERT INTO updates")) return await ask(statement);
    open.rows.push(...rowsIn(values));
    this.#checkClients(open.rows);
    const { fault } = this;
    if (fault !== "40001" && fault !== "40P01") return await ask(statement);
    this.fault = undefined;
    return await ask({ text: failing(fault), values: [] });
  }

  async #commit(client: object, ask: Ask): Promise<unknown> {
    const open = this.#clients.get(client);
    this.#clients.set(client, undefined);
    const rows = open?.rows ?? [];
    const isEased = open?.isEased === true;
    const send = async () => {
      const answer = await ask({ text: "COMMIT" });
      const isCommitted = isObject(answer) && Reflect.get(answer, "command") === "COMMIT";
      if (isCommitted) this.ledger.committed(rows, isEased);
      return answer;
    };
    if (rows.length === 0) return await send();
    this.commits += 1;
    const { fault } = this;
    this.fault = undefined;
    switch (fault) {
      case "unsent":
        this.#distrust(rows);
        throw this.#drop(client);
      case "unheard":
        await send();
        this.#distrust(rows);
        throw this.#drop(client);
      case "dies before":
        this.kill();
        return await never();
      case "dies after":
        await send();
        this.kill();
        return await never();
      case "held":
        await this.#holdBack(rows);
        return await send();
      case "stopped":
        await this.#stop(client, ask, rows);
        return await send();
      default:
        return await send();
    }
  }

  async #holdBack(rows: readonly WrittenRow[]): Promise<void> {
    this.ledger.hold(rows);
    const going = new Promise<void>((resolve) => {
      this.#go = resolve;
    });
    this.#onHeld();
    await going;
  }

  async #stop(client: object, ask: Ask, rows: readonly WrittenRow[]): Promise<void> {
    await ask({ text: `SET LOCAL idle_in_transaction_session_timeout = ${STOPPED_MS}` });
    const stream = streamOf(client);
    stream?.pause();
    await this.#holdBack(rows);
    this.ledger.ended(rows);
    stream?.resume();
  }

  /** The server can't know whether these are there. */
  #distrust(rows: readonly WrittenRow[]): void {
    for (const client of clientsOf(rows)) this.#distrusted.add(client);
  }

  #checkClients(rows: readonly WrittenRow[]): void {
    const isAgain = clientsOf(rows).some((client) => this.#distrusted.has(client));
    if (isAgain) this.ledger.problem("a client id goes on after an unknown outcome");
  }

  /** Ends a connection as a network does; the error that its user gets. */
  #drop(client: object): Error {
    this.#clients.delete(client);
    this.#listening.delete(client);
    streamOf(client)?.destroy();
    return new Error("Connection terminated unexpectedly");
  }
}

/** The socket of one of the driver's connections, whose types leave it out. */
function streamOf(client: object): Socket | undefined {
  const stream: unknown = Reflect.get(Reflect.get(client, "connection"), "stream");
  return stream instanceof Socket ? stream : undefined;
}

function never(): Promise<never> {
  return new Promise(() => {});
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function clientsOf(rows: readonly WrittenRow[]): number[] {
  const own = rows.filter(({ isOwn }) => isOwn);
  return own.flatMap(({ payload }) => itemsOf(payload).map(({ id }) => id.client));
}

function rowsIn([, , epochs, origins, payloads]: readonly unknown[]): WrittenRow[] {
  if (!Array.isArray(epochs) || !Array.isArray(origins) || !Array.isArray(payloads)) {
    throw new Error("rows are not written as this simulation knows it");
  }
  return payloads.map((payload, at) => {
    return { epoch: epochs[at], isOwn: origins[at] === "local", payload };
  });
}

/** A statement that fails as one does that others came in the way of. */
function failing(code: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '${code}'; END $$`;
}
