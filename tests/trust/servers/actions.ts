import { setDurable } from "./databases.ts";
import type { SimServer } from "./sim-server.ts";
import { LISTENS_MS, LOOKS_MS } from "./sim-server.ts";
import { type Stage, turns } from "./stage.ts";
import type { Fault } from "./wire.ts";

/** What happens in a run; one thing after another. */
export class Actions {
  readonly #stage: Stage;
  #copy: string | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async next(): Promise<void> {
    const { dice, replicas } = this.#stage.setup;
    const server = dice.pick(this.#stage.setup.servers);
    const other = dice.pick(this.#stage.setup.servers.filter((each) => each !== server));
    const draw = dice.fraction();
    if (draw < 0.18) await this.#again(server);
    else if (draw < 0.3) await this.#exchange(server, dice.below(replicas.length));
    else if (draw < 0.42) await this.#together(server, other);
    else if (draw < 0.5) await this.#lost(server, dice.pick(["unsent", "unheard"] as const));
    else if (draw < 0.58) await this.#once(server, other);
    else if (draw < 0.62) await this.#held(server, other);
    else if (draw < 0.66) await this.#stopped(server, other);
    else if (draw < 0.72) await this.#hindered(server, dice.pick(["40001", "40P01"] as const));
    else if (draw < 0.78) await this.#killed(server);
    else if (draw < 0.86) await this.#deaf(server, other);
    else if (draw < 0.89) await this.#undurable(server);
    else await this.#failover(server);
  }

  async #again(server: SimServer): Promise<void> {
    this.#stage.note(`${server.name} writes a key again`);
    await this.#stage.writeAgain(server);
  }

