import type { LiveConnection, LiveHandlers } from "../../../daemon/service/service.ts";
import type { LiveSession } from "../../../server/live/live-session.ts";
import { encodeSubscribe, parseServerFrame } from "../../../shared/wire/live.ts";
import type { Network } from "./network.ts";
import type { Owner } from "./scheduler.ts";
import type { ServerNode } from "./server-node.ts";

const LATE_MS_MAX = 1500;
/** A socket whose network is cut is noticed to be dead after so long at most. */
const NOTICE_MS_MAX = 40_000;

/** A live socket between a machine and the service; both ends may notice its end apart. */
export class LiveWire implements LiveConnection {
  readonly #network: Network;
  readonly #machine: string;
  readonly #owner: Owner;
  readonly #server: ServerNode;
  readonly #handlers: LiveHandlers;
  #session: LiveSession | undefined;
  #forgetDeath = () => {};
  #isBroken = false;
  #over = false;
  #arrivesAt = 0;

  constructor(
    network: Network,
    machine: string,
    owner: Owner,
    server: ServerNode,
    token: string,
    handlers: LiveHandlers,
  ) {
    this.#network = network;
    this.#machine = machine;
    this.#owner = owner;
    this.#server = server;
    this.#handlers = handlers;
    this.#later(() => void this.#handshake(token));
  }

  subscribe(projects: Parameters<LiveConnection["subscribe"]>[0]): void {
    const frame = encodeSubscribe(projects);
    this.#later(() => {
      if (!this.#over && !this.#isCut && !this.#isBroken) this.#session?.receive(frame);
    });
  }

  close(): void {
    this.#finish("closed here");
  }

  /** Nothing comes through any more, and one day that is noticed: frames are never lost singly. */
  cut(): void {
    this.#isBroken = true;
    const { scheduler, dice } = this.#network;
    scheduler.after(dice.between(0, NOTICE_MS_MAX), this.#owner, () => this.#finish("cut"));
  }

  /** The machine's process is gone, and its end of the socket with it. */
  abandon(): void {
    this.#over = true;
    this.#forgetDeath();
    this.#session?.closed();
  }

  get #isCut(): boolean {
    return this.#network.isCut(this.#machine);
  }

  async #handshake(token: string): Promise<void> {
    const server = this.#server;
    const { app } = server;
    if (!app || this.#isCut) return this.#later(() => this.#finish("no connection"));
    const request = new Request("http://localhost/api/live", { headers: handshakeOf(token) });
    const handshake = await app.openLive(request, () => undefined);
    if (this.#over || server.app !== app) return this.#finish("no connection");
    if (!handshake.accepted) return this.#finish("refused");
    this.#session = handshake.open({
      send: (frame) => this.#send(frame),
      ping: () => this.#later(() => this.#pong()),
      close: (code) => this.#later(() => this.#finish(`closed with ${code}`)),
      terminate: () => this.#later(() => this.#finish("reset")),
      bufferedBytes: () => 0,
    });
    this.#forgetDeath = server.onDeath(() => this.#later(() => this.#finish("reset")));
    this.#later(() => {
      if (!this.#over) this.#handlers.opened();
    });
  }

  #send(frame: string): void {
    const { dice, weather, scheduler } = this.#network;
    if (this.#isCut || this.#isBroken) return;
    if (dice.chance(weather.lostFrame)) {
      this.cut();
      return;
    }
    const isLate = dice.chance(weather.lateFrame);
    // In the order in which they were sent, but for those that are late.
    const inOrder = Math.max(this.#arrivesAt, scheduler.now + this.#network.latency());
    if (!isLate) this.#arrivesAt = inOrder;
    const delayMs = inOrder - scheduler.now + (isLate ? dice.between(0, LATE_MS_MAX) : 0);
    const times = dice.chance(weather.doubledFrame) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      scheduler.after(delayMs * (time + 1), this.#owner, () => this.#receive(frame));
    }
  }

  #pong(): void {
    if (!this.#over && !this.#isCut) this.#session?.pong();
  }

  #receive(frame: string): void {
    if (this.#over || this.#isCut) return;
    const parsed = parseServerFrame(frame);
    if (parsed) this.#handlers.frame(parsed);
  }

  #finish(message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#forgetDeath();
    this.#session?.closed();
    if (this.#owner.alive) this.#handlers.closed(message);
  }

  #later(run: () => void): void {
    this.#network.scheduler.after(this.#network.latency(), this.#owner, run);
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
