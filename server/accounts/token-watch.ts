import { type Kysely, sql } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";
import type { Timer, World } from "../../shared/world.ts";
import type { HostTables } from "../stores/account-tables.ts";

/**
 * Half of the time that the interface allows between a token's end and that of its live sockets.
 */
const LOOK_INTERVAL_MS = 1000;

/** What the watch works with. */
export interface TokenWatchOptions {
  readonly db: Kysely<HostTables>;
  readonly world: World;
  readonly log: Log;
  /** Tokens were added, removed or revoked, perhaps by another process. */
  readonly onChange: () => void;
}

/**
 * Checks once a second whether tokens have changed, because the commands that create and end them
 * are other processes.
 */
export class TokenWatch {
  readonly #options: TokenWatchOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #known: string | undefined;
  #stopped = false;

  constructor(options: TokenWatchOptions) {
    this.#options = options;
  }

  /** Resolves once every later change is reported. */
  async start(): Promise<void> {
    await this.#look();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.world.setTimer(LOOK_INTERVAL_MS, () => {
      this.#looking = this.#look().finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { db, log, onChange } = this.#options;
    try {
      const now = JSON.stringify(await figuresOf(db));
      const isOther = this.#known !== undefined && now !== this.#known;
      this.#known = now;
      if (isOther) onChange();
    } catch (thrown) {
      log.error({ reason: messageOf(thrown) }, "the tokens could not be looked at");
    }
  }
}

/**
 * A text that differs whenever tokens have changed. A database of many servers counts the changes.
 * In a file, the tokens themselves are counted. The ids of removed tokens are kept for ever, so
 * their number tells a removal. Between two removals tokens are only added and revoked, so both
 * other numbers only grow.
 */
async function figuresOf(db: Kysely<HostTables>) {
  if (isPostgres(db)) return (await sql`select version from token_changes`.execute(db)).rows;
  return await db
    .selectFrom("tokens")
    .select(({ fn, selectFrom }) => [
      fn.countAll<number>().as("tokens"),
      fn.count<number>("revoked_at").as("revoked"),
      selectFrom("removed_tokens")
        .select((removed) => removed.fn.countAll<number>().as("count"))
        .as("removed"),
    ])
    .executeTakeFirstOrThrow();
}
