import type { ErrorCode } from "../../shared/errors.ts";
import type { ErrorBody } from "../../shared/wire/error.ts";
import type { Example } from "./operation.ts";

/** A refusal that many operations share. */
export interface SharedRefusal {
  /** Of its component. */
  readonly name: string;
  readonly description: string;
  readonly example: Example & { readonly value: ErrorBody };
}

export const REFUSALS: Readonly<Record<ErrorCode, SharedRefusal>> = {
  invalid_request: {
    name: "InvalidRequest",
    description:
      "Something of the request is malformed, of the wrong type or over a limit. `details` names " +
      "each place. Nothing was changed.",
    example: {
      summary: "Two fields are wrong",
      value: {
        error: {
          code: "invalid_request",
          message: "/content must not be empty (and more, see details)",
          request_id: "req_yxov5ypjyvc4yb6k",
          details: [
            { path: "/content", message: "must not be empty" },
            { path: "/layer", message: "must be one of project, user, global" },
          ],
        },
      },
    },
  },
  unauthorized: {
    name: "Unauthorized",
    description: "There is no token, or it is unknown, expired or revoked.",
    example: {
      summary: "No token",
      value: {
        error: {
          code: "unauthorized",
          message: "a valid API token is needed: Authorization: Bearer <token>",
          request_id: "req_hn6wdw5hs5syntmr",
        },
      },
    },
  },
  forbidden: {
    name: "Forbidden",
    description:
      "The token is good but may not do this: it may only read, or is bound to other projects. " +
      "Also a request from another site to a server that serves its own machine only.",
    example: {
      summary: "A token that may only read",
      value: {
        error: {
          code: "forbidden",
          message: "this token may only read: use one of the scope write",
          request_id: "req_2mzq6r5z2bqz3xk7",
        },
      },
    },
  },
  not_found: {
    name: "NotFound",
    description: "There is no such thing in your account, whatever other accounts may have.",
    example: {
      summary: "No such project",
      value: {
        error: {
          code: "not_found",
          message: "there is no such project",
          request_id: "req_w7c5n4kq2jx3ahfd",
        },
      },
    },
  },
  rate_limited: {
    name: "RateLimited",
    description:
      "The account's requests of this minute or day are used up, or too many large bodies are " +
      "under way. This one did nothing; come back after `Retry-After`.",
    example: {
      summary: "Too many requests in a minute",
      value: {
        error: {
          code: "rate_limited",
          message: "the limit of 60 requests a minute is reached: try again in 17 seconds",
          request_id: "req_q3vztk5u4nya2b7e",
        },
      },
    },
  },
  internal: {
    name: "Internal",
    description: "A fault of the server. Its log has more under the request's id.",
    example: {
      summary: "A fault",
      value: {
        error: {
          code: "internal",
          message: "the server failed; the log says more under this request id",
          request_id: "req_5k2hwzq7c3fyn4ta",
        },
      },
    },
  },
};
