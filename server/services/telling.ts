import type { AccountId } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";
import type { LiveChange } from "./services.ts";

/** At most this many listeners are told in one turn: in a fraction of a millisecond. */
const TOLD_AT_ONCE = 32;

/** Of more changes than these the oldest are told at once: whoever writes them has to wait. */
const WAITING_MAX = 256;

type Listener = (change: LiveChange) => void;

/** A change, and who has yet to be told of it. */
interface Told {
  readonly change: LiveChange;
  readonly listeners: readonly Listener[];
  readonly of: ReadonlySet<Listener>;
}

/**
 * Tells an account's listeners of its changes, each of them in order. Of many listeners some are
 * told at once, and the others in later turns: neither the write's own answer nor others' requests
 * wait until a thousand sockets have it.
 */
export class Telling {
  readonly #listeners = new Map<AccountId, Set<Listener>>();
  #waiting: Told[] = [];
  #isTelling = false;

  constructor(readonly world: Pick<World, "defer">) {}

  /** Returns a function that ends this: the listener is not called after it. */
  listen(account: AccountId, listener: Listener): () => void {
    const ofAccount = this.#listeners.get(account) ?? new Set();
    this.#listeners.set(account, ofAccount.add(listener));
    return () => {
      ofAccount.delete(listener);
      if (ofAccount.size === 0 && this.#listeners.get(account) === ofAccount) {
        this.#listeners.delete(account);
      }
    };
  }

  /** Those who listen now are told. `change` is called only if there are any. */
  tell(account: AccountId, change: () => LiveChange): void {
    const of = this.#listeners.get(account);
    if (!of) return;
    this.#waiting.push({ change: change(), listeners: [...of], of });
    if (this.#waiting.length > WAITING_MAX) this.#tellUpTo(of.size);
    else if (!this.#isTelling) this.#tellSome();
  }

  #tellSome(): void {
    this.#tellUpTo(TOLD_AT_ONCE);
    this.#isTelling = this.#waiting.length > 0;
    if (this.#isTelling) this.world.defer(() => this.#tellSome());
  }

  #tellUpTo(count: number): void {
    let left = count;
    while (left > 0) {
      const next = this.#waiting.shift();
      if (!next) break;
      const { change, listeners, of } = next;
      for (const listener of listeners.slice(0, left)) {
        if (of.has(listener)) this.#tellOne(listener, change);
      }
      const others = listeners.slice(left);
      left -= listeners.length - others.length;
      if (others.length > 0) this.#waiting.unshift({ change, listeners: others, of });
    }
  }

  /** A listener's error is a bug, but not the others'. */
  #tellOne(listener: Listener, change: LiveChange): void {
    try {
      listener(change);
    } catch (thrown) {
      this.world.defer(() => {
        throw thrown;
      });
    }
  }
}
