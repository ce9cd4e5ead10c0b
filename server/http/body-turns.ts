import { messageOf } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { makeRoomFor } from "./garbage.ts";

const MIB = 1024 * 1024;

/** Bodies of so many bytes are worked on at the same time. A larger one is alone. */
const AT_ONCE_BYTES_MAX = 8 * MIB;

/**
 * After this time a body that is still worked on is in nobody's way any more: it waits for
 * something else, such as a lock of its account, and the others are not to wait with it.
 */
const TURN_MS_MAX = 5000;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => Promise<void>;
}

/**
 * Lets few large bodies be parsed and worked on at the same time, because each takes many times its
 * size until it is answered: as a value, in its document, in its rows and in its answer. Others
 * wait as bytes. Accounts take turns, however much each of them sends.
 */
export class BodyTurns {
  #bytes = 0;
  /** The account whose turn is next comes first. */
  readonly #waiting = new Map<AccountId, Waiting[]>();
  #isRoomMissed = false;

  constructor(
    readonly world: Pick<World, "setTimer" | "monotonic">,
    readonly log: Pick<Log, "warn"> = silentLog,
    readonly makeRoom: typeof makeRoomFor = makeRoomFor,
  ) {}

  /** Resolves when it is the body's turn, to what ends it. That may be called twice. */
  take(account: AccountId, bytes: number): Promise<() => void> {
    return new Promise((resolve) => {
      const begin = async () => {
        this.#bytes += bytes;
        await this.makeRoom(bytes, this.world).catch((thrown: unknown) => this.#missRoom(thrown));
        let ended = false;
        const end = () => {
          if (ended) return;
          ended = true;
          timer.cancel();
          this.#bytes -= bytes;
          this.#beginNext();
        };
        const timer = this.world.setTimer(TURN_MS_MAX, end);
        resolve(end);
      };
      const before = this.#waiting.get(account) ?? [];
      this.#waiting.set(account, [...before, { bytes, begin }]);
      this.#beginNext();
    });
  }

  /**
   * If garbage can't be collected, a body is worked on all the same: collecting only saves memory.
   * It is logged once.
   */
  #missRoom(thrown: unknown): void {
    if (this.#isRoomMissed) return;
    this.#isRoomMissed = true;
    this.log.warn(
      { reason: messageOf(thrown) },
      "garbage is not collected before large bodies: the process will hold more memory",
    );
  }

  /** Bodies begin in order. If smaller ones overtook, the largest could wait for ever. */
  #beginNext(): void {
    for (const [account, [next, ...others]] of this.#waiting) {
      if (!next || (this.#bytes > 0 && this.#bytes + next.bytes > AT_ONCE_BYTES_MAX)) return;
      this.#waiting.delete(account);
      if (others.length > 0) this.#waiting.set(account, others);
      void next.begin();
    }
  }
}
