import type { LiveConnection, LiveHandlers } from "../../../daemon/service/service.ts";
import type { App } from "../../../server/app/app.ts";
import type { LiveSession } from "../../../server/live/live-session.ts";
import { encodeSubscribe, parseServerFrame } from "../../../shared/wire/live.ts";

/** A socket's ends. Without an app there is none to be had. */
export interface FleetSocketOptions {
  readonly app: App | undefined;
  readonly token: string;
  /** The way there or back. */
  readonly pause: () => Promise<void>;
  readonly handlers: LiveHandlers;
  /** The handshake was answered with this status. */
  readonly heard: (status: number) => void;
}

/** A live socket through which everything comes in order. */
export class FleetSocket implements LiveConnection {
  readonly #options: FleetSocketOptions;
  #session: LiveSession | undefined;
  #frames: Promise<void> = Promise.resolve();
  #over = false;
  #stalled = false;

  constructor(options: FleetSocketOptions) {
    this.#options = options;
    void this.#open();
  }

  subscribe(projects: Parameters<LiveConnection["subscribe"]>[0]): void {
    void this.#options.pause().then(() => this.#session?.receive(encodeSubscribe(projects)));
  }

  /** Nothing comes through any more, and neither end is told. */
  stall(): void {
    this.#stalled = true;
  }

  close(): void {
    this.#finish("closed here");
  }

  async #open(): Promise<void> {
    const { app, token, pause, handlers, heard } = this.#options;
    await pause();
    if (!app) return this.#finish("no connection");
    const handshake = await app.openLive(
      new Request("http://localhost/api/live", { headers: handshakeOf(token) }),
      () => undefined,
    );
    heard(handshake.accepted ? 101 : handshake.response.status);
    if (!handshake.accepted || this.#over) return this.#finish("refused");
    this.#session = handshake.open({
      send: (frame) => this.#receive(frame),
      ping: () => this.#session?.pong(),
      close: (code) => this.#finish(`closed with ${code}`),
      terminate: () => this.#finish("reset"),
      bufferedBytes: () => 0,
    });
    handlers.opened();
  }

  #receive(frame: string): void {
    const parsed = parseServerFrame(frame);
    this.#frames = this.#frames.then(this.#options.pause).then(() => {
      if (parsed && !this.#over && !this.#stalled) this.#options.handlers.frame(parsed);
    });
  }

  #finish(message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#session?.closed();
    this.#options.handlers.closed(message);
  }
}

/** As RFC 6455 has it; the nonce is its own example. */
function handshakeOf(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
  };
}
