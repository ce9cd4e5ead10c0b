import { assert } from "../../../shared/errors.ts";
import type { AccountId } from "../../../shared/ids.ts";
import type { Timer, World } from "../../../shared/world.ts";
import type { Harm } from "../faults/misbehaviour.ts";

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
  /** The client's end of its connection, where there is one. */
  readonly connection: string | undefined;
  /**
   * The serial of the first request of its run: requests that came one after another. Undefined for
   * one that may have been sent together with others.
   */
  run: number | undefined;
  /** Whether it is answered, cut or given up. */
  isOver: boolean;
  /** Whether what it wrote is gone, because of a reset or another state of the emulator. */
  isTakenBack: boolean;
  /** The serial of the newest request at the time when its client had surely read its end. */
  readAfter: number | undefined;
  readonly headers: Headers;
  /** Whether it has a body. */
  readonly hasBody: boolean;
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
  /** What that did to its answer. */
  harm: Harm | undefined;
  /** Of a handshake that was accepted. */
  socket: SocketEntry | undefined;
  /**
   * The journal's count of changes when this entry last changed; 0 if the journal does not have it.
   */
  changedAt: number;
  /** What was seen at once to be wrong with it, for a client that knew the end of `earlier`. */
  readonly violations: {
    readonly rule: string;
    readonly text: string;
    readonly earlier: RequestEntry;
  }[];
}

const ENTRIES_PER_ACCOUNT_MAX = 1000;

/** For all accounts together. Beyond it, entries of the account that holds the most are dropped. */
const ENTRIES_MAX = 20_000;

/** The beginning of a body that is kept. */
const BODY_BYTES_KEPT = 64 * 1024;
/** Of all accounts together, as their entries are. */
const ALL_BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Of each live socket. */
const FRAMES_KEPT = 200;

type Matches = (entry: RequestEntry) => boolean;

/** What the journal keeps of one account, or of all. */
interface Kept {
  entries: number;
  /** Of bodies and frames. */
  bytes: number;
}

interface Waiting {
  readonly look: () => void;
}

/**
 * The requests of an emulator, from their receipt on. Their number is bounded: the oldest are
 * dropped first, and never for the sake of an account that holds more.
 *
 * ```
 * journal.add(entry);
 * await journal.wait(() => journal.find(({ status }) => status === 500).length > 0, 5000);
 * ```
 */
export class Journal {
  readonly #world: World;
  /** Tells this journal's counts from those of an earlier one. */
  readonly id: string;
  #entries: RequestEntry[] = [];
  /** Of each account that has entries. */
  readonly #kept = new Map<AccountId | undefined, Kept>();
  readonly #dropped = new Map<AccountId | undefined, number>();
  readonly #all: Kept = { entries: 0, bytes: 0 };
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
    const kept = this.#count(entry, "entries", 1);
    if (kept.entries > ENTRIES_PER_ACCOUNT_MAX) this.#dropOldest(entry.account);
    if (this.#all.entries > ENTRIES_MAX) this.#dropOldest(this.#holderOfMost("entries"));
    this.changed(entry);
  }

  /** How many changes there were. */
  get changes(): number {
    return this.#changes;
  }

  /** The count of changes when something was last forgotten on demand. */
  get clearedAt(): number {
    return this.#clearedAt;
  }

  /** Something new is known of an entry, or of the emulator if none is given. */
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
    this.#keepBytes(entry, entry.body.length);
    this.changed(entry);
  }

  /** A frame came or went. It brings back a socket that was forgotten while it was open. */
  keepFrame(entry: RequestEntry, frame: FrameEntry): void {
    const { socket } = entry;
    if (!socket) return;
    if (entry.changedAt === 0) this.add(entry);
    socket.frames.push(frame);
    if (socket.frames.length > FRAMES_KEPT) {
      const [oldest] = socket.frames.splice(0, 1);
      this.#count(entry, "bytes", oldest ? -sizeOf(oldest) : 0);
      socket.framesDropped += 1;
    }
    this.#keepBytes(entry, sizeOf(frame));
    this.changed(entry);
  }

  find(matches: Matches): RequestEntry[] {
    return this.#entries.filter(matches);
  }

  /** What an account has written, or what all have, is gone: writing it again is no repetition. */
  takeBack(account: AccountId | undefined): void {
    for (const entry of this.#entries) {
      if (account === undefined || entry.account === account) entry.isTakenBack = true;
    }
  }

  /** How many were dropped for others; of an account, or of all. */
  dropped(account: AccountId | undefined): number {
    if (account !== undefined) return this.#dropped.get(account) ?? 0;
    return [...this.#dropped.values()].reduce((total, each) => total + each, 0);
  }

  clear(account: AccountId | undefined): number {
    const isGone = (entry: RequestEntry) => account === undefined || entry.account === account;
    const gone = this.find(isGone);
    for (const entry of gone) this.#forget(entry);
    this.#entries = this.#entries.filter((entry) => !isGone(entry));
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

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#closed = true;
    this.changed();
  }

  #keepBytes(entry: RequestEntry, count: number): void {
    this.#count(entry, "bytes", count);
    while (this.#all.bytes > ALL_BODY_BYTES_MAX) this.#dropOldest(this.#holderOfMost("bytes"));
  }

  /** So much more is kept of the entry's account, or less. */
  #count({ account }: RequestEntry, what: keyof Kept, more: number): Kept {
    const kept = this.#kept.get(account) ?? { entries: 0, bytes: 0 };
    this.#kept.set(account, kept);
    for (const each of [kept, this.#all]) each[what] += more;
    return kept;
  }

  #holderOfMost(what: keyof Kept): AccountId | undefined {
    const most = [...this.#kept].reduce((one, other) =>
      other[1][what] > one[1][what] ? other : one,
    );
    return most[0];
  }

  #dropOldest(account: AccountId | undefined): void {
    const at = this.#entries.findIndex((entry) => entry.account === account);
    const [entry] = this.#entries.splice(at, 1);
    assert(at !== -1 && entry, "an account of which something is kept has an entry");
    this.#forget(entry);
    this.#dropped.set(account, (this.#dropped.get(account) ?? 0) + 1);
  }

  #forget(entry: RequestEntry): void {
    const { body, socket, account } = entry;
    const frames = socket?.frames.splice(0) ?? [];
    const bytes = frames.reduce((total, frame) => total + sizeOf(frame), body?.length ?? 0);
    entry.body = undefined;
    entry.changedAt = 0;
    if (socket) socket.framesDropped = 0;
    this.#count(entry, "bytes", -bytes);
    if (this.#count(entry, "entries", -1).entries === 0) this.#kept.delete(account);
  }
}

function sizeOf({ text }: FrameEntry): number {
  return text?.length ?? 0;
}
