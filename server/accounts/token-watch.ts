import { type Kysely, sql } from "kysely";
import { messageOf } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
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
  /**
   * Called when tokens were added, removed or revoked, or users removed, perhaps by another
   * process. `accounts`: whose they were; undefined if they may be anybody's.
   */
  readonly onChange: (accounts: ReadonlySet<AccountId> | undefined) => void;
}

/**
 * Checks once a second whether tokens have changed, because the commands that create and end them
 * are other processes. A user is removed some time after its tokens, so that counts as a change,
 * too: clients are told how many users an account has.
 */
export class TokenWatch {
  readonly #options: TokenWatchOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  #known: Figures | undefined;
  /** Why the last look failed, so that one outage is logged once. */
  #problem: string | undefined;
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
      const known = this.#known;
      const now = await figuresOf(db);
      this.#problem = undefined;
      if (known && now.text === known.text) return;
      const accounts = known && (await accountsSince(db, known));
      this.#known = now;
      if (known) onChange(accounts);
    } catch (thrown) {
      // An outage of an hour is logged in one line.
      if (this.#problem === messageOf(thrown)) return;
      this.#problem = messageOf(thrown);
      log.error({ reason: this.#problem }, "the tokens could not be looked at");
    }
  }
}

interface Figures {
  /** Differs from the text before whenever tokens have changed or a user was removed. */
  readonly text: string;
  /** How often tokens have changed; undefined for a database in a file. */
  readonly version: number | undefined;
}

/**
 * A text that differs whenever tokens have changed. A database of many servers counts the changes.
 * In a file, the tokens themselves are counted: removed ones, whose ids are kept for ever; all that
 * there are; and revoked ones. Between two removals the last two numbers only grow. A new user
 * comes with a token, so it needs no number of its own.
 */
async function figuresOf(db: Kysely<HostTables>): Promise<Figures> {
  if (isPostgres(db)) {
    const { rows } = await sql<{ version: number }>`select version from token_changes`.execute(db);
    const version = rows[0]?.version ?? 0;
    return { text: String(version), version };
  }
  const figures = await db
    .selectFrom("tokens")
    .select(({ fn, selectFrom }) => [
      fn.countAll<number>().as("tokens"),
      fn.count<number>("revoked_at").as("revoked"),
      selectFrom("removed_tokens")
        .select((removed) => removed.fn.countAll<number>().as("count"))
        .as("removed"),
      selectFrom("users")
        .select((users) => users.fn.countAll<number>().as("count"))
        .as("users"),
    ])
    .executeTakeFirstOrThrow();
  return { text: JSON.stringify(figures), version: undefined };
}

/**
 * Whose tokens have changed; undefined where that is not known: in a file, in a database that was
 * put back to an earlier moment, or of an account that is gone.
 */
async function accountsSince(
  db: Kysely<HostTables>,
  { version }: Figures,
): Promise<ReadonlySet<AccountId> | undefined> {
  if (version === undefined) return undefined;
  const { rows } = await sql<{ account_id: AccountId }>`
    select account_id from changed_tokens where version > ${version}`.execute(db);
  return rows.length > 0 ? new Set(rows.map(({ account_id: account }) => account)) : undefined;
}
