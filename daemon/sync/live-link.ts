import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import { LIVE_PROJECTS_MAX, type ServerFrame } from "../../shared/wire/live.ts";
import { randomFraction, type Timer, type World } from "../../shared/world.ts";
import type { LiveConnection, LiveHandlers } from "../service/service.ts";
import {
  LIVE_LINK_IDLE,
  type LiveEffect,
  type LiveEvent,
  type LiveState,
  stepLive,
} from "./live-machine.ts";

/** Projects that come within so long are subscribed to by one frame. */
const BURST_MS = 200;

/**
 * What the link works with. `onFrame` gets one frame at a time, and with `subscribed` what was
 * asked for by the subscription that it answers; rejecting closes the socket.
 */
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
  readonly onFrame: (frame: ServerFrame, asked: readonly ProjectId[]) => Promise<void>;
  readonly onState: (state: LiveState) => void;
}

/**
 * Keeps one live socket up: opens it again with backoff, and subscribes each time. What follows on
 * what is `stepLive`'s; this has the socket, the timers and the frames.
 */
export class LiveLink {
  readonly #options: LiveLinkOptions;
  #state = LIVE_LINK_IDLE;
  #connection: LiveConnection | undefined;
  /** What this connection was asked to tell of; a subscription has no end but the socket's. */
  readonly #subscribed = new Set<ProjectId>();
  /** Subscriptions of this connection that wait for their answers, which come in their order. */
  readonly #unanswered: (readonly ProjectId[])[] = [];
  #isSubscribing = false;
  #retry: Timer | undefined;
  #burst: Timer | undefined;
  /** Frames are taken one after another, in the order in which they came. */
  #frames: Promise<void> = Promise.resolve();

  constructor(options: LiveLinkOptions) {
    this.#options = options;
  }

  start(): void {
    this.#step({ kind: "due", waitMs: this.#waitMs() });
  }

  /** Whether the socket tells of a project's changes, or will once it is live. */
  tellsOf(project: ProjectId): boolean {
    return this.#subscribed.has(project);
  }

  /** There may be more projects to hear of; those of a burst are asked for together. */
  subscribeMore(): void {
    if (!this.#state.isOpen || this.#isSubscribing || this.#news().length === 0) return;
    this.#isSubscribing = true;
    this.#burst = this.#options.world.setTimer(BURST_MS, () => {
      this.#isSubscribing = false;
      if (this.#state.isOpen && this.#news().length > 0) this.#subscribe();
    });
  }

  /** Calls come through again, so the socket may, too. */
  serviceAnswered(): void {
    this.#step({ kind: "answered", waitMs: this.#waitMs() });
  }

  /** Tries now instead of at the end of the backoff, which begins anew. */
  hurry(): void {
    this.#step({ kind: "hurry", waitMs: this.#waitMs() });
  }

  /** Opens a new socket at once: the one that is there may lead nowhere. */
  reopen(): void {
    this.#step({ kind: "reopen", waitMs: this.#waitMs() });
  }

  /** Opens no socket until `resume`. */
  pause(): void {
    this.#step({ kind: "pause" });
  }

  resume(): void {
    this.#step({ kind: "resume", waitMs: this.#waitMs() });
  }

  stop(): void {
    this.#burst?.cancel();
    this.#step({ kind: "stop" });
  }

  /** Closing a socket tells of it at once, so a step may come within another one's effects. */
  #step(event: LiveEvent): void {
    const { state, effects } = stepLive(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: LiveEffect): void {
    switch (effect.kind) {
      case "open":
        this.#connection = this.#options.open(this.#handlers());
        return;
      case "close":
        this.#connection?.close();
        return;
      case "wait":
        this.#retry?.cancel();
        this.#retry = this.#options.world.setTimer(effect.delayMs, () => this.start());
        return;
      case "rest":
        this.#retry?.cancel();
        return;
      case "subscribe":
        this.#subscribe();
        return;
      case "unreached":
        this.#options.onUnreached();
        return;
      case "tell":
        this.#options.onState(effect.state);
    }
  }

  #handlers(): LiveHandlers {
    return {
      opened: () => this.#step({ kind: "opened" }),
      frame: (frame) => {
        const isAnswer = frame.type === "subscribed";
        const asked = (isAnswer && this.#unanswered.shift()) || [];
        if (isAnswer) this.#step({ kind: "subscribed" });
        this.#frames = this.#frames
          .then(() => this.#options.onFrame(frame, asked))
          .catch((thrown) => {
            this.#options.log.error({ reason: String(thrown) }, "a live frame could not be taken");
            this.#connection?.close();
          });
      },
      silent: (isSilent) => this.#step({ kind: isSilent ? "silent" : "heard" }),
      closed: (message, code) => this.#closed(message, code),
    };
  }

  #closed(message: string, code: number | undefined): void {
    const { world, log, isReachable } = this.#options;
    this.#connection = undefined;
    this.#subscribed.clear();
    this.#unanswered.length = 0;
    this.#step({
      kind: "closed",
      code,
      isReachable: isReachable(),
      fraction: randomFraction(world),
      waitMs: this.#waitMs(),
    });
    if (this.#state.phase === "waiting") log.info({ reason: message }, "the live socket is down");
  }

  /** As many as a socket may hear of: a service closes one that asks for more. */
  #news(): ProjectId[] {
    const room = LIVE_PROJECTS_MAX - this.#subscribed.size;
    return this.#options
      .projects()
      .filter((project) => !this.#subscribed.has(project))
      .slice(0, room);
  }

  #subscribe(): void {
    const news = this.#news();
    for (const project of news) this.#subscribed.add(project);
    this.#unanswered.push(news);
    this.#connection?.subscribe(news);
  }

  #waitMs(): number {
    return this.#options.mayOpenAt() - this.#options.world.monotonic();
  }
}
