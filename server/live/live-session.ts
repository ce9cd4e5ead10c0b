import { AppError, assert, messageOf } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { exceedsBytes } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import {
  encodeServerFrame,
  LIVE_PROJECTS_MAX,
  parseClientFrame,
  type SubscribedFrame,
} from "../../shared/wire/live.ts";
import type { Position } from "../../shared/wire/position.ts";
import type { Timer, World } from "../../shared/world.ts";
import type { Caller, LiveChange, LivePosition, Services } from "../services/services.ts";
import { changedFrameOf } from "./changed-frame.ts";
import { CLOSE } from "./close-codes.ts";
import type { LiveSockets } from "./live-sockets.ts";

/** How often a socket is pinged and its token checked again. */
export const PING_INTERVAL_MS = 30_000;

/** At most this many unsent bytes wait. A peer that reads less is better served by a new socket. */
export const LIVE_BUFFERED_BYTES_MAX = 4 * 1024 * 1024;

/** At most this many subscriptions wait for the one before, or changes for a subscription. */
const WAITING_FRAMES_MAX = 32;
const WAITING_CHANGES_MAX = 1000;

/** Frames, and projects named in them, between two pings. Each costs a look-up in the database. */
const ASKED_PER_PING_MAX = 4 * LIVE_PROJECTS_MAX;

/** A WebSocket as a session needs it. Each runtime's listener provides one. */
export interface LiveSocket {
  send(frame: string): void;
  ping(): void;
  close(code: number, reason: string): void;
  /** Ends the connection at once. Unsent data is dropped. */
  terminate(): void;
  /** How many bytes passed to `send` have not left yet. */
  bufferedBytes(): number;
}

/** The events of one socket, from its listener. No method throws. */
export interface LiveSession {
  /** A text frame came. */
  receive(frame: string): void;
  /** A binary frame came; there are none in this protocol. */
  receiveBinary(): void;
  /** The answer to a ping came. */
  pong(): void;
  /** The socket is closed, by whichever side; with the code and reason of the closing frame. */
  closed(code?: number, reason?: string): void;
}

/** Bytes of one frame from a client: a thousand project ids and room to spare. */
const LIVE_FRAME_BYTES_MAX = 80 * 1024;

/** One open socket, its owner, and the source of changes. */
export interface LiveSessionDeps {
  readonly live: Services["live"];
  readonly account: Services["account"];
  readonly caller: Caller;
  /** Whether the token of the handshake would still be accepted. */
  readonly stillValid: () => Promise<boolean>;
  /** Counts it while it is open. */
  readonly sockets: LiveSockets;
  readonly socket: LiveSocket;
  readonly world: World;
  readonly log: Log;
}

/**
 * One live socket from its opening to its end (contract, section 6). It tells of every commit to
 * what the caller has subscribed to, and, without a subscription, to the caller's own `user` and
 * `global`.
 *
 * 1. A change that is committed after a `subscribe` frame arrived is told, by the position in
 *    `subscribed` or by a later `changed` frame: listening begins before positions are read, and
 *    changes wait until the answer has left.
 * 2. Nothing is told that the token may not read.
 * 3. Memory is bounded: by the number of subscriptions, of waiting frames, and of unsent bytes.
 *
 * ```
 * const session = createLiveSession({ socket, caller, live, account, stillValid, … });
 * session.receive(encodeSubscribe([project]));
 * ```
 */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const session = new Session(deps);
  session.start();
  return session;
}

class Session implements LiveSession {
  readonly #deps: LiveSessionDeps;
  readonly #projects = new Set<ProjectId>();
  readonly #waitingFrames: (readonly ProjectId[])[] = [];
  readonly #waitingChanges: string[] = [];
  /** Whether the client wants to know who shares the account, and the last frame that said it. */
  #wantsAccount = false;
  #accountFrame: string | undefined;
  #subscribing = false;
  #heard = true;
  #askedSincePing = 0;
  #ended = false;
  #gone = false;
  #pingTimer: Timer | undefined;
  #stopListening: (() => void) | undefined;
  #detach: (() => void) | undefined;

