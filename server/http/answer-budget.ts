import type { AccountId } from "../../shared/ids.ts";
import { type Pause, patientPauseOf } from "../../shared/turns.ts";
import type { Timer, World } from "../../shared/world.ts";
import { bodyPartsOf, lengthOf, type Parts } from "./answer-parts.ts";

const MIB = 1024 * 1024;

/** Longer answers are sent by pieces, as they are fetched. */
export const LONG_ANSWER_BYTES = 64 * 1024;

/** Bounds of long answers under way. */
export interface AnswerRoom {
  /** Bytes of everybody, and of one account. */
  readonly total: number;
  readonly perAccount: number;
  /** An answer is ended if nothing of it is fetched for this long. */
  readonly stalledMs: number;
}

const ROOM: AnswerRoom = { total: 128 * MIB, perAccount: 64 * MIB, stalledMs: 60_000 };

/** A long answer that is not sent whole yet. */
interface Waiting {
  readonly account: AccountId | undefined;
  readonly bytes: number;
  timer: Timer;
  end(): void;
}

/**
 * Bounds the memory of answers that nobody fetches. A long answer is sent piece by piece, each when
 * the one before has left. If there is no room for a new answer, the ones that have waited longest
 * are ended, first its own account's and then anybody's. Their clients see a broken transfer and
 * ask again.
 *
 * ```
 * const answers = new AnswerBudget(world);
 * const response = answers.send(caller.account, whole);
 * ```
 */
export class AnswerBudget {
  /** The one that has waited longest comes first. */
  readonly #waiting = new Set<Waiting>();
  readonly #world: World;
  readonly #room: AnswerRoom;
  readonly #pause: Pause;
  #ended = 0;

  constructor(world: World, room: AnswerRoom = ROOM) {
    this.#world = world;
    this.#room = room;
    this.#pause = patientPauseOf(world);
  }

  /** The bytes of long answers under way. */
  get bytes(): number {
    return bytesOf([...this.#waiting]);
  }

  /** How many long answers were ended because nobody fetched them. */
  get ended(): number {
    return this.#ended;
  }

  /** The same answer, by pieces if it is long. `account`: undefined for nobody's. */
  async send(account: AccountId | undefined, answer: Response): Promise<Response> {
    const { status, headers } = answer;
    if (!(Number(headers.get("content-length")) > LONG_ANSWER_BYTES)) return answer;
    const body = this.#inPieces(account, await bodyPartsOf(answer));
    return new Response(body, { status, headers });
  }

  #inPieces(account: AccountId | undefined, parts: Parts): ReadableStream<Uint8Array> {
    // The parts are in this list alone, so that each can go once it is sent.
    const rest = [...parts];
    const length = lengthOf(parts);
    let waiting: Waiting | undefined;
    const forget = () => {
      rest.length = 0;
      if (waiting) this.#forget(waiting);
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const end = () => {
            rest.length = 0;
            // Bun would write a reason to its standard error.
            controller.error();
          };
          waiting = this.#begin({ account, bytes: length, end });
        },
        pull: async (controller) => {
          // A connection takes megabytes before it lets anybody wait, and many may begin at once.
          await this.#pause();
          const part = rest.shift();
          if (!part || !waiting) return;
          controller.enqueue(part.subarray(0, LONG_ANSWER_BYTES));
          if (part.length > LONG_ANSWER_BYTES) rest.unshift(part.subarray(LONG_ANSWER_BYTES));
          if (rest.length > 0) return this.#progress(waiting);
          forget();
          controller.close();
        },
        cancel: forget,
      },
      { highWaterMark: 0 },
    );
  }

  #begin(answer: Omit<Waiting, "timer">): Waiting {
    const { account, bytes } = answer;
    const { total, perAccount } = this.#room;
    this.#makeRoom(perAccount - bytes, (other) => other.account === account);
    this.#makeRoom(total - bytes, () => true);
    const waiting: Waiting = { ...answer, timer: { cancel() {} } };
    this.#progress(waiting);
    return waiting;
  }

  #makeRoom(bytesMax: number, counts: (waiting: Waiting) => boolean): void {
    const counted = [...this.#waiting].filter(counts);
    let bytes = bytesOf(counted);
    for (const oldest of counted) {
      if (bytes <= bytesMax) return;
      bytes -= oldest.bytes;
      this.#end(oldest);
    }
  }

  /** Marks the answer as the one that has waited least. */
  #progress(waiting: Waiting): void {
    this.#forget(waiting);
    this.#waiting.add(waiting);
    waiting.timer = this.#world.setTimer(this.#room.stalledMs, () => this.#end(waiting));
  }

  #forget(waiting: Waiting): void {
    waiting.timer.cancel();
    this.#waiting.delete(waiting);
  }

  #end(waiting: Waiting): void {
    this.#forget(waiting);
    this.#ended += 1;
    waiting.end();
  }
}

function bytesOf(answers: readonly Waiting[]): number {
  return answers.reduce((total, { bytes }) => total + bytes, 0);
}
