import * as Y from "yjs";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { mergeUpdates } from "../../../shared/replica/log/log-rows.ts";
import {
  type DocumentRequest,
  encodeExchangeRequest,
  parseExchangeAnswer,
} from "../../../shared/wire/exchange.ts";
import type { Position } from "../../../shared/wire/position.ts";
import type { SimServer } from "./sim-server.ts";

/** An exchange that goes on for longer goes round in a circle. */
const CALLS_MAX = 5;

/** A machine's replica of the account's `global` layer: the client's half of an exchange. */
export class SimReplica {
  readonly document: ReplicaDocument;
  #position: Position | undefined;
  #serverVector: Uint8Array | undefined;
  #unsent: Uint8Array[] = [];

  constructor(clientId: number) {
    this.document = new ReplicaDocument([], clientId);
    this.document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === "local") this.#unsent.push(update);
    });
  }

  get keys(): readonly string[] {
    return [...this.document.memories.keys()];
  }

  set(key: string): void {
    this.document.setEntry("memories", key, { value: key, now: Date.now() });
  }

  /** True: both have what the other has. False: the call failed, and is to come again. */
  async sync(server: SimServer, token: string): Promise<boolean> {
    for (let calls = 0; calls < CALLS_MAX; calls++) {
      const sent = this.#unsent.length;
      const body = encodeExchangeRequest({ documents: { global: this.#request() } });
      const answer = await server.ask("POST", "/api/sync", { token, body });
      if (answer.status !== 200) return false;
      if (this.#take(answer.body, sent)) return true;
    }
    throw new Error("an exchange does not come to its end");
  }

  #request(): DocumentRequest {
    const { ydoc } = this.document;
    if (!this.#position) {
      const update = Y.encodeStateAsUpdate(ydoc, this.#serverVector);
      return { stateVector: Y.encodeStateVector(ydoc), update };
    }
    if (this.#unsent.length === 0) return { position: this.#position };
    return { position: this.#position, update: mergeUpdates(this.#unsent) };
  }

  /** Whether nothing is left to ask. */
  #take(body: unknown, sent: number): boolean {
    const answer = parseExchangeAnswer(body).documents.global;
    if (!answer || !("epoch" in answer)) throw new Error(`not served: ${JSON.stringify(answer)}`);
    const { epoch, seq, update, reset, missing, stateVector } = answer;
    if (update) Y.applyUpdate(this.document.ydoc, update, "remote");
    if (this.document.hasPending()) throw new Error("a replica got what builds on nothing");
    if (reset || missing) {
      this.#position = undefined;
      this.#serverVector = stateVector;
      return false;
    }
    this.#position = { epoch, seq };
    this.#serverVector = undefined;
    this.#unsent = this.#unsent.slice(sent);
    return true;
  }
}