  constructor(deps: LiveSessionDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { live, caller, sockets } = this.#deps;
    sockets.add(caller.account);
    this.#stopListening = live.onChange(caller.account, (change) => this.#changed(change));
    this.#detach = sockets.attach({
      account: caller.account,
      // Can't reject: an error ends the session.
      recheck: () => void this.#recheck(),
      end: (reason) => this.#end(CLOSE.goingAway, reason),
    });
    this.#schedulePing();
  }

  receive(frame: string): void {
    this.#heard = true;
    if (this.#ended) return;
    try {
      if (exceedsBytes(frame, LIVE_FRAME_BYTES_MAX))
        throw new AppError("invalid_request", "too long");
      const { projectIds, account } = parseClientFrame(frame);
      if (account) this.#wantsAccount = true;
      this.#subscribe(projectIds);
    } catch {
      this.#end(CLOSE.badFrame, "not a frame of this protocol");
    }
  }

  receiveBinary(): void {
    this.#end(CLOSE.badFrame, "binary frames are not part of this protocol");
  }

  pong(): void {
    this.#heard = true;
  }

  closed(): void {
    this.#stop();
    if (this.#gone) return;
    this.#gone = true;
    const { sockets, caller } = this.#deps;
    sockets.addSubscriptions(-this.#projects.size);
    sockets.remove(caller.account);
  }

  /**
   * Stops listening. The socket is counted until it is closed, because it may hold unsent bytes.
   */
  #stop(): void {
    this.#ended = true;
    this.#pingTimer?.cancel();
    this.#stopListening?.();
    this.#detach?.();
    this.#waitingFrames.length = 0;
    this.#waitingChanges.length = 0;
  }

  #fail(thrown: unknown): void {
    // The error came from closing, as when the database closes: the socket is gone already.
    if (this.#ended) return;
    const { caller, log } = this.#deps;
    log.error({ token: caller.tokenId, error: messageOf(thrown) }, "live socket failed");
    this.#end(CLOSE.failed, "the server failed");
  }

  #end(code: number, reason: string): void {
    if (this.#ended) return;
    this.#stop();
    this.#deps.socket.close(code, reason);
  }

  #subscribe(asked: readonly ProjectId[]): void {
    const { caller, sockets } = this.#deps;
    const { boundTo } = caller;
    const readable = asked.filter((id) => boundTo === null || boundTo.includes(id));
    const before = this.#projects.size;
    for (const id of readable) this.#projects.add(id);
    sockets.addSubscriptions(this.#projects.size - before);
    this.#askedSincePing += asked.length + 1;
    this.#waitingFrames.push(readable);
    if (this.#projects.size > LIVE_PROJECTS_MAX) {
      this.#end(CLOSE.badFrame, `more than ${LIVE_PROJECTS_MAX} projects`);
    } else if (this.#waitingFrames.length > WAITING_FRAMES_MAX) {
      this.#end(CLOSE.badFrame, "too many frames at once");
    } else if (this.#askedSincePing > ASKED_PER_PING_MAX) {
      this.#end(CLOSE.badFrame, "too many subscriptions in too short a time");
    } else if (!this.#subscribing) {
      this.#subscribing = true;
      // Can't reject: an error ends the session.
      void this.#answerSubscriptions();
    }
  }

  async #answerSubscriptions(): Promise<void> {
    const { live, caller } = this.#deps;
    try {
      for (let asked = this.#waitingFrames.shift(); asked; asked = this.#waitingFrames.shift()) {
        const positions = await live.positions(caller, asked);
        this.#send(encodeServerFrame(subscribedFrameOf(positions)));
      }
      this.#subscribing = false;
      for (const frame of this.#waitingChanges.splice(0)) this.#send(frame);
      await this.#tellAccount();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #changed(change: LiveChange): void {
    if (this.#ended || !this.#concerns(change)) return;
    const frame = changedFrameOf(change);
    if (!this.#subscribing) {
      this.#send(frame);
    } else if (this.#waitingChanges.push(frame) > WAITING_CHANGES_MAX) {
      this.#end(CLOSE.tooSlow, "too many changes at once; connect again");
    }
  }

  #concerns(change: LiveChange): boolean {
    const { caller } = this.#deps;
    if (change.projectId !== null) return this.#projects.has(change.projectId);
    if (caller.boundTo !== null) return false;
    return change.document === "global" || change.user === caller.user;
  }

  #send(frame: string): void {
    if (this.#ended) return;
    const { socket } = this.#deps;
    socket.send(frame);
    if (socket.bufferedBytes() > LIVE_BUFFERED_BYTES_MAX) {
      this.#stop();
      // A peer that does not read would not see a closing frame, which would keep the bytes here.
      socket.terminate();
    }
  }

  #schedulePing(): void {
    this.#pingTimer = this.#deps.world.setTimer(PING_INTERVAL_MS, () => {
      // Can't reject: an error ends the session.
      void this.#ping();
    });
  }

  async #ping(): Promise<void> {
    const { socket } = this.#deps;
    if (!this.#heard) return this.#end(CLOSE.goingAway, "no answer to a ping");
    this.#heard = false;
    this.#askedSincePing = 0;
    socket.ping();
    await this.#checkToken();
    if (this.#ended) return;
    this.#schedulePing();
    await this.#tellAccount().catch((thrown) => this.#fail(thrown));
  }

  /** Tokens have changed, and perhaps the account's users with them. */
  async #recheck(): Promise<void> {
    await this.#checkToken();
    await this.#tellAccount().catch((thrown) => this.#fail(thrown));
  }

  async #tellAccount(): Promise<void> {
    if (!this.#wantsAccount || this.#ended) return;
    const account = await this.#deps.account.get(this.#deps.caller);
    const frame = encodeServerFrame({ type: "account", account });
    if (frame === this.#accountFrame) return;
    this.#accountFrame = frame;
    this.#send(frame);
  }

  async #checkToken(): Promise<void> {
    try {
      if (await this.#deps.stillValid()) return;
      this.#end(CLOSE.tokenInvalid, "the token is not valid now");
    } catch (thrown) {
      this.#fail(thrown);
    }
  }
}

function subscribedFrameOf(positions: readonly LivePosition[]): SubscribedFrame {
  const named = new Map<ProjectId | "user" | "global", Position>();
  for (const { document, projectId, epoch, seq } of positions) {
    const name = document === "project" ? projectId : document;
    assert(name !== null, "a project's document comes with the project's id");
    named.set(name, { epoch, seq });
  }
  return { type: "subscribed", positions: named };
}
