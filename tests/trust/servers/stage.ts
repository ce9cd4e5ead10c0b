import type { Position } from "../../../shared/wire/position.ts";
import { PATIENCE, waitFor } from "../../support/wait-for.ts";
import type { Dice } from "../simulate/dice.ts";
import { Audit } from "./audit.ts";
import { Book } from "./book.ts";
import { copyDatabase } from "./databases.ts";
import type { Ledger } from "./ledger.ts";
import type { SimReplica } from "./sim-replica.ts";
import { type Answer, LISTENS_MS, LOOKS_MS, SimServer } from "./sim-server.ts";

/** A hint comes in milliseconds; on a busy machine, too, within this time. */
const HEARD_MS = 5000 * PATIENCE;

interface StageSetup {
  readonly dice: Dice;
  readonly ledger: Ledger;
  /** Of the database that takes writes. */
  address: string;
  /** Those of now: who dies has another in its place. */
  readonly servers: SimServer[];
  readonly replicas: readonly SimReplica[];
  readonly tokens: readonly string[];
}

/** The servers and their clients, and what holds after every step. */
export class Stage {
  readonly trace: string[] = [];
  readonly book = new Book();
  readonly addresses: string[];
  readonly #audit: Audit;
  /** What a key shows that is written again and again; unknown where nobody can say. */
  #last: string | undefined;
  /** What it showed since then at a server that stayed behind; a replica may bring it over. */
  readonly #left = new Set<string>();
  #made = 0;

  constructor(readonly setup: StageSetup) {
    this.addresses = [setup.address];
    this.#audit = new Audit(setup.ledger);
  }

  get address(): string {
    return this.setup.address;
  }

  get isPromoted(): boolean {
    return this.address !== this.addresses[0];
  }

  /** Servers of the database that goes on. */
  get here(): readonly SimServer[] {
    return this.setup.servers.filter(({ wire }) => wire.address === this.address);
  }

  /** A server that is still at the former database, whose writes may be lost. */
  get zombie(): SimServer | undefined {
    return this.setup.servers.find(({ wire }) => wire.address !== this.address);
  }

  token(account: number): string {
    return this.setup.tokens[account] ?? "";
  }

  newKey(): string {
    this.#made += 1;
    return `key-${this.#made}`;
  }

  async begin(): Promise<void> {
    const [server] = this.setup.servers;
    if (server) await this.write(server, this.newKey());
    for (const each of this.setup.servers) await each.listen(this.token(0));
  }

  note(text: string): void {
    this.trace.push(text);
  }

  /** Writes a memory of its own, and enters what is known of it. */
  async write(server: SimServer, key: string, account = 0): Promise<Answer> {
    const answer = await this.post(server, { key, content: key }, { account });
    this.enter(key, answer, server);
    return answer;
  }

  post(
    server: SimServer,
    memory: { readonly key?: string; readonly content: string },
    { account = 0, once }: { readonly account?: number; readonly once?: string } = {},
  ): Promise<Answer> {
    const body = { ...memory, layer: "global" };
    const token = this.token(account);
    return server.ask("POST", "/v1/memories", { token, body, ...(once && { key: once }) });
  }

  enter(key: string, { status, isLost, body }: Answer, server: SimServer): void {
    const isUnknown = isLost || JSON.stringify(body).includes("is not known");
    if (isUnknown || server === this.zombie) this.book.unknown(key);
    else if (status === 200) this.book.saved(key);
    else this.book.refused(key);
  }

  /** Writes a key that others have written, too: the last one counts. */
  async writeAgain(server: SimServer): Promise<void> {
    const content = `value-${this.newKey()}`;
    const { status } = await this.post(server, { key: "again", content });
    this.expect(status === 200, `a write is answered ${status}`);
    if (server === this.zombie) {
      this.book.unknown("again");
      this.#left.add(content);
      return;
    }
    this.book.saved("again");
    this.#last = content;
    this.#left.clear();
  }

  expect(holds: boolean, problem: string): void {
    if (!holds) this.setup.ledger.problem(problem);
  }

