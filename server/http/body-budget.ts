import { RateLimited } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { LIMITS } from "../../shared/limits.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { BodyTurns } from "./body-turns.ts";

const MIB = 1024 * 1024;

/** Bytes of bodies that may be under way at once: of everybody, and of one account. */
interface Room {
  readonly total: number;
  readonly perAccount: number;
}

/** Bodies up to this size have room of their own, so that large ones are not in their way. */
const SMALL_BYTES_MAX = 256 * 1024;

/** Bodies up to this size don't wait for others. */
const TINY_BYTES_MAX = 16 * 1024;

const SMALL: Room = { total: 64 * MIB, perAccount: 16 * MIB };

/** Each account may have one of the largest, and another one then half of one. */
const LARGE: Room = {
  total: 1.5 * LIMITS.exchangeBodyBytes,
  perAccount: LIMITS.exchangeBodyBytes,
};

/** What a body without a declared length takes at first. */
const UNDECLARED_BYTES = 64 * 1024;

/** A client that was refused may try again after this many seconds. */
const RETRY_AFTER_S = 5;

/** The room that one request's body takes: at most that of one of the largest. */
export interface BodyLease {
  /**
   * The body, or what becomes of it, is larger than was known. Throws the 429 without room. Once
   * it is released nothing is taken, for nobody would give it back.
   */
  growTo(bytes: number): void;
  /**
   * Resolves when it is the body's turn to be parsed and worked on, until it is released. May be
   * called again, when the body has grown.
   */
  turn(): Promise<void>;
  /** Nothing is left of it in memory. May be called twice. */
  release(): void;
}

/** The bodies of one kind that are under way. */
class Pool {
  readonly #perAccount = new Map<AccountId, number>();
  bytes = 0;
  /** Small bodies don't wait for large ones. */
  readonly turns: BodyTurns;

  constructor(
    readonly room: Room,
    world: Pick<World, "setTimer" | "monotonic">,
    log: Pick<Log, "warn">,
  ) {
    this.turns = new BodyTurns(world, log);
  }

  /** False: there is no room for so many bytes more. */
  take(account: AccountId, bytes: number): boolean {
    const own = (this.#perAccount.get(account) ?? 0) + bytes;
    if (own > this.room.perAccount || this.bytes + bytes > this.room.total) return false;
    this.#perAccount.set(account, own);
    this.bytes += bytes;
    return true;
  }

  give(account: AccountId, bytes: number): void {
    this.bytes -= bytes;
    const left = (this.#perAccount.get(account) ?? 0) - bytes;
    if (left > 0) this.#perAccount.set(account, left);
    else this.#perAccount.delete(account);
  }
}

/**
 * Bounds the memory that bodies under way take, whoever sends them: a request takes room for its
 * body before any of it is read, more once it is known what the body will become as a value, and
 * gives it back when it is answered. Without room it is 429.
 */
export class BodyBudget {
  readonly #small: Pool;
  readonly #large: Pool;
  #refused = 0;

  constructor(world: Pick<World, "setTimer" | "monotonic">, log: Pick<Log, "warn"> = silentLog) {
    this.#small = new Pool(SMALL, world, log);
    this.#large = new Pool(LARGE, world, log);
  }

  /** How much room is taken. */
  get bytes(): number {
    return this.#small.bytes + this.#large.bytes;
  }

  /** How many bodies had no room. */
  get refused(): number {
    return this.#refused;
  }

  /** Room for the body that `headers` announce; undefined for none. Throws the 429. */
  lease(account: AccountId, headers: Headers): BodyLease | undefined {
    const bytes = announcedBytes(headers);
    if (bytes === 0) return undefined;
    let taken = { pool: this.#poolFor(bytes), bytes: 0 };
    let endTurn = () => {};
    let isReleased = false;
    let turnBytes = 0;
    const give = () => {
      taken.pool.give(account, taken.bytes);
      taken = { ...taken, bytes: 0 };
    };
    const release = () => {
      give();
      isReleased = true;
      endTurn();
    };
    const turn = async () => {
      const { pool, bytes: taking } = taken;
      if (taking <= TINY_BYTES_MAX || taking <= turnBytes) return;
      // One that has grown since its turn began waits again, for a turn of its size.
      endTurn();
      turnBytes = taking;
      endTurn = await pool.turns.take(account, taking);
      if (isReleased) endTurn();
    };
    const growTo = (wanted: number) => {
      const enough = Math.min(wanted, LIMITS.exchangeBodyBytes);
      if (isReleased || enough <= taken.bytes) return;
      give();
      const pool = this.#poolFor(enough);
      if (!pool.take(account, enough)) throw this.#refusal();
      taken = { pool, bytes: enough };
    };
    growTo(bytes);
    return { growTo, turn, release };
  }

  #poolFor(bytes: number): Pool {
    return bytes <= SMALL_BYTES_MAX ? this.#small : this.#large;
  }

  #refusal(): RateLimited {
    this.#refused += 1;
    return new RateLimited(
      "too many large bodies are under way: send this one again in a few seconds",
      RETRY_AFTER_S,
    );
  }
}

/** A body over every limit is read and discarded, and takes no room. */
function announcedBytes(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared === null) return headers.has("transfer-encoding") ? UNDECLARED_BYTES : 0;
  const bytes = Number(declared);
  return bytes <= LIMITS.exchangeBodyBytes ? bytes : 0;
}

const leases = new WeakMap<Request, BodyLease>();

/** From now on the body of `request` is read on this lease. */
export function readOn(request: Request, lease: BodyLease): void {
  leases.set(request, lease);
}

/** The lease of a request's body; undefined where nobody counts. */
export function leaseOf(request: Request): BodyLease | undefined {
  return leases.get(request);
}
