import type { AccountId } from "../../../shared/ids.ts";
import type { Timer, World } from "../../../shared/world.ts";
import type { RequestEntry } from "./journal.ts";

/**
 * How long a turn lasts. In each turn this process reads what has come; on a busy machine it takes
 * longer.
 */
const TURN_MS = 5;

/**
 * After this many turns without a request of a token (100 ms), the next one was not sent together
 * with the last.
 */
const QUIET_TURNS = 20;

/** After so many turns (a second) an answer counts as read, however much comes meanwhile. */
const BUSY_TURNS = 200;

/** For how many tokens the newest request is remembered. */
const TOKENS_MAX = 10_000;

/** A request, and the turn in which it came or was answered. */
interface Timed {
  readonly entry: RequestEntry;
  readonly turn: number;
}

/** What a token has asked last. */
interface Last extends Timed {
  /**
   * The earlier requests of its run that came so shortly before that they may have been sent
   * together with it.
   */
  readonly recent: readonly Timed[];
}

/**
 * Knows since when a client knew how its request ended. A client that sends the same before that
 * sends it beside the first request, and so does not repeat it.
 */
export class KnownEnds {
  readonly #last = new Map<string | undefined, Last>();
  #unread: Timed[] = [];
  #timer: Timer | undefined;
  #turn = 0;
  #serial = 0;
  #cameInTurn = 0;
  #closed = false;

  /** `real` has the time of the clients. */
  constructor(readonly real: Pick<World, "setTimer">) {}

  /**
   * Notes a request that came. Returns those that are now known to have been sent together with it.
   */
  began(entry: RequestEntry): readonly RequestEntry[] {
    const { token, serial } = entry;
    const came: Timed = { entry, turn: this.#turn };
    const before = (this.#last.get(token)?.recent ?? []).filter(
      ({ turn }) => this.#turn - turn < QUIET_TURNS,
    );
    entry.run = runOf(entry, before);
    this.#serial = serial;
    this.#cameInTurn = this.#turn;
    if (this.#last.size >= TOKENS_MAX) this.#last.clear();
    const isTogether = entry.run === undefined;
    this.#last.set(token, { ...came, recent: isTogether ? [came] : [...before, came] });
    this.#goOn();
    const together = before.filter((each) => isTogether && each.entry.run !== undefined);
    for (const each of together) each.entry.run = undefined;
    return together.map((each) => each.entry);
  }

  /**
   * The request was answered, cut or given up. `matters`: clients should know it before they send
   * over other connections, too.
   */
  ended(entry: RequestEntry, { matters }: { readonly matters: boolean }): void {
    if (entry.isOver) return;
    entry.isOver = true;
    if (matters) this.#unread.push({ entry, turn: this.#turn });
    this.#goOn();
  }

  /** Forgets the former requests of an account, or of all: the next request follows none. */
  forget(account: AccountId | undefined): void {
    for (const [token, { entry }] of this.#last) {
      if (account === undefined || entry.account === account) this.#last.delete(token);
    }
  }

  /** Nothing more will be known. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #goOn(): void {
    if (this.#closed || this.#timer) return;
    this.#timer = this.real.setTimer(TURN_MS, () => {
      this.#timer = undefined;
      this.#turn += 1;
      this.#unread = this.#unread.filter((unread) => !this.#isRead(unread));
      const isQuiet = this.#turn - this.#cameInTurn >= QUIET_TURNS;
      if (!isQuiet || this.#unread.length > 0) this.#goOn();
    });
  }

  #isRead({ entry, turn }: Timed): boolean {
    const newest = this.#last.get(entry.token)?.turn ?? turn;
    const isQuiet = this.#turn - Math.max(turn, newest) >= QUIET_TURNS;
    if (!isQuiet && this.#turn - turn < BUSY_TURNS) return false;
    entry.readAfter = this.#serial;
    return true;
  }
}

/**
 * The run that a request belongs to; see `RequestEntry`. A client that asks one thing after another
 * uses one connection, or two in turn: Node's `fetch` has not given the first back when the next
 * request is made.
 */
function runOf({ connection, serial }: RequestEntry, before: readonly Timed[]): number | undefined {
  const [beforeLast, last] = [before.at(-2)?.entry, before.at(-1)?.entry];
  if (!last) return serial;
  const isInTurn = !beforeLast || beforeLast.connection === connection;
  return last.isOver && isInTurn && connection !== undefined ? last.run : undefined;
}

/**
 * Whether the client of `later` surely knew the end of `earlier` when it sent it. A client that
 * asks one thing after another has read the answers of its connection. Requests that are sent
 * together over several connections may come in any order, and late, because one may wait for a
 * connection that another one uses.
 */
export function knew(later: RequestEntry, earlier: RequestEntry): boolean {
  if (earlier.serial >= later.serial) return false;
  if (earlier.readAfter !== undefined && earlier.readAfter < later.serial) return true;
  const isSame = later.connection !== undefined && later.connection === earlier.connection;
  return isSame && later.run !== undefined && later.run === earlier.run;
}
