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

/** Projects that come within this time are subscribed to by one frame. */
const BURST_MS = 200;

/**
 * What the link works with. `onFrame` is called with one frame at a time; with `subscribed` it also
 * gets the projects of the subscription that the frame answers. If it rejects, the socket is
 * closed.
 */
export interface LiveLinkOptions {
  readonly open: (handlers: LiveHandlers) => LiveConnection | undefined;
  readonly world: World;
  readonly log: Log;
  readonly projects: () => readonly ProjectId[];
  /** When the handshake, which counts as a request, may be sent; on the world's steady clock. */
  readonly mayOpenAt: () => number;
  /** Whether the service answers calls. If so, it may only have no socket to offer. */
  readonly isReachable: () => boolean;
  /** A handshake failed because there was no connection. */
  readonly onUnreached: () => void;
  readonly onFrame: (frame: ServerFrame, asked: readonly ProjectId[]) => Promise<void>;
  readonly onState: (state: LiveState) => void;
}

/**
 * Keeps one live socket open and subscribes each time. `stepLive` decides what follows from an
 * event; this class has the socket, the timers and the frames.
 */
export class LiveLink {
  readonly #options: LiveLinkOptions;
  #state = LIVE_LINK_IDLE;
  #connection: LiveConnection | undefined;
  /** The projects that this connection subscribed to. A subscription ends only with the socket. */
  /** Why the socket was down, as it was logged last since it was open. */
  #loggedDown: string | undefined;
  readonly #subscribed = new Set<ProjectId>();
  /** Subscriptions of this connection without an answer yet. Answers come in the same order. */
  readonly #unanswered: (readonly ProjectId[])[] = [];
  #isSubscribing = false;
  #retry: Timer | undefined;
  #burst: Timer | undefined;
  /** Frames are handled one after another, in the order of their arrival. */
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

  /** There may be new projects. Those of a burst are subscribed to together. */
  subscribeMore(): void {
    if (!this.#state.isOpen || this.#isSubscribing || this.#news().length === 0) return;
    this.#isSubscribing = true;
    this.#burst = this.#options.world.setTimer(BURST_MS, () => {
      this.#isSubscribing = false;
      if (this.#state.isOpen && this.#news().length > 0) this.#subscribe();
    });
  }

  /** Calls succeed again, so the socket may, too. */
  serviceAnswered(): void {
    this.#step({ kind: "answered", waitMs: this.#waitMs() });
  }

  /** Tries now, and starts the backoff from its beginning. */
  hurry(): void {
    this.#step({ kind: "hurry", waitMs: this.#waitMs() });
  }

  /** Opens a new socket at once, because the current one may be dead. */
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

  /** Closing a socket calls back at once, so a step may begin within another one's effects. */
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
      opened: () => {
        this.#loggedDown = undefined;
        this.#step({ kind: "opened" });
      },
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
    if (this.#state.phase !== "waiting" || message === this.#loggedDown) return;
    this.#loggedDown = message;
    log.info({ reason: message }, "the live socket is down");
  }

  /** New projects, up to the number for one socket: a service closes one that asks for more. */
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