  /** What a standby or a backup has of now. */
  async copy(): Promise<string> {
    const wires = this.setup.servers.map(({ wire }) => wire);
    const copy = await copyDatabase(this.address, wires);
    this.addresses.push(copy);
    await this.listenAgain();
    return copy;
  }

  /**
   * A copy takes the place of the database, for all servers but perhaps one. Resolves to the number
   * of commits that are lost.
   */
  async promote(copy: string, left?: SimServer): Promise<number> {
    const before = await this.#audit.look(this.address);
    const kept = await this.#audit.look(copy);
    this.book.lostBut(kept.memories);
    this.#last = undefined;
    this.setup.address = copy;
    for (const server of this.setup.servers) if (server !== left) await this.move(server);
    return before.head.seq - kept.head.seq;
  }

  async move({ wire, world }: SimServer): Promise<void> {
    wire.address = this.address;
    wire.cutAll();
    await turns();
    world.pass(LOOKS_MS);
  }

  async listenAgain(): Promise<void> {
    await turns();
    for (const { world } of this.setup.servers) world.pass(LISTENS_MS);
  }

  /** Nobody has told of what was committed: each server's own look finds it. */
  look(): void {
    for (const { world } of this.setup.servers) world.pass(LOOKS_MS);
  }

  /** A dead server's place is taken by a new one. */
  async replace(server: SimServer): Promise<void> {
    const { dice, ledger, servers } = this.setup;
    const at = servers.indexOf(server);
    servers[at] = await SimServer.start(at, server.wire.address, { dice, ledger });
  }

  /** Nothing is lost or made up; live sockets are where the log is, or have ended. */
  async check(): Promise<void> {
    const { memories, head } = await this.#audit.look(this.address);
    for (const problem of this.book.problems(memories)) this.expect(false, problem);
    const shown = memories.get("again");
    const isLast = this.#last === undefined || shown === this.#last || this.#left.has(shown ?? "");
    this.expect(isLast, `the last write is ${this.#last}, and ${shown} is shown`);
    await Promise.all(this.here.map((server) => this.#checkSockets(server, head)));
    if (this.zombie) await this.#audit.look(this.zombie.wire.address);
    const { epochs } = this.#audit;
    const isFew = epochs <= 1 + (this.isPromoted ? 1 : 0);
    this.expect(isFew, `there are ${epochs} epochs, and fewer databases`);
  }

  async #checkSockets(server: SimServer, head: Position): Promise<void> {
    for (const socket of server.sockets) {
      const isThere = () => {
        const { isOpen, position } = socket;
        return !isOpen || (position?.seq === head.seq && position.epoch === head.epoch);
      };
      await waitFor("the hint", isThere, HEARD_MS, 1).catch(() => {
        const told = JSON.stringify([socket.position, head]);
        this.expect(false, `${server.name} has not told of the head: ${told}`);
      });
    }
    if (!server.sockets.some(({ isOpen }) => isOpen)) await server.listen(this.token(0));
  }

  /** All trouble is over: everybody comes to have the same. */
  async rest(): Promise<void> {
    const { zombie } = this;
    if (zombie) await this.move(zombie);
    const [server] = this.here;
    for (let round = 0; round < 2 && server; round++) {
      for (const replica of this.setup.replicas) {
        const isSynced = await replica.sync(server, this.token(0));
        this.expect(isSynced, "a replica can't be synced at rest");
      }
    }
    await this.check();
    await this.#checkReplicas();
  }

  async #checkReplicas(): Promise<void> {
    for (const server of this.here) {
      const path = "/v1/memories?layer=global&limit=100";
      const { status, body } = await server.ask("GET", path, { token: this.token(0) });
      const shown = status === 200 ? keysIn(body) : [];
      for (const { keys } of this.setup.replicas) {
        const [one, other] = [JSON.stringify([...keys].sort()), JSON.stringify([...shown].sort())];
        this.expect(one === other, `a replica has ${one}, and ${server.name} shows ${other}`);
      }
    }
  }
}

function keysIn(body: unknown): string[] {
  const memories: unknown = Reflect.get(Object(body), "memories");
  return Array.isArray(memories) ? memories.map(({ key }) => String(key)) : [];
}

/** Lets everything go on that needs no answer from elsewhere. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
