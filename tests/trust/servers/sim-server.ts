import { createHostApp, type HostApp } from "../../../server/host-app.ts";
import type { LiveSocket } from "../../../server/live/live-session.ts";
import { silentLog } from "../../../shared/log.ts";
import { encodeSubscribe, parseServerFrame } from "../../../shared/wire/live.ts";
import type { Position } from "../../../shared/wire/position.ts";
import type { Dice } from "../simulate/dice.ts";
import type { Ledger } from "./ledger.ts";
import { SteppedWorld } from "./stepped-world.ts";
import { Wire } from "./wire.ts";

const DAY_MS = 86_400_000;

/** Beyond the looks that a server takes at the database by itself. */
export const LOOKS_MS = 5100;

/** Beyond the time after which a server listens again. */
export const LISTENS_MS = 1100;

/** What a call came to; `isLost` where there was no answer, since the server died. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly isLost: boolean;
}

/** What one call brings. */
export interface Call {
  readonly token: string;
  readonly body?: unknown;
  readonly key?: string;
}

let started = 0;

/** One of the servers: the whole program over its wire, without a port. */
export class SimServer {
  readonly sockets: SimSocket[] = [];

  private constructor(
    readonly name: string,
    readonly wire: Wire,
    readonly world: SteppedWorld,
    readonly host: HostApp,
  ) {}

  /** `at`: each server's clock is a day off from the next one's. */
  static async start(
    at: number,
    address: string,
    { dice, ledger }: { readonly dice: Dice; readonly ledger: Ledger },
  ): Promise<SimServer> {
    started += 1;
    const wire = new Wire(`${at}-${started}`, address, ledger);
    const world = new SteppedWorld(dice.fork(), (at - 1) * DAY_MS);
    const host = await createHostApp({
      path: wire.own,
      world,
      log: silentLog,
      loopbackOnly: true,
      limits: "off",
    });
    return new SimServer(`server ${at}`, wire, world, host);
  }

  async ask(method: string, path: string, { token, body, key }: Call): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await Promise.race([this.host.app.fetch(request), this.wire.death]);
    if (!answer) return { status: 0, body: undefined, isLost: true };
    return { status: answer.status, body: await answer.json(), isLost: false };
  }

  /** A live socket that hears of the account's `global` layer. */
  async listen(token: string): Promise<SimSocket> {
    const headers = {
      authorization: `Bearer ${token}`,
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    };
    const request = new Request("http://127.0.0.1/api/live", { headers });
    const peer = () => ({ address: "127.0.0.1", port: 1 });
    const handshake = await this.host.app.openLive(request, peer);
    if (!handshake.accepted) throw new Error(`no live socket: ${handshake.response.status}`);
    const socket = new SimSocket(this.wire.ledger);
    handshake.open(socket).receive(encodeSubscribe([]));
    this.sockets.push(socket);
    return socket;
  }

  async close(): Promise<void> {
    if (this.wire.isDead) return;
    await this.host.close();
    this.world.end();
  }

  /** As by SIGKILL. */
  kill(): void {
    this.wire.kill();
    this.world.end();
    for (const socket of this.sockets) socket.close();
  }
}

/** A client's end of a live socket. */
export class SimSocket implements LiveSocket {
  isOpen = true;
  /** Up to where it knows the layer. */
  position: Position | undefined;
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  send(text: string): void {
    const frame = parseServerFrame(text);
    if (frame?.type === "subscribed") this.position = frame.positions.get("global");
    if (frame?.type !== "changed" || frame.document !== "global") return;
    const { epoch, seq, update } = frame;
    if (update) this.#ledger.heard(update);
    const last = this.position?.seq ?? 0;
    // What is committed while it subscribes may be in the position, too.
    if (seq <= last && epoch === this.position?.epoch) return;
    if (seq !== last + 1) this.#ledger.problem(`a live socket heard ${seq} after ${last}`);
    this.position = { epoch, seq };
  }

  ping(): void {}

  close(): void {
    this.isOpen = false;
  }

  terminate(): void {
    this.isOpen = false;
  }

  bufferedBytes(): number {
    return 0;
  }
}
