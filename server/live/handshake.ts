import { AppError } from "../../shared/errors.ts";

/** A nonce of 16 bytes in base64, and the one version there is: RFC 6455, section 4.1. */
const KEY = /^[0-9A-Za-z+/]{22}==$/;
const VERSION = "13";

/** Throws a 400 for a WebSocket handshake that can't be completed. */
export function refuseMalformedHandshake(headers: Headers): void {
  const key = headers.get("sec-websocket-key");
  if (key !== null && KEY.test(key) && headers.get("sec-websocket-version") === VERSION) return;
  throw new AppError("invalid_request", "the WebSocket handshake is malformed");
}
