import { Client, type ClientOptions, type Request } from "./client.ts";
import type { Exchange, Sender } from "./exchange.ts";

const TAG_BYTES = 8;

/** What one run uses: requests, and names that no other run has. */
export class Bench {
  readonly client: Client;
  /** Contained in every project id, content and value that this run writes. */
  readonly tag: string;
  /** Ids of memories to delete at the end. */
  readonly made = new Set<string>();
  /** Ids of the projects that this run created. */
  readonly projects = new Set<string>();

  constructor(options: ClientOptions) {
    this.client = new Client(options);
    this.tag = Buffer.from(options.world.randomBytes(TAG_BYTES)).toString("hex");
  }

  /** An id or a text that only this run has. */
  name(what: string): string {
    return `conformance-${what}-${this.tag}`;
  }

  get(path: string, sender: Sender = "token"): Promise<Exchange> {
    return this.send({ method: "GET", path, sender });
  }

  /** Without `body` nothing is sent; a `Raw` is sent unchanged. */
  post(path: string, body?: unknown, sender: Sender = "token"): Promise<Exchange> {
    return this.send({ method: "POST", path, body, sender });
  }

  delete(path: string, sender: Sender = "token"): Promise<Exchange> {
    return this.send({ method: "DELETE", path, sender });
  }

  send(request: Request): Promise<Exchange> {
    return this.client.send(request);
  }
}