  async #exchange(server: SimServer, at: number): Promise<void> {
    const stage = this.#stage;
    const replica = stage.setup.replicas[at];
    if (!replica) return;
    const key = stage.newKey();
    stage.note(`replica ${at} brings ${key} to ${server.name}`);
    replica.set(key);
    // It has it, whatever becomes of the call.
    stage.book.unknown(key);
    const isSynced = await replica.sync(server, stage.token(0));
    stage.expect(isSynced, "an exchange failed without a reason");
    if (server !== stage.zombie) stage.book.saved(key);
  }

  /** Two servers write one account, and one server two accounts in one transaction. */
  async #together(server: SimServer, other: SimServer): Promise<void> {
    const stage = this.#stage;
    stage.note(`${server.name} and ${other.name} write at the same time`);
    const [own, both, of] = [stage.newKey(), stage.newKey(), stage.newKey()];
    const answers = await Promise.all([
      stage.write(server, own),
      stage.write(other, both),
      stage.write(server, of, 1),
    ]);
    for (const { status } of answers) stage.expect(status === 200, `it is answered ${status}`);
  }

  /** The connection is lost around the COMMIT. */
  async #lost(server: SimServer, fault: Fault): Promise<void> {
    const stage = this.#stage;
    stage.note(`${server.name} loses its connection: ${fault}`);
    const { wire } = server;
    const before = wire.commits;
    wire.fault = fault;
    const { status } = await stage.write(server, stage.newKey());
    stage.expect(status === 500, `an unknown outcome is answered ${status}`);
    stage.expect(wire.commits === before + 1, "an unknown outcome was tried again");
    stage.look();
  }

  /** One key on two servers, of which the first may lose its commit's answer. */
  async #once(server: SimServer, other: SimServer): Promise<void> {
    const stage = this.#stage;
    if (stage.zombie) return;
    const content = stage.newKey();
    const how = stage.setup.dice.pick(["at once", "unsent", "unheard"] as const);
    stage.note(`${server.name} and ${other.name} get one Idempotency-Key: ${how}`);
    if (how !== "at once") server.wire.fault = how;
    const ask = (each: SimServer) => stage.post(each, { content }, { once: content });
    const first = ask(server);
    if (how !== "at once") await first;
    const [one, two] = await Promise.all([first, ask(other)]);
    const [key, again] = [one, two].map(({ body }) => Reflect.get(Object(body), "key"));
    stage.expect(two.status === 200, `a key's second call is answered ${two.status}`);
    if (how === "at once") stage.expect(key === again, `one key made ${key} and ${again}`);
    stage.book.saved(String(again));
    stage.look();
  }

  /** A server stands before its COMMIT; another one writes the same account. */
  async #held(server: SimServer, other: SimServer): Promise<void> {
    const stage = this.#stage;
    stage.note(`${server.name} stands before a COMMIT, for which ${other.name} waits`);
    const { wire } = server;
    const held = wire.held();
    wire.fault = "held";
    let isAnswered = false;
    const first = stage.write(server, stage.newKey()).finally(() => {
      isAnswered = true;
    });
    await Promise.race([held, first]);
    await turns();
    stage.expect(!isAnswered, "a write was answered before its commit");
    const second = stage.write(other, stage.newKey());
    await turns();
    wire.release();
    for (const { status } of await Promise.all([first, second])) {
      stage.expect(status === 200, `it is answered ${status}`);
    }
  }

  /** A server stands before its COMMIT until the database gives the account to another one. */
  async #stopped(server: SimServer, other: SimServer): Promise<void> {
    const stage = this.#stage;
    if (stage.zombie) return;
    stage.note(`${server.name} is stopped before a COMMIT, and ${other.name} writes`);
    const { wire } = server;
    const held = wire.held();
    wire.fault = "stopped";
    const key = stage.newKey();
    const first = stage.post(server, { key, content: key });
    await Promise.race([held, first]);
    const { status } = await stage.write(other, stage.newKey());
    stage.expect(status === 200, `who waits for one that is stopped is answered ${status}`);
    wire.release();
    const answer = await first;
    stage.expect(answer.status !== 200, "what the database has given up was answered as saved");
    stage.book.refused(key);
    stage.look();
  }

  async #hindered(server: SimServer, fault: Fault): Promise<void> {
    const stage = this.#stage;
    stage.note(`${server.name} gets ${fault}`);
    server.wire.fault = fault;
    const { status } = await stage.write(server, stage.newKey());
    stage.expect(status === 200, `what others came in the way of is answered ${status}`);
  }

  async #killed(server: SimServer): Promise<void> {
    const stage = this.#stage;
    const fault = stage.setup.dice.pick(["dies before", "dies after"] as const);
    stage.note(`${server.name} ${fault} its COMMIT`);
    server.wire.fault = fault;
    await stage.write(server, stage.newKey());
    server.kill();
    await stage.replace(server);
    stage.look();
  }

  /** A server hears nobody, and is told later by its own looks, or as it listens again. */
  async #deaf(server: SimServer, other: SimServer): Promise<void> {
    const stage = this.#stage;
    const isLong = stage.setup.dice.chance(0.5);
    stage.note(`${server.name} hears nobody${isLong ? " for long" : ""}`);
    const { wire, world } = server;
    wire.isDeaf = isLong;
    wire.cutListening();
    await turns();
    await stage.write(other, stage.newKey());
    world.pass(isLong ? LOOKS_MS : LISTENS_MS);
    if (!isLong) return;
    await stage.check();
    wire.isDeaf = false;
    world.pass(LISTENS_MS);
  }

  async #undurable(server: SimServer): Promise<void> {
    const stage = this.#stage;
    const { address } = server.wire;
    stage.note(`${server.name} has a database that may lose what it acknowledges`);
    await setDurable(address, false);
    server.wire.cutAll();
    await turns();
    const { status } = await stage.write(server, stage.newKey());
    stage.expect(status === 500, `what may be lost is answered ${status}`);
    await setDurable(address, true);
    server.wire.cutAll();
    await turns();
    server.world.pass(LISTENS_MS);
  }

  /** First a copy is made; later it takes the database's place. One server may stay behind. */
  async #failover(server: SimServer): Promise<void> {
    const stage = this.#stage;
    if (stage.zombie) {
      stage.note(`${stage.zombie.name} finds the database that goes on`);
      await stage.move(stage.zombie);
    } else if (this.#copy === undefined) {
      stage.note("a copy is made");
      this.#copy = await stage.copy();
    } else if (!stage.isPromoted) {
      const left = stage.setup.dice.chance(0.4) ? server : undefined;
      stage.note(left ? `the copy is promoted, and ${left.name} stays` : "the copy is promoted");
      const lost = await stage.promote(this.#copy, left);
      const [first] = stage.here;
      // The account's version is again what others have known before the promotion.
      const writes = stage.setup.dice.chance(0.5) ? lost : 0;
      for (let at = 0; at < writes && first; at++) await stage.writeAgain(first);
    } else {
      await this.#again(server);
    }
  }
}
