import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import type { Timer, World } from "../../world.ts";
import { isAnyUnfiled } from "../history/unfiled.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { isIndexBehind } from "../search/unindexed.ts";

/** The full-text index, and filing, may be behind for this time while nobody searches. */
const BEHIND_MS = 10_000;

/** How often a search is repeated because others have written meanwhile. */
const AGAIN_MAX = 3;

interface LateRowsDeps {
  readonly reader: Kysely<ReplicaTables>;
  /** Indexes some rows, of an owner or of all, in a commit of its own. */
  readonly indexSome: (owner: AccountId | undefined) => Promise<void>;
  /** Files some revisions, in a commit of its own. */
  readonly fileSome: () => Promise<unknown>;
  readonly world: World;
}

/**
 * Brings the full-text index up to date some time after a commit, and files what went into the
 * history: no write waits for it, and what is soon written over is never indexed. The database says
 * what is still to be done, so a crash loses none. A search first waits until all that was
 * committed before is indexed; a history is whole in any case.
 */
export class LateRows {
  readonly #deps: LateRowsDeps;
  #timer: Timer | undefined;
  #following: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: LateRowsDeps) {
    this.#deps = deps;
  }

  /** To be called after each commit. */
  follow(): void {
    if (this.#stopped) return;
    this.#timer ??= this.#deps.world.setTimer(BEHIND_MS, () => {
      this.#timer = undefined;
      this.#following = this.#followAll();
    });
  }

  /** Runs a search of an owner's memories; what is committed until then is in the index. */
  async search<Found>(owner: AccountId, search: () => Promise<Found>): Promise<Found> {
    for (let again = 0; ; again++) {
      while (await this.#isBehind(owner)) await this.#deps.indexSome(owner);
      const found = await search();
      if (again === AGAIN_MAX || !(await this.#isBehind(owner))) return found;
    }
  }

  /** Nothing is indexed or filed after this; what is left stays noted. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#following;
  }

  /** If it fails, as on a full disk, a later commit or search does it. */
  async #followAll(): Promise<void> {
    try {
      const { reader, indexSome, fileSome } = this.#deps;
      while (!this.#stopped && (await this.#isBehind(undefined))) await indexSome(undefined);
      while (!this.#stopped && (await isAnyUnfiled(reader))) await fileSome();
    } catch {
      // What is to be indexed or filed stays noted.
    }
  }

  #isBehind(owner: AccountId | undefined): Promise<boolean> {
    return isIndexBehind(this.#deps.reader, { owner });
  }
}
