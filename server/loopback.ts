import { AppError } from "../shared/errors.ts";

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
const PORT = /:\d{1,5}$/;

/**
 * Throws a 403 for a request that a web page of another site could have sent here: after DNS
 * rebinding its `Host` is that site's, and without it its `Origin` is.
 */
export function refuseForeign(headers: Headers): void {
  const host = headers.get("host");
  if (host !== null && !isLoopback(host)) {
    throw new AppError("forbidden", "this address is served to this machine only");
  }
  const origin = headers.get("origin");
  if (origin !== null && !isLoopback(origin.replace(/^https?:\/\//, ""))) {
    throw new AppError("forbidden", "requests from other origins are not served");
  }
}

function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.has(host.replace(PORT, "").toLowerCase());
}
