import { TOKEN_INVALID } from "../../shared/wire/live.ts";

/** Why the server closes a live socket. The first four are RFC 6455's and its registry's. */
export const CLOSE = {
  goingAway: 1001,
  badFrame: 1008,
  failed: 1011,
  tooSlow: 1013,
  /** The token was revoked, or has expired. */
  tokenInvalid: TOKEN_INVALID,
} as const;
