import { encodeExchangeRequest, parseExchangeAnswer } from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { Connection, requestOf } from "./connection.ts";
import { HocuspocusConnection } from "./hocuspocus-connection.ts";
import { ReplicaWriter } from "./replica-writer.ts";

/** A client that writes to one project of its own, one update at a time. */
export interface Pusher {
  /** Makes the messages of so many updates, so that only sending them is left. */
  prepare(count: number): void;
  /** Sends what was prepared, each once the one before was acknowledged; resolves at the end. */
  push(): Promise<void>;
  close(): void;
}

/** Pushes by `POST /api/projects/:id/sync` over one kept-alive connection. */
export class SyncPusher implements Pusher {
  readonly #writer = new ReplicaWriter();
  #prepared: Uint8Array[] = [];

  private constructor(
    readonly base: { readonly url: string; readonly token: string },
    readonly project: string,
    readonly connection: Connection,
    /** Where the document stands when all that was prepared is taken. */
    private position: Position | undefined,
  ) {}

  /** Its first push makes the document. */
  static async open(url: string, token: string, project: string): Promise<SyncPusher> {
    const pusher = new SyncPusher({ url, token }, project, await Connection.open(url), undefined);
    const answer = await pusher.connection.ask(pusher.#request());
    pusher.position = positionIn(answer.status, answer.body.toString());
    return pusher;
  }

  prepare(count: number): void {
    this.#prepared = Array.from({ length: count }, () => {
      const request = this.#request();
      // Nobody else writes here, so each push is the next row.
      if (this.position) this.position = { ...this.position, seq: this.position.seq + 1 };
      return request;
    });
  }

  async push(): Promise<void> {
    for (const request of this.#prepared) {
      const { status, body } = await this.connection.ask(request);
      if (status !== 200) throw new Error(`a push was answered ${status}: ${body.toString()}`);
      if (request !== this.#prepared.at(-1)) continue;
      const { seq } = positionIn(status, body.toString());
      if (seq !== this.position?.seq) throw new Error(`${seq} of ${this.position?.seq} were taken`);
    }
  }

  close(): void {
    this.connection.close();
  }

  #request(): Uint8Array {
    const update = this.#writer.write();
    const documents = {
      project: { ...(this.position && { position: this.position }), update },
    };
    const body = JSON.stringify(encodeExchangeRequest({ documents }));
    return requestOf(this.base, "POST", `/api/projects/${this.project}/sync`, body);
  }
}

/** Where the document stands after a push; it was new to the server in full. */
export function positionIn(status: number, body: string): Position {
  const answered = status === 200 && parseExchangeAnswer(JSON.parse(body)).documents.project;
  if (!answered || !("seq" in answered) || answered.reset || answered.missing) {
    throw new Error(`a push was not taken: ${status} ${body}`);
  }
  return { epoch: answered.epoch, seq: answered.seq };
}

/** Pushes the same updates over a socket of Hocuspocus'. */
export class HocuspocusPusher implements Pusher {
  readonly #writer = new ReplicaWriter();
  #prepared: Uint8Array[] = [];

  private constructor(readonly connection: HocuspocusConnection) {}

  static async open(url: string, token: string, document: string): Promise<HocuspocusPusher> {
    return new HocuspocusPusher(await HocuspocusConnection.open(url, token, document));
  }

  prepare(count: number): void {
    this.#prepared = Array.from({ length: count }, () =>
      this.connection.updateFrame(this.#writer.write()),
    );
  }

  async push(): Promise<void> {
    for (const frame of this.#prepared) await this.connection.push(frame);
  }

  close(): void {
    this.connection.close();
  }
}
