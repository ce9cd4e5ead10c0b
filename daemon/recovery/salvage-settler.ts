import { messageOf } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { countSalvaged } from "./read-salvaged.ts";
import { settleSalvaged } from "./salvaged-memories.ts";

/** What a settler works with. */
export interface SalvageSettlerOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly log: Log;
  /** The name of the service that an account is bound to. */
  readonly serviceOf: (account: AccountId) => string;
}

/** Settles salvaged memories as the services answer, one after another; see `settleSalvaged`. */
export class SalvageSettler {
  readonly #options: SalvageSettlerOptions;
  #isWaited = false;
  #settling: Promise<void> = Promise.resolve();

  constructor(options: SalvageSettlerOptions) {
    this.#options = options;
  }

  /** Finds out whether any memories wait. Without any, answers cost nothing. */
  async load(): Promise<void> {
    this.#isWaited = (await countSalvaged(this.#options.store.reader)) > 0;
  }

  /** A service has answered. */
  answered(): void {
    if (this.#isWaited) this.#settling = this.#settling.then(() => this.#settle());
  }

  async settled(): Promise<void> {
    await this.#settling;
  }

  async #settle(): Promise<void> {
    const { store, log, serviceOf } = this.#options;
    try {
      await settleSalvaged(store, serviceOf);
      await this.load();
    } catch (thrown) {
      log.warn({ reason: messageOf(thrown) }, "what was salvaged has to wait");
    }
  }
}
