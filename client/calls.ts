import type { Call, CallOptions, Transport } from "./transport.ts";

const KEY_BYTES = 16;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** The few kinds of calls, each repeated where that is safe. */
export class Calls {
  constructor(readonly transport: Transport) {}

  get<Answer>(
    path: string,
    options: CallOptions | undefined,
    more: Pick<Call, "query" | "headers"> = {},
  ): Promise<Answer> {
    return this.transport.send({ method: "GET", path, repeatable: true, ...more }, options);
  }

  /** A call with a key by which the server does it only once, however often it arrives. */
  post<Answer>(
    path: string,
    body: unknown,
    {
      options,
      headers = {},
    }: {
      readonly options: CallOptions | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    },
  ): Promise<Answer> {
    const keyed = { "Idempotency-Key": this.randomText(), ...headers };
    const call = { method: "POST", path, body, headers: keyed, repeatable: true } as const;
    return this.transport.send(call, options);
  }

  /** A call that can be repeated without harm: a replica exchange, or a read. */
  exchange<Answer>(path: string, body: unknown, options: CallOptions | undefined): Promise<Answer> {
    return this.transport.send({ method: "POST", path, body, repeatable: true }, options);
  }

  /**
   * Repeated only after a refusal: the same thing may have been created again in between, and has
   * the same id, which is made of its key.
   */
  delete<Answer>(path: string, options: CallOptions | undefined, query?: object): Promise<Answer> {
    const call = { method: "DELETE", path, repeatable: false, ...(query && { query }) } as const;
    return this.transport.send(call, options);
  }

  /** 80 random bits. */
  randomText(): string {
    const bytes = this.transport.world.randomBytes(KEY_BYTES);
    return [...bytes].map((byte) => BASE32[byte & 31]).join("");
  }
}

/** A path with an id in it. The id can't lead to another path. */
export function pathWith(before: string, id: string, after = ""): string {
  // URLs resolve these even when encoded. Encoded twice they name nothing, as they should.
  const named = /^\.{1,2}$/.test(id) ? id.replaceAll(".", "%2E") : id;
  return `${before}/${encodeURIComponent(named)}${after}`;
}
