import { isIPv6 } from "node:net";
import type { Timer, World } from "../../shared/world.ts";

/** This many guesses from one address are not delayed. One is forgotten after each interval. */
export const GUESSES_FREE = 10;
const FORGIVEN_EVERY_MS = 30_000;

/**
 * The first delayed guess waits for the longest delay, halved this many times; each next one twice
 * as long.
 */
const DOUBLINGS_MAX = 6;

/** The longest wait. Clients give up after some tens of seconds. */
export const GUESS_DELAY_MS_MAX = 8_000;

/** This many addresses are remembered. The one that was quiet longest is forgotten first. */
const ADDRESSES_MAX = 10_000;

/** How many answers may wait at once, of one address and in total. */
export const WAITING_PER_ADDRESS_MAX = 256;
const WAITING_MAX = 4096;

interface Guesser {
  guesses: number;
  lastAt: number;
  waiting: number;
}

/**
 * Delays answers to an address that guesses tokens. Only refusals are delayed, so a valid token
 * works from there as usual. Guesses are forgiven one by one. A refusal is sent at once if too many
 * others wait: waiting takes memory, and a hostile client must not use up more.
 */
export class GuessDelays {
  /** By `guesserPlaceOf`; the one that was quiet longest comes first. */
  readonly #guessers = new Map<string, Guesser>();
  readonly #waiting = new Map<() => void, Timer>();
  #released = false;

  constructor(readonly world: World) {}

  /** Counts a guess. Resolves when its refusal may be sent: at once without an address. */
  async failed(address: string | undefined): Promise<void> {
    if (address === undefined || this.#released) return;
    const guesser = this.#guesserAt(guesserPlaceOf(address));
    const delayMs = this.#count(guesser);
    if (delayMs === 0 || guesser.waiting >= WAITING_PER_ADDRESS_MAX) return;
    if (this.#waiting.size >= WAITING_MAX) return;
    guesser.waiting += 1;
    await this.#wait(delayMs);
    guesser.waiting -= 1;
  }

  /** Ends all waits, also those that would begin later. */
  release(): void {
    this.#released = true;
    for (const [resolve, timer] of this.#waiting) {
      timer.cancel();
      resolve();
    }
    this.#waiting.clear();
  }

  #guesserAt(place: string): Guesser {
    const known = this.#guessers.get(place);
    const guesser = known ?? { guesses: 0, lastAt: this.world.monotonic(), waiting: 0 };
    this.#guessers.delete(place);
    this.#guessers.set(place, guesser);
    if (this.#guessers.size > ADDRESSES_MAX) this.#forgetQuietest();
    return guesser;
  }

  /** Milliseconds that this guess has to wait. */
  #count(guesser: Guesser): number {
    const now = this.world.monotonic();
    const forgiven = Math.floor((now - guesser.lastAt) / FORGIVEN_EVERY_MS);
    guesser.guesses = Math.max(0, guesser.guesses - forgiven);
    guesser.lastAt = now;
    if (guesser.guesses < GUESSES_FREE) {
      guesser.guesses += 1;
      return 0;
    }
    const doublings = Math.min(guesser.guesses - GUESSES_FREE, DOUBLINGS_MAX);
    guesser.guesses = GUESSES_FREE + Math.min(doublings + 1, DOUBLINGS_MAX);
    return GUESS_DELAY_MS_MAX / 2 ** (DOUBLINGS_MAX - doublings);
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.world.setTimer(delayMs, () => {
        this.#waiting.delete(resolve);
        resolve();
      });
      this.#waiting.set(resolve, timer);
    });
  }

  #forgetQuietest(): void {
    for (const place of this.#guessers.keys()) {
      this.#guessers.delete(place);
      return;
    }
  }
}

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An IPv4 address, or the 64-bit network of an IPv6 address, which one client commonly has. */
export function guesserPlaceOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [before = "", after] = address.replace(/%.*$/, "").split("::");
  const groups = before === "" ? [] : before.split(":");
  if (after !== undefined) {
    const last = after === "" ? [] : after.split(":");
    while (groups.length + last.length < 8) groups.push("0");
    groups.push(...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
