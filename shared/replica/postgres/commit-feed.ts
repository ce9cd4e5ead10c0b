import type { AccountId } from "../../ids.ts";
import type { SessionPool } from "../../postgres/pool.ts";
import type { Timer, World } from "../../world.ts";
import type { CommittedRow } from "../store/open-document.ts";
import { movedAccounts, NO_CHANGES, rowsAfter } from "./rows-after.ts";

/** A commit of which no hint came is found within this time. */
const LOOK_EVERY_MS = 5000;

/** An owner that somebody listens to. */
interface Followed {
  listeners: number;
  /** The last row of each document that was told, by the document's id. */
  readonly told: Map<number, number>;
  /** What is read and told of the owner, one piece after another. Never rejects. */
  telling: Promise<void>;
  /** The version of the account up to which everything was told, as far as it is known. */
  version: number;
}

interface FeedDeps<Tables> {
  readonly reading: Pick<SessionPool<Tables>, "use">;
  readonly world: World;
  readonly announce: (rows: readonly CommittedRow[]) => void;
  /** The epoch of the database as it is now. */
  readonly epoch: string;
  /** Called if the database may lack what was told: whoever listens has to begin again. */
  readonly onAnew: () => void;
}

/**
 * Tells of the commits of followed owners, whoever made them: of each document every row once, in
 * order. Rows are read from the database by position, so a hint that is lost, doubled or late only
 * changes when. Where the database is another than before, positions have to be told anew.
 */
export class CommitFeed<Tables> {
  readonly #deps: FeedDeps<Tables>;
  readonly #followed = new Map<AccountId, Followed>();
  #epoch: string;
  #timer: Timer | undefined;
  /** The question which accounts to look at, one for all of them. Never rejects. */
  #asking: Promise<void> = Promise.resolve();

  constructor(deps: FeedDeps<Tables>) {
    this.#deps = deps;
    this.#epoch = deps.epoch;
  }

  follow(owner: AccountId): () => void {
    const followed = this.#followed.get(owner) ?? this.#begin(owner);
    followed.listeners += 1;
    this.#lookLater();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      followed.listeners -= 1;
      if (followed.listeners === 0 && this.#isFollowed(owner, followed)) {
        this.#followed.delete(owner);
      }
    };
  }

  /** Rejects if the first look fails: then nobody knows from where on commits have to be told. */
  following(owner: AccountId): Promise<void> | undefined {
    const followed = this.#followed.get(owner);
    return followed?.telling.then(() =>
      followed.version === NO_CHANGES ? this.#look(owner, followed) : undefined,
    );
  }

  /**
   * Rows that this process has just committed, and the versions that their accounts have by it.
   * They are told at once where nothing is missing.
   */
  committed(rows: readonly CommittedRow[], versions: ReadonlyMap<AccountId, number>): void {
    const mine = rows.filter(({ address }) => this.#followed.has(address.owner));
    const behind = new Set<AccountId>();
    const next = mine.filter((row) => {
      const { owner } = row.address;
      const told = this.#followed.get(owner)?.told;
      const isNext = told?.get(row.documentId) === row.seq - 1 && !behind.has(owner);
      if (isNext) told?.set(row.documentId, row.seq);
      else behind.add(owner);
      return isNext;
    });
    for (const {
      address: { owner },
    } of next) {
      const followed = this.#followed.get(owner);
      const version = versions.get(owner);
      // If a look finds a lower version than this, it knows that commits were lost.
      const isNext = followed !== undefined && version === followed.version + 1;
      if (isNext && !behind.has(owner)) followed.version = version;
    }
    if (next.length > 0) this.#deps.announce(next);
    for (const owner of behind) this.hinted(owner);
  }

  /** Somebody has committed something of an owner. */
  hinted(owner: AccountId): void {
    const followed = this.#followed.get(owner);
    // A failure is ignored, because the next regular look tries again.
    if (followed) void this.#look(owner, followed).catch(() => {});
  }

  /** Whatever was committed may not have been heard of. Never rejects. */
  lookAtAll(): Promise<void> {
    const asked = this.#hintAtMoved();
    this.#asking = Promise.all([this.#asking, asked]).then(() => {});
    return asked;
  }

  /** The database is of this epoch now. */
  beginAs(epoch: string): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#beginAnew();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    const all = [...this.#followed.values()];
    this.#followed.clear();
    await Promise.all([this.#asking, ...all.map(({ telling }) => telling)]);
  }

  #begin(owner: AccountId): Followed {
    const followed: Followed = {
      listeners: 0,
      told: new Map(),
      telling: Promise.resolve(),
      version: NO_CHANGES,
    };
    this.#followed.set(owner, followed);
    this.hinted(owner);
    return followed;
  }

  async #hintAtMoved(): Promise<void> {
    const versions = [...this.#followed].map(([owner, { version }]) => [owner, version] as const);
    const known = new Map(versions);
    try {
      const moved = await movedAccounts(this.#deps.reading, known, this.#epoch);
      for (const owner of moved) this.hinted(owner);
    } catch {
      // The next regular look tries again.
    }
  }

  #isFollowed(owner: AccountId, followed: Followed): boolean {
    return this.#followed.get(owner) === followed;
  }

  #beginAnew(): void {
    this.#followed.clear();
    this.#deps.onAnew();
  }

  /** Rejects where nothing can be read now. */
  #look(owner: AccountId, followed: Followed): Promise<void> {
    const look = followed.telling.then(() =>
      this.#isFollowed(owner, followed) ? this.#read(owner, followed) : undefined,
    );
    followed.telling = look.catch(() => {});
    return look;
  }

  async #read(owner: AccountId, followed: Followed): Promise<void> {
    // The version is read first: it may rise meanwhile, beyond what this look can find.
    const { version } = followed;
    const isFirst = version === NO_CHANGES;
    const found = await rowsAfter(this.#deps.reading, owner, {
      told: followed.told,
      version,
      epoch: this.#epoch,
      headsAlone: isFirst,
    });
    if (!found || !this.#isFollowed(owner, followed)) return;
    if (found.epoch !== this.#epoch) return this.beginAs(found.epoch);
    // Nobody has written yet since the last commits were lost.
    if (found.version < version) return this.#beginAnew();
    const fresh = found.rows.filter(
      ({ documentId, seq }) => seq > (followed.told.get(documentId) ?? 0),
    );
    for (const { documentId, seq } of fresh) followed.told.set(documentId, seq);
    for (const [id, seq] of found.heads) {
      followed.told.set(id, Math.max(seq, followed.told.get(id) ?? 0));
    }
    followed.version = Math.max(followed.version, found.version);
    if (fresh.length > 0) this.#deps.announce(fresh);
  }

  #lookLater(): void {
    this.#timer ??= this.#deps.world.setTimer(LOOK_EVERY_MS, () => {
      this.#timer = undefined;
      if (this.#followed.size === 0) return;
      void this.lookAtAll();
      this.#lookLater();
    });
  }
}
