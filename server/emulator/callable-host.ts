/**
 * The address by which this machine reaches a server that listens on `host`. `0.0.0.0` and `::`
 * mean all addresses and can't be called, so there it is this machine's own.
 */
export function callableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
