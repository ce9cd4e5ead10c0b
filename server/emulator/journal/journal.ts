import type { AccountId } from "../../../shared/ids.ts";
import type { Timer, World } from "../../../shared/world.ts";

/** One request, while it goes on and afterwards. */
export interface RequestEntry {
  readonly serial: number;
  readonly receivedAt: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly token: string | undefined;
  readonly account: AccountId | undefined;
  readonly headers: Headers;
  /** The beginning of its body. */
  body: Uint8Array | undefined;
  bodyBytes: number;
  finishedAt: number | undefined;
  status: number | undefined;
  aborted: boolean;
  /** The body of a refusal. */
  refusal: string | undefined;
  requestId: string | undefined;
  retryAfter: string | null;
  injected: string | undefined;
  /** What was seen at once to be wrong with it. */
  readonly violations: { readonly rule: string; readonly text: string }[];
}

/** For one account; a busy one displaces no other's. */
const ENTRIES_PER_ACCOUNT_MAX = 1000;
const ENTRIES_MAX = 20_000;

/** The beginning of a body that is kept. */
const BODY_BYTES_KEPT = 64 * 1024;
const ALL_BODY_BYTES_MAX = 64 * 1024 * 1024;

type Matches = (entry: RequestEntry) => boolean;

interface Waiting {
  readonly look: () => void;
}

/**
 * The requests of an emulator, from their receipt on. Bounded: the oldest go first.
 *
 * ```
 * journal.add(entry);
 * await journal.wait((each) => each.path === "/v1/memories", { count: 1, timeoutMs: 5000 });
 * ```
 */
export class Journal {
  readonly #world: World;
  #entries: RequestEntry[] = [];
  readonly #perAccount = new Map<AccountId | undefined, number>();
  readonly #dropped = new Map<AccountId | undefined, number>();
  #bodyBytes = 0;
  readonly #waiting = new Set<Waiting>();
  #closed = false;

  /** `world` is the real one: whoever waits waits in real time. */
  constructor(world: World) {
    this.#world = world;
  }

  add(entry: RequestEntry): void {
    this.#entries.push(entry);
    const count = (this.#perAccount.get(entry.account) ?? 0) + 1;
    this.#perAccount.set(entry.account, count);
    if (count > ENTRIES_PER_ACCOUNT_MAX) this.#drop(({ account }) => account === entry.account);
    if (this.#entries.length > ENTRIES_MAX) this.#drop(() => true);
    this.changed();
  }

  /** Something of an entry is known that was not. */
  changed(): void {
    for (const { look } of this.#waiting) look();
  }

  /** The beginning of its body came. */
  keepBody(entry: RequestEntry, bytes: Uint8Array): void {
    if (entry.body) return;
    entry.bodyBytes = bytes.length;
    entry.body = bytes.slice(0, BODY_BYTES_KEPT);
    this.#bodyBytes += entry.body.length;
    while (this.#bodyBytes > ALL_BODY_BYTES_MAX) this.#drop(() => true);
  }

  find(matches: Matches): RequestEntry[] {
    return this.#entries.filter(matches);
  }

  /** How many were dropped for others; of an account, or of all. */
  dropped(account: AccountId | undefined): number {
    if (account !== undefined) return this.#dropped.get(account) ?? 0;
    return [...this.#dropped.values()].reduce((total, each) => total + each, 0);
  }

  clear(account: AccountId | undefined): number {
    const gone = this.find((entry) => account === undefined || entry.account === account);
    for (const entry of gone) this.#forget(entry);
    this.#entries = this.#entries.filter((entry) => !gone.includes(entry));
    if (account === undefined) this.#dropped.clear();
    else this.#dropped.delete(account);
    return gone.length;
  }

  /** Resolves to the entries that match, once there are `count`; to fewer when time is up. */
  wait(
    matches: Matches,
    { count, timeoutMs }: { readonly count: number; readonly timeoutMs: number },
  ): Promise<RequestEntry[]> {
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const end = () => {
        timer?.cancel();
        this.#waiting.delete(waiting);
        resolve(this.find(matches));
      };
      const waiting: Waiting = {
        look: () => {
          if (this.#closed || this.find(matches).length >= count) end();
        },
      };
      this.#waiting.add(waiting);
      timer = this.#world.setTimer(timeoutMs, end);
      waiting.look();
    });
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#closed = true;
    this.changed();
  }

  #drop(matches: Matches): void {
    const at = this.#entries.findIndex(matches);
    const [entry] = at === -1 ? [] : this.#entries.splice(at, 1);
    if (!entry) return;
    this.#forget(entry);
    this.#dropped.set(entry.account, (this.#dropped.get(entry.account) ?? 0) + 1);
  }

  #forget(entry: RequestEntry): void {
    this.#bodyBytes -= entry.body?.length ?? 0;
    entry.body = undefined;
    this.#perAccount.set(entry.account, (this.#perAccount.get(entry.account) ?? 1) - 1);
  }
}
