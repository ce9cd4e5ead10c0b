import { RateLimited } from "../../../shared/errors.ts";
import type { World } from "../../../shared/world.ts";
import { guesserPlaceOf } from "../../accounts/guess-delays.ts";
import { hashToken } from "../../accounts/token.ts";

/** At most this many different wrong tokens of a place are answered within the window. */
const GUESSES_MAX = 10;
const WINDOW_MS = 60_000;

/** The place that was quiet longest is forgotten first. */
const PLACES_MAX = 1000;

/**
 * Limits guesses of the control token. After too many from one address no token from there is
 * compared any more, not even the right one: a different answer would give it away. One wrong token
 * again and again is no guess, but a program that is set up wrongly.
 */
export class ControlGuesses {
  /** When each wrong token came, by `guesserPlaceOf` and the token's hash. */
  readonly #wrong = new Map<string, Map<string, number>>();

  constructor(readonly world: Pick<World, "monotonic">) {}

  /** Throws a 429 where the token may not be compared now. */
  admit(address: string, token: string): void {
    const wrong = this.#of(guesserPlaceOf(address));
    if (wrong.size < GUESSES_MAX || wrong.has(hashToken(token))) return;
    const [oldest = 0] = wrong.values();
    const seconds = Math.max(1, Math.ceil((oldest + WINDOW_MS - this.world.monotonic()) / 1000));
    throw new RateLimited("too many wrong control tokens came from this address", seconds);
  }

  failed(address: string, token: string): void {
    const place = guesserPlaceOf(address);
    const wrong = this.#of(place);
    const hash = hashToken(token);
    if (!wrong.has(hash)) wrong.set(hash, this.world.monotonic());
    this.#wrong.delete(place);
    this.#wrong.set(place, wrong);
    const [quietest] = this.#wrong.keys();
    if (this.#wrong.size > PLACES_MAX && quietest !== undefined) this.#wrong.delete(quietest);
  }

  /** Those of the window, the oldest first. */
  #of(place: string): Map<string, number> {
    const wrong = this.#wrong.get(place) ?? new Map<string, number>();
    const begin = this.world.monotonic() - WINDOW_MS;
    for (const [hash, at] of wrong) if (at <= begin) wrong.delete(hash);
    return wrong;
  }
}
