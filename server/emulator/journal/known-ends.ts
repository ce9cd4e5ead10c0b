import type { AccountId } from "../../../shared/ids.ts";
import type { Timer, World } from "../../../shared/world.ts";
import type { RequestEntry } from "./journal.ts";

/** In each of these this process reads what has come: on a busy machine they take longer. */
const TURN_MS = 5;

/** This many turns without a request of a token, 100 ms, end what was sent together. */
const QUIET_TURNS = 20;

/** An answer has been read after so many turns, a second, however much comes meanwhile. */
const BUSY_TURNS = 200;

/** Of so many tokens the newest request is remembered. */
const TOKENS_MAX = 10_000;

/** A request, and the turn in which it came or was answered. */
interface Timed {
  readonly entry: RequestEntry;
  readonly turn: number;
}

/** What a token has asked last. */
interface Last extends Timed {
  /** Of its run, what came so shortly before that it may have been sent together. */
  readonly recent: readonly Timed[];
}

/**
 * When clients know how their requests have ended. Who sends something without knowing it, beside
 * the other request, does nothing again.
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

  /** Gives those that are now known to have been sent together with this one. */
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
   * It is answered, cut or given up. `matters`: requests that follow over other connections should
   * have known it, too.
   */
  ended(entry: RequestEntry, { matters }: { readonly matters: boolean }): void {
    if (entry.isOver) return;
    entry.isOver = true;
    if (matters) this.#unread.push({ entry, turn: this.#turn });
    this.#goOn();
  }

  /** What an account asks next follows nothing, or what anybody asks. */
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
 * Who asks one thing after the other does so over one connection, or over two in turn, as Node's
 * `fetch` does, which has not given the first one back when the next request is made.
 */
function runOf({ connection, serial }: RequestEntry, before: readonly Timed[]): number | undefined {
  const [beforeLast, last] = [before.at(-2)?.entry, before.at(-1)?.entry];
  if (!last) return serial;
  const isInTurn = !beforeLast || beforeLast.connection === connection;
  return last.isOver && isInTurn && connection !== undefined ? last.run : undefined;
}

/**
 * Whether the client of `later` surely knew the end of `earlier` when it sent it. A client that
 * asks one thing after the other has read the answers of its connection. What is sent together over
 * several may come in any order, and late: one waits for a connection that another has had.
 */
export function knew(later: RequestEntry, earlier: RequestEntry): boolean {
  if (earlier.serial >= later.serial) return false;
  if (earlier.readAfter !== undefined && earlier.readAfter < later.serial) return true;
  const isSame = later.connection !== undefined && later.connection === earlier.connection;
  return isSame && later.run !== undefined && later.run === earlier.run;
}
