import * as Y from "yjs";
import type { Client } from "../support/service.ts";

/** What a service says of one document, as it travels. */
export interface WireAnswer {
  readonly epoch?: string;
  readonly seq?: number;
  readonly update?: string;
  readonly state_vector?: string;
  readonly reset?: boolean;
  readonly missing?: boolean;
  readonly forbidden?: boolean;
  readonly refused?: { readonly message: string };
}

export type Documents<Part> = { readonly [document in "project" | "user" | "global"]?: Part };

/** What a client says of one document, as it travels. */
export interface WireRequest {
  readonly epoch?: string;
  readonly seq?: number;
  readonly update?: string;
  readonly state_vector?: string;
}

/** One exchange, by nothing but HTTP; `project` undefined is about `user` and `global` alone. */
export async function exchange(
  client: Client,
  project: string | undefined,
  documents: Documents<WireRequest>,
): Promise<Documents<WireAnswer>> {
  const path = project === undefined ? "/api/sync" : `/v1/projects/${project}/sync`;
  const body = { crdt: { encoding: "yjs-v1", documents } };
  const answer = await client.post<{ crdt: { documents: Documents<WireAnswer> } }>(path, body);
  if (answer.status !== 200) throw new Error(`${path} is ${answer.status}`);
  return answer.body.crdt.documents;
}

/** One exchange about a project's document alone. */
export async function exchangeProject(
  client: Client,
  project: string,
  request: WireRequest,
): Promise<WireAnswer> {
  const { project: answer } = await exchange(client, project, { project: request });
  if (answer === undefined) throw new Error("the document was left out of the answer");
  return answer;
}

/**
 * A replica of one project written from PROTOCOL.md alone: it shares no code with the daemon or the
 * server, only Yjs.
 */
export class WireReplica {
  readonly doc = new Y.Doc();
  position: { readonly epoch: string; readonly seq: number } | undefined;
  /** What the service has, when it asked for everything. */
  #serviceVector: Uint8Array | undefined;
  #unacknowledged: Uint8Array[] = [];

  constructor(
    readonly client: Client,
    readonly project: string,
  ) {
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "service") this.#unacknowledged.push(update);
    });
  }

  /** Writes a key as the protocol says: the visible entries go, a new one comes. */
  set(key: string, value: string): void {
    this.doc.transact(() => {
      const now = Date.now();
      const seen = this.#takeAway(key);
      const created = Math.min(now, ...seen.map((entry) => entry.created_at));
      const updated = Math.max(now, ...seen.map((entry) => entry.updated_at + 1));
      const entry = { key, value, created_at: created, updated_at: updated };
      this.doc.getArray(`memories/${this.doc.clientID}`).push([entry]);
    });
  }

  remove(key: string): void {
    this.doc.transact(() => void this.#takeAway(key));
  }

  /** The winning value of each key. */
  memories(): Record<string, string> {
    const entries = this.#arrays().flatMap(([client, array]) =>
      array.toArray().map((entry) => ({ ...entry, client })),
    );
    entries.sort((a, b) => a.updated_at - b.updated_at || a.client - b.client);
    return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
  }

  /** What it would say now. */
  request(): WireRequest {
    if (this.position === undefined) {
      return {
        state_vector: encode(Y.encodeStateVector(this.doc)),
        update: encode(Y.encodeStateAsUpdate(this.doc, this.#serviceVector)),
      };
    }
    if (this.#unacknowledged.length === 0) return this.position;
    return { ...this.position, update: encode(Y.mergeUpdates(this.#unacknowledged)) };
  }

  /** Takes the answer to its last request. True: it has to ask again. */
  take(answer: WireAnswer): boolean {
    if (answer.update !== undefined) Y.applyUpdate(this.doc, decode(answer.update), "service");
    if (answer.reset || answer.missing) {
      this.position = undefined;
      this.#serviceVector = decode(answer.state_vector ?? "");
      return true;
    }
    if (answer.epoch === undefined || answer.seq === undefined) {
      throw new Error(`not served: ${JSON.stringify(answer)}`);
    }
    this.position = { epoch: answer.epoch, seq: answer.seq };
    this.#serviceVector = undefined;
    this.#unacknowledged = [];
    return false;
  }

  /** Exchanges until there is nothing more to ask; resolves to how many calls it took. */
  async sync(): Promise<number> {
    for (let calls = 1; calls <= 4; calls++) {
      const answer = await exchangeProject(this.client, this.project, this.request());
      if (!this.take(answer)) return calls;
    }
    throw new Error("the exchange does not come to an end");
  }

  #takeAway(key: string): readonly Entry[] {
    const seen: Entry[] = [];
    for (const [, array] of this.#arrays()) {
      for (let at = array.length - 1; at >= 0; at--) {
        const entry = array.get(at);
        if (entry.key !== key) continue;
        seen.push(entry);
        array.delete(at);
      }
    }
    return seen;
  }

  #arrays(): [number, Y.Array<Entry>][] {
    return [...this.doc.share.keys()]
      .filter((root) => root.startsWith("memories/"))
      .map((root) => [Number(root.slice("memories/".length)), this.doc.getArray<Entry>(root)]);
  }
}

interface Entry {
  readonly key: string;
  readonly value: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

export function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
