import { Type } from "@sinclair/typebox";
import type { Kind } from "./operation.ts";

/** Every header that an answer may have by the contract. */
export const HEADERS = {
  "X-Request-Id": {
    description: "Names this request in the server's log; `request_id` of an error is the same.",
    schema: Type.String({ pattern: "^req_[0-9A-Za-z_-]{1,64}$" }),
    example: "req_hn6wdw5hs5syntmr",
    required: true,
  },
  ETag: {
    description: "Strong; a hash of the body. A compressed answer has a tag of its own.",
    schema: Type.String(),
    example: '"2z52aulxp51x4"',
    required: true,
  },
  "Cache-Control": {
    description:
      "`private, no-cache` of what was read, `no-store` of writes and errors, `no-cache` of what " +
      "needs no token.",
    schema: Type.String(),
    example: "private, no-cache",
    required: true,
  },
  Vary: {
    description: "What of the request the answer depends on.",
    schema: Type.String(),
    example: "Authorization, X-Project-Id",
    required: true,
  },
  "Content-Encoding": {
    description: "`gzip` where the answer is over 1 KB and the client accepts it; else absent.",
    schema: Type.String({ enum: ["gzip"] }),
    example: "gzip",
    required: false,
  },
  Link: {
    description: "The next page of a list, `next_cursor` in it; absent on the last.",
    schema: Type.String(),
    example: '</v1/memories?limit=1&cursor=WyJtZW1vcmllcyIs>; rel="next"',
    required: false,
  },
  RateLimit: {
    description:
      "What is left: `r` requests, and more in `t` seconds. Absent where requests are not limited.",
    schema: Type.String(),
    example: '"minute";r=59;t=60, "day";r=9990;t=43200',
    required: false,
  },
  "RateLimit-Policy": {
    description:
      "The plan's limits: `q` requests in `w` seconds. Absent where requests are not limited.",
    schema: Type.String(),
    example: '"minute";q=60;w=60, "day";q=10000;w=86400',
    required: false,
  },
  "Retry-After": {
    description: "Whole seconds until the same request can be served.",
    schema: Type.Integer({ minimum: 0 }),
    example: 17,
    required: true,
  },
  "WWW-Authenticate": {
    description: "The scheme of the token that is missing.",
    schema: Type.String(),
    example: "Bearer",
    required: true,
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Sent in answers to requests with a valid token. */
const CHARGED = ["RateLimit", "RateLimit-Policy"] as const;

const OF_KIND: Readonly<Record<Kind, readonly HeaderName[]>> = {
  read: ["ETag", "Vary"],
  page: ["ETag", "Vary", "Link"],
  write: [],
  document: ["ETag", "Vary"],
};

/** Of an answer with a body, if it is compressed. */
export const CODING = "Content-Encoding" satisfies HeaderName;

/** The headers of a 200; a 304 has them, too, except length, type and coding. */
export function headersOf(kind: Kind, open: boolean): readonly HeaderName[] {
  return ["X-Request-Id", "Cache-Control", ...OF_KIND[kind], ...(open ? [] : CHARGED)];
}

/** Headers of refusals with an error body, by status. */
export const REFUSAL_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  400: ["X-Request-Id", "Cache-Control", CODING, ...CHARGED],
  401: ["X-Request-Id", "Cache-Control", "WWW-Authenticate"],
  403: ["X-Request-Id", "Cache-Control", ...CHARGED],
  404: ["X-Request-Id", "Cache-Control", ...CHARGED],
  429: ["X-Request-Id", "Cache-Control", "Retry-After", ...CHARGED],
  500: ["X-Request-Id", "Cache-Control", ...CHARGED],
};
