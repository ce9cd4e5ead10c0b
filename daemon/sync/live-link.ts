import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import { LIVE_PROJECTS_MAX, type ServerFrame, TOKEN_INVALID } from "../../shared/wire/live.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import { backoffMs } from "../budget/schedule.ts";
import type { LiveConnection, LiveHandlers } from "../service/service.ts";

/** A service that went away took many sockets with it: they come back over so long. */
const RETURN_MS_MAX = 5000;
/** Projects that come within so long are subscribed to by one frame. */
const BURST_MS = 500;
/** A service that answers calls and has refused so many handshakes in a row offers no socket. */
const NO_SOCKET_FAILURES = 8;
/** It is asked whether it does now after so long at most. */
const NO_SOCKET_MS_MAX = 60 * 60_000;

/**
 * How it stands with the socket: changes are told; the service has said nothing for longer than its
 * pings are apart; there is none over which it has answered; the service offers none, as far as can
 * be told; or it was closed for its token.
 */
export type LiveState = "live" | "silent" | "down" | "absent" | "refused";

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
  readonly onState: (state: LiveState) => void;
}

/**
 * Keeps one live socket up: opens it again with backoff, and subscribes each time. A socket is live
 * once the service has answered a subscription, for as long as it is heard of.
 */
export class LiveLink {
  readonly #options: LiveLinkOptions;
  #connection: LiveConnection | undefined;
  /** It is open, so that it can be written to. */
  #up = false;
  #answered = false;
  /** What this connection was asked to tell of; a subscription has no end but the socket's. */
  readonly #subscribed = new Set<ProjectId>();
  #isSubscribing = false;
  #failures = 0;
  #retry: Timer | undefined;
  #burst: Timer | undefined;
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
        this.#subscribe(this.#news());
      },
      frame: (frame) => {
        if (frame.type === "subscribed" && !this.#answered) this.#begun();
        this.#frames = this.#frames
          .then(() => this.#options.onFrame(frame))
          .catch((thrown) => {
            this.#options.log.error({ reason: String(thrown) }, "a live frame could not be taken");
            this.#connection?.close();
          });
      },
      silent: (isSilent) => {
        if (isSilent) this.#options.onState("silent");
        else if (this.#answered) this.#options.onState("live");
      },
      closed: (message, code) => this.#closed(message, code),
    });
  }

  /** Whether the socket tells of a project's changes, or will once it is live. */
  tellsOf(project: ProjectId): boolean {
    return this.#subscribed.has(project);
  }

  /** There may be more projects to hear of; those of a burst are asked for together. */
  subscribeMore(): void {
    if (!this.#up || this.#isSubscribing || this.#news().length === 0) return;
    this.#isSubscribing = true;
    this.#burst = this.#options.world.setTimer(BURST_MS, () => {
      this.#isSubscribing = false;
      const news = this.#news();
      if (this.#up && news.length > 0) this.#subscribe(news);
    });
  }

  /** As many as a socket may hear of: a service closes one that asks for more. */
  #news(): ProjectId[] {
    const room = LIVE_PROJECTS_MAX - this.#subscribed.size;
    return this.#options
      .projects()
      .filter((project) => !this.#subscribed.has(project))
      .slice(0, room);
  }

  #subscribe(projects: readonly ProjectId[]): void {
    for (const project of projects) this.#subscribed.add(project);
    this.#connection?.subscribe(projects);
  }

  #begun(): void {
    this.#answered = true;
    this.#failures = 0;
    this.#options.onState("live");
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
    this.#burst?.cancel();
    this.#connection?.close();
  }

  #closed(message: string, code: number | undefined): void {
    const wasOpen = this.#up;
    const wasLive = this.#answered;
    this.#connection = undefined;
    this.#up = false;
    this.#answered = false;
    this.#subscribed.clear();
    this.#failures += 1;
    this.#options.onState(
      code === TOKEN_INVALID ? "refused" : this.#isOffered() ? "down" : "absent",
    );
    if (!wasOpen && !this.#options.isReachable()) this.#options.onUnreached();
    if (this.#stopped || this.#paused || this.#isReopening) return;
    this.#options.log.info({ reason: message }, "the live socket is down");
    const fraction = randomFraction(this.#options.world);
    const delayMs = wasLive ? RETURN_MS_MAX * fraction : this.#backoffMs(fraction);
    this.#retryIn(delayMs);
  }

  #isOffered(): boolean {
    return !this.#options.isReachable() || this.#failures < NO_SOCKET_FAILURES;
  }

  #backoffMs(fraction: number): number {
    if (this.#isOffered()) return backoffMs(this.#failures, fraction);
    return NO_SOCKET_MS_MAX * (1 - fraction / 2);
  }

  #retryIn(delayMs: number): void {
    this.#retry = this.#options.world.setTimer(delayMs, () => this.start());
  }
}
