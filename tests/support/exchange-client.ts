import { expect } from "bun:test";
import * as Y from "yjs";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { mergeUpdates } from "../../shared/replica/log/log-rows.ts";
import { serveExchange } from "../../shared/replica/store/exchange.ts";
import type {
  DocumentAnswer,
  DocumentRequest,
  DocumentServed,
} from "../../shared/wire/exchange.ts";
import type { Position } from "../../shared/wire/position.ts";
import { address } from "./stored.ts";
import type { Store } from "./temp-store.ts";

/** One exchange of a document with the serving half, in a write of its own. */
export function serve(
  store: Store,
  request: DocumentRequest,
  { canWrite = true, name = "a" } = {},
): Promise<DocumentAnswer> {
  return store.write((context) =>
    serveExchange(context, address(name), { request, rights: { canWrite } }),
  );
}

export function served(answer: DocumentAnswer): DocumentServed {
  if (!("epoch" in answer)) throw new Error(`not served: ${JSON.stringify(answer)}`);
  return answer;
}

/** The least that a replica needs to keep up with a server. */
export class ExchangeClient {
  readonly document: ReplicaDocument;
  position: Position | undefined;
  /** What the server has, when it asked for everything. */
  #serverVector: Uint8Array | undefined;
  #unsent: Uint8Array[] = [];

  constructor(clientId: number) {
    this.document = new ReplicaDocument([], clientId);
    this.document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === "local") this.#unsent.push(update);
    });
  }

  /** What it would send now. */
  request(): DocumentRequest {
    const { ydoc } = this.document;
    if (!this.position) {
      const update = Y.encodeStateAsUpdate(ydoc, this.#serverVector);
      return { stateVector: Y.encodeStateVector(ydoc), update };
    }
    if (this.#unsent.length === 0) return { position: this.position };
    return { position: this.position, update: mergeUpdates(this.#unsent) };
  }

  /** Takes an answer to what it sent last. Returns whether it has to ask again. */
  take(answer: DocumentAnswer): boolean {
    const { epoch, seq, update, reset, missing, stateVector } = served(answer);
    if (update) {
      const { clientID } = this.document.ydoc;
      expect(admitUpdate(this.document, update, clientID).kind).toBe("admitted");
      Y.applyUpdate(this.document.ydoc, update, "remote");
      expect(this.document.hasPending()).toBeFalse();
    }
    if (reset || missing) {
      this.position = undefined;
      this.#serverVector = stateVector;
      return true;
    }
    this.position = { epoch, seq };
    this.#serverVector = undefined;
    this.#unsent = [];
    return false;
  }

  /** Exchanges until nothing is left to ask; returns how many calls it took. */
  async sync(store: Store): Promise<number> {
    for (let calls = 1; calls < 5; calls++) {
      if (!this.take(await serve(store, this.request()))) return calls;
    }
    throw new Error("the exchange does not come to an end");
  }
}
