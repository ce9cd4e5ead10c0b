import type { Kysely } from "kysely";
import { type Activity, logActivity, type OnActivity } from "../../daemon/home/activity.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { assert, messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { listNotices, type Notice, type Notices } from "./notice.ts";
import { keepNotices, listNoticeFiles } from "./notice-files.ts";

/** Commits of a burst cause one look. */
const BURST_MS = 500;
/** Looks take at most a tenth of the time. */
const REST_FACTOR = 9;

/** What a keeper needs. */
export interface KeeperOptions {
  readonly env: Environment;
  readonly log: Log;
  /** The home's database where it is open: to open it takes longer than all else here. */
  readonly reader: () => Kysely<DaemonTables> | undefined;
  /** Called with each new notice. */
  readonly onActivity: OnActivity;
}

/** Keeps a home's notices in step with its database. Looks after commits and never otherwise. */
export class NoticeKeeper {
  readonly #options: KeeperOptions;
  #timer: Timer | undefined;
  #wanted = false;
  #stopped = false;
  #current: Notices = new Map();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** The notices at the last look. */
  get current(): Notices {
    return this.#current;
  }

  /** The database may have changed. */
  changed(): void {
    this.#wanted = true;
    if (!this.#timer) this.#lookAfter(BURST_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #lookAfter(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = realWorld.setTimer(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#wanted = false;
    const startedAt = realWorld.monotonic();
    await this.#refresh().catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "notices could not be kept");
    });
    const tookMs = realWorld.monotonic() - startedAt;
    this.#timer = undefined;
    if (this.#wanted) this.#lookAfter(Math.max(BURST_MS, REST_FACTOR * tookMs));
  }

  async #refresh(): Promise<void> {
    const { env, log, reader, onActivity } = this.#options;
    const before = listNoticeFiles(env.home);
    const list = async (db: Kysely<DaemonTables> | undefined): Promise<Notices> =>
      db ? await listNotices(db, env.home) : new Map();
    const open = reader();
    const current = open ? await list(open) : await withLocal(env, list);
    if (this.#stopped) return;
    this.#current = current;
    for (const notice of keepNotices(env.home, current, before)) {
      const activity = activityOf(notice);
      logActivity(log, activity);
      onActivity(activity);
    }
  }
}

function activityOf({ kind, where: project, what, joined }: Notice): Activity {
  if (kind !== "joined") return { event: kind, project, what };
  assert(joined, "a notice of a joined project says which it is");
  return { event: kind, project, ...joined };
}
