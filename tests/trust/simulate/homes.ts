import type { Dice } from "./dice.ts";
import type { Files } from "./files.ts";
import type { Machine } from "./machine.ts";
import type { MemoryLedger } from "./memory-ledger.ts";
import type { Secrets } from "./secrets.ts";
import type { Shadow } from "./shadow.ts";

/** A copy of a home, and how much of what was written is in it for certain. */
interface Copy {
  readonly machine: Machine;
  readonly bytes: Uint8Array;
  readonly writes: number;
}

/** Whom it concerns that a home goes back to a copy. */
export interface HomesOptions {
  readonly dice: Dice;
  readonly memories: MemoryLedger;
  readonly secrets: Secrets;
  readonly files: Files;
  /** All machines and services. */
  readonly nodes: () => Iterable<{ readonly shadow: Shadow }>;
  readonly note: (line: string) => void;
}

/** Copies of the machines' homes, as a backup makes them. */
export class Homes {
  readonly #options: HomesOptions;
  readonly #copies: Copy[] = [];

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  copy(machine: Machine): void {
    const { memories, note } = this.#options;
    note(`${machine.name}'s home is copied`);
    const writes = memories.answeredOf(machine.name);
    this.#copies.push({ machine, bytes: machine.copyHome(), writes });
  }

  /** A machine whose daemon is down goes on with what it was: what it alone wrote since is gone. */
  restore(machine: Machine): void {
    const { dice, memories, secrets, files, note } = this.#options;
    const own = this.#copies.filter((copy) => copy.machine === machine);
    if (own.length === 0) return;
    const copy = dice.pick(own);
    note(`${machine.name}'s home goes back to copy ${own.indexOf(copy)}`);
    files.lostWithHome(machine, this.#options.nodes());
    machine.restoreHome(copy.bytes);
    memories.excuse(machine.name, copy.writes);
    memories.inboxLost(machine.name);
    secrets.excuse(machine);
    files.arrivals.blur(machine);
    files.saves.forget(machine);
  }
}
