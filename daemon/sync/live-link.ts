import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import { backoffMs } from "./schedule.ts";
import type { LiveConnection, LiveHandlers } from "./service.ts";

/** What the link works with. `onFrame` gets one frame at a time; rejecting closes the socket. */
export interface LiveLinkOptions {
  readonly open: (handlers: LiveHandlers) => LiveConnection | undefined;
  readonly world: World;
  readonly log: Log;
  readonly projects: () => readonly ProjectId[];
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
  /** Frames are taken one after another, in the order in which they came. */
  #frames: Promise<void> = Promise.resolve();

  constructor(options: LiveLinkOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped || this.#connection) return;
    this.#retry?.cancel();
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

  /** A call came through, so the socket may, too. */
  serviceAnswered(): void {
    if (!this.#connection && this.#failures > 0) this.start();
  }

  /** Tries now instead of at the end of the backoff, which begins anew. */
  hurry(): void {
    this.#failures = 0;
    if (!this.#connection) this.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#retry?.cancel();
    this.#connection?.close();
  }

  #closed(message: string): void {
    this.#connection = undefined;
    this.#up = false;
    this.#failures += 1;
    this.#options.onState(false);
    if (this.#stopped) return;
    this.#options.log.info({ reason: message }, "the live socket is down");
    const fraction = randomFraction(this.#options.world);
    const delayMs = backoffMs(this.#failures, fraction);
    this.#retry = this.#options.world.setTimer(delayMs, () => this.start());
  }
}
