import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import { backoffMs } from "./schedule.ts";
import type { LiveConnection, LiveHandlers } from "./service.ts";

/** A service that went away took many sockets with it: they come back over so long. */
const RETURN_MS_MAX = 5000;
/** A service that answers calls and has refused so many handshakes in a row offers no socket. */
const NO_SOCKET_FAILURES = 8;
/** It is asked whether it does now after so long at most. */
const NO_SOCKET_MS_MAX = 60 * 60_000;

/** What the link works with. `onFrame` gets one frame at a time; rejecting closes the socket. */
export interface LiveLinkOptions {
  readonly open: (handlers: LiveHandlers) => LiveConnection | undefined;
  readonly world: World;
  readonly log: Log;
  readonly projects: () => readonly ProjectId[];
  /** When the handshake, which is a request, may be sent; on the world's steady clock. */
  readonly mayOpenAt: () => number;
  /** Whether the service answers calls: then it may just not have a socket to offer. */
  readonly isReachable: () => boolean;
  /** A handshake came to nothing, as calls do now. */
  readonly onUnreached: () => void;
  readonly onFrame: (frame: ServerFrame) => Promise<void>;
  readonly onState: (live: boolean) => void;
}

/** Keeps one live socket up: opens it again with backoff, and subscribes each time. */
export class LiveLink {
  readonly #options: LiveLinkOptions;
  #connection: LiveConnection | undefined;
  #up = false;
  #failures = 0;
  #retry: Timer | undefined;
  #stopped = false;
  #isReopening = false;
  #paused = false;
  /** Frames are taken one after another, in the order in which they came. */
  #frames: Promise<void> = Promise.resolve();

  constructor(options: LiveLinkOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped || this.#paused || this.#connection) return;
    this.#retry?.cancel();
    const waitMs = this.#options.mayOpenAt() - this.#options.world.monotonic();
    if (waitMs > 0) {
      this.#retryIn(Math.min(waitMs, NO_SOCKET_MS_MAX));
      return;
    }
    this.#connection = this.#options.open({
      opened: () => {
        this.#up = true;
        this.#failures = 0;
        this.#options.onState(true);
        this.resubscribe();
      },
      frame: (frame) => {
        this.#frames = this.#frames
          .then(() => this.#options.onFrame(frame))
          .catch((thrown) => {
            this.#options.log.error({ reason: String(thrown) }, "a live frame could not be taken");
            this.#connection?.close();
          });
      },
      closed: (message) => this.#closed(message),
    });
  }

  /** Says which projects to hear of; again whenever they change. */
  resubscribe(): void {
    if (this.#up) this.#connection?.subscribe(this.#options.projects());
  }

  /** Calls come through again, so the socket may, too. */
  serviceAnswered(): void {
    if (!this.#connection && this.#failures > 0) this.start();
  }

  /** Tries now instead of at the end of the backoff, which begins anew. */
  hurry(): void {
    this.#failures = 0;
    if (!this.#connection) this.start();
  }

  /** Opens a new socket at once: the one that is there may lead nowhere. */
  reopen(): void {
    this.#isReopening = true;
    this.#connection?.close();
    this.#isReopening = false;
    this.hurry();
  }

  /** Opens no socket until `resume`. */
  pause(): void {
    this.#paused = true;
    this.#retry?.cancel();
    this.#connection?.close();
  }

  resume(): void {
    this.#paused = false;
    this.hurry();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry?.cancel();
    this.#connection?.close();
  }

  #closed(message: string): void {
    const wasUp = this.#up;
    this.#connection = undefined;
    this.#up = false;
    this.#failures += 1;
    this.#options.onState(false);
    if (!wasUp && !this.#options.isReachable()) this.#options.onUnreached();
    if (this.#stopped || this.#paused || this.#isReopening) return;
    this.#options.log.info({ reason: message }, "the live socket is down");
    const fraction = randomFraction(this.#options.world);
    const delayMs = wasUp ? RETURN_MS_MAX * fraction : this.#backoffMs(fraction);
    this.#retryIn(delayMs);
  }

  #backoffMs(fraction: number): number {
    const isOffered = !this.#options.isReachable() || this.#failures < NO_SOCKET_FAILURES;
    return isOffered ? backoffMs(this.#failures, fraction) : NO_SOCKET_MS_MAX * (1 - fraction / 2);
  }

  #retryIn(delayMs: number): void {
    this.#retry = this.#options.world.setTimer(delayMs, () => this.start());
  }
}
