import type { AccountId } from "../../../shared/ids.ts";
import type { Timer, World } from "../../../shared/world.ts";

/** A message of a live socket. */
export interface FrameEntry {
  readonly from: "client" | "server";
  readonly at: number;
  /** Its `type`, if it is JSON and has one. */
  readonly type: string | undefined;
  /** The beginning of it; undefined for a binary one. */
  readonly text: string | undefined;
  readonly bytes: number;
}

/** How a live socket ended. */
export interface SocketClosed {
  readonly code: number;
  readonly reason: string;
  readonly by: "client" | "server";
  readonly at: number;
}

/** What a live socket carried, while it is open and afterwards. */
export interface SocketEntry {
  /** The newest, the oldest of them first. */
  readonly frames: FrameEntry[];
  framesDropped: number;
  closed: SocketClosed | undefined;
}

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
  /** Of an answer that left. */
  responseHeaders: Headers | undefined;
  /** The body of a refusal. */
  refusal: string | undefined;
  requestId: string | undefined;
  retryAfter: string | null;
  injected: string | undefined;
  /** Of a handshake that was accepted. */
  socket: SocketEntry | undefined;
  /** The journal's count of changes when this changed last; 0 for one that the journal has not. */
  changedAt: number;
  /** What was seen at once to be wrong with it. */
  readonly violations: { readonly rule: string; readonly text: string }[];
}

/** For one account; a busy one displaces no other's. */
const ENTRIES_PER_ACCOUNT_MAX = 1000;
const ENTRIES_MAX = 20_000;

/** The beginning of a body that is kept. */
const BODY_BYTES_KEPT = 64 * 1024;
const ALL_BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Of each live socket. */
const FRAMES_KEPT = 200;

type Matches = (entry: RequestEntry) => boolean;

interface Waiting {
  readonly look: () => void;
}

/**
 * The requests of an emulator, from their receipt on. Bounded: the oldest go first.
 *
 * ```
 * journal.add(entry);
 * await journal.wait(() => journal.find(({ status }) => status === 500).length > 0, 5000);
 * ```
 */
export class Journal {
  readonly #world: World;
  /** Tells its counts from those of a journal before it. */
  readonly id: string;
  #entries: RequestEntry[] = [];
  readonly #perAccount = new Map<AccountId | undefined, number>();
  readonly #dropped = new Map<AccountId | undefined, number>();
  #bodyBytes = 0;
  readonly #waiting = new Set<Waiting>();
  /** Never 0, which is before everything. */
  #changes = 1;
  #clearedAt = 0;
  #closed = false;

  /** `world` is the real one: whoever waits waits in real time. */
  constructor(world: World) {
    this.#world = world;
    this.id = world.now().toString(36);
  }

  add(entry: RequestEntry): void {
    this.#entries.push(entry);
    // Counts as one of the journal's from here on.
    entry.changedAt = this.#changes + 1;
    const count = (this.#perAccount.get(entry.account) ?? 0) + 1;
    this.#perAccount.set(entry.account, count);
    if (count > ENTRIES_PER_ACCOUNT_MAX) this.#drop(({ account }) => account === entry.account);
    if (this.#entries.length > ENTRIES_MAX) this.#drop(() => true);
    this.changed(entry);
  }

  /** How many changes there were. */
  get changes(): number {
    return this.#changes;
  }

  /** How many there were when something was forgotten on demand the last time. */
  get clearedAt(): number {
    return this.#clearedAt;
  }

  /** Something of an entry is known that was not, or of the emulator without one. */
  changed(entry?: RequestEntry): void {
    this.#changes += 1;
    if (entry && entry.changedAt > 0) entry.changedAt = this.#changes;
    for (const { look } of this.#waiting) look();
  }

  /** The beginning of its body came. */
  keepBody(entry: RequestEntry, bytes: Uint8Array): void {
    if (entry.body || entry.changedAt === 0) return;
    entry.bodyBytes = bytes.length;
    entry.body = bytes.slice(0, BODY_BYTES_KEPT);
    this.#addBytes(entry.body.length);
  }

  /** A frame came or went. A socket that was forgotten while it was open is there again by it. */
  keepFrame(entry: RequestEntry, frame: FrameEntry): void {
    const { socket } = entry;
    if (!socket) return;
    if (entry.changedAt === 0) this.add(entry);
    socket.frames.push(frame);
    this.#addBytes(sizeOf(frame));
    if (socket.frames.length > FRAMES_KEPT) {
      const [oldest] = socket.frames.splice(0, 1);
      this.#bodyBytes -= oldest ? sizeOf(oldest) : 0;
      socket.framesDropped += 1;
    }
    this.changed(entry);
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
    this.changed();
    this.#clearedAt = this.#changes;
    return gone.length;
  }

  /** Resolves once it is so, or when time is up. */
  wait(isSo: () => boolean, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const end = () => {
        timer?.cancel();
        this.#waiting.delete(waiting);
        resolve();
      };
      const waiting: Waiting = {
        look: () => {
          if (this.#closed || isSo()) end();
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

  #addBytes(count: number): void {
    this.#bodyBytes += count;
    while (this.#bodyBytes > ALL_BODY_BYTES_MAX && this.#entries.length > 0) {
      this.#drop(() => true);
    }
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
    entry.changedAt = 0;
    const { socket } = entry;
    for (const frame of socket?.frames.splice(0) ?? []) this.#bodyBytes -= sizeOf(frame);
    if (socket) socket.framesDropped = 0;
    this.#perAccount.set(entry.account, (this.#perAccount.get(entry.account) ?? 1) - 1);
  }
}

function sizeOf({ text }: FrameEntry): number {
  return text?.length ?? 0;
}
