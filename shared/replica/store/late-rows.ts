import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import type { Timer, World } from "../../world.ts";
import { isAnyUnfiled } from "../history/unfiled.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { isIndexBehind } from "../search/unindexed.ts";

/** While nobody searches, the index and the filing may be behind for this long. */
const BEHIND_MS = 10_000;

/**
 * Each step of the index is followed by at most this many steps of filing, because the index may
 * never be up to date.
 */
const FILING_STEPS_MAX = 16;

/** How often a search is repeated because others have written meanwhile. */
const AGAIN_MAX = 3;

interface LateRowsDeps {
  readonly reader: Kysely<ReplicaTables>;
  /** Indexes some rows, of an owner or of all, in a commit of its own. */
  readonly indexSome: (owner: AccountId | undefined) => Promise<void>;
  /** Files some revisions, in a commit of its own. True: there are more. */
  readonly fileSome: () => Promise<boolean>;
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
  #isFollowing = false;
  #stopped = false;

  constructor(deps: LateRowsDeps) {
    this.#deps = deps;
  }

  /** To be called after each commit. */
  follow(): void {
    if (this.#stopped) return;
    this.#timer ??= this.#deps.world.setTimer(BEHIND_MS, () => {
      this.#timer = undefined;
      // If writes never rest, one round after another follows them, and never two at once.
      if (this.#isFollowing) this.follow();
      else this.#following = this.#followAll();
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

  /** Never rejects. What fails, as on a full disk, is done after a later commit or search. */
  async #followAll(): Promise<void> {
    this.#isFollowing = true;
    try {
      while (!this.#stopped && (await this.#followSome()));
    } catch {
      // What is to be indexed or filed stays noted.
    } finally {
      this.#isFollowing = false;
    }
  }

  /** False: there was nothing to index or file. */
  async #followSome(): Promise<boolean> {
    const { reader, indexSome, fileSome } = this.#deps;
    const isBehind = await this.#isBehind(undefined);
    if (isBehind) await indexSome(undefined);
    const isUnfiled = await isAnyUnfiled(reader);
    let hasMore = isUnfiled;
    for (let at = 0; hasMore && !this.#stopped && at < FILING_STEPS_MAX; at++) {
      hasMore = await fileSome();
    }
    return isBehind || isUnfiled;
  }

  #isBehind(owner: AccountId | undefined): Promise<boolean> {
    return isIndexBehind(this.#deps.reader, { owner });
  }
}
