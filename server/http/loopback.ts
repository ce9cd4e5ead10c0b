import { AppError } from "../../shared/errors.ts";

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
const PORT = /:\d{1,5}$/;

/**
 * Throws a 403 for a request that a web page of another site could have sent: after DNS rebinding
 * its `Host` is that site's; otherwise its `Origin` is. `allowedHosts`: names, in small letters and
 * without a port, that count as this machine's own, such as a proxy's.
 */
export function refuseForeign(headers: Headers, allowedHosts: readonly string[] = []): void {
  const isOwn = (host: string) => {
    const name = host.replace(PORT, "").toLowerCase();
    return LOOPBACK_NAMES.has(name) || allowedHosts.includes(name);
  };
  const host = headers.get("host");
  if (host !== null && !isOwn(host)) {
    throw new AppError("forbidden", "this address is served to this machine only");
  }
  const origin = headers.get("origin");
  if (origin !== null && !isOwn(origin.replace(/^https?:\/\//, ""))) {
    throw new AppError("forbidden", "requests from other origins are not served");
  }
}
