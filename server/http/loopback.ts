import { AppError } from "../../shared/errors.ts";

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const PORT = /:\d{1,5}$/;

/** Whether a server that listens on `host` is reached from this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host);
}

/**
 * Throws a 403 for a request that a web page of another site could have sent: after DNS rebinding
 * its `Host` is that site's; otherwise its `Origin` is. `allowedHosts`: names, in small letters and
 * without a port, that count as this machine's own, such as a proxy's.
 */
export function refuseForeign(headers: Headers, allowedHosts: readonly string[] = []): void {
  const isOwn = (host: string) => {
    const name = host.replace(PORT, "").toLowerCase();
    return LOOPBACK_NAMES.includes(name) || allowedHosts.includes(name);
  };
  // No page can leave it out or empty, as a balancer's probe may.
  const host = headers.get("host") ?? "";
  if (host !== "" && !isOwn(host)) {
    const message = "only this machine is served here: call it localhost, or have the name allowed";
    throw new AppError("forbidden", message);
  }
  const origin = headers.get("origin");
  if (origin !== null && !isOwn(origin.replace(/^https?:\/\//, ""))) {
    const message =
      "pages of other sites are not served: call this from a program, or a page of ours";
    throw new AppError("forbidden", message);
  }
}
