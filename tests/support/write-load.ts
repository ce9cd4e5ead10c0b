import type { Machine } from "./machine.ts";

/** Writes through the command line and the gateway until told to stop; keeps what was confirmed. */
export class WriteLoad {
  /** What was begun to be written, confirmed or not. */
  readonly attempted = new Map<string, string>();
  readonly confirmed = new Map<string, string>();
  readonly #machine: Machine;
  readonly #project: string;
  #running: Promise<unknown> | undefined;
  #stopped = false;
  #count = 0;

  constructor(machine: Machine, project: string) {
    this.#machine = machine;
    this.#project = project;
  }

  start(writers: number): void {
    this.#stopped = false;
    this.#running = Promise.all(Array.from({ length: writers }, () => this.#write()));
  }

  /** Resolves when the writes under way are over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #write(): Promise<void> {
    for (let byCommand = true; !this.#stopped; byCommand = !byCommand) {
      const key = `${this.#machine.name}-${this.#count++}`;
      const value = `${key} ${"x".repeat(this.#count % 500)}`;
      this.attempted.set(key, value);
      const done = byCommand ? await this.#bySet(key, value) : await this.#byGateway(key, value);
      if (done) this.confirmed.set(key, value);
    }
  }

  async #bySet(key: string, value: string): Promise<boolean> {
    return (await this.#machine.run(["set", key, value])).status === 0;
  }

  async #byGateway(key: string, content: string): Promise<boolean> {
    try {
      const memory = { key, content, project_id: this.#project };
      return (await this.#machine.gateway("POST", "/v1/memories", memory)).ok;
    } catch {
      // Nobody listens, or the answer was cut off: not confirmed.
      return false;
    }
  }
}
