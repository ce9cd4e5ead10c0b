import { expect, test } from "bun:test";
import { listHeld } from "../../daemon/home/held-store.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MemoryMachine } from "../support/memory-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { pick, seededRandom } from "../support/random.ts";

const NAMES = ["one.md", "two.md", "MEMORY.md"];
const STEPS = 25;
const TIMEOUT_MS = 120_000;
const SECRETS = [PLANTED.github, PLANTED.slack];

/** A program with a text that it read once. */
interface Session {
  name: string;
  lines: readonly string[];
}

/** Programs that save held texts on one machine, of which none knows what the others do. */
class Walk {
  readonly #random: () => number;
  readonly #sessions: readonly Session[];
  /** Lines that were held, by what each is known by. */
  readonly #held = new Set<string>();
  readonly steps: string[] = [];

  constructor(
    readonly a: MemoryMachine,
    readonly b: MemoryMachine,
    seed: number,
  ) {
    this.#random = seededRandom(seed);
    const begin = () => ({
      name: pick(this.#random, NAMES),
      lines: ["one"],
      had: new Set(["one"]),
    });
    this.#sessions = [begin(), begin(), begin()];
  }

  async step(): Promise<void> {
    const session = pick(this.#random, this.#sessions);
    const is = this.#random();
    if (is < 0.25) this.#read(session);
    else if (is < 0.55) this.#add(session);
    else if (is < 0.65) this.#remove(session);
    else if (is < 0.92) await this.#save(session);
    else if (is < 0.95) this.#drop(session);
    else await this.#others();
  }

  #read(session: Session): void {
    session.name = pick(this.#random, NAMES);
    session.lines = (this.a.read(session.name) ?? "one\n").trimEnd().split("\n");
  }

  #add(session: Session): void {
    const [what, where, who] = [
      pick(this.#random, ["the key", "the deploy", "the build"]),
      pick(this.#random, ["of prod", "of staging"]),
      pick(this.#random, ["is by ann", "is slow", "waits for ben", ""]),
    ];
    const secret = this.#random() < 0.4 ? pick(this.#random, SECRETS) : "";
    const bare = this.#random() < 0.2 && secret !== "" ? secret : undefined;
    const line = bare ?? `- ${what} ${where} ${who} ${secret}`.trimEnd();
    const at = Math.floor(this.#random() * (session.lines.length + 1));
    session.lines = [...session.lines.slice(0, at), line, ...session.lines.slice(at)];
  }

  #remove(session: Session): void {
    const at = Math.floor(this.#random() * session.lines.length);
    session.lines = session.lines.filter((_, each) => each !== at);
  }

  async #save(session: Session): Promise<void> {
    const { name, lines } = session;
    this.steps.push(`save ${name} ${JSON.stringify(lines)}`);
    await this.a.saveHeard(name, `${lines.join("\n")}\n`);
    if (this.#random() < 0.3) return;
    await this.#look();
  }

  async #look(): Promise<void> {
    if (this.#random() < 0.3) this.a.world.advance(61_000);
    await this.a.look();
    for (const { value = "" } of await listHeld(this.a.store.reader)) {
      for (const line of value.split("\n")) this.#held.add(line);
    }
  }

  #drop({ name }: Session): void {
    if (this.a.read(name) === undefined) return;
    this.steps.push(`drop ${name}`);
    this.a.drop(name);
  }

  async #others(): Promise<void> {
    const name = pick(this.#random, NAMES);
    this.steps.push(`others ${name}`);
    this.b.world.advance(61_000);
    await this.b.look();
    this.b.save(name, `${this.b.read(name) ?? ""}- of others ${this.steps.length}\n`);
    await this.b.look();
    await exchangeKept(this.a, this.b);
    await this.#look();
  }

  /** What was held, and is nowhere. */
  async lost(): Promise<string[]> {
    const held = (await listHeld(this.a.store.reader)).map(({ value = "" }) => value);
    const kept = [...held];
    for (const name of NAMES) {
      kept.push(this.a.read(name) ?? "", ...(await this.a.values(name)));
      kept.push(...(await this.a.history(name)));
    }
    const lines = [...new Set(kept.flatMap((text) => text.split("\n")))];
    return [...this.#held].filter((line) => {
      const secret = SECRETS.find((each) => line.includes(each)) ?? "";
      const words = line
        .replace(secret, "")
        .split(" ")
        .filter((word) => word !== "");
      const hasAll = (other: string) => words.every((word) => other.includes(word));
      return !lines.includes(line) && (words.length === 0 || !lines.some(hasAll));
    });
  }
}

const SEEDS = Number(process.env.MEMSYNC_HELD_SEEDS ?? 12);

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(
    `no line of a held text is lost, whoever saves what he has read once: seed ${seed}`,
    async () => {
      const a = await MemoryMachine.start("anna");
      const b = await MemoryMachine.start("ben");
      try {
        const walk = new Walk(a, b, seed);
        for (let at = 0; at < STEPS; at += 1) {
          await walk.step();
          expect({ lost: await walk.lost(), steps: walk.steps }).toMatchObject({ lost: [] });
        }
      } finally {
        for (const machine of [a, b]) await machine.remove();
      }
    },
    TIMEOUT_MS,
  );
}
